"""The organisation itself: its name, place, money and time."""
