"""Who has time, and when: within working hours, beside what is planned, with time to travel."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import groupby, islice
from typing import Annotated

import orjson
from pydantic import BaseModel, Field

from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.working_hours import WorkingHours, organisation_s
from mainstay.business.people.working_hours import own_hours
from mainstay.business.schedule.changes import JobId, StartsAt, zone_of
from mainstay.business.schedule.load import TRAVEL
from mainstay.business.schedule.times import bounds, moment_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, LastDay, Shown
from mainstay.values.fields import Day, Line, WholeNumber, id_of
from mainstay.values.models import TOLD
from mainstay.values.moments import Period, beginning_of, local_date, moment_text, parse_moment
from mainstay.values.words import folded

_MOST_DAYS = 31
_USUAL_DAYS = 7
_MOST_PEOPLE = 200
# Of so many it is asked whether they have a skill.
_MOST_ASKED = 10_000
_MOST_TAKEN = 10_000
# So many times are told of each one's day; one, where more people are asked about than times are told.
_EACH_DAY = 3
_QUARTER = timedelta(minutes=15)
_A_DAY = timedelta(hours=24)


class FindFreeTime(Input):
    """How long, and what else matters."""

    duration_minutes: WholeNumber = Field(60, ge=5, le=1440, title="Minutes", description="How long it takes.")
    starts_at: StartsAt = Field(None, title="At this time", description="Who is free then. Without it, whenever.")
    from_: Day | None = Field(None, alias="from", description="The first date to look at. Without it, today.")
    until: LastDay | None = Field(None, description="The last one, at most 31 days on. Without it, a week.")
    person_id: Annotated[str | None, id_of("person")] = Field(None, title="Person", description="Only this person.")
    skill: Line | None = Field(None, description="Only people who can do this, such as gas.")
    job_id: JobId | None = Field(None, title="Job", description="Where it is: its id or number, to reckon with travel.")
    limit: WholeNumber = Field(10, ge=1, le=50, description="How many at most.")


class Slot(BaseModel):
    """A time at which someone is free."""

    model_config = TOLD

    person_id: str
    person_name: str
    starts_at: str = Field(json_schema_extra={"format": "date-time"})
    ends_at: str = Field(json_schema_extra={"format": "date-time"})
    reasons: list[str] = Field(description="What speaks for it.")


class FreeTimeOut(Shown):
    """Times at which people are free, the best first."""

    noun = "freeTime"

    time_zone: str
    slots: list[Slot]
    advice: str | None = Field(description="What to try, where nobody is free.")


@dataclass(slots=True)
class _Candidate:
    """Someone who may have time."""

    id: str
    name: str
    hours: WorkingHours
    # What is taken, and at which site; leave is at none.
    taken: list[tuple[Period, str | None]] = field(default_factory=list)
    # Whether they go out to work: they have skills, or something is planned for them.
    goes_out: bool = False
    knows_job: bool = False

    def minutes_on(self, day: date, zone: str) -> int:
        """How much is planned for them on a date."""
        return sum(period.minutes for period, _ in self.taken if local_date(period.starts_at, zone) == day)


@dataclass(frozen=True, slots=True)
class _Sought:
    """What is looked for."""

    length: timedelta
    zone: str
    # Where the organisation's clocks are, by which people work.
    home: str
    site: str | None
    now: datetime
    skill: str | None


@operation(right=Right.SCHEDULE_CHANGE, effect=Effect.READ, rest="GET /free-time", takes_long=True)
def find_free_time(ctx: Context, given: FindFreeTime) -> FreeTimeOut:
    """Find who is free, and when.

    Within working hours, beside visits and leave, with time to travel; people who know the job and have less to do
    come first. Plan what you choose with plan_visit.
    """
    usual, home = organisation_s(ctx)
    job = JOBS.fetch(ctx, given.job_id) if given.job_id is not None else None
    zone = zone_of(ctx, job.site_id if job else None)
    length = timedelta(minutes=given.duration_minutes)
    sought = _Sought(length, zone, home, job.site_id if job else None, ctx.now, given.skill)
    at = moment_of("startsAt", given.starts_at, zone) if given.starts_at else None
    days = _days(given, at, local_date(ctx.now, home), home)
    people = _candidates(ctx, given, usual)
    _take(ctx, people, days, home, job.id if job else None)
    if at:
        found = [(one, at) for one in people.values() if _is_open(one, Period(at, at + length), sought, days)]
    else:
        each = 1 if len(people) > given.limit else _EACH_DAY
        found = [(one, begin) for one in people.values() for begin in _some(_openings(one, sought, days), home, each)]
    found.sort(key=lambda slot: _rank(slot[0], slot[1], home))
    advice = None if found else _NOBODY
    slots = [_slot(one, begin, sought) for one, begin in found[: given.limit]]
    return FreeTimeOut(object=FreeTimeOut.noun, time_zone=zone, slots=slots, advice=advice)


OPERATIONS = (find_free_time,)

_NOBODY = "Nobody is free then. Try other dates or a shorter time, or allow an overlap (plan_visit with allowOverlap)."


def _days(given: FindFreeTime, at: datetime | None, today: date, home: str) -> list[date]:
    if at:
        first = last = local_date(at, home)
    else:
        first = date.fromisoformat(given.from_) if given.from_ else today
        bounds(first.isoformat(), first.isoformat(), home)
        last = date.fromisoformat(given.until) if given.until else first + timedelta(days=_USUAL_DAYS - 1)
    bounds(first.isoformat(), last.isoformat(), home)
    if (last - first).days >= _MOST_DAYS:
        raise Invalid([Fault("until", f"is more than {_MOST_DAYS} days after the first date")])
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def _candidates(ctx: Context, given: FindFreeTime, usual: WorkingHours) -> dict[str, _Candidate]:
    own = own_hours(ctx)
    rows = ctx.rows.all(
        "SELECT id, name, skills FROM person WHERE organisation_id = :organisation AND status = 'active'"
        f" AND (:person = '' OR id = :person) ORDER BY id LIMIT {_MOST_ASKED if given.skill else _MOST_PEOPLE}",
        person=given.person_id or "",
    )
    found: dict[str, _Candidate] = {}
    for identity, name, kept in rows:
        skills = {folded(skill) for skill in orjson.loads(str(kept))}
        if not given.skill or folded(given.skill) in skills:
            hours = own.get(str(identity), usual)
            found[str(identity)] = _Candidate(str(identity), str(name), hours, goes_out=bool(skills))
        if len(found) == _MOST_PEOPLE:
            break
    if not found:
        field, what = (
            ("skill", "is a skill that nobody has") if given.skill else ("personId", "names nobody who is active")
        )
        raise Invalid([Fault(field, f"{what}; list_people tells who is here and what they can do")])
    return found


def _take(ctx: Context, people: Mapping[str, _Candidate], days: Sequence[date], home: str, job: str | None) -> None:
    """Note what is taken of each one's time."""
    begin, end = bounds(days[0].isoformat(), days[-1].isoformat(), home)
    # What begins late on the last day ends on the next; what began the day before may still go on.
    end = moment_text(parse_moment(end) + _A_DAY)
    earliest = moment_text(parse_moment(begin) - _A_DAY)
    rows = ctx.rows.all(
        "SELECT visit.person_id, visit.starts_at, visit.ends_at, job.site_id FROM visit LEFT JOIN job"
        " ON job.organisation_id = :organisation AND job.id = visit.job_id WHERE visit.organisation_id = :organisation"
        " AND visit.begins_at > :earliest AND visit.begins_at < :end AND visit.status <> 'cancelled'"
        f" AND visit.starts_at IS NOT NULL AND visit.person_id IS NOT NULL LIMIT {_MOST_TAKEN}",
        earliest=earliest,
        end=end,
    )
    if len(rows) == _MOST_TAKEN:
        raise Invalid([Fault("until", "is too far away: more is planned until then than is looked through")])
    for person, starts, ends, site in rows:
        if one := people.get(str(person)):
            one.taken.append((_period(starts, ends), str(site) if site else None))
            one.goes_out = True
    away = ctx.rows.all(
        "SELECT person_id, starts_at, ends_at FROM time_off WHERE organisation_id = :organisation"
        " AND status = 'approved' AND starts_at < :end AND ends_at > :begin",
        begin=begin,
        end=end,
    )
    for person, starts, ends in away:
        if one := people.get(str(person)):
            one.taken.append((_period(starts, ends), _ANYWHERE))
    known = ctx.rows.all(
        "SELECT DISTINCT person_id FROM visit WHERE organisation_id = :organisation AND job_id = :job"
        " AND status <> 'cancelled' AND person_id IS NOT NULL",
        job=job,
    )
    for (person,) in known:
        if one := people.get(str(person)):
            one.knows_job = True


# Whoever comes back from leave, or goes, travels no way that one could reckon with.
_ANYWHERE = "anywhere"


def _period(starts: object, ends: object) -> Period:
    return Period(parse_moment(str(starts)), parse_moment(str(ends)))


def _openings(one: _Candidate, sought: _Sought, days: Sequence[date]) -> Iterator[datetime]:
    """The first time in each stretch that is free for someone and long enough; it begins on one of the days."""
    taken = sorted(_closed(one, sought))
    first, last = beginning_of(days[0], sought.home), beginning_of(days[-1] + timedelta(days=1), sought.home)
    for worked in one.hours.between(days[0], days[-1], sought.home):
        begin = max(worked.starts_at, first, _next_quarter(sought.now))
        for starts, ends in taken:
            if starts >= worked.ends_at:
                break
            if begin < last and begin + sought.length <= starts:
                yield begin
            begin = max(begin, _next_quarter(ends))
        if begin < last and begin + sought.length <= worked.ends_at:
            yield begin


def _some(openings: Iterator[datetime], home: str, each: int) -> Iterator[datetime]:
    """So many of each day: whoever has one stretch after the other does not hide the others."""
    for _, of_day in groupby(openings, key=lambda begin: local_date(begin, home)):
        yield from islice(of_day, each)


def _is_open(one: _Candidate, period: Period, sought: _Sought, days: Sequence[date]) -> bool:
    works = any(
        worked.starts_at <= period.starts_at and period.ends_at <= worked.ends_at
        for worked in one.hours.between(days[0], days[-1], sought.home)
    )
    return works and not any(
        starts < period.ends_at and period.starts_at < ends for starts, ends in _closed(one, sought)
    )


def _closed(one: _Candidate, sought: _Sought) -> Iterator[tuple[datetime, datetime]]:
    """When someone cannot be there: with the time it takes to come from elsewhere and to go there."""
    for period, site in one.taken:
        same = site == _ANYWHERE or (site is not None and site == sought.site)
        way = timedelta(0) if same else TRAVEL
        yield period.starts_at - way, period.ends_at + way


def _next_quarter(moment: datetime) -> datetime:
    over = (moment - datetime.min.replace(tzinfo=moment.tzinfo)) % _QUARTER
    return moment + (_QUARTER - over if over else timedelta(0))


def _rank(one: _Candidate, begin: datetime, home: str) -> tuple[object, ...]:
    day = local_date(begin, home)
    return day, not one.knows_job, not one.goes_out, one.minutes_on(day, home), begin, one.name


def _slot(one: _Candidate, begin: datetime, sought: _Sought) -> Slot:
    planned = one.minutes_on(local_date(begin, sought.home), sought.home)
    reasons = [f"can do {sought.skill}"] if sought.skill else []
    reasons += ["knows the job"] if one.knows_job else []
    reasons.append(
        f"{planned // 60} h {planned % 60} min planned that day" if planned else "nothing else planned that day"
    )
    return Slot(
        person_id=one.id,
        person_name=one.name,
        starts_at=moment_text(begin),
        ends_at=moment_text(begin + sought.length),
        reasons=reasons,
    )
