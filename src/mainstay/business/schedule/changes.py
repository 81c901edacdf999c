"""What a planner asks for, as visits to be written: new, moved or cancelled, with their crew and series."""

from datetime import date, timedelta
from typing import Annotated, Literal

from pydantic import Field

from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.people.store import check_here
from mainstay.business.schedule.model import Visit, VisitKind
from mainstay.business.schedule.placing import Placement
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.times import Asked, Repeat, When, any_time, on_day, repeated, when_asked
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Conflict, Fault, Invalid, refuse
from mainstay.terms.shapes import Input
from mainstay.values.fields import Day, Line, Paragraph, Reference, TimeZone, WholeNumber, id_of, omittable
from mainstay.values.ids import new_id
from mainstay.values.wall_times import WallTime

# So many visits one change makes or moves at most: a crew of ten each day of a month and more.
MOST = 400
_LONGEST_MINUTES = 24 * 60

JobId = Annotated[str, Reference(to="job")]
PersonId = Annotated[str, id_of("person")]
StartsAt = Annotated[
    WallTime | None,
    Field(
        title="Begins",
        description="Local time there, as `2026-11-15T10:30`, or with an offset, as `2026-11-15T10:30Z`.",
    ),
]
EndsAt = Annotated[WallTime | None, Field(title="Ends", description="At most 24 hours later. Written as startsAt.")]
Minutes = Annotated[
    WholeNumber | None, Field(ge=1, le=_LONGEST_MINUTES, title="Minutes", description="How long, instead of an end.")
]
On = Annotated[Day | None, Field(title="Any time on", description="Instead of times: the date, at any time of it.")]
Zone = Annotated[
    TimeZone | None,
    Field(title="Time zone", description="Where local times are read. Without it the site's, else the organisation's."),
]
Notes = Annotated[Paragraph | None, Field(description="What one should know there. The field reads it.")]
AllowOverlap = Annotated[
    bool, Field(title="May overlap", description="Plan it also where the person is elsewhere or on leave then.")
]
OverlapReason = Annotated[Line | None, Field(title="Why it may", description="The reason, where it may overlap.")]
Scope = Annotated[
    Literal["one", "crew", "following", "all"],
    Field(
        title="What changes",
        description="`one` visit, with its `crew`, with those `following` it in its series, or `all` of the series.",
    ),
]


class PlanVisit(Input):
    """What is planned: where, who, when."""

    job_id: JobId | None = Field(
        None, title="Job", description="What is done there: its id or number. Or a title instead."
    )
    title: Line | None = Field(None, description="What it is, where there is no job.")
    kind: VisitKind = Field("work", description="`assessment` to look before one quotes.")
    person_ids: list[PersonId] = Field(
        default_factory=list, max_length=20, title="People", description="Who goes: nobody yet, one or several."
    )
    starts_at: StartsAt = None
    ends_at: EndsAt = None
    duration_minutes: Minutes = None
    on: On = None
    time_zone: Zone = None
    notes: Notes = None
    repeat: Repeat | None = Field(None, description="Plans it again and again, at most a year ahead.")
    allow_overlap: AllowOverlap = False
    overlap_reason: OverlapReason = None


class MoveVisit(Input):
    """Which visit, and what changes of it."""

    visit_id: str = Field(description="The visit's id.")
    starts_at: StartsAt = None
    ends_at: EndsAt = None
    duration_minutes: Minutes = None
    on: On = None
    time_zone: Zone = None
    person_id: PersonId | None = Field(None, title="Person", description="Who goes instead; null for nobody yet.")
    kind: VisitKind = omittable(description="Work, assessment or other.")
    title: Line | None = Field(None, description="What it is, where there is no job.")
    notes: Notes = None
    allow_overlap: AllowOverlap = omittable()
    overlap_reason: OverlapReason = None
    scope: Scope = "one"


class CancelVisit(Input):
    """Which visit is called off."""

    visit_id: str = Field(description="The visit's id.")
    scope: Scope = "one"


def planned(ctx: Context, given: PlanVisit) -> list[Placement]:
    """The new visits: for each time, one for each person, or one for nobody yet."""
    job: Job | None = JOBS.fetch(ctx, given.job_id) if given.job_id is not None else None
    if job:
        refuse(job.not_workable())
    if (job is None) == (given.title is None):
        raise Invalid([Fault("jobId", "is required, or a title, and only one of the two")])
    _check_overlap(allowed=given.allow_overlap, reason=given.overlap_reason)
    people: list[str | None] = list(dict.fromkeys(given.person_ids))
    check_here(ctx, "personIds", given.person_ids)
    zone = given.time_zone or zone_of(ctx, job.site_id if job else None)
    first = when_asked(Asked(given.starts_at, given.ends_at, given.duration_minutes, given.on), zone)
    times = repeated(first, given.repeat) if given.repeat else [first]
    if len(times) * max(len(people), 1) > MOST:
        raise Conflict(f"This makes more than {MOST} visits at once. Repeat it fewer times, or with fewer people.")
    same = {
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
        Placement(None, {**same, **when._asdict(), "person_id": person, "group_id": group}, job)
        for when in times
        for group in [new_id("group") if len(people) > 1 else None]
        for person in people or [None]
    ]


def moved(ctx: Context, given: MoveVisit, visit: Visit) -> list[Placement]:
    """The visit and those that go with it, as they are then."""
    sent = given.sent("visit_id", "scope", "starts_at", "ends_at", "duration_minutes", "on", "time_zone")
    if sent.get("person_id"):
        check_here(ctx, "personId", [sent["person_id"]])
    if sent.get("title") and visit.about_job:
        raise Invalid([Fault("title", "belongs to visits without a job; change the job's title instead")])
    if "title" in sent and not sent["title"] and not visit.about_job:
        raise Invalid([Fault("title", "is required where there is no job")])
    if "allow_overlap" in sent or "overlap_reason" in sent:
        sent["overlap_reason"] = given.overlap_reason if sent.get("allow_overlap", visit.allow_overlap) else None
        _check_overlap(allowed=sent.get("allow_overlap", visit.allow_overlap), reason=given.overlap_reason)
    job = JOBS.find(ctx, "job.id = :id", id=visit.about_job) if visit.about_job else None
    refuse(job.not_workable() if job else [])
    after = _when(given, visit)
    placements = []
    for one in [visit, *_going_with(ctx, visit, given.scope)]:
        values = dict(sent)
        if one.person_id != visit.person_id:
            # Others of a crew stay who they are.
            values.pop("person_id", None)
        if one.status == "cancelled":
            values["status"] = "planned"
        if after:
            values |= _shifted(one, visit, after)._asdict()
        if "allow_overlap" not in sent and Placement(one, values).leaves:
            # It was allowed where it was, and not wherever it goes.
            values |= {"allow_overlap": False, "overlap_reason": None}
        placements.append(Placement(one, values, job))
    return placements


def cancelled(ctx: Context, given: CancelVisit, visit: Visit) -> list[Placement]:
    """The visit and those that go with it, called off."""
    return [called_off(one) for one in [visit, *_going_with(ctx, visit, given.scope)]]


def called_off(visit: Visit) -> Placement:
    """The visit, cancelled; that it was begun counts no longer."""
    return Placement(visit, {"status": "cancelled", "started_at": None, "finished_at": None})


def zone_of(ctx: Context, site: str | None) -> str:
    """Where the clocks of a site are; without one, or where it does not say, the organisation's."""
    row = ctx.rows.one(
        "SELECT coalesce((SELECT site.time_zone FROM site WHERE site.organisation_id = :organisation"
        " AND site.id = :site), organisation.time_zone) FROM organisation WHERE organisation.id = :organisation",
        site=site,
    )
    return str(row[0]) if row else "UTC"


def kept_when(visit: Visit) -> When:
    """When a visit is."""
    return When(visit.time_zone, visit.begins_at, visit.starts_at, visit.ends_at, visit.on)


def _when(given: MoveVisit, visit: Visit) -> When | None:
    """When it is to be, if that was said: with what was not said as it is."""
    asked = Asked(given.starts_at, given.ends_at, given.duration_minutes, given.on)
    if not any(asked) and given.time_zone is None:
        return None
    zone = given.time_zone or visit.time_zone
    before = kept_when(visit)
    if not any(asked):
        # Only the zone in which it is told: it is when it was.
        return any_time(before.first_day, zone) if visit.on else before._replace(time_zone=zone)
    if asked.starts_at and not (asked.ends_at or asked.minutes) and visit.starts_at:
        asked = asked._replace(minutes=before.minutes)
    if not asked.starts_at and not asked.on and visit.starts_at and visit.ends_at:
        asked = asked._replace(starts_at=visit.starts_at)
    return when_asked(asked, zone)


def _shifted(one: Visit, visit: Visit, after: When) -> When:
    """When another of a crew or series is, if this one is moved so: as many days later, at the same time."""
    if one.id == visit.id:
        return after
    days: timedelta = after.first_day - kept_when(visit).first_day
    day: date = kept_when(one).first_day + days
    return after if day == after.first_day else on_day(after, day)


def _going_with(ctx: Context, visit: Visit, scope: str) -> list[Visit]:
    """The others that a change is for: only those that are still planned."""
    of_crew = scope == "crew" or not visit.series_id
    within = visit.group_id if of_crew else visit.series_id
    if scope == "one" or within is None:
        return []
    found = VISITS.some(
        ctx,
        f"visit.{'group_id' if of_crew else 'series_id'} = :within AND visit.status = 'planned' AND visit.id <> :id"
        " AND visit.begins_at >= :begin",
        MOST,
        within=within,
        id=visit.id,
        begin=visit.begins_at if scope == "following" else "",
    )
    if len(found) == MOST:
        raise Conflict(f"This changes more than {MOST} visits at once. Choose `following` from a later one.")
    return found


def _check_overlap(*, allowed: bool, reason: str | None) -> None:
    if allowed and not reason:
        raise Invalid([Fault("overlapReason", "is required with allowOverlap")])
    if reason and not allowed:
        raise Invalid([Fault("allowOverlap", "is not true; overlapReason is for visits that may overlap")])
