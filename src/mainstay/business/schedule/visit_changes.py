"""Turns inputs into visits to be written: new, moved or cancelled ones, with their crew and series."""

from datetime import date, timedelta
from typing import Annotated, Literal

from pydantic import Field

from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.people.store import check_people
from mainstay.business.schedule.model import Visit, VisitKind
from mainstay.business.schedule.placement import Placement
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.visit_times import (
    EnteredTime,
    Repeat,
    VisitTime,
    move_to_day,
    repeat_visit_time,
    to_visit_time,
    visit_time_on,
)
from mainstay.kernel.context import Context
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    Day,
    Paragraph,
    RecordReference,
    TextLine,
    TimeZone,
    WholeNumber,
    make_id_validator,
    omittable_field,
)
from mainstay.values.ids import new_id
from mainstay.values.message import FieldName, Message
from mainstay.values.wall_times import EnteredMoment
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input

# The most visits that one change writes: a crew of ten on each day of a month, and more.
MAX_CHANGED_VISITS = 400
_MAX_MINUTES = 24 * 60

_JOB_AND_TITLE = Message("can't be combined with {field}", field=FieldName("title"))
_NEITHER_JOB_NOR_TITLE = Message("is required, unless {field} is given", field=FieldName("title"))

VisitJobId = Annotated[str, RecordReference(prefix="job")]
VisitPersonId = Annotated[str, make_id_validator("person")]
StartsAt = Annotated[
    EnteredMoment | None,
    Field(
        title="Starts",
        description=describe(
            "[[Local time such as `2026-11-15T10:30`, or with an offset, such as `2026-11-15T10:30Z`.]]"
        ),
    ),
]
EndsAt = Annotated[EnteredMoment | None, Field(title="Ends", description="At most 24 hours after the start.")]
VisitMinutes = Annotated[
    WholeNumber | None,
    Field(ge=1, le=_MAX_MINUTES, title="Duration", description=describe("[[In minutes, instead of `endsAt`.]]")),
]
VisitDate = Annotated[
    Day | None,
    Field(title="All day", description="Only a date, without times."),
]
VisitZone = Annotated[
    TimeZone | None,
    Field(title="Time zone", description="Time zone of local times. Default: the site's or the organisation's."),
]
VisitNotes = Annotated[Paragraph | None, Field(description="Visible to the people on this visit.")]
AllowOverlap = Annotated[
    bool,
    Field(title="Allow double booking", description="Books it even if the person has another visit or is off."),
]
OverlapReason = Annotated[TextLine | None, Field(title="Reason", description="Needed for a double booking.")]
Scope = Annotated[
    Literal["one", "crew", "following", "all"],
    Field(
        title="Applies to",
        description=describe(
            "[[`one` visit, its whole `crew`, this and `following` visits of its series, or `all` of the series.]]"
        ),
    ),
]


class PlanVisit(Input):
    """What to plan: where, who and when."""

    job_id: VisitJobId | None = Field(
        None, title="Job", description=describe("[[Its ID or number.]] Without a job, enter a title.")
    )
    title: TextLine | None = Field(None, description="What it is, if there is no job.")
    kind: VisitKind = Field("work", description=describe("[[`assessment`: a look before quoting.]]"))
    person_ids: list[VisitPersonId] = Field(
        default_factory=list, max_length=20, title="People", description="Leave empty to assign it later."
    )
    starts_at: StartsAt = None
    ends_at: EndsAt = None
    duration_minutes: VisitMinutes = None
    on: VisitDate = None
    time_zone: VisitZone = None
    notes: VisitNotes = None
    repeat: Repeat | None = Field(None, description="For up to one year.")
    allow_overlap: AllowOverlap = False
    overlap_reason: OverlapReason = None


class MoveVisit(Input):
    """Which visit, and the fields to change."""

    visit_id: str = Field(description=describe("[[The visit's ID.]]"))
    starts_at: StartsAt = None
    ends_at: EndsAt = None
    duration_minutes: VisitMinutes = None
    on: VisitDate = Field(
        None, title="All day", description=describe("Only a date, without times. [[Removes its times.]]")
    )
    time_zone: VisitZone = None
    person_id: VisitPersonId | None = Field(
        None, title="Person", description=describe("[[Who goes instead; null unassigns it.]]")
    )
    kind: VisitKind = omittable_field(description=describe("[[`work`, `assessment` or `other`.]]"))
    title: TextLine | None = Field(None, description="What it is, if there is no job.")
    notes: VisitNotes = None
    allow_overlap: AllowOverlap = omittable_field()
    overlap_reason: OverlapReason = None
    scope: Scope = "one"


class CancelVisit(Input):
    """Which visit to cancel."""

    visit_id: str = Field(description=describe("[[The visit's ID.]]"))
    scope: Scope = "one"


def build_new_visits(ctx: Context, given: PlanVisit) -> list[Placement]:
    """Return the new visits: at each time one for each person, or one without a person if nobody is named."""
    job: Job | None = JOBS.fetch(ctx, given.job_id) if given.job_id is not None else None
    if job:
        raise_if_blocked(job.not_workable())
    if (job is None) == (given.title is None):
        raise Invalid([Fault("jobId", _JOB_AND_TITLE if job else _NEITHER_JOB_NOR_TITLE)])
    _check_overlap_reason(allowed=given.allow_overlap, reason=given.overlap_reason)
    people: list[str | None] = list(dict.fromkeys(given.person_ids))
    check_people(ctx, "personIds", given.person_ids)
    zone = given.time_zone or find_time_zone(ctx, job.site_id if job else None)
    first = to_visit_time(EnteredTime(given.starts_at, given.ends_at, given.duration_minutes, given.on), zone)
    times = repeat_visit_time(first, given.repeat) if given.repeat else [first]
    if len(times) * max(len(people), 1) > MAX_CHANGED_VISITS:
        raise Conflict(
            Message(
                "This creates more than {most} visits at once. Repeat it fewer times, or with fewer people.",
                most=MAX_CHANGED_VISITS,
            )
        )
    shared_values = {
        "job_id": job.id if job else None,
        "title": given.title,
        "kind": given.kind,
        "notes": given.notes,
        "status": "planned",
        "allow_overlap": given.allow_overlap,
        "overlap_reason": given.overlap_reason,
        "series_id": new_id("series") if len(times) > 1 else None,
    }
    return [
        Placement(None, {**shared_values, **time._asdict(), "person_id": person, "group_id": group}, job)
        for time in times
        # Those who go together at one time share the id of their crew.
        for group in [new_id("group") if len(people) > 1 else None]
        for person in people or [None]
    ]


def build_moved_visits(ctx: Context, given: MoveVisit, visit: Visit) -> list[Placement]:
    """Return the changed visit, and the others that change with it. A cancelled visit becomes planned again."""
    sent = given.sent_fields("visit_id", "scope", "starts_at", "ends_at", "duration_minutes", "on", "time_zone")
    if sent.get("person_id"):
        check_people(ctx, "personId", [sent["person_id"]])
    if sent.get("title") and visit.about_job:
        raise Invalid([Fault("title", Message("is only for visits without a job; change the job's title instead"))])
    if "title" in sent and not sent["title"] and not visit.about_job:
        raise Invalid([Fault("title", Message("is required for a visit without a job"))])
    if "allow_overlap" in sent or "overlap_reason" in sent:
        sent["overlap_reason"] = given.overlap_reason if sent.get("allow_overlap", visit.allow_overlap) else None
        _check_overlap_reason(allowed=sent.get("allow_overlap", visit.allow_overlap), reason=given.overlap_reason)
    job = JOBS.find(ctx, "job.id = :id", id=visit.about_job) if visit.about_job else None
    raise_if_blocked(job.not_workable() if job else [])
    new_time = _read_new_time(given, visit)
    placements = []
    for changed_visit in [visit, *_find_linked_visits(ctx, visit, given.scope)]:
        values = dict(sent)
        if changed_visit.person_id != visit.person_id:
            # The other visits of a crew keep their people.
            values.pop("person_id", None)
        if changed_visit.status == "cancelled":
            values["status"] = "planned"
        if new_time:
            values |= _shift_time(changed_visit, visit, new_time)._asdict()
        if "allow_overlap" not in sent and Placement(changed_visit, values).frees_time:
            # The overlap was allowed at the old time, not at any other.
            values |= {"allow_overlap": False, "overlap_reason": None}
        placements.append(Placement(changed_visit, values, job))
    return placements


def build_cancelled_visits(ctx: Context, given: CancelVisit, visit: Visit) -> list[Placement]:
    """Return the cancelled visit, and the others that are cancelled with it."""
    return [to_cancellation(one) for one in [visit, *_find_linked_visits(ctx, visit, given.scope)]]


def to_cancellation(visit: Visit) -> Placement:
    """Return the visit as cancelled. Its start and finish times are cleared."""
    return Placement(visit, {"status": "cancelled", "started_at": None, "finished_at": None})


def find_time_zone(ctx: Context, site_id: str | None) -> str:
    """Return the time zone of a site, or else the organisation's."""
    row = ctx.db.one(
        "SELECT coalesce((SELECT site.time_zone FROM site WHERE site.organisation_id = :organisation"
        " AND site.id = :site), organisation.time_zone) FROM organisation WHERE organisation.id = :organisation",
        site=site_id,
    )
    return str(row[0]) if row else "UTC"


def visit_time_of(visit: Visit) -> VisitTime:
    """Return when a visit is."""
    return VisitTime(visit.time_zone, visit.begins_at, visit.starts_at, visit.ends_at, visit.on)


def _read_new_time(given: MoveVisit, visit: Visit) -> VisitTime | None:
    """Return the new time of a visit, or None if the input leaves it as it is. What was not sent keeps its value."""
    entered = EnteredTime(given.starts_at, given.ends_at, given.duration_minutes, given.on)
    if not any(entered) and given.time_zone is None:
        return None
    zone = given.time_zone or visit.time_zone
    current = visit_time_of(visit)
    if not any(entered):
        # Only the displayed time zone changes, not the moment.
        return visit_time_on(current.first_day, zone) if visit.on else current._replace(time_zone=zone)
    if entered.starts_at and not (entered.ends_at or entered.minutes) and visit.starts_at:
        entered = entered._replace(minutes=current.minutes)
    if not entered.starts_at and not entered.on and visit.starts_at and visit.ends_at:
        entered = entered._replace(starts_at=visit.starts_at)
    return to_visit_time(entered, zone)


def _shift_time(other: Visit, visit: Visit, new_time: VisitTime) -> VisitTime:
    """Return the new time of another visit of the crew or series.

    It moves by as many days as the changed visit, and to the same new time of day.
    """
    if other.id == visit.id:
        return new_time
    days: timedelta = new_time.first_day - visit_time_of(visit).first_day
    day: date = visit_time_of(other).first_day + days
    return new_time if day == new_time.first_day else move_to_day(new_time, day)


def _find_linked_visits(ctx: Context, visit: Visit, scope: str) -> list[Visit]:
    """Return the other visits that a change applies to. Only planned ones are included."""
    by_crew = scope == "crew" or not visit.series_id
    shared_id = visit.group_id if by_crew else visit.series_id
    if scope == "one" or shared_id is None:
        return []
    visits = VISITS.find_many(
        ctx,
        f"visit.{'group_id' if by_crew else 'series_id'} = :shared_id AND visit.status = 'planned' AND visit.id <> :id"
        " AND visit.begins_at >= :begin",
        MAX_CHANGED_VISITS,
        shared_id=shared_id,
        id=visit.id,
        begin=visit.begins_at if scope == "following" else "",
    )
    if len(visits) == MAX_CHANGED_VISITS:
        raise Conflict(
            Message(
                "This changes more than {most} visits at once. Change a later visit and those following it.",
                most=MAX_CHANGED_VISITS,
            )
        )
    return visits


def _check_overlap_reason(*, allowed: bool, reason: str | None) -> None:
    if allowed and not reason:
        raise Invalid([Fault("overlapReason", Message("is required with {field}", field=FieldName("allowOverlap")))])
    if reason and not allowed:
        raise Invalid([Fault("allowOverlap", Message("is required with {field}", field=FieldName("overlapReason")))])
