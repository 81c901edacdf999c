"""Floor 5: who may come in."""
