"""Times of visits: as entered, as stored and as shown to people."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field

from mainstay.business.schedule.model import MAX_VISIT_HOURS
from mainstay.values.descriptions import describe
from mainstay.values.fields import ALLOWED_YEARS, WRONG_YEAR, Day, WholeNumber
from mainstay.values.message import CalendarDate, FieldName, LocalPeriod, Message, message_of
from mainstay.values.model_config import INPUT_CONFIG
from mainstay.values.moments import ONE_DAY, moment_text, parse_moment, start_of_day
from mainstay.values.wall_times import parse_entered_moment
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import BACKWARDS
from mainstay.vocabulary.validation import REQUIRED, parse_day

# How far ahead a visit can be repeated.
_A_YEAR = timedelta(days=366)


class EnteredTime(NamedTuple):
    """The time of a visit as entered: from one time to another, for a number of minutes, or at any time of a date."""

    starts_at: str | None = None
    ends_at: str | None = None
    minutes: int | None = None
    on: str | None = None


class VisitTime(NamedTuple):
    """The time of a visit as stored."""

    time_zone: str
    begins_at: str
    starts_at: str | None
    ends_at: str | None
    on_date: str | None

    @property
    def first_day(self) -> date:
        """The local date on which it begins."""
        return (
            date.fromisoformat(self.on_date) if self.on_date else to_local_time(self.begins_at, self.time_zone).date()
        )

    @property
    def minutes(self) -> int:
        """Its length in minutes; 0 if only a date is given."""
        if self.starts_at is None or self.ends_at is None:
            return 0
        return (parse_moment(self.ends_at) - parse_moment(self.starts_at)) // timedelta(minutes=1)


class Repeat(BaseModel):
    """How often a visit repeats."""

    model_config = INPUT_CONFIG

    every: WholeNumber | None = Field(None, ge=1, le=52, description="E.g. 2 for every 2 weeks.")
    unit: Literal["day", "week", "month"] | None = Field(None, description="Required to repeat.")
    count: WholeNumber | None = Field(None, ge=2, le=366, title="Number of visits", description="In total.")
    until: Day | None = Field(
        None, description=describe("[[The last possible date, instead of a number of `visits`.]]")
    )


def to_visit_time(entered: EnteredTime, zone: str) -> VisitTime:
    """Return the stored time for an entered one, or refuse it."""
    if entered.on:
        if entered.starts_at or entered.ends_at or entered.minutes:
            raise Invalid([Fault("on", Message("can't be combined with a start, end or duration"))])
        return visit_time_on(parse_day("on", entered.on), zone)
    if not entered.starts_at:
        raise Invalid([Fault("startsAt", Message("is required, unless {field} is given", field=FieldName("on")))])
    duration = FieldName("durationMinutes")
    if entered.ends_at and entered.minutes:
        raise Invalid([Fault("endsAt", Message("can't be combined with {field}", field=duration))])
    if not (entered.ends_at or entered.minutes):
        raise Invalid([Fault("durationMinutes", Message("is required with {field}", field=FieldName("startsAt")))])
    begin = read_moment("startsAt", entered.starts_at, zone)
    end = (
        read_moment("endsAt", entered.ends_at, zone)
        if entered.ends_at
        else begin + timedelta(minutes=entered.minutes or 0)
    )
    return visit_time_between(begin, end, zone)


def visit_time_between(begin: datetime, end: datetime, zone: str) -> VisitTime:
    """Return the visit time from one moment to another."""
    if end <= begin:
        raise Invalid([Fault("endsAt", Message("is not after {field}", field=FieldName("startsAt")))])
    if end - begin > timedelta(hours=MAX_VISIT_HOURS):
        problem = Message(
            "is more than {hours} hours after {field}; plan several visits",
            hours=MAX_VISIT_HOURS,
            field=FieldName("startsAt"),
        )
        raise Invalid([Fault("endsAt", problem)])
    return VisitTime(zone, moment_text(begin), moment_text(begin), moment_text(end), None)


def visit_time_on(day: date, zone: str) -> VisitTime:
    """Return the visit time for a date without times."""
    return VisitTime(zone, moment_text(start_of_day(day, zone)), None, None, day.isoformat())


def repeat_visit_time(time: VisitTime, repeat: Repeat) -> list[VisitTime]:
    """Return all times of a repeated visit, including the first. The local time of day stays the same."""
    if repeat.unit is None:
        raise Invalid([Fault("repeat.unit", Message(REQUIRED))])
    if (repeat.count is None) == (repeat.until is None):
        problem = Message(
            "needs either {first} or {second}", first=FieldName("repeat.count"), second=FieldName("repeat.until")
        )
        raise Invalid([Fault("repeat", problem)])
    first = time.first_day
    last = first + _A_YEAR
    if repeat.until:
        until = parse_day("repeat.until", repeat.until)
        if not first <= until <= last:
            raise Invalid([Fault("repeat.until", Message("is not within a year of the first visit"))])
        last = until
    days: list[date] = []
    for day in _iterate_days(first, repeat):
        if day > last or (repeat.count is not None and len(days) == repeat.count):
            break
        days.append(day)
    if repeat.count is not None and len(days) < repeat.count:
        raise Invalid([Fault("repeat.count", Message("is too many; at most {most} fit into a year", most=len(days)))])
    return [move_to_day(time, day) for day in days]


def move_to_day(time: VisitTime, day: date) -> VisitTime:
    """Return the same time on another date: at the same local time of day, and for as long."""
    if day.year not in ALLOWED_YEARS:
        problem = Message("would be {date}, which {problem}", date=CalendarDate(day.isoformat()), problem=WRONG_YEAR)
        raise Invalid([Fault("startsAt", problem)])
    if time.on_date or time.starts_at is None:
        return visit_time_on(day, time.time_zone)
    wall_time = to_local_time(time.starts_at, time.time_zone).time().replace(fold=0)
    try:
        begin = parse_entered_moment(datetime.combine(day, wall_time).isoformat(timespec="seconds"), time.time_zone)
    except ValueError:
        problem = Message(
            "is not possible on {date}, because the clocks change then; repeat until the day before, plan that visit"
            " separately, and repeat again from the day after",
            date=CalendarDate(day.isoformat()),
        )
        raise Invalid([Fault("startsAt", problem)]) from None
    return visit_time_between(begin, begin + timedelta(minutes=time.minutes), time.time_zone)


def to_local_time(moment: str, zone: str) -> datetime:
    """Return a moment as local time."""
    return parse_moment(moment).astimezone(ZoneInfo(zone))


def describe_visit_time(starts_at: str | None, ends_at: str | None, on: str | None, zone: str) -> LocalPeriod | Message:
    """Return a time as a value of messages: a period, or a date without times."""
    if starts_at is None or ends_at is None:
        return Message("{date}, all day", date=CalendarDate(on or ""))
    return LocalPeriod(starts_at, ends_at, zone)


def bounds_of_days(first: str | None, last: str | None, zone: str) -> tuple[str, str]:
    """Return the moments at which a range of dates begins and ends.

    The last date is included. An open end is a text that sorts before or after all moments.
    """
    if first and last and last < first:
        raise Invalid([Fault("until", BACKWARDS)])
    begin = moment_text(start_of_day(parse_day("from", first), zone)) if first else ""
    end = moment_text(start_of_day(parse_day("until", last) + ONE_DAY, zone)) if last else "9"
    return begin, end


def read_moment(field: str, text: str, zone: str) -> datetime:
    """Return the moment given in a field, read in a time zone."""
    try:
        moment = parse_entered_moment(text, zone)
    except ValueError as error:
        raise Invalid([Fault(field, message_of(error))]) from None
    if moment.year not in ALLOWED_YEARS:
        raise Invalid([Fault(field, WRONG_YEAR)])
    return moment


def _iterate_days(first: date, repeat: Repeat) -> Iterator[date]:
    number = 0
    while True:
        step = number * (repeat.every or 1)
        if repeat.unit == "month":
            yield _add_months(first, step)
        else:
            yield first + timedelta(days=step * (7 if repeat.unit == "week" else 1))
        number += 1


def _add_months(day: date, months: int) -> date:
    """Return the same day of a later month, or the last day if that month is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
