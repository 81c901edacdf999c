"""Reports: what the business comes to, and the journal for the accountant."""
