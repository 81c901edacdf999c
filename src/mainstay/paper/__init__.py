"""Floor 1, beside what the house stands on: the documents that customers and suppliers are sent, out of snapshots."""
