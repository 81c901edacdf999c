"""Times as people tell them: as a moment, or as the clocks of a place show it."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from mainstay.values.fields import As
from mainstay.values.moments import parse_moment

# Whatever is planned or was done lies in these years: reckoning with days around it stays within the calendar.
_YEARS = range(2000, 2100)
_LOCAL = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]((?:[01][0-9]|2[0-3]):[0-5][0-9])(?::00(?:\.0+)?)?")
_NEITHER = "is neither a moment such as 2026-11-15T10:30:00Z nor a local time such as 2026-11-15T10:30"
_OUTSIDE = f"is outside the years {_YEARS[0]} to {_YEARS[-1]}"


def moment_at(text: str, zone: str) -> datetime:
    """The moment that is meant: with an offset it is one, without it is what the clocks of a place show."""
    local = _LOCAL.fullmatch(text)
    return parse_moment(text) if local is None else at_clocks(datetime.fromisoformat(f"{local[1]}T{local[2]}"), zone)


def at_clocks(shown: datetime, zone: str) -> datetime:
    """The moment, in UTC, at which the clocks of a place show this; where it is none or two, what to send instead."""
    place = ZoneInfo(zone)
    first, second = shown.replace(tzinfo=place, fold=0), shown.replace(tzinfo=place, fold=1)
    before, after = first.utcoffset() or timedelta(0), second.utcoffset() or timedelta(0)
    if before < after:
        earlier, later = (_told(moment.astimezone(UTC).astimezone(place)) for moment in (second, first))
        raise ValueError(
            f"is a time that the clocks in {zone} skip on that day; send {earlier} or {later}, whichever is meant"
        )
    if before > after:
        raise ValueError(
            f"is a time that the clocks in {zone} show twice on that day; send {_told(first)} or, for the second time,"
            f" {_told(second)}"
        )
    return first.astimezone(UTC)


def _told(moment: datetime) -> str:
    return moment.isoformat("T", "seconds")


def is_in_reach(day: date) -> bool:
    """Whether a date is one that something can be planned on."""
    return day.year in _YEARS


def _local_time(text: str) -> str:
    local = _LOCAL.fullmatch(text)
    try:
        moment = datetime.fromisoformat(f"{local[1]}T{local[2]}") if local else parse_moment(text)
    except ValueError:
        raise ValueError(_NEITHER) from None
    if not is_in_reach(moment.date()):
        raise ValueError(_OUTSIDE)
    return text


# A moment with an offset from UTC, or a time without one that is read where it is meant.
LocalTime = Annotated[str, AfterValidator(_local_time), Field(max_length=40), As("local")]
