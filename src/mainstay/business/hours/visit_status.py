"""Starts and finishes visits, and with them the timer of the person who does the work."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, NamedTuple

from pydantic import Field
from pydantic.alias_generators import to_camel

from mainstay.business.hours import store
from mainstay.business.hours.inputs import BreakMinutes, WorkNote, read_work_moment, start_work
from mainstay.business.hours.model import (
    TimeEntry,
    TimeEntryOut,
    WorkTime,
    check_end_time,
    check_start_time,
    is_work_on_visit,
    work_time_between,
)
from mainstay.business.hours.restoring import restore_visit_status
from mainstay.business.hours.timers import NewTimer, run_timer, stop_running
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.schedule.model import SettableStatus, Visit
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.visit_progress import save_visit_status
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.descriptions import describe
from mainstay.values.message import FieldName, Message
from mainstay.values.moments import moment_text
from mainstay.values.wall_times import EnteredMoment
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input

_HOURS = RequiresPermission(Permission.HOURS_LOG)


class SetVisitStatus(Input):
    """Which visit, its new status, and the hours of the person who does it."""

    visit_id: str = Field(description=describe("[[The visit's ID.]]"))
    status: SettableStatus = Field(
        description=describe("[[`started` when work begins, `done` when it is finished, `planned` to undo.]]")
    )
    timer: Annotated[bool, _HOURS] = Field(
        default=False,
        description=describe(
            "[[Of your own visit: `started` also starts your timer on it and stops another "
            "one, and `done` stops it, so that its hours become a draft.]]"
        ),
    )
    started_at: EnteredMoment | None = Field(
        None,
        title="Started",
        description=describe(
            "When the work began, if not now. [[If no timer ran, hours from then are logged with `timer`.]]"
        ),
    )
    ended_at: EnteredMoment | None = Field(
        None, title="Finished", description=describe("When the work ended, if not now.")
    )
    break_minutes: Annotated[BreakMinutes, _HOURS] = 0
    note: Annotated[WorkNote, _HOURS] = None


@operation(
    permission=Permission.VISITS_MOVE,
    effect=Effect.CHANGE,
    api_path="POST /visits/{visit_id}/status",
    on=VISITS,
    blocked_by=Visit.not_settable,
    done_message="Visit updated.",
    undone_by=restore_visit_status,
    past_text="Visit changed",
    past_text_by=("status", {"planned": "Visit: planned", "started": "Visit: started", "done": "Visit: done"}),
    extra_records={"timeEntry": TimeEntryOut},
)
def set_visit_status(ctx: Context, given: SetVisitStatus, visit: Visit) -> Visit:
    """Change visit status.

    [[Marks a visit as started or done, with `timer` also clocking in or out on it; starting the first visit also
    starts the job.]] Members and subcontractors can change their own.
    """
    work = _read_work(ctx, given, visit)
    running = store.find_running(ctx, str(ctx.actor.id)) if given.timer else None
    after = visit
    if visit.status != given.status:
        started = None if _is_resumed(visit, running) else work.started_text
        after = save_visit_status(ctx, visit, given.status, started, work.ended_text)
    entry = _move_timer(ctx, given, visit, work, running) if given.timer else None
    if entry:
        ctx.extra_records["timeEntry"] = entry
    return after


OPERATIONS = (set_visit_status,)


class _WorkTimes(NamedTuple):
    """When the work began and ended, if that was not now."""

    started: datetime | None
    ended: datetime | None

    @property
    def started_text(self) -> str | None:
        """The start as it is stored."""
        return moment_text(self.started) if self.started else None

    @property
    def ended_text(self) -> str | None:
        """The end as it is stored."""
        return moment_text(self.ended) if self.ended else None


def _read_work(ctx: Context, given: SetVisitStatus, visit: Visit) -> _WorkTimes:
    """Return when the work began and ended. Refuse what does not fit the status or the visit."""
    sent = [name for name in _WORK_FIELDS if getattr(given, name)]
    if wrong := [name for name in sent if name not in _FIELDS_BY_STATUS[given.status]]:
        problem = Message("can't be combined with {field}", field=FieldName("status"))
        raise Invalid([Fault(to_camel(name), problem) for name in wrong])
    if needing := [name for name in sent if name in _HOURS_FIELDS and not given.timer]:
        raise Invalid([Fault("timer", Message("is required with {field}", field=FieldName(to_camel(needing[0]))))])
    if given.timer and visit.person_id != ctx.actor.id:
        raise Invalid([Fault("timer", Message("is only for your own visits"))])
    started = read_work_moment("startedAt", given.started_at, settings_of(ctx)) if given.started_at else None
    ended = read_work_moment("endedAt", given.ended_at, settings_of(ctx)) if given.ended_at else None
    if started:
        check_start_time(started, ctx.now)
    # A visit that was done at once ended when it began, and does so again if that is restored.
    if ended and not ctx.is_undoing:
        check_end_time(started, ended, ctx.now)
    return _WorkTimes(started, ended)


_HOURS_FIELDS = frozenset({"break_minutes", "note"})
_WORK_FIELDS = ("timer", "started_at", "ended_at", *sorted(_HOURS_FIELDS))
_FIELDS_BY_STATUS: Mapping[SettableStatus, frozenset[str]] = {
    "planned": frozenset(),
    "started": frozenset({"timer", "started_at"}),
    "done": frozenset(_WORK_FIELDS),
}


def _is_resumed(visit: Visit, running: TimeEntry | None) -> bool:
    """Return whether the timer was started again after a break, so that the visit began before it."""
    return running is not None and visit.started_at is not None and (running.started_at or "") > visit.started_at


def _move_timer(
    ctx: Context, given: SetVisitStatus, visit: Visit, work: _WorkTimes, running: TimeEntry | None
) -> TimeEntry | None:
    """Start the actor's timer on their visit, or stop it. Return its entry."""
    person = str(ctx.actor.id)
    own = running if running and is_work_on_visit(running, visit.id, visit.about_job) else None
    if given.status == "started":
        if own:
            return own
        if running:
            _stop_other(ctx, running, work.started)
        return run_timer(ctx, settings_of(ctx), NewTimer(person, None, *_describe_work(visit), work.started))
    values = {name: value for name, value in (("break_minutes", given.break_minutes), ("note", given.note)) if value}
    if own:
        return stop_running(ctx, own, values, work.ended or ctx.now, work.started)
    if work.started:
        zone = settings_of(ctx).time_zone
        time = work_time_between(work.started, work.ended or ctx.now, given.break_minutes, zone, ctx.now)
        return _log_work(ctx, visit, time, given.note)
    ctx.warnings.append(
        Message(
            "No timer was running on this visit, so no hours were logged.",
            for_programs=Message("Call log_hours with {visit}.", visit=FieldName("visitId")),
        )
    )
    return None


def _describe_work(visit: Visit) -> tuple[str | None, str | None]:
    """Return the visit and the note of its hours. A visit without a job is only named in the note."""
    return (visit.id, None) if visit.about_job else (None, visit.about)


def _stop_other(ctx: Context, running: TimeEntry, ended: datetime | None) -> None:
    """Stop the timer on other work when the work on a visit begins."""
    if ended and moment_text(ended) <= (running.started_at or ""):
        store.refuse_clash(ctx, running)
    stop_running(ctx, running, {}, min(ended, ctx.now) if ended else ctx.now)


def _log_work(ctx: Context, visit: Visit, time: WorkTime, note: str | None) -> TimeEntry:
    """Log the actor's hours on a visit that no timer counted."""
    person = str(ctx.actor.id)
    visit_id, visit_note = _describe_work(visit)
    target = start_work(ctx, person, None, visit_id)
    values = target.columns | {"person_id": person, "note": note or visit_note, "status": "draft"} | time.columns
    return store.insert(ctx, values | store.hourly_rates_of(ctx, person)._asdict())
