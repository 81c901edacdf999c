"""Moments as people give them: with an offset from UTC, or as the clocks of a place show them."""

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from mainstay.values.fields import As
from mainstay.values.moments import at_wall_time, parse_moment

_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?$"
_WRITTEN = re.compile(
    r"(?P<minute>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2})(?P<second>:[0-9]{2}(?:\.[0-9]{1,9})?)?"
    r"(?P<offset>[Zz]|[+-][0-9]{2}:[0-9]{2})?",
    re.ASCII,
)


def _check(text: str) -> str:
    """Refuse what is no time at any place; whether the clocks of one show it is found out when the place is known."""
    try:
        minute, second, offset = _parts(text)
        parse_moment(minute + second + (offset or "Z"))
    except ValueError:
        raise ValueError("is not a time such as 2026-11-15T10:30, or 2026-11-15T10:30:00Z") from None
    return text


def _parts(text: str) -> tuple[str, str, str]:
    written = _WRITTEN.fullmatch(text)
    if written is None:
        raise ValueError
    return written["minute"], written["second"] or ":00", written["offset"] or ""


# Kept as it was given until it is known where it was meant.
WallTime = Annotated[
    str,
    AfterValidator(_check),
    Field(json_schema_extra={"pattern": _PATTERN}, examples=["2026-11-15T10:30"]),
    As("wall"),
]


def check_time_of_day(text: str) -> str:
    """Refuse what is not a time of day."""
    if not re.fullmatch(_TIME_OF_DAY, text):
        raise ValueError("is not a time of day such as 08:00")
    return text


_TIME_OF_DAY = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
TimeOfDay = Annotated[
    str,
    AfterValidator(check_time_of_day),
    Field(json_schema_extra={"pattern": _TIME_OF_DAY}),
    As("time"),
]


def read_wall_time(text: str, zone: str) -> datetime:
    """The moment that was meant, in UTC; a time that the clocks skip or show twice is refused with what to send."""
    minute, second, offset = _parts(text)
    if offset:
        return parse_moment(minute + second + offset)
    shown = datetime.fromisoformat(minute + second)
    try:
        return at_wall_time(shown.date(), shown.time(), zone)
    except ValueError:
        raise ValueError(_instead(shown, zone)) from None


# Much begins and ends when something else does, and a page writes of each several times.
@lru_cache(4096)
def wall_text(moment: str, zone: str) -> str:
    """A moment as the clocks of a place show it: `2026-11-15T10:30`."""
    return parse_moment(moment).astimezone(ZoneInfo(zone)).replace(tzinfo=None).isoformat("T", "minutes")


def _instead(shown: datetime, zone: str) -> str:
    first, second = (shown.replace(tzinfo=ZoneInfo(zone), fold=fold) for fold in (0, 1))
    try:
        real = first.astimezone(UTC).astimezone(ZoneInfo(zone))
    except OverflowError:
        return "lies outside the years 1 to 9999"
    skipped = real.replace(tzinfo=None) != shown
    meant = (second.astimezone(UTC).astimezone(ZoneInfo(zone)), real) if skipped else (first, second)
    options = " or ".join(one.isoformat(timespec="seconds") for one in meant)
    return f"is {'skipped' if skipped else 'shown twice'} by the clocks in {zone}; send {options}, whichever is meant"
