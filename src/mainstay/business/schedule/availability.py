"""Finds when people are free: within their working hours, between visits and leave, with time to travel.

These are pure functions. A `Period` is a stretch of time between two moments; a `BookedTime` and a `LeavePeriod` say
why a person is not free in one. A `Span` is a part of each day, from one time of day to another.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from mainstay.business.organisation.working_hours import Span, WorkingHours
from mainstay.business.schedule.workload import TRAVEL_TIME
from mainstay.values.moments import ONE_DAY, Period, local_date, start_of_day
from mainstay.vocabulary.permissions import Role

# The most slots offered for one person on one day. They are spread over the day.
MAX_SLOTS_PER_DAY = 4
_HOUR = timedelta(hours=1)
_QUARTER = timedelta(minutes=15)
# Slots begin on the quarter hour. If none of those fits, finer grids are tried, so that no gap is missed.
_GRIDS = (_QUARTER, timedelta(minutes=5), timedelta(minutes=1))


class BookedTime(NamedTuple):
    """Time that a visit takes, and the site of the visit."""

    period: Period
    site_id: str | None


class LeavePeriod(NamedTuple):
    """A period of approved leave."""

    period: Period
    kind: str


@dataclass(slots=True)
class Candidate:
    """A person who may have time."""

    id: str
    name: str
    role: Role
    hours: WorkingHours
    # True for field roles, and for office people with skills or visits.
    does_visits: bool
    visits: list[BookedTime] = field(default_factory=list)
    leave: list[LeavePeriod] = field(default_factory=list)
    knows_job: bool = False

    def planned_minutes(self, day: date, zone: str) -> int:
        """Return how many minutes of visits are planned for them on a date."""
        return sum(booked.period.minutes for booked in self.visits if local_date(booked.period.starts_at, zone) == day)


@dataclass(frozen=True, slots=True)
class FreeTimeSearch:
    """What kind of free time is searched for."""

    length: timedelta
    days: Sequence[date]
    # Slots begin at this moment or later.
    not_before: datetime
    # The time zone of the place of work, used for the window.
    site_zone: str
    # The time zone of the organisation, used for dates and working hours.
    organisation_zone: str
    site_id: str | None
    window: Span | None


class FreeSlot(NamedTuple):
    """A time at which a person is free."""

    person: Candidate
    starts_at: datetime


def find_free_slots(search: FreeTimeSearch, people: Iterable[Candidate]) -> list[FreeSlot]:
    """Find some slots of each person on each day, ordered by day.

    Within a day everyone's first slot comes before everyone's second, and the most suitable person comes first.
    """
    ranked_slots: list[tuple[tuple[object, ...], FreeSlot]] = []
    zone = search.organisation_zone
    for person in people:
        start_times = [
            starts_at
            for free_period in _find_free_periods(person, search)
            for starts_at in _list_start_times(free_period, search.length)
        ]
        for day, day_start_times in groupby(start_times, key=lambda starts_at: local_date(starts_at, zone)):
            preference = _preference_of(person, day, zone)
            ranked_slots += [
                ((day, rank, *preference, starts_at, person.name, person.id), FreeSlot(person, starts_at))
                for rank, starts_at in enumerate(_choose_spread([*day_start_times]))
            ]
    return [slot for _, slot in sorted(ranked_slots, key=lambda ranked_slot: ranked_slot[0])]


def find_slots_at(search: FreeTimeSearch, people: Iterable[Candidate], at: datetime) -> list[FreeSlot]:
    """Return a slot at this time for each person who is free then, best first."""
    ends_at = at + search.length
    free_people = [
        person
        for person in people
        if any(period.starts_at <= at and ends_at <= period.ends_at for period in _find_free_periods(person, search))
    ]
    day = local_date(at, search.organisation_zone)
    free_people.sort(key=lambda person: (*_preference_of(person, day, search.organisation_zone), person.name))
    return [FreeSlot(person, at) for person in free_people]


def _preference_of(person: Candidate, day: date, zone: str) -> tuple[bool, bool, int]:
    """Return a sort key that puts the most suitable person first. False sorts before True."""
    return not person.knows_job, not person.does_visits, person.planned_minutes(day, zone)


def _find_free_periods(person: Candidate, search: FreeTimeSearch) -> Iterator[Period]:
    """Yield the periods in which a person can work, in order. One that begins on the last day may end on the next."""
    first, last = search.days[0], search.days[-1]
    working_periods = person.hours.periods_between(first, last, search.organisation_zone)
    if search.window:
        # A window of the day before may reach past midnight.
        days = [first - ONE_DAY, *search.days]
        allowed_periods = [period for day in days if (period := search.window.period_on(day, search.site_zone))]
        working_periods = [
            common
            for working in working_periods
            for allowed in allowed_periods
            if (common := _intersect(working, allowed))
        ]
    busy_periods = sorted(_list_busy_periods(person, search), key=lambda busy: busy.starts_at)
    not_before = max(search.not_before, start_of_day(first, search.organisation_zone))
    search_end = start_of_day(last + ONE_DAY, search.organisation_zone)
    for working in working_periods:
        for free_period in _subtract(working, busy_periods):
            starts_at = max(free_period.starts_at, not_before)
            if starts_at < min(search_end, free_period.ends_at):
                yield Period(starts_at, free_period.ends_at)


def _intersect(period: Period, other: Period) -> Period | None:
    starts_at, ends_at = max(period.starts_at, other.starts_at), min(period.ends_at, other.ends_at)
    return Period(starts_at, ends_at) if starts_at < ends_at else None


def _subtract(period: Period, busy_periods: Sequence[Period]) -> Iterator[Period]:
    """Yield the parts of a period outside the busy periods, which must be sorted by start."""
    starts_at = period.starts_at
    for busy in busy_periods:
        ends_at = min(busy.starts_at, period.ends_at)
        if starts_at < ends_at:
            yield Period(starts_at, ends_at)
        starts_at = max(starts_at, busy.ends_at)
    if starts_at < period.ends_at:
        yield Period(starts_at, period.ends_at)


def _list_busy_periods(person: Candidate, search: FreeTimeSearch) -> Iterator[Period]:
    """Yield the periods in which a person cannot work: visits, with the time to travel between places, and leave."""
    for period, site_id in person.visits:
        travel_time = timedelta(0) if site_id is not None and site_id == search.site_id else TRAVEL_TIME
        yield Period(period.starts_at - travel_time, period.ends_at + travel_time)
    for period, _ in person.leave:
        yield period


def _list_start_times(free_period: Period, length: timedelta) -> list[datetime]:
    """Return the times within a free period at which something of this length can begin."""
    last = free_period.ends_at - length
    for grid in _GRIDS:
        first = _next_on_grid(grid, free_period.starts_at)
        if first <= last:
            # Slots on the quarter hour begin at least an hour apart.
            step = max(_round_to_quarter(length), _HOUR) if grid == _QUARTER else grid
            return [first + number * step for number in range((last - first) // step + 1)]
    return []


def _round_to_quarter(length: timedelta) -> timedelta:
    return -(-length // _QUARTER) * _QUARTER


def _next_on_grid(grid: timedelta, moment: datetime) -> datetime:
    remainder = (moment - datetime.min.replace(tzinfo=moment.tzinfo)) % grid
    return moment + (grid - remainder if remainder else timedelta(0))


def _choose_spread(start_times: Sequence[datetime]) -> Sequence[datetime]:
    """Choose some of a day's start times, spread from the first to the last."""
    last, gaps = len(start_times) - 1, MAX_SLOTS_PER_DAY - 1
    if last <= gaps:
        return start_times
    return [start_times[(number * last + gaps // 2) // gaps] for number in range(gaps + 1)]
