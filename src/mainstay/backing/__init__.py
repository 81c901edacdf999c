"""Floor 1: what the house stands on, each with a real small twin for one machine."""
