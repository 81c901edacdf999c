"""Moments, wall times and periods.

Everything is converted to UTC before it is compared or subtracted. Between two datetimes of one zone Python calculates
in wall time, which is wrong by an hour on the days the clocks change.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, available_timezones

Clock = Callable[[], datetime]

ONE_DAY = timedelta(days=1)


def system_clock() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)


def moment_text(moment: datetime) -> str:
    """Return a moment as `2026-11-15T10:30:50.123Z`; the fixed width makes text order time order."""
    return _to_zone(UTC, moment).isoformat("T", "milliseconds")[:23] + "Z"


# A page reads the same moments several times.
@lru_cache(4096)
def parse_moment(text: str) -> datetime:
    """Parse an RFC 3339 moment, with Z or an offset, to UTC."""
    if _RFC_3339.fullmatch(text) is None:
        raise ValueError("Write a moment such as 2026-11-15T10:30:50Z or 2026-11-15T11:30:50+01:00.")
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        raise ValueError("There is no such date or time of day.") from None
    return _to_zone(UTC, moment)


def is_time_zone(name: str) -> bool:
    """Return whether this is the name of an IANA time zone, such as Europe/Berlin."""
    return name in time_zones()


def local_date(moment: datetime, zone: str) -> date:
    """Return the local date of a moment in a time zone."""
    return _to_zone(_load_zone(zone), moment).date()


def from_wall_time(day: date, time: time, zone: str) -> datetime:
    """Return the moment, in UTC, at which the clocks of a time zone show this time.

    Raise ValueError if they skip it, in spring, or show it twice, in autumn.
    """
    if time.tzinfo is not None:
        raise ValueError("A wall time has no time zone of its own.")
    earlier = datetime.combine(day, time.replace(fold=0), _load_zone(zone))
    before, after = _offset_of(earlier), _offset_of(earlier.replace(fold=1))
    if before < after:
        raise ValueError("The clocks skip this time.")
    if before > after:
        raise ValueError("The clocks show this time twice.")
    return _to_zone(UTC, earlier)


def start_of_day(day: date, zone: str) -> datetime:
    """Return the first moment, in UTC, of a date in a time zone, even if the clocks skip midnight."""
    # For a skipped time, the earlier offset gives the moment at which the clocks jump.
    return _to_zone(UTC, datetime.combine(day, time(), _load_zone(zone)))


@dataclass(frozen=True, slots=True)
class Period:
    """A period of time in UTC that includes its start but not its end."""

    starts_at: datetime
    ends_at: datetime

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts_at", _to_zone(UTC, self.starts_at))
        object.__setattr__(self, "ends_at", _to_zone(UTC, self.ends_at))
        if self.ends_at <= self.starts_at:
            raise ValueError("A period ends after it starts.")

    @property
    def minutes(self) -> int:
        """The whole minutes that actually pass."""
        return (self.ends_at - self.starts_at) // timedelta(minutes=1)

    def overlaps(self, other: "Period") -> bool:
        """Return whether both periods share a moment; periods that only touch do not."""
        return self.starts_at < other.ends_at and other.starts_at < self.ends_at


def _to_zone(zone: tzinfo, moment: datetime) -> datetime:
    if moment.tzinfo is zone:
        return moment
    if moment.utcoffset() is None:
        raise ValueError("A moment needs a time zone or an offset.")
    try:
        return moment.astimezone(zone)
    except OverflowError:
        raise ValueError("The moment lies outside the years 1 to 9999.") from None


def _load_zone(zone: str) -> ZoneInfo:
    if not is_time_zone(zone):
        raise ValueError("The time zone is not an IANA name such as Europe/Berlin.")
    return ZoneInfo(zone)


@cache
def time_zones() -> frozenset[str]:
    """Return the names of all time zones."""
    # These two are files in the zone folder, but are not zones of a place.
    return frozenset(available_timezones() - {"Factory", "localtime"})


def _offset_of(moment: datetime) -> timedelta:
    return moment.utcoffset() or timedelta(0)


_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])",
    re.IGNORECASE | re.ASCII,
)
