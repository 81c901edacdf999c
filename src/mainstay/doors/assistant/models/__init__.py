"""The models that answer for the assistant, and the three protocols that their servers speak."""
