"""Numbered steps of the schema, and what applies them."""
