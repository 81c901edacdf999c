"""The documents that are sent to customers and suppliers, printed from snapshots."""
