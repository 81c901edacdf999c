"""Floor 4: what the organisation does, one room per area."""
