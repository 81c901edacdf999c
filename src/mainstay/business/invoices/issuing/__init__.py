"""Issued invoices: sending, voiding, crediting, reminding, and their files."""
