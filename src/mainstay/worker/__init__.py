"""The worker: does the tasks of the outbox."""
