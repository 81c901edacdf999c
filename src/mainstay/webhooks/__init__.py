"""Webhooks: endpoints, deliveries and their attempts, and the feed of events."""
