"""How long links, sessions and files are valid, in words."""

from datetime import timedelta

from mainstay.values.message import Message


def describe_lifetime(span: timedelta) -> Message:
    """Return a validity period in whole days or hours: `7 days`, `12 hours`, `an hour`."""
    if span.days:
        return Message("{count} day", plural="{count} days", count=span.days)
    hours = span // timedelta(hours=1)
    return Message("{count} hours", count=hours) if hours > 1 else Message("an hour")
