"""The assistant: the built-in agent of the office. It has the tools and the rights of the person who asks."""
