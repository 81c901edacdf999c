"""Floor 5: telling others what happened: webhooks, what became of each delivery, and the feed of events."""
