"""The organisation itself: its details, settings, numbering and closed books."""
