"""Customers, with the people one speaks to and the places one works at."""
