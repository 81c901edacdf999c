"""Imports records from files of other systems: all rows are checked, then imported; rows with faults can stay out."""
