"""Finds free time of people."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Annotated

import orjson
from pydantic import BaseModel, Field

from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.working_hours import END_OF_DAY, Span, WorkingHours, default_working_hours
from mainstay.business.people.working_hours import find_own_hours
from mainstay.business.schedule.availability import (
    BookedTime,
    Candidate,
    FreeSlot,
    FreeTimeSearch,
    LeavePeriod,
    find_free_slots,
    find_slots_at,
)
from mainstay.business.schedule.model import LeaveKind
from mainstay.business.schedule.visit_changes import StartsAt, VisitJobId, find_time_zone
from mainstay.business.schedule.visit_times import bounds_of_days, read_moment
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.choices import fold_text
from mainstay.values.descriptions import describe
from mainstay.values.fields import Day, QueryBool, TextLine, WholeNumber, make_id_validator
from mainstay.values.message import Duration, FieldName, Message
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.values.moments import ONE_DAY, Period, local_date, moment_text, parse_moment
from mainstay.values.wall_times import TimeOfDay
from mainstay.vocabulary.permissions import Permission, Role, has_permission
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input, LastDay, Output

_MAX_DAYS = 31
_DEFAULT_DAYS = 7
_MAX_PEOPLE = 200
# At most this many people are checked for a skill.
_MAX_CHECKED_PEOPLE = 10_000
_MAX_VISITS = 10_000
# Roles that do not plan for others work in the field.
_FIELD_ROLES = ", ".join(f"'{role}'" for role in Role if not has_permission(role, Permission.SCHEDULE_CHANGE))


class FindFreeTime(Input):
    """How long, when and who."""

    duration_minutes: WholeNumber = Field(
        60, ge=5, le=1440, title="Duration", description=describe("[[The length of the slot.]] In minutes.")
    )
    starts_at: StartsAt = Field(
        None, title="Start time", description=describe("[[Who is free then.]] Leave empty to find the next free slots.")
    )
    from_: Day | None = Field(None, alias="from", description="The first date to check. Default: today.")
    until: LastDay | None = Field(None, description="Up to 31 days after the first. Default: one week.")
    earliest: TimeOfDay | None = Field(
        None,
        title="Not before",
        description=describe("[[The earliest local time of day.]] E.g. 13:00."),
    )
    latest: TimeOfDay | None = Field(
        None,
        title="Finish by",
        description=describe(
            "[[The latest local time of day; before `earliest`, it is on the next day: 22:00 to 06:00.]] E.g. 16:00."
        ),
    )
    person_id: Annotated[str | None, make_id_validator("person")] = Field(
        None, title="Person", description="Check only this person."
    )
    skill: TextLine | None = Field(None, description="Only people with this skill, e.g. gas.")
    job_id: VisitJobId | None = Field(
        None, title="Job", description=describe("[[Its ID or number, to allow for travel time.]]")
    )
    include_office: QueryBool = Field(
        default=False,
        title="Include office staff",
        description="Also check owners, admins and office staff who have no skills or visits.",
    )
    limit: WholeNumber = Field(20, ge=1, le=50, description="Maximum number of slots.")


class Slot(BaseModel):
    """A time at which someone is free."""

    model_config = OUTPUT_CONFIG

    person_id: str
    person_name: str
    role: Role
    starts_at: str = Field(json_schema_extra={"format": "date-time"})
    ends_at: str = Field(json_schema_extra={"format": "date-time"})
    reasons: list[str] = Field(description="Why this slot fits.")


class LeaveThen(BaseModel):
    """Approved leave in the period that was checked."""

    model_config = OUTPUT_CONFIG

    person_id: str
    person_name: str
    kind: LeaveKind
    starts_at: str = Field(json_schema_extra={"format": "date-time"})
    ends_at: str = Field(json_schema_extra={"format": "date-time"})


class FreeTimeOut(Output):
    """Times at which people are free, the best first."""

    noun = "freeTime"

    time_zone: str
    slots: list[Slot]
    on_leave: list[LeaveThen] = Field(description="Who is off then.")
    advice: str | None = Field(description="What to try if nobody is free.")


@operation(permission=Permission.SCHEDULE_CHANGE, effect=Effect.READ, api_path="GET /free-time", is_slow=True)
def find_free_time(ctx: Context, given: FindFreeTime) -> FreeTimeOut:
    """Find free time.

    Shows who is free or available and when: slots within working hours, around visits and time off, with travel
    time. [[People who have worked on the job and have less work that day come first; book a slot with
    plan_visit.]]
    """
    default_hours, organisation_zone = default_working_hours(ctx)
    job = JOBS.fetch(ctx, given.job_id) if given.job_id is not None else None
    zone = find_time_zone(ctx, job.site_id if job else None)
    at = read_moment("startsAt", given.starts_at, zone) if given.starts_at else None
    window = _build_window(given)
    days = _list_days(given, at, local_date(ctx.now, organisation_zone), organisation_zone)
    people = _find_candidates(ctx, given, default_hours)
    _add_bookings(ctx, people, days, organisation_zone, job.id if job else None)
    length = timedelta(minutes=given.duration_minutes)
    search = FreeTimeSearch(length, days, at or ctx.now, zone, organisation_zone, job.site_id if job else None, window)
    free_slots = find_slots_at(search, people.values(), at) if at else find_free_slots(search, people.values())
    searched_period = Period(at, at + length) if at else _to_whole_days(days, organisation_zone)
    return FreeTimeOut(
        object=FreeTimeOut.noun,
        time_zone=zone,
        slots=[_build_slot(ctx, slot, search, given.skill) for slot in free_slots[: given.limit]],
        on_leave=_list_leave(people.values(), searched_period),
        advice=None if free_slots else _give_advice(ctx, given),
    )


OPERATIONS = (find_free_time,)


def _give_advice(ctx: Context, given: FindFreeTime) -> str:
    """Return what to try if nobody is free."""
    double_booking = Message("To double-book, call plan_visit with {field}.", field=FieldName("allowOverlap"))
    if given.include_office:
        advice = Message(
            "Nobody is free then. Try other dates or a shorter time, or allow a double booking.",
            for_programs=double_booking,
        )
    else:
        advice = Message(
            "Nobody is free then. Try other dates or a shorter time, allow a double booking, or set {field}.",
            for_programs=double_booking,
            field=FieldName("includeOffice"),
        )
    return ctx.request.message_format.render(advice)


def _build_window(given: FindFreeTime) -> Span | None:
    """Return the part of each day in which the time must lie."""
    if given.earliest is None and given.latest is None:
        return None
    if given.starts_at:
        name = "latest" if given.earliest is None else "earliest"
        raise Invalid([Fault(name, Message("can't be combined with {field}", field=FieldName("startsAt")))])
    return Span.model_validate({"from": given.earliest or "00:00", "until": given.latest or END_OF_DAY})


def _list_days(given: FindFreeTime, at: datetime | None, today: date, zone: str) -> list[date]:
    if at:
        first = last = local_date(at, zone)
    else:
        first = date.fromisoformat(given.from_) if given.from_ else today
        bounds_of_days(first.isoformat(), first.isoformat(), zone)
        last = date.fromisoformat(given.until) if given.until else first + timedelta(days=_DEFAULT_DAYS - 1)
    bounds_of_days(first.isoformat(), last.isoformat(), zone)
    if (last - first).days >= _MAX_DAYS:
        raise Invalid([Fault("until", Message("is more than {days} days after the first date", days=_MAX_DAYS))])
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def _find_candidates(ctx: Context, given: FindFreeTime, default_hours: WorkingHours) -> dict[str, Candidate]:
    """Return the people who may have time.

    Unless the input says otherwise, these are people who do visits. If nobody does, everyone is included.
    """
    everyone = given.include_office or given.person_id is not None
    candidates = _read_people(ctx, given, default_hours, everyone=everyone)
    if not candidates and not everyone:
        candidates = _read_people(ctx, given, default_hours, everyone=True)
    if not candidates and given.skill:
        problem = Message("is a skill that nobody has", for_programs=Message("list_people shows everyone's skills"))
        raise Invalid([Fault("skill", problem)])
    if not candidates:
        problem = Message("is not an active person", for_programs=Message("list_people shows who is active"))
        raise Invalid([Fault("personId", problem)])
    return candidates


def _read_people(
    ctx: Context, given: FindFreeTime, default_hours: WorkingHours, *, everyone: bool
) -> dict[str, Candidate]:
    own_hours_by_person = find_own_hours(ctx)
    rows = ctx.db.all(
        f"SELECT id, name, role, skills, {_DOES_VISITS} FROM person WHERE organisation_id = :organisation"
        f" AND status = 'active' AND (:person = '' OR id = :person) AND (:everyone = 1 OR {_DOES_VISITS})"
        f" ORDER BY id LIMIT {_MAX_CHECKED_PEOPLE if given.skill else _MAX_PEOPLE}",
        person=given.person_id or "",
        everyone=int(everyone),
    )
    candidates: dict[str, Candidate] = {}
    for person_id, name, role, stored_skills, goes_out in rows:
        skills = {fold_text(skill) for skill in orjson.loads(str(stored_skills))}
        if not given.skill or fold_text(given.skill) in skills:
            hours = own_hours_by_person.get(str(person_id), default_hours)
            candidates[str(person_id)] = Candidate(str(person_id), str(name), Role(str(role)), hours, bool(goes_out))
        if len(candidates) == _MAX_PEOPLE:
            break
    return candidates


_DOES_VISITS = (
    f"(role IN ({_FIELD_ROLES}) OR skills <> '[]' OR EXISTS (SELECT 1 FROM visit"
    " WHERE visit.organisation_id = :organisation AND visit.person_id = person.id AND visit.status <> 'cancelled'))"
)


def _add_bookings(
    ctx: Context, people: Mapping[str, Candidate], days: Sequence[date], zone: str, job_id: str | None
) -> None:
    """Add the visits and the leave of each candidate, and whether they know the job."""
    begin, end = bounds_of_days(days[0].isoformat(), days[-1].isoformat(), zone)
    # Working time that begins late on the last day ends on the next, and a visit of the day before may still go on.
    end = moment_text(parse_moment(end) + ONE_DAY)
    earliest = moment_text(parse_moment(begin) - ONE_DAY)
    rows = ctx.db.all(
        "SELECT visit.person_id, visit.starts_at, visit.ends_at, job.site_id FROM visit LEFT JOIN job"
        " ON job.organisation_id = :organisation AND job.id = visit.job_id WHERE visit.organisation_id = :organisation"
        " AND visit.begins_at > :earliest AND visit.begins_at < :end AND visit.status <> 'cancelled'"
        f" AND visit.starts_at IS NOT NULL AND visit.person_id IS NOT NULL LIMIT {_MAX_VISITS}",
        earliest=earliest,
        end=end,
    )
    if len(rows) == _MAX_VISITS:
        raise Invalid([Fault("until", Message("is too far ahead: there are too many visits in between"))])
    for person, starts, ends, site in rows:
        if candidate := people.get(str(person)):
            candidate.visits.append(BookedTime(_to_period(starts, ends), str(site) if site else None))
    leave_rows = ctx.db.all(
        "SELECT person_id, kind, starts_at, ends_at FROM time_off WHERE organisation_id = :organisation"
        " AND status = 'approved' AND starts_at < :end AND ends_at > :begin",
        begin=begin,
        end=end,
    )
    for person, kind, starts, ends in leave_rows:
        if candidate := people.get(str(person)):
            candidate.leave.append(LeavePeriod(_to_period(starts, ends), str(kind)))
    known_rows = ctx.db.all(
        "SELECT DISTINCT person_id FROM visit WHERE organisation_id = :organisation AND job_id = :job"
        " AND status <> 'cancelled' AND person_id IS NOT NULL",
        job=job_id,
    )
    for (person,) in known_rows:
        if candidate := people.get(str(person)):
            candidate.knows_job = True


def _to_period(starts: object, ends: object) -> Period:
    return Period(parse_moment(str(starts)), parse_moment(str(ends)))


def _to_whole_days(days: Sequence[date], zone: str) -> Period:
    begin, end = bounds_of_days(days[0].isoformat(), days[-1].isoformat(), zone)
    return _to_period(begin, end)


def _list_leave(people: Iterable[Candidate], searched_period: Period) -> list[LeaveThen]:
    leave_rows = sorted(
        (leave.period.starts_at, person.name, leave.period.ends_at, leave.kind, person.id)
        for person in people
        for leave in person.leave
        if leave.period.overlaps(searched_period)
    )
    return [
        LeaveThen.model_validate(
            {
                "person_id": person_id,
                "person_name": name,
                "kind": kind,
                "starts_at": moment_text(starts),
                "ends_at": moment_text(ends),
            }
        )
        for starts, name, ends, kind, person_id in leave_rows
    ]


def _build_slot(ctx: Context, free_slot: FreeSlot, search: FreeTimeSearch, skill: str | None) -> Slot:
    person = free_slot.person
    zone = search.organisation_zone
    planned = person.planned_minutes(local_date(free_slot.starts_at, zone), zone)
    reasons = [Message("has the skill {skill}", skill=skill)] if skill else []
    reasons += [Message("has worked on this job")] if person.knows_job else []
    reasons.append(
        Message("{hours} planned that day", hours=Duration(planned))
        if planned
        else Message("nothing else planned that day")
    )
    return Slot(
        person_id=person.id,
        person_name=person.name,
        role=person.role,
        starts_at=moment_text(free_slot.starts_at),
        ends_at=moment_text(free_slot.starts_at + search.length),
        reasons=[*map(ctx.request.message_format.render, reasons)],
    )
