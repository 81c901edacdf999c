"""Times that people enter: with an offset from UTC, or as the local clock of a place shows them."""

import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from functools import lru_cache
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from mainstay.values.fields import InputKind
from mainstay.values.message import Message
from mainstay.values.moments import from_wall_time, parse_moment

_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?$"
_ENTERED_MOMENT = re.compile(
    r"(?P<date_and_minute>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2})(?P<second>:[0-9]{2}(?:\.[0-9]{1,9})?)?"
    r"(?P<offset>[Zz]|[+-][0-9]{2}:[0-9]{2})?",
    re.ASCII,
)


def _check_entered_moment(text: str) -> str:
    """Refuse text that cannot be a time anywhere.

    Whether the clock of a place shows this time is checked once the place is known.
    """
    try:
        date_and_minute, second, offset = _split_entered_moment(text)
        parse_moment(date_and_minute + second + (offset or "Z"))
    except ValueError:
        raise ValueError(Message("is not a time such as 2026-11-15T10:30 or 2026-11-15T10:30:00Z")) from None
    return text


def _split_entered_moment(text: str) -> tuple[str, str, str]:
    match = _ENTERED_MOMENT.fullmatch(text)
    if match is None:
        raise ValueError
    return match["date_and_minute"], match["second"] or ":00", match["offset"] or ""


# Stays as it was entered until the place it refers to is known.
EnteredMoment = Annotated[
    str,
    AfterValidator(_check_entered_moment),
    Field(json_schema_extra={"pattern": _PATTERN}, examples=["2026-11-15T10:30"]),
    InputKind("wall"),
]


def check_time_of_day(text: str) -> str:
    """Return the text, or raise ValueError if it is not a time of day."""
    if not re.fullmatch(_TIME_OF_DAY, text):
        raise ValueError(Message("is not a time of day such as 08:00"))
    return text


_TIME_OF_DAY = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
TimeOfDay = Annotated[
    str,
    AfterValidator(check_time_of_day),
    Field(json_schema_extra={"pattern": _TIME_OF_DAY}),
    InputKind("time"),
]


def parse_entered_moment(text: str, zone: str) -> datetime:
    """Return the entered moment in UTC.

    If the clocks skip this time or show it twice, raise ValueError with what to send instead.
    """
    date_and_minute, second, offset = _split_entered_moment(text)
    if offset:
        return parse_moment(date_and_minute + second + offset)
    entered = datetime.fromisoformat(date_and_minute + second)
    try:
        return from_wall_time(entered.date(), entered.time(), zone)
    except ValueError:
        raise ValueError(_describe_alternatives(entered, zone)) from None


# Many records share the same moments, and a page shows each several times.
@lru_cache(4096)
def wall_time_text(moment: str, zone: str) -> str:
    """Return a moment as the local clock of a place shows it: `2026-11-15T10:30`."""
    return parse_moment(moment).astimezone(ZoneInfo(zone)).replace(tzinfo=None).isoformat("T", "minutes")


def _describe_alternatives(entered: datetime, zone: str) -> Message:
    first, second = (entered.replace(tzinfo=ZoneInfo(zone), fold=fold) for fold in (0, 1))
    try:
        round_tripped = first.astimezone(UTC).astimezone(ZoneInfo(zone))
    except OverflowError:
        return Message("is outside the years {first} to {last}", first=MINYEAR, last=MAXYEAR)
    skipped = round_tripped.replace(tzinfo=None) != entered
    candidates = (second.astimezone(UTC).astimezone(ZoneInfo(zone)), round_tripped) if skipped else (first, second)
    earlier, later = (candidate.isoformat(timespec="seconds") for candidate in candidates)
    options = Message("send {earlier} or {later}", earlier=earlier, later=later)
    if skipped:
        return Message("is skipped when the clocks in {zone} go forward", zone=zone, for_programs=options)
    return Message("occurs twice when the clocks in {zone} go back", zone=zone, for_programs=options)
