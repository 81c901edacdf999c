"""What is tried here is what operations do, and nothing that follows it."""

from quiet import settings, stage

__all__ = ["settings", "stage"]
