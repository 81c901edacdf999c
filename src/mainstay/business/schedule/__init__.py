"""The schedule: who is where and when, and when not."""
