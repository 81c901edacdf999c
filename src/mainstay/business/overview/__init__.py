"""What needs someone now, over all areas."""
