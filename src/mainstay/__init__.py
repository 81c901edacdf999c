"""Mainstay: business management for the trades and services."""
