"""Purchasing: what is ordered from suppliers, what has come, what they bill, and what that is for the jobs."""
