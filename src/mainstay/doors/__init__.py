"""Floor 7: doors translate, they never decide."""
