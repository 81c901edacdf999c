"""Durations as people type them: `7:30`, `7.30`, `7,5`, `0730`, `7h 30`, `45m`."""

import re
from decimal import Decimal

from mainstay.values.durations import hours_text
from mainstay.values.message import Message

_MINUTES_OF_HOUR = 60
# A whole number means hours, up to the hours of a day.
_HOURS_OF_DAY = 24
_FROM_TEN = re.compile("[1-9][0-9]{1,2}")
_CLOCK = re.compile(r"([0-9]{1,2})(?::|h *)([0-5][0-9])(?: *m(?:in)?)?")
_DIGITS = re.compile(r"([0-9]{2})([0-5][0-9])")
_UNITS = re.compile(r"(?:([0-9]{1,2}) *h)|(?:([0-9]{1,4}) *m(?:in)?)")
_PARTS = re.compile(r"([0-9]{0,2})[.,]([0-9]{1,2})")
# Decimals for a quarter, a half and three quarters of an hour.
_QUARTERS = {"25", "50", "75"}


def parse_minutes(written: str) -> int:
    """Return the minutes that a text means.

    Raise ValueError if it could mean two things: the person is asked instead of guessing.
    """
    text = written.strip().lower()
    if match := _CLOCK.fullmatch(text) or _DIGITS.fullmatch(text):
        return int(match[1]) * _MINUTES_OF_HOUR + int(match[2])
    if match := _UNITS.fullmatch(text):
        return int(match[1]) * _MINUTES_OF_HOUR if match[1] else int(match[2])
    if match := _PARTS.fullmatch(text):
        return _parse_decimal_hours(match[1] or "0", match[2])
    if text.isascii() and text.isdigit() and int(text) <= _HOURS_OF_DAY:
        return int(text) * _MINUTES_OF_HOUR
    if text.isascii() and text.isdigit():
        raise ValueError(Message("could be hours or minutes; write {text}m for minutes", text=text))
    raise ValueError(Message("is not a time such as 7:30, 7.5 or 45m"))


def parse_break_minutes(written: str) -> int:
    """Return the minutes of a break: a whole number from ten up means minutes, because no break takes ten hours."""
    text = written.strip()
    return int(text) if _FROM_TEN.fullmatch(text) else parse_minutes(written)


def _parse_decimal_hours(hours: str, part: str) -> int:
    """Interpret a number with a separator: `7.5` is seven and a half, `7.30` is half past, `7.25` is ambiguous."""
    decimal = Decimal(f"{hours}.{part}") * _MINUTES_OF_HOUR
    clock = int(hours) * _MINUTES_OF_HOUR + int(part)
    if len(part) == 1 or part == "00":
        return int(decimal)
    if part not in _QUARTERS and int(part) < _MINUTES_OF_HOUR:
        return clock
    if part in _QUARTERS and int(part) >= _MINUTES_OF_HOUR:
        return int(decimal)
    if part in _QUARTERS:
        raise ValueError(
            Message(
                "could be {first} or {second}; write one of them",
                first=hours_text(clock),
                second=hours_text(int(decimal)),
            )
        )
    raise ValueError(Message("is not a time such as 7:30, 7.5 or 45m"))
