"""Input fields of hours: whose they are, on which job, and when they were worked."""

from datetime import datetime
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from mainstay.business.hours.model import MAX_ENTRY_MINUTES, TimeEntry, WorkTime, work_time_between, work_time_on
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.operations import start_job
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.organisation_settings import OrganisationSettings
from mainstay.business.people.store import check_people
from mainstay.kernel.context import Context
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    NOT_IN_FORMS,
    Day,
    InputKind,
    Paragraph,
    RecordReference,
    WholeNumber,
    make_id_validator,
)
from mainstay.values.message import FieldName, Message, message_of
from mainstay.values.wall_times import EnteredMoment, parse_entered_moment, wall_time_text
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.refusal import Fault, Invalid, raise_if_blocked

_MinutesFromZero = Annotated[WholeNumber, Field(ge=0, le=MAX_ENTRY_MINUTES), InputKind("minutes")]
_MinutesFromOne = Annotated[WholeNumber, Field(ge=1, le=MAX_ENTRY_MINUTES), InputKind("minutes")]

WorkerId = Annotated[
    Annotated[str, make_id_validator("person")] | None,
    RequiresPermission(Permission.ALL_HOURS_READ),
    Field(title="Person", description="Whose hours. Default: your own."),
]
WorkJobId = Annotated[
    Annotated[str, RecordReference(prefix="job")] | None,
    Field(title="Job", description=describe("[[Its ID or number.]]")),
]
VisitId = Annotated[
    Annotated[str, make_id_validator("visit")] | None,
    Field(description="The visit, of the same job and person."),
    NOT_IN_FORMS,
]
WorkDate = Annotated[
    Day | None, Field(title="Date", description="Enter either a date and the time worked, or a start and an end.")
]
LoggedDate = Annotated[
    Day | None,
    Field(title="Date", description="Default: today. Leave it empty if you enter a start and an end."),
]
WorkDuration = Annotated[
    _MinutesFromOne | None,
    Field(title="Time", description="Time worked on that date, without breaks."),
]
StartedAt = Annotated[
    EnteredMoment | None,
    Field(
        title="Start",
        description=describe("Date and time. [[Local, as `2026-11-15T10:30`, or with an offset.]]"),
    ),
]
EndedAt = Annotated[
    EnteredMoment | None, Field(title="End", description=describe("Date and time. [[Local, or with an offset.]]"))
]
BreakMinutes = Annotated[_MinutesFromZero, Field(title="Break", description="Unpaid break within that time.")]
WorkNote = Annotated[Paragraph | None, Field(description="What was done.")]
# Forms for new hours do not show this field, because its value follows from the job.
Billable = Annotated[
    bool | None,
    RequiresPermission(Permission.ALL_HOURS_READ),
    Field(description="Whether to charge the customer. Default: yes if the job is invoiced by time."),
]
BillableMinutes = Annotated[
    _MinutesFromZero | None,
    RequiresPermission(Permission.ALL_HOURS_READ),
    Field(title="Time to invoice", description="If it differs from the time worked."),
]
# The most entries that can be submitted or reviewed at once.
MAX_ENTRIES_AT_ONCE = 100
EntryIds = list[Annotated[str, make_id_validator("entry", "a time entry")]]


def resolve_person(ctx: Context, person_id: str | None, *, allow_left: bool = False) -> str:
    """Return whose hours are meant: the named person's, or else the actor's own.

    `allow_left` also allows people who have left, for hours that exist already.
    """
    if person_id is None and ctx.actor.id is None:
        raise Invalid([Fault("personId", Message("is required, because no person is signed in"))])
    if person_id is not None:
        check_people(ctx, "personId", [person_id], allow_left=allow_left)
    return person_id or str(ctx.actor.id)


class WorkTarget(NamedTuple):
    """The job and the visit that hours were worked on."""

    job: Job | None
    visit_id: str | None

    @property
    def columns(self) -> dict[str, Any]:
        """The values by column. Hours are billable where the job is billed by time."""
        billable = self.job is not None and self.job.bills_work
        return {"job_id": self.job.id if self.job else None, "visit_id": self.visit_id, "billable": billable}


def start_work(ctx: Context, person_id: str, job_id: str | None, visit_id: str | None) -> WorkTarget:
    """Return what hours are worked on, and start the job if it was waiting for work to begin."""
    visit_job_id = _job_of_visit(ctx, person_id, visit_id) if visit_id else None
    if job_id is None and visit_job_id is None:
        return WorkTarget(None, None)
    job = JOBS.fetch(ctx, visit_job_id if job_id is None else job_id)
    if visit_job_id and job.id != visit_job_id:
        hint = Message("leave out {field}, or send that job", field=FieldName("jobId"))
        raise Invalid([Fault("visitId", Message("belongs to another job", for_programs=hint))])
    raise_if_blocked(job.not_workable())
    return WorkTarget(start_job(ctx, job), visit_id)


def _job_of_visit(ctx: Context, person_id: str, visit_id: str) -> str:
    row = ctx.db.one(
        "SELECT job_id, person_id FROM visit WHERE organisation_id = :organisation AND id = :visit", visit=visit_id
    )
    if row is None or row[1] != person_id:
        problem = Message("is not a visit of this person", for_programs=Message("list_visits shows theirs"))
        raise Invalid([Fault("visitId", problem)])
    if row[0] is None:
        raise Invalid([Fault("visitId", Message("has no job; log the hours without a visit"))])
    return str(row[0])


def read_work_time(ctx: Context, settings: OrganisationSettings, given: Any) -> WorkTime:
    """Return when a new entry was worked."""
    if given.started_at or given.ended_at:
        _refuse_date_and_minutes(given.on, given.minutes)
        _require(startedAt=given.started_at, endedAt=given.ended_at)
        return _read_start_and_end(ctx, settings, given.started_at, given.ended_at, given.break_minutes)
    _require(minutes=given.minutes)
    _refuse_break(given.break_minutes)
    return work_time_on(given.on or settings.today(ctx).isoformat(), given.minutes, settings.time_zone, ctx.now)


def read_changed_time(
    ctx: Context, settings: OrganisationSettings, entry: TimeEntry, sent: dict[str, Any]
) -> WorkTime | None:
    """Return when a changed entry was worked, or None if the change says nothing new about it.

    Forms send all fields, so a value that equals the stored one is no change.
    """
    changed = {name: value for name, value in sent.items() if not _is_unchanged(settings, entry, name, value)}
    break_minutes = changed.get("break_minutes", entry.break_minutes)
    started, ended = (changed.get(name, getattr(entry, name)) for name in ("started_at", "ended_at"))
    if changed.get("started_at") or changed.get("ended_at"):
        _refuse_date_and_minutes(changed.get("on"), changed.get("minutes"))
        _require(startedAt=started, endedAt=ended)
        return _read_start_and_end(ctx, settings, started, ended, break_minutes)
    if changed.keys() - {"break_minutes"}:
        _refuse_break(changed.get("break_minutes", 0))
        minutes = changed.get("minutes") or entry.minutes or 0
        return work_time_on(changed.get("on") or entry.on, minutes, settings.time_zone, ctx.now)
    if "break_minutes" in changed:
        if not entry.started_at:
            _refuse_break(break_minutes)
        return _read_start_and_end(ctx, settings, started, ended, break_minutes)
    return None


def _is_unchanged(settings: OrganisationSettings, entry: TimeEntry, name: str, value: Any) -> bool:
    stored = getattr(entry, name)
    if stored is None or value is None or name not in {"started_at", "ended_at"}:
        # A date or number of minutes left empty next to stored times is no change.
        return bool(value == stored or (value is None and name in {"on", "minutes"}))
    local_text = wall_time_text(stored, settings.time_zone)
    return value in {stored, local_text}


def read_work_moment(field: str, text: str, settings: OrganisationSettings) -> datetime:
    """Return the moment given in a field, in the organisation's time zone or with an offset."""
    try:
        return parse_entered_moment(text, settings.time_zone)
    except ValueError as error:
        raise Invalid([Fault(field, message_of(error))]) from None


def _read_start_and_end(
    ctx: Context, settings: OrganisationSettings, started: str, ended: str, break_minutes: int
) -> WorkTime:
    start, end = read_work_moment("startedAt", started, settings), read_work_moment("endedAt", ended, settings)
    return work_time_between(start, end, break_minutes, settings.time_zone, ctx.now)


def _refuse_date_and_minutes(on: str | None, minutes: int | None) -> None:
    """Refuse a date or minutes sent with times, because they follow from the times."""
    if on or minutes:
        field = "on" if on else "minutes"
        problem = Message(
            "can't be combined with {start} and {end}", start=FieldName("startedAt"), end=FieldName("endedAt")
        )
        raise Invalid([Fault(field, problem)])


def _refuse_break(minutes: int) -> None:
    if minutes:
        problem = Message(
            "is only for hours with {start} and {end}", start=FieldName("startedAt"), end=FieldName("endedAt")
        )
        raise Invalid([Fault("breakMinutes", problem)])


def _require(**fields: object) -> None:
    missing = [name for name, value in fields.items() if not value]
    if missing:
        problem = Message(
            "is required: enter {minutes}, or {start} and {end}",
            minutes=FieldName("minutes"),
            start=FieldName("startedAt"),
            end=FieldName("endedAt"),
        )
        raise Invalid([Fault(name, problem) for name in missing])
