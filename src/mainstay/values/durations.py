"""Durations as texts: `7:30`, `12 hours`."""

from datetime import timedelta

_MINUTES_OF_HOUR = 60


def hours_text(minutes: int) -> str:
    """Return minutes as hours and minutes: `7:30`."""
    return f"{minutes // _MINUTES_OF_HOUR}:{minutes % _MINUTES_OF_HOUR:02d}"


def duration_text(span: timedelta) -> str:
    """Return a validity period in whole days or hours: `7 days`, `12 hours`, `an hour`."""
    if span.days:
        return f"{span.days} days"
    hours = span // timedelta(hours=1)
    return f"{hours} hours" if hours > 1 else "an hour"
