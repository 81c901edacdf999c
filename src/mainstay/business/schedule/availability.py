"""When someone is free: within their working hours, beside visits and leave, with time to travel; pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from mainstay.business.organisation.working_hours import Span, WorkingHours
from mainstay.business.schedule.load import TRAVEL
from mainstay.terms.rights import Role
from mainstay.values.moments import Period, beginning_of, local_date

# The most slots of one person on one day, spread over the day.
MOST_EACH_DAY = 4
_A_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
_QUARTER = timedelta(minutes=15)
# Slots begin on the quarter hour. Where none of those fits, the finer grids are tried, so that no gap is missed.
_GRIDS = (_QUARTER, timedelta(minutes=5), timedelta(minutes=1))


class Taken(NamedTuple):
    """Time that a visit takes, and the site it is at."""

    period: Period
    site_id: str | None


class Leave(NamedTuple):
    """Approved leave."""

    period: Period
    kind: str


@dataclass(slots=True)
class Candidate:
    """Someone who may have time."""

    id: str
    name: str
    role: Role
    hours: WorkingHours
    # Field roles, and office people with skills or visits.
    goes_out: bool
    visits: list[Taken] = field(default_factory=list)
    leave: list[Leave] = field(default_factory=list)
    knows_job: bool = False

    def planned_minutes(self, day: date, zone: str) -> int:
        """How much is planned for them on a date."""
        return sum(one.period.minutes for one in self.visits if local_date(one.period.starts_at, zone) == day)


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for, and where."""

    length: timedelta
    days: Sequence[date]
    # No slot begins earlier.
    not_before: datetime
    # The zone of the place of work, in which the window is meant; and of the organisation, in which people work.
    zone: str
    home: str
    site_id: str | None
    window: Span | None


class FreeSlot(NamedTuple):
    """A time at which someone is free."""

    who: Candidate
    begin: datetime


def find_slots(search: Search, people: Iterable[Candidate]) -> list[FreeSlot]:
    """Find some slots of each person on each day, the best first: everyone's first slot, then everyone's second."""
    ranked: list[tuple[tuple[object, ...], FreeSlot]] = []
    for who in people:
        starts = [start for free in _free_periods(who, search) for start in _starts_in(free, search.length)]
        for day, of_day in groupby(starts, key=lambda start: local_date(start, search.home)):
            worth = (not who.knows_job, not who.goes_out, who.planned_minutes(day, search.home))
            ranked += [
                ((day, place, *worth, start, who.name, who.id), FreeSlot(who, start))
                for place, start in enumerate(_spread([*of_day]))
            ]
    return [slot for _, slot in sorted(ranked, key=lambda one: one[0])]


def find_free_at(search: Search, people: Iterable[Candidate], at: datetime) -> list[FreeSlot]:
    """Find who is free at one time, the best first."""
    end = at + search.length
    free = [
        who for who in people if any(one.starts_at <= at and end <= one.ends_at for one in _free_periods(who, search))
    ]
    day = local_date(at, search.home)
    free.sort(key=lambda who: (not who.knows_job, not who.goes_out, who.planned_minutes(day, search.home), who.name))
    return [FreeSlot(who, at) for who in free]


def _free_periods(who: Candidate, search: Search) -> Iterator[Period]:
    """Yield the periods in which someone can work, in order; one that begins on the last day may end on the next."""
    first, last = search.days[0], search.days[-1]
    worked = who.hours.between(first, last, search.home)
    if search.window:
        days = [first - _A_DAY, *search.days]
        allowed = [period for day in days if (period := search.window.period_on(day, search.zone))]
        worked = [common for one in worked for other in allowed if (common := _common(one, other))]
    closed = sorted(_closed(who, search))
    not_before = max(search.not_before, beginning_of(first, search.home))
    end = beginning_of(last + _A_DAY, search.home)
    for period in worked:
        for free in _without(period, closed):
            begin = max(free.starts_at, not_before)
            if begin < min(end, free.ends_at):
                yield Period(begin, free.ends_at)


def _common(one: Period, other: Period) -> Period | None:
    begin, end = max(one.starts_at, other.starts_at), min(one.ends_at, other.ends_at)
    return Period(begin, end) if begin < end else None


def _without(period: Period, closed: Sequence[tuple[datetime, datetime]]) -> Iterator[Period]:
    """Yield what is left of a period between closed times, which are in order."""
    begin = period.starts_at
    for starts, ends in closed:
        if begin < min(starts, period.ends_at):
            yield Period(begin, min(starts, period.ends_at))
        begin = max(begin, ends)
    if begin < period.ends_at:
        yield Period(begin, period.ends_at)


def _closed(who: Candidate, search: Search) -> Iterator[tuple[datetime, datetime]]:
    """Yield when someone cannot be there: visits with the time to travel between two places, and leave."""
    for period, site in who.visits:
        travel = timedelta(0) if site is not None and site == search.site_id else TRAVEL
        yield period.starts_at - travel, period.ends_at + travel
    for period, _ in who.leave:
        yield period.starts_at, period.ends_at


def _starts_in(free: Period, length: timedelta) -> list[datetime]:
    """List when something so long can begin within a free period."""
    last = free.ends_at - length
    for grid in _GRIDS:
        first = _next_on(grid, free.starts_at)
        if first <= last:
            # On the quarter hour, one follows the other at least an hour later.
            step = max(_next_multiple(length), _HOUR) if grid == _QUARTER else grid
            return [first + number * step for number in range((last - first) // step + 1)]
    return []


def _next_multiple(length: timedelta) -> timedelta:
    return -(-length // _QUARTER) * _QUARTER


def _next_on(grid: timedelta, moment: datetime) -> datetime:
    over = (moment - datetime.min.replace(tzinfo=moment.tzinfo)) % grid
    return moment + (grid - over if over else timedelta(0))


def _spread(starts: Sequence[datetime]) -> Sequence[datetime]:
    """Choose some of a day's starts, from the first to the last."""
    last, gaps = len(starts) - 1, MOST_EACH_DAY - 1
    return starts if last <= gaps else [starts[(number * last + gaps // 2) // gaps] for number in range(gaps + 1)]
