"""What can be done with hours."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.hours import store
from mainstay.business.hours.asked import (
    Billable,
    BillableMinutes,
    BreakMinutes,
    EndedAt,
    JobId,
    Minutes,
    Note,
    On,
    PersonId,
    StartedAt,
    VisitId,
    reworked,
    whose,
    work,
    worked,
)
from mainstay.business.hours.model import Status, TimeEntry, TimeEntryOut
from mainstay.business.hours.store import ENTRIES
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.house import house_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import NO_TOOL
from mainstay.terms.refusal import Fault, Invalid, refuse
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Input, Irrevocable, LastDay, ListInput, Page
from mainstay.values.fields import LAST_SEEN, NOT_ASKED, Day, Reference, id_of, omittable

_EntryId = Annotated[str, Field(description="The time entry's id.")]


class ListHours(ListInput):
    """Which hours to list."""

    starting_after: Annotated[str | None, id_of("entry", "a time entry")] = LAST_SEEN
    person_id: Annotated[str | None, id_of("person")] = Field(
        None, title="Person", description="Only hours of this person."
    )
    job_id: Annotated[str | None, Reference(to="job")] = Field(
        None, title="Job", description="Only hours on this job: its id or number."
    )
    status: Status | None = Field(None, description="Only these.")
    from_: Day | None = Field(None, alias="from", title="From", description="Only hours of this date or later.")
    until: LastDay | None = Field(None, description="Only hours of this date or earlier.")
    order: Literal["newest", "oldest"] = Field("newest", description="By date: `newest` or `oldest` first.")


class GetTimeEntry(Input):
    """Which entry."""

    time_entry_id: _EntryId


class LogHours(Input):
    """When, how long and on what: on and minutes, or startedAt and endedAt."""

    job_id: JobId = None
    on: On = None
    minutes: Minutes = None
    started_at: StartedAt = None
    ended_at: EndedAt = None
    break_minutes: BreakMinutes = 0
    note: Note = None
    visit_id: VisitId = None
    person_id: PersonId = None
    billable: Annotated[Billable, NOT_ASKED] = None
    billable_minutes: BillableMinutes = None


class UpdateHours(Input):
    """Which entry, and what to change; null clears."""

    time_entry_id: _EntryId
    job_id: JobId = None
    on: On = None
    minutes: Minutes = None
    started_at: StartedAt = None
    ended_at: EndedAt = None
    break_minutes: BreakMinutes = omittable()
    note: Note = None
    visit_id: VisitId = None
    billable: Annotated[bool, Needs(Right.ALL_HOURS_READ)] = omittable(
        description="Whether the customer is billed for it."
    )
    billable_minutes: BillableMinutes = None


class DeleteHours(Irrevocable):
    """Which entry."""

    time_entry_id: _EntryId


@operation(right=Right.HOURS_READ, effect=Effect.READ, rest="GET /hours")
def list_hours(ctx: Context, given: ListHours) -> Page[TimeEntryOut]:
    """List hours.

    One's own; the office sees everyone's. A timer that runs has the status `running`.
    """
    if given.job_id is None:
        return ENTRIES.page(ctx, given)
    return ENTRIES.page(ctx, given, "time_entry.job_id = :job", job=JOBS.fetch(ctx, given.job_id).id)


@operation(
    right=Right.HOURS_READ,
    effect=Effect.READ,
    rest="GET /hours/{time_entry_id}",
    glances=True,
    on=ENTRIES,
    offered=NO_TOOL,
)
def get_time_entry(_ctx: Context, _given: GetTimeEntry, entry: TimeEntry) -> TimeEntry:
    """Get a time entry.

    Hours of one person on one job.
    """
    return entry


@operation(
    right=Right.HOURS_LOG,
    effect=Effect.CHANGE,
    rest="POST /hours",
    # A job that waited begins.
    only_adds=False,
    done="The hours are logged.",
)
def log_hours(ctx: Context, given: LogHours) -> TimeEntry:
    """Log hours that were worked.

    As on and minutes, or as startedAt and endedAt; for work that begins now there is start_timer. They are a draft
    until submit_hours, and a job that waited begins.
    """
    person, house = whose(ctx, given.person_id), house_of(ctx)
    time = worked(ctx, house, given)
    refuse(house.if_closed(time.on))
    done = work(ctx, person, given.job_id, given.visit_id).columns
    values = done | {"person_id": person, "note": given.note, "status": "draft", **time.columns}
    return store.insert(ctx, values | _billed(given, done) | store.rates_of(ctx, person)._asdict())


@operation(
    right=Right.HOURS_LOG,
    effect=Effect.CHANGE,
    rest="PATCH /hours/{time_entry_id}",
    on=ENTRIES,
    unless=TimeEntry.not_changeable,
    done="The hours are changed.",
)
def update_hours(ctx: Context, given: UpdateHours, entry: TimeEntry) -> TimeEntry:
    """Change hours that are not approved.

    Only what is sent changes. What was rejected becomes a draft again; what is submitted only the office changes.
    """
    house, sent = house_of(ctx), given.sent("time_entry_id")
    times = {name: sent.pop(name) for name in _TIMES if name in sent}
    changes = sent | _moved(ctx, entry, sent)
    if time := reworked(ctx, house, entry, times):
        refuse(house.if_closed(time.on))
        changes |= time.columns
    if "billable" in sent or "job_id" in changes:
        done = {"job_id": changes.get("job_id", entry.job_id), "billable": changes.get("billable", entry.billable)}
        changes |= _billed(given, done)
    if entry.status == "rejected":
        changes["status"] = "draft"
    return store.save(ctx, entry, changes)


_TIMES = ("on", "minutes", "started_at", "ended_at", "break_minutes")


@operation(
    right=Right.HOURS_LOG,
    effect=Effect.IRREVERSIBLE,
    rest="POST /hours/{time_entry_id}/delete",
    on=ENTRIES,
    unless=TimeEntry.not_deletable,
    done="The hours are deleted.",
    ends=True,
)
def delete_hours(ctx: Context, _given: DeleteHours, entry: TimeEntry) -> TimeEntry:
    """Delete hours that are not approved.

    Also discards a timer that runs.
    """
    ctx.summary = f"{entry.called}: deleted."
    ctx.effects.append("They are gone, and can only be logged anew.")
    ENTRIES.remove(ctx, entry)
    if entry.status == "running":
        store.count_timers(ctx, store.job_of(ctx, entry), -1)
    return entry


OPERATIONS = (list_hours, get_time_entry, log_hours, update_hours, delete_hours)


def _moved(ctx: Context, entry: TimeEntry, sent: dict[str, Any]) -> dict[str, Any]:
    """What is different where the hours were worked on something else than they say."""
    if not {"job_id", "visit_id"} & sent.keys():
        return {}
    job = sent.get("job_id", entry.job_id)
    # A visit belongs to one job; where only the job is named, the visit it was goes.
    visit = sent.get("visit_id", entry.visit_id if job in {entry.job_id, entry.job_number} else None)
    if (job, visit) in {(entry.job_id, entry.visit_id), (entry.job_number, entry.visit_id)}:
        return {"job_id": entry.job_id, "visit_id": entry.visit_id}
    return work(ctx, entry.person_id, job, visit).columns | (
        {"billable": sent["billable"]} if "billable" in sent else {}
    )


def _billed(given: Any, done: dict[str, Any]) -> dict[str, Any]:
    """Whether and how much of it is billed: of what was worked on no job, nothing."""
    if done["job_id"] is None and (given.billable or given.billable_minutes):
        raise Invalid([Fault("billable", "needs a job whose customer is billed; send jobId as well")])
    sent = {name: getattr(given, name) for name in ("billable", "billable_minutes") if name in given.model_fields_set}
    billable = done["billable"] if sent.get("billable") is None else sent["billable"]
    return sent | {"billable": billable and done["job_id"] is not None}
