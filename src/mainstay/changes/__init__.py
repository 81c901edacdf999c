"""What is stored with every change: stamps, events, outbox tasks, the audit trail and idempotent answers."""
