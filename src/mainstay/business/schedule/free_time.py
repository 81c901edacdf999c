"""Who has time, and when."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Annotated

import orjson
from pydantic import BaseModel, Field

from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.working_hours import MIDNIGHT, Span, WorkingHours, organisation_s
from mainstay.business.people.working_hours import own_hours
from mainstay.business.schedule.availability import Candidate, FreeSlot, Leave, Search, Taken, find_free_at, find_slots
from mainstay.business.schedule.changes import JobId, StartsAt, zone_of
from mainstay.business.schedule.model import LeaveKind
from mainstay.business.schedule.times import bounds, moment_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.rights import Right, Role, holds
from mainstay.terms.shapes import Input, LastDay, Shown
from mainstay.values.fields import AskedBool, Day, Line, WholeNumber, id_of
from mainstay.values.models import TOLD
from mainstay.values.moments import Period, local_date, moment_text, parse_moment
from mainstay.values.wall_times import TimeOfDay
from mainstay.values.words import folded

_MOST_DAYS = 31
_USUAL_DAYS = 7
_MOST_PEOPLE = 200
# Of so many it is asked whether they have a skill.
_MOST_ASKED = 10_000
_MOST_TAKEN = 10_000
_A_DAY = timedelta(hours=24)
# Those who do not plan for others work in the field.
_FIELD_ROLES = ", ".join(f"'{role}'" for role in Role if not holds(role, Right.SCHEDULE_CHANGE))


class FindFreeTime(Input):
    """How long, and what else matters."""

    duration_minutes: WholeNumber = Field(60, ge=5, le=1440, title="Minutes", description="How long it takes.")
    starts_at: StartsAt = Field(None, title="At this time", description="Who is free then. Without it, whenever.")
    from_: Day | None = Field(None, alias="from", description="The first date to look at. Without it, today.")
    until: LastDay | None = Field(None, description="The last one, at most 31 days on. Without it, a week.")
    earliest: TimeOfDay | None = Field(
        None,
        title="Not before",
        description="It begins at this time of day or later, where the work is: 13:00 for an afternoon.",
    )
    latest: TimeOfDay | None = Field(
        None,
        title="Done by",
        description="It ends by this time of day. Not later than `earliest`, it is on the next day: 22:00 to 06:00.",
    )
    person_id: Annotated[str | None, id_of("person")] = Field(None, title="Person", description="Only this person.")
    skill: Line | None = Field(None, description="Only people who can do this, such as gas.")
    job_id: JobId | None = Field(None, title="Job", description="Where it is: its id or number, to reckon with travel.")
    include_office: AskedBool = Field(
        default=False,
        title="Office people too",
        description="Also owners, admins and office people who have neither skills nor visits.",
    )
    limit: WholeNumber = Field(20, ge=1, le=50, description="How many at most.")


class Slot(BaseModel):
    """A time at which someone is free."""

    model_config = TOLD

    person_id: str
    person_name: str
    role: Role
    starts_at: str = Field(json_schema_extra={"format": "date-time"})
    ends_at: str = Field(json_schema_extra={"format": "date-time"})
    reasons: list[str] = Field(description="What speaks for it.")


class LeaveThen(BaseModel):
    """Approved leave in the time that was looked at."""

    model_config = TOLD

    person_id: str
    person_name: str
    kind: LeaveKind
    starts_at: str = Field(json_schema_extra={"format": "date-time"})
    ends_at: str = Field(json_schema_extra={"format": "date-time"})


class FreeTimeOut(Shown):
    """Times at which people are free, the best first."""

    noun = "freeTime"

    time_zone: str
    slots: list[Slot]
    on_leave: list[LeaveThen] = Field(description="Who of those looked at is on leave then.")
    advice: str | None = Field(description="What to try if nobody is free.")


@operation(right=Right.SCHEDULE_CHANGE, effect=Effect.READ, rest="GET /free-time", takes_long=True)
def find_free_time(ctx: Context, given: FindFreeTime) -> FreeTimeOut:
    """Find who is free, and when.

    Several times a day for each person who does visits, within working hours, beside visits and leave, with time to
    travel; people who know the job and have less to do come first. Plan what you choose with plan_visit.
    """
    usual, home = organisation_s(ctx)
    job = JOBS.fetch(ctx, given.job_id) if given.job_id is not None else None
    zone = zone_of(ctx, job.site_id if job else None)
    at = moment_of("startsAt", given.starts_at, zone) if given.starts_at else None
    window = _window(given)
    days = _days(given, at, local_date(ctx.now, home), home)
    people = _candidates(ctx, given, usual)
    _take(ctx, people, days, home, job.id if job else None)
    length = timedelta(minutes=given.duration_minutes)
    search = Search(length, days, at or ctx.now, zone, home, job.site_id if job else None, window)
    found = find_free_at(search, people.values(), at) if at else find_slots(search, people.values())
    looked_at = Period(at, at + length) if at else _whole_days(days, home)
    return FreeTimeOut(
        object=FreeTimeOut.noun,
        time_zone=zone,
        slots=[_slot(one, search, given.skill) for one in found[: given.limit]],
        on_leave=_on_leave(people.values(), looked_at),
        advice=None if found else _NOBODY if given.include_office else f"{_NOBODY} {_OFFICE}",
    )


OPERATIONS = (find_free_time,)

_NOBODY = "Nobody is free then. Try other dates or a shorter time, or allow an overlap (plan_visit with allowOverlap)."
_OFFICE = "Office people who have neither skills nor visits are looked at with includeOffice."


def _window(given: FindFreeTime) -> Span | None:
    """The part of each day that is asked for."""
    if given.earliest is None and given.latest is None:
        return None
    if given.starts_at:
        name = "latest" if given.earliest is None else "earliest"
        raise Invalid([Fault(name, "is for any time of the day; leave it out, or startsAt")])
    return Span.model_validate({"from": given.earliest or "00:00", "until": given.latest or MIDNIGHT})


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


def _candidates(ctx: Context, given: FindFreeTime, usual: WorkingHours) -> dict[str, Candidate]:
    """Everyone who may have time: without being told otherwise, those who do visits, if anyone does."""
    everyone = given.include_office or given.person_id is not None
    found = _people(ctx, given, usual, everyone=everyone)
    if not found and not everyone:
        found = _people(ctx, given, usual, everyone=True)
    if not found:
        field, what = (
            ("skill", "is a skill that nobody has") if given.skill else ("personId", "names nobody who is active")
        )
        raise Invalid([Fault(field, f"{what}; list_people tells who is here and what they can do")])
    return found


def _people(ctx: Context, given: FindFreeTime, usual: WorkingHours, *, everyone: bool) -> dict[str, Candidate]:
    own = own_hours(ctx)
    rows = ctx.rows.all(
        f"SELECT id, name, role, skills, {_GOES_OUT} FROM person WHERE organisation_id = :organisation"
        f" AND status = 'active' AND (:person = '' OR id = :person) AND (:everyone = 1 OR {_GOES_OUT})"
        f" ORDER BY id LIMIT {_MOST_ASKED if given.skill else _MOST_PEOPLE}",
        person=given.person_id or "",
        everyone=int(everyone),
    )
    found: dict[str, Candidate] = {}
    for identity, name, role, kept, goes_out in rows:
        skills = {folded(skill) for skill in orjson.loads(str(kept))}
        if not given.skill or folded(given.skill) in skills:
            hours = own.get(str(identity), usual)
            found[str(identity)] = Candidate(str(identity), str(name), Role(str(role)), hours, bool(goes_out))
        if len(found) == _MOST_PEOPLE:
            break
    return found


_GOES_OUT = (
    f"(role IN ({_FIELD_ROLES}) OR skills <> '[]' OR EXISTS (SELECT 1 FROM visit"
    " WHERE visit.organisation_id = :organisation AND visit.person_id = person.id AND visit.status <> 'cancelled'))"
)


def _take(ctx: Context, people: Mapping[str, Candidate], days: Sequence[date], home: str, job: str | None) -> None:
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
            one.visits.append(Taken(_period(starts, ends), str(site) if site else None))
    away = ctx.rows.all(
        "SELECT person_id, kind, starts_at, ends_at FROM time_off WHERE organisation_id = :organisation"
        " AND status = 'approved' AND starts_at < :end AND ends_at > :begin",
        begin=begin,
        end=end,
    )
    for person, kind, starts, ends in away:
        if one := people.get(str(person)):
            one.leave.append(Leave(_period(starts, ends), str(kind)))
    known = ctx.rows.all(
        "SELECT DISTINCT person_id FROM visit WHERE organisation_id = :organisation AND job_id = :job"
        " AND status <> 'cancelled' AND person_id IS NOT NULL",
        job=job,
    )
    for (person,) in known:
        if one := people.get(str(person)):
            one.knows_job = True


def _period(starts: object, ends: object) -> Period:
    return Period(parse_moment(str(starts)), parse_moment(str(ends)))


def _whole_days(days: Sequence[date], home: str) -> Period:
    begin, end = bounds(days[0].isoformat(), days[-1].isoformat(), home)
    return _period(begin, end)


def _on_leave(people: Iterable[Candidate], looked_at: Period) -> list[LeaveThen]:
    found = sorted(
        (leave.period.starts_at, who.name, leave.period.ends_at, leave.kind, who.id)
        for who in people
        for leave in who.leave
        if leave.period.overlaps(looked_at)
    )
    return [
        LeaveThen.model_validate(
            {
                "person_id": identity,
                "person_name": name,
                "kind": kind,
                "starts_at": moment_text(starts),
                "ends_at": moment_text(ends),
            }
        )
        for starts, name, ends, kind, identity in found
    ]


def _slot(found: FreeSlot, search: Search, skill: str | None) -> Slot:
    who = found.who
    planned = who.planned_minutes(local_date(found.begin, search.home), search.home)
    reasons = [f"can do {skill}"] if skill else []
    reasons += ["knows the job"] if who.knows_job else []
    reasons.append(
        f"{planned // 60} h {planned % 60} min planned that day" if planned else "nothing else planned that day"
    )
    return Slot(
        person_id=who.id,
        person_name=who.name,
        role=who.role,
        starts_at=moment_text(found.begin),
        ends_at=moment_text(found.begin + search.length),
        reasons=reasons,
    )
