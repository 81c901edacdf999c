"""Bringing records over from files of other systems: checked row by row, then all of them or none."""
