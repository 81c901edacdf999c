"""Floor 3: who may come in."""
