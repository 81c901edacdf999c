"""Database, files, email, network and other infrastructure, each with a small version for a single machine."""
