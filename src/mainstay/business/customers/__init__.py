"""Customers, with their contacts and sites."""
