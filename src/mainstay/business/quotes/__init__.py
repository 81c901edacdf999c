"""Quotes: what work would cost, sent to customers, and what they answer."""
