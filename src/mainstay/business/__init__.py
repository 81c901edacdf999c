"""Floor 6: what the organisation does, one room per area."""
