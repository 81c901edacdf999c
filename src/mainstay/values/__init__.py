"""Floor 0: small immutable things."""
