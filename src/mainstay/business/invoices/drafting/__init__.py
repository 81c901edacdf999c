"""Draft invoices: their lines, and what they may bill."""
