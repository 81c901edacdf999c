"""Floor 5: doors translate, they never decide."""
