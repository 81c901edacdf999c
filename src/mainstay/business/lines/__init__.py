"""The lines of quotes, invoices and orders, and their totals."""
