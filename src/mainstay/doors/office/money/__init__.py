"""Pages about money: quotes, invoices, payments, purchasing, prices and reports."""
