"""Reports, customer balances, statements of account, and the journal for the accountant."""
