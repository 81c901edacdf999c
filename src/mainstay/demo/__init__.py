"""The demo: a believable firm with a year of work, and a smaller sample of it for those who begin."""
