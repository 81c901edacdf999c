"""What the organisation does, one package for each area."""
