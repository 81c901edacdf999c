"""The built-in assistant: what people ask it, and what it did for them."""
