"""Operations on hours."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.hours import store
from mainstay.business.hours.inputs import (
    Billable,
    BillableMinutes,
    BreakMinutes,
    EndedAt,
    LoggedDate,
    StartedAt,
    VisitId,
    WorkDate,
    WorkDuration,
    WorkerId,
    WorkJobId,
    WorkNote,
    read_changed_time,
    read_work_time,
    resolve_person,
    start_work,
)
from mainstay.business.hours.model import EntryStatus, TimeEntry, TimeEntryOut
from mainstay.business.hours.restoring import delete_new_hours, restore_hours
from mainstay.business.hours.store import TIME_ENTRIES
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    NOT_IN_FORMS,
    STARTING_AFTER,
    Day,
    RecordReference,
    make_id_validator,
    omittable_field,
)
from mainstay.values.message import FieldName, Message
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.refusal import Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input, IrreversibleInput, LastDay, ListInput, PageResult
from mainstay.vocabulary.toolsets import Toolset

_EntryId = Annotated[str, Field(description=describe("[[The time entry's ID.]]"))]


class ListHours(ListInput):
    """Which hours to list."""

    starting_after: Annotated[str | None, make_id_validator("entry", "a time entry")] = STARTING_AFTER
    person_id: Annotated[str | None, make_id_validator("person")] = Field(
        None, title="Person", description="Only hours of this person."
    )
    job_id: Annotated[str | None, RecordReference(prefix="job")] = Field(
        None, title="Job", description=describe("[[Only hours on this job: its ID or number.]]")
    )
    status: EntryStatus | None = Field(None, description="Only this status.")
    from_: Day | None = Field(None, alias="from", title="From", description="Only hours on or after this date.")
    until: LastDay | None = Field(None, description="Only hours on or before this date.")
    order: Literal["newest", "oldest"] = Field(
        "newest", description=describe("[[By date: `newest` or `oldest` first.]]")
    )


class LogHours(Input):
    """When, how long and on which job: on and minutes, or startedAt and endedAt."""

    job_id: WorkJobId = None
    on: LoggedDate = None
    minutes: WorkDuration = None
    started_at: StartedAt = None
    ended_at: EndedAt = None
    break_minutes: BreakMinutes = 0
    note: WorkNote = None
    visit_id: VisitId = None
    person_id: WorkerId = None
    billable: Annotated[Billable, NOT_IN_FORMS] = None
    billable_minutes: BillableMinutes = None


class UpdateHours(Input):
    """Which entry, and what to change; null clears."""

    time_entry_id: _EntryId
    job_id: WorkJobId = None
    on: WorkDate = None
    minutes: WorkDuration = None
    started_at: StartedAt = None
    ended_at: EndedAt = None
    break_minutes: BreakMinutes = omittable_field()
    note: WorkNote = None
    visit_id: VisitId = None
    billable: Annotated[bool, RequiresPermission(Permission.ALL_HOURS_READ)] = omittable_field(
        description="Whether to charge the customer."
    )
    billable_minutes: BillableMinutes = None


@operation(permission=Permission.HOURS_READ, effect=Effect.READ, api_path="GET /hours")
def list_hours(ctx: Context, given: ListHours) -> PageResult[TimeEntryOut]:
    """List hours.

    [[Hours that people logged, by person, job or week: timesheets, and running timers (status `running`).]] Your
    own; the office sees everyone's.
    """
    if given.job_id is None:
        return TIME_ENTRIES.page(ctx, given)
    return TIME_ENTRIES.page(ctx, given, "time_entry.job_id = :job", job=JOBS.fetch(ctx, given.job_id).id)


get_time_entry = declare_get(
    TIME_ENTRIES,
    "Show hours. One time entry: the hours of one person on one job.",
    Permission.HOURS_READ,
    api_path="GET /hours/{time_entry_id}",
    extra_toolset=Toolset.SINGLE_RECORDS,
)


@operation(
    permission=Permission.HOURS_LOG,
    effect=Effect.CHANGE,
    api_path="POST /hours",
    # A job that was waiting is now in progress.
    only_adds=False,
    undone_by=delete_new_hours,
    past_text="Hours logged",
)
def log_hours(ctx: Context, given: LogHours) -> TimeEntry:
    """Log hours.

    [[Record time worked, as on and minutes or as startedAt and endedAt; for work that begins now, use start_timer.
    The hours are a draft until submit_hours, and a job that has not started is started.]]
    """
    person, settings = resolve_person(ctx, given.person_id), settings_of(ctx)
    time = read_work_time(ctx, settings, given)
    raise_if_blocked(settings.reasons_if_closed(time.on))
    job_values = start_work(ctx, person, given.job_id, given.visit_id).columns
    values = job_values | {"person_id": person, "note": given.note, "status": "draft", **time.columns}
    return store.insert(ctx, values | _read_billing(given, job_values) | store.hourly_rates_of(ctx, person)._asdict())


@operation(
    permission=Permission.HOURS_LOG,
    effect=Effect.CHANGE,
    api_path="PATCH /hours/{time_entry_id}",
    on=TIME_ENTRIES,
    blocked_by=TimeEntry.not_changeable,
    done_message="Hours updated.",
    undone_by=restore_hours,
    past_text="Hours edited",
)
def update_hours(ctx: Context, given: UpdateHours, entry: TimeEntry) -> TimeEntry:
    """Edit hours.

    Rejected hours become a draft again; approved hours can't be edited, and submitted ones only by the office.
    [[Only the fields sent change.]]
    """
    settings, sent = settings_of(ctx), given.sent_fields("time_entry_id")
    times = {name: sent.pop(name) for name in _TIME_FIELDS if name in sent}
    changes = sent | _read_job_change(ctx, entry, sent)
    if time := read_changed_time(ctx, settings, entry, times):
        raise_if_blocked(settings.reasons_if_closed(time.on))
        changes |= time.columns
    if "billable" in sent or "job_id" in changes:
        job_values = {
            "job_id": changes.get("job_id", entry.job_id),
            "billable": changes.get("billable", entry.billable),
        }
        changes |= _read_billing(given, job_values)
    if entry.status == "rejected":
        changes["status"] = "draft"
    return store.save(ctx, entry, changes)


_TIME_FIELDS = ("on", "minutes", "started_at", "ended_at", "break_minutes")


@operation(
    permission=Permission.HOURS_LOG,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /hours/{time_entry_id}/delete",
    on=TIME_ENTRIES,
    blocked_by=TimeEntry.not_deletable,
    not_undone=Message("Log the hours again."),
    past_text="Hours deleted",
    deletes=True,
)
def delete_hours(ctx: Context, _given: IrreversibleInput, entry: TimeEntry) -> TimeEntry:
    """Delete hours.

    Approved hours can't be deleted. A running timer is discarded.
    """
    ctx.summary = Message("{entry} will be deleted.", entry=entry.name_in_messages)
    ctx.effects.append(Message("They can't be restored."))
    TIME_ENTRIES.remove(ctx, entry)
    if entry.status == "running":
        store.change_timer_count(ctx, store.job_of_entry(ctx, entry), -1)
    return entry


OPERATIONS = (list_hours, get_time_entry, log_hours, update_hours, delete_hours)


def _read_job_change(ctx: Context, entry: TimeEntry, sent: dict[str, Any]) -> dict[str, Any]:
    """Return the columns that change if the hours were worked on another job or visit."""
    if not {"job_id", "visit_id"} & sent.keys():
        return {}
    job = sent.get("job_id", entry.job_id)
    # A visit belongs to one job. If only the job is sent and it is another one, the visit is cleared.
    visit = sent.get("visit_id", entry.visit_id if job in {entry.job_id, entry.job_number} else None)
    if (job, visit) in {(entry.job_id, entry.visit_id), (entry.job_number, entry.visit_id)}:
        return {"job_id": entry.job_id, "visit_id": entry.visit_id}
    return start_work(ctx, entry.person_id, job, visit).columns | (
        {"billable": sent["billable"]} if "billable" in sent else {}
    )


def _read_billing(given: Any, job_values: dict[str, Any]) -> dict[str, Any]:
    """Return whether and how much of the entry is billed. Without a job, nothing is."""
    if job_values["job_id"] is None and (given.billable or given.billable_minutes):
        problem = Message(
            "is only for hours with a job", for_programs=Message("send {field}", field=FieldName("jobId"))
        )
        raise Invalid([Fault("billable", problem)])
    sent = {name: getattr(given, name) for name in ("billable", "billable_minutes") if name in given.model_fields_set}
    billable = job_values["billable"] if sent.get("billable") is None else sent["billable"]
    return sent | {"billable": billable and job_values["job_id"] is not None}
