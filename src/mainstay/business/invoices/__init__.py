"""Invoices: drafts of what is to be billed, what was issued, what was credited, and what was paid."""
