"""Durations as texts: `7:30`."""

_MINUTES_OF_HOUR = 60


def hours_text(minutes: int) -> str:
    """Return minutes as hours and minutes: `7:30`."""
    return f"{minutes // _MINUTES_OF_HOUR}:{minutes % _MINUTES_OF_HOUR:02d}"
