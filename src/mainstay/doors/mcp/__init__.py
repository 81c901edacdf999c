"""The agent tool server at /mcp."""
