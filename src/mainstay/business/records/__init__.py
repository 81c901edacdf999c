"""What belongs to records of every kind: notes beside them, what happened to them, and finding them."""
