"""The overview: what needs attention now, in all areas."""
