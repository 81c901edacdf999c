"""Costing: what a job took, and what is left of it."""
