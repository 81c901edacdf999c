"""What an input says of hours: whose they are, on which job, and when they were worked."""

from typing import Annotated, Any, NamedTuple

from pydantic import Field

from mainstay.business.hours.model import MOST_MINUTES, TimeEntry, Worked, worked_between, worked_on
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.operations import begin
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.house import House
from mainstay.business.people.store import check_here
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Fault, Invalid, refuse
from mainstay.terms.rights import Needs, Right
from mainstay.values.fields import NOT_ASKED, As, Day, Paragraph, Reference, WholeNumber, id_of
from mainstay.values.wall_times import WallTime, read_wall_time, wall_text

_Count = Annotated[WholeNumber, Field(ge=0, le=MOST_MINUTES), As("minutes")]
_Length = Annotated[WholeNumber, Field(ge=1, le=MOST_MINUTES), As("minutes")]

PersonId = Annotated[
    Annotated[str, id_of("person")] | None,
    Needs(Right.ALL_HOURS_READ),
    Field(title="Person", description="Whose hours, where they are not one's own: a person's id."),
]
JobId = Annotated[
    Annotated[str, Reference(to="job")] | None,
    Field(title="Job", description="What was worked on: the job's id or number."),
]
VisitId = Annotated[
    Annotated[str, id_of("visit")] | None, Field(description="The visit it was, of the same job and person."), NOT_ASKED
]
On = Annotated[Day | None, Field(title="Date", description="The day of the work, with the time it took.")]
Minutes = Annotated[
    _Length | None,
    Field(title="Time", description="How long it took on that date, without breaks."),
]
StartedAt = Annotated[
    WallTime | None,
    Field(
        title="From",
        description="When the work began, in place of date and time. Local, as `2026-11-15T10:30`, or with an offset.",
    ),
]
EndedAt = Annotated[WallTime | None, Field(title="Until", description="When it ended. Written as startedAt.")]
BreakMinutes = Annotated[_Count, Field(title="Break", description="How long of it was not worked.")]
Note = Annotated[Paragraph | None, Field(description="What was done.")]
# Nobody is asked for it with new hours: it follows from the job.
Billable = Annotated[
    bool | None,
    Needs(Right.ALL_HOURS_READ),
    Field(description="Whether the customer is billed for it; by itself, where the job is billed by time."),
]
BillableMinutes = Annotated[
    _Count | None,
    Needs(Right.ALL_HOURS_READ),
    Field(title="Time to bill", description="Where another time than was worked is to be billed."),
]
# How many entries are handed in or decided on at once.
MOST_AT_ONCE = 100
EntryIds = list[Annotated[str, id_of("entry", "a time entry")]]


def whose(ctx: Context, person: str | None, *, or_left: bool = False) -> str:
    """Whose hours are meant: those of the one who asks, unless another is named who is here.

    Hours that there are already outlast their person: `or_left`, it may be someone who has left.
    """
    if person is None and ctx.actor.id is None:
        raise Invalid([Fault("personId", "is required: nobody is signed in whose hours it could be")])
    if person is not None:
        check_here(ctx, "personId", [person], or_left=or_left)
    return person or str(ctx.actor.id)


class WorkedOn(NamedTuple):
    """What was worked on."""

    job: Job | None
    visit: str | None

    @property
    def columns(self) -> dict[str, Any]:
        """The same as it is kept, with whether the customer is billed for it by the hour."""
        billable = self.job is not None and self.job.bills_work
        return {"job_id": self.job.id if self.job else None, "visit_id": self.visit, "billable": billable}


def work(ctx: Context, person: str, job: str | None, visit: str | None) -> WorkedOn:
    """What was worked on, of which work has begun with that."""
    planned = _job_of_visit(ctx, person, visit) if visit else None
    if job is None and planned is None:
        return WorkedOn(None, None)
    found = JOBS.fetch(ctx, planned if job is None else job)
    if planned and found.id != planned:
        raise Invalid([Fault("visitId", "is a visit of another job; leave jobId out, or name that job")])
    refuse(found.not_workable())
    return WorkedOn(begin(ctx, found), visit)


def _job_of_visit(ctx: Context, person: str, visit: str) -> str:
    row = ctx.rows.one(
        "SELECT job_id, person_id FROM visit WHERE organisation_id = :organisation AND id = :visit", visit=visit
    )
    if row is None or row[1] != person:
        raise Invalid([Fault("visitId", "is no visit of this person; list_visits tells theirs")])
    if row[0] is None:
        raise Invalid([Fault("visitId", "is a visit without a job; log the hours without it")])
    return str(row[0])


def worked(ctx: Context, house: House, given: Any) -> Worked:
    """When someone worked, as a new entry says it."""
    if given.started_at or given.ended_at:
        _check_alone(given.on, given.minutes)
        _check_there(startedAt=given.started_at, endedAt=given.ended_at)
        return _between(ctx, house, given.started_at, given.ended_at, given.break_minutes)
    _check_there(on=given.on, minutes=given.minutes)
    _check_break(given.break_minutes)
    return worked_on(given.on, given.minutes, house.time_zone, ctx.now)


def reworked(ctx: Context, house: House, entry: TimeEntry, sent: dict[str, Any]) -> Worked | None:
    """When someone worked, as a change of an entry says it; None where it says nothing new.

    Forms send everything there is, so what is sent as it stood is no change.
    """
    changed = {name: value for name, value in sent.items() if not _stands(house, entry, name, value)}
    pause = changed.get("break_minutes", entry.break_minutes)
    started, ended = (changed.get(name, getattr(entry, name)) for name in ("started_at", "ended_at"))
    if changed.get("started_at") or changed.get("ended_at"):
        _check_alone(changed.get("on"), changed.get("minutes"))
        _check_there(startedAt=started, endedAt=ended)
        return _between(ctx, house, started, ended, pause)
    if not changed.keys() <= {"break_minutes"}:
        _check_break(changed.get("break_minutes", 0))
        minutes = changed.get("minutes") or entry.minutes or 0
        return worked_on(changed.get("on") or entry.on, minutes, house.time_zone, ctx.now)
    if "break_minutes" in changed:
        if not entry.started_at:
            _check_break(pause)
        return _between(ctx, house, started, ended, pause)
    return None


def _stands(house: House, entry: TimeEntry, name: str, value: Any) -> bool:
    kept = getattr(entry, name)
    if kept is None or value is None or name not in {"started_at", "ended_at"}:
        # What was left empty beside times that are kept says nothing of its own.
        return bool(value == kept or (value is None and name in {"on", "minutes"}))
    shown = wall_text(kept, house.time_zone)
    return value in {kept, shown}


def moment_of(field: str, text: str, house: House) -> Any:
    """The moment that a field gives, as the organisation's clocks show it or with an offset."""
    try:
        return read_wall_time(text, house.time_zone)
    except ValueError as problem:
        raise Invalid([Fault(field, str(problem))]) from None


def _between(ctx: Context, house: House, started: str, ended: str, pause: int) -> Worked:
    began, stopped = moment_of("startedAt", started, house), moment_of("endedAt", ended, house)
    return worked_between(began, stopped, pause, house.time_zone, ctx.now)


def _check_alone(on: str | None, minutes: int | None) -> None:
    """Times say the date and the minutes; nobody says them twice."""
    if on or minutes:
        field = "on" if on else "minutes"
        raise Invalid([Fault(field, f"follows from startedAt and endedAt; give either those, or {_LENGTH}")])


def _check_break(minutes: int) -> None:
    if minutes:
        raise Invalid([Fault("breakMinutes", "goes with startedAt and endedAt; minutes are without breaks")])


def _check_there(**fields: object) -> None:
    missing = [name for name, value in fields.items() if not value]
    ways = (_TIMES, _LENGTH) if "startedAt" in fields else (_LENGTH, _TIMES)
    if missing:
        raise Invalid([Fault(name, f"is required: give {', or '.join(ways)}") for name in missing])


# The two ways in which it is said when someone worked; a name that is a word as well is marked as a name.
_TIMES, _LENGTH = "startedAt and endedAt", "`on` and `minutes`"
