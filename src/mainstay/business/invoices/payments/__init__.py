"""Payments: recording them, allocating them to invoices, and reading bank statements."""
