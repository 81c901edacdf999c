"""Imports records from files of other systems: all rows are checked, then all are imported or none."""
