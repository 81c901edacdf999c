"""Moments, wall times and periods.

Everything is turned to UTC before it is compared or subtracted: between two datetimes of one zone Python reckons in
wall time, which is wrong by an hour on the days the clocks change.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, available_timezones

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Tell the present moment in UTC."""
    return datetime.now(UTC)


def moment_text(moment: datetime) -> str:
    """Write a moment as `2026-11-15T10:30:50.123Z`: always this wide, so that text order is time order."""
    return _in(UTC, moment).isoformat("T", "milliseconds")[:23] + "Z"


# A page and what it is made of read the same moments several times.
@lru_cache(4096)
def parse_moment(text: str) -> datetime:
    """Read an RFC 3339 moment, with Z or an offset, into UTC."""
    if _RFC_3339.fullmatch(text) is None:
        raise ValueError("Write a moment such as 2026-11-15T10:30:50Z or 2026-11-15T11:30:50+01:00.")
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        raise ValueError("There is no such date or time of day.") from None
    return _in(UTC, moment)


def is_time_zone(name: str) -> bool:
    """Tell whether this is the name of an IANA time zone, such as Europe/Berlin."""
    return name in time_zones()


def local_date(moment: datetime, zone: str) -> date:
    """Tell the date at a place at a moment."""
    return _in(_place(zone), moment).date()


def at_wall_time(day: date, time: time, zone: str) -> datetime:
    """Find the moment, in UTC, at which the clocks of a place show this time.

    ValueError where they skip it, in spring, and where they show it twice, in autumn.
    """
    if time.tzinfo is not None:
        raise ValueError("A wall time has no time zone of its own.")
    first = datetime.combine(day, time.replace(fold=0), _place(zone))
    before, after = _offset(first), _offset(first.replace(fold=1))
    shown = f"{time.isoformat('auto')} on {day.isoformat()}"

    if before < after:
        raise ValueError(f"The clocks in {zone} skip {shown}.")
    if before > after:
        raise ValueError(f"The clocks in {zone} show {shown} twice: at {timezone(before)} and at {timezone(after)}.")
    return _in(UTC, first)


def beginning_of(day: date, zone: str) -> datetime:
    """Find the first moment, in UTC, of a date at a place, also where the clocks skip midnight."""
    # Of a time that is skipped, the earlier offset gives the moment at which the clocks jump.
    return _in(UTC, datetime.combine(day, time(), _place(zone)))


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time, kept in UTC; its start belongs to it, its end does not."""

    starts_at: datetime
    ends_at: datetime

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts_at", _in(UTC, self.starts_at))
        object.__setattr__(self, "ends_at", _in(UTC, self.ends_at))
        if self.ends_at <= self.starts_at:
            raise ValueError("A period ends after it starts.")

    @property
    def minutes(self) -> int:
        """Whole minutes that really pass."""
        return (self.ends_at - self.starts_at) // timedelta(minutes=1)

    def overlaps(self, other: "Period") -> bool:
        """Tell whether both share a moment; touching ends do not."""
        return self.starts_at < other.ends_at and other.starts_at < self.ends_at


def _in(zone: tzinfo, moment: datetime) -> datetime:
    if moment.tzinfo is zone:
        return moment
    if moment.utcoffset() is None:
        raise ValueError("A moment needs a time zone or an offset.")
    try:
        return moment.astimezone(zone)
    except OverflowError:
        raise ValueError("The moment lies outside the years 1 to 9999.") from None


def _place(zone: str) -> ZoneInfo:
    if not is_time_zone(zone):
        raise ValueError("The time zone is not an IANA name such as Europe/Berlin.")
    return ZoneInfo(zone)


@cache
def time_zones() -> frozenset[str]:
    """Every name of a time zone."""
    # These two stand in the folder of zones but name no place.
    return frozenset(available_timezones() - {"Factory", "localtime"})


def _offset(moment: datetime) -> timedelta:
    return moment.utcoffset() or timedelta(0)


_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])",
    re.IGNORECASE | re.ASCII,
)
