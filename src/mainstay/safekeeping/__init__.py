"""What an operator relies on: proofs of the books, backups, and everything moved elsewhere."""
