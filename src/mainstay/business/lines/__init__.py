"""Lines: what quotes, invoices and orders are made of."""
