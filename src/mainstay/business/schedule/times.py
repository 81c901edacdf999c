"""When a visit is: as it was asked for, as it is kept, and as people are told it."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field

from mainstay.business.schedule.model import LONGEST_VISIT_HOURS
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.shapes import BACKWARDS
from mainstay.values.fields import ANOTHER_YEAR, YEARS, Day, WholeNumber
from mainstay.values.models import GIVEN
from mainstay.values.moments import beginning_of, moment_text, parse_moment
from mainstay.values.wall_times import read_wall_time

# So far ahead something can be repeated.
_A_YEAR = timedelta(days=366)


class Asked(NamedTuple):
    """When someone wants a visit to be: from one time to another or for so long, or at any time of a date."""

    starts_at: str | None = None
    ends_at: str | None = None
    minutes: int | None = None
    on: str | None = None


class When(NamedTuple):
    """When a visit is, as it is kept."""

    time_zone: str
    begins_at: str
    starts_at: str | None
    ends_at: str | None
    on_date: str | None

    @property
    def first_day(self) -> date:
        """The date on which it begins, where it is."""
        return date.fromisoformat(self.on_date) if self.on_date else local(self.begins_at, self.time_zone).date()

    @property
    def minutes(self) -> int:
        """How long it takes; nothing, where it is only a date."""
        if self.starts_at is None or self.ends_at is None:
            return 0
        return (parse_moment(self.ends_at) - parse_moment(self.starts_at)) // timedelta(minutes=1)


class Repeat(BaseModel):
    """How often something comes again."""

    model_config = GIVEN

    every: WholeNumber | None = Field(None, ge=1, le=52, description="2 for every other, and so on.")
    unit: Literal["day", "week", "month"] | None = Field(None, description="Days, weeks or months; `repeat` needs it.")
    count: WholeNumber | None = Field(None, ge=2, le=366, description="How many there are in all.")
    until: Day | None = Field(None, description="Or the last date on which there can be one.")


def when_asked(asked: Asked, zone: str) -> When:
    """When it is, or what is wrong with what was asked for."""
    if asked.on:
        if asked.starts_at or asked.ends_at or asked.minutes:
            raise Invalid([Fault("on", "is for any time of a date; leave out the times, or the date")])
        return any_time(_reachable("on", asked.on), zone)
    if not asked.starts_at:
        raise Invalid([Fault("startsAt", "is required, or a date for any time of it (`on`)")])
    if bool(asked.ends_at) == bool(asked.minutes):
        raise Invalid([Fault("endsAt", "is required, or durationMinutes, and only one of the two")])
    begin = moment_of("startsAt", asked.starts_at, zone)
    end = moment_of("endsAt", asked.ends_at, zone) if asked.ends_at else begin + timedelta(minutes=asked.minutes or 0)
    return between(begin, end, zone)


def between(begin: datetime, end: datetime, zone: str) -> When:
    """From one moment to another."""
    if end <= begin:
        raise Invalid([Fault("endsAt", "is not after startsAt")])
    if end - begin > timedelta(hours=LONGEST_VISIT_HOURS):
        raise Invalid(
            [Fault("endsAt", f"is more than {LONGEST_VISIT_HOURS} hours after startsAt; plan several visits")]
        )
    return When(zone, moment_text(begin), moment_text(begin), moment_text(end), None)


def any_time(day: date, zone: str) -> When:
    """At any time of a date."""
    return When(zone, moment_text(beginning_of(day, zone)), None, None, day.isoformat())


def repeated(when: When, repeat: Repeat) -> list[When]:
    """Each time that something comes again, the first included: the clocks show the same each time."""
    if repeat.unit is None:
        raise Invalid([Fault("repeat.unit", "is required")])
    if (repeat.count is None) == (repeat.until is None):
        raise Invalid([Fault("repeat", "needs either count or until, and only one of the two")])
    first = when.first_day
    last = first + _A_YEAR
    if repeat.until:
        until = _reachable("repeat.until", repeat.until)
        if not first <= until <= last:
            raise Invalid([Fault("repeat.until", "is not within a year after the first visit")])
        last = until
    days: list[date] = []
    for day in _days(first, repeat):
        if day > last or (repeat.count is not None and len(days) == repeat.count):
            break
        days.append(day)
    if repeat.count is not None and len(days) < repeat.count:
        raise Invalid([Fault("repeat.count", f"reaches further than a year ahead; at most {len(days)} fit")])
    return [on_day(when, day) for day in days]


def on_day(when: When, day: date) -> When:
    """The same on another date: at the same time by the clocks there, for as long."""
    if day.year not in YEARS:
        raise Invalid([Fault("startsAt", f"leads to {day.isoformat()}, which {ANOTHER_YEAR}")])
    if when.on_date or when.starts_at is None:
        return any_time(day, when.time_zone)
    shown = local(when.starts_at, when.time_zone).time().replace(fold=0)
    try:
        begin = read_wall_time(datetime.combine(day, shown).isoformat(timespec="seconds"), when.time_zone)
    except ValueError as fault:
        apart = "repeat until the date before, plan that one alone, and repeat again from the next"
        raise Invalid([Fault("startsAt", f"on {day.isoformat()} {fault}; {apart}")]) from None
    return between(begin, begin + timedelta(minutes=when.minutes), when.time_zone)


def local(moment: str, zone: str) -> datetime:
    """What the clocks of a place show at a moment."""
    return parse_moment(moment).astimezone(ZoneInfo(zone))


def told(starts_at: str | None, ends_at: str | None, on: str | None, zone: str) -> str:
    """A time as people are told it: `2026-11-15 from 10:00 to 11:30 (Europe/London)`."""
    if starts_at is None or ends_at is None:
        return f"any time on {on}"
    begin, end = local(starts_at, zone), local(ends_at, zone)
    day = "" if begin.date() == end.date() else f" on {end.date().isoformat()}"
    return f"{begin.date().isoformat()} from {begin:%H:%M} to {end:%H:%M}{day} ({zone})"


def bounds(first: str | None, last: str | None, zone: str) -> tuple[str, str]:
    """The moments around the dates of a range, the last included; what is open lies before or behind everything."""
    if first and last and last < first:
        raise Invalid([Fault("until", BACKWARDS)])
    begin = moment_text(beginning_of(_reachable("from", first), zone)) if first else ""
    end = moment_text(beginning_of(_reachable("until", last) + timedelta(days=1), zone)) if last else "9"
    return begin, end


def moment_of(name: str, text: str, zone: str) -> datetime:
    """The moment that a field means, read at a place."""
    try:
        moment = read_wall_time(text, zone)
    except ValueError as fault:
        raise Invalid([Fault(name, str(fault))]) from None
    if moment.year not in YEARS:
        raise Invalid([Fault(name, ANOTHER_YEAR)])
    return moment


def _days(first: date, repeat: Repeat) -> Iterator[date]:
    number = 0
    while True:
        step = number * (repeat.every or 1)
        if repeat.unit == "month":
            yield _months_later(first, step)
        else:
            yield first + timedelta(days=step * (7 if repeat.unit == "week" else 1))
        number += 1


def _months_later(day: date, months: int) -> date:
    """The same day of a later month, or its last where it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _reachable(name: str, text: str) -> date:
    day = date.fromisoformat(text)
    if day.year not in YEARS:
        raise Invalid([Fault(name, ANOTHER_YEAR)])
    return day
