"""Operations on timers: hours that are being worked now."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from pydantic import Field

from mainstay.business.hours import store
from mainstay.business.hours.inputs import (
    BreakMinutes,
    EndedAt,
    VisitId,
    WorkerId,
    WorkJobId,
    WorkNote,
    read_work_moment,
    resolve_person,
    start_work,
)
from mainstay.business.hours.model import MAX_AHEAD, MAX_ENTRY_LENGTH, TimeEntry, check_start_time, work_time_between
from mainstay.business.hours.restoring import delete_new_hours
from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import omittable_field
from mainstay.values.message import FieldName, LocalMoment, Message
from mainstay.values.moments import local_date, moment_text, parse_moment
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Blocked, Fault, Invalid, Reason, raise_if_blocked
from mainstay.vocabulary.schemas import Input

# The length of the shortest entry.
_MIN_LENGTH = timedelta(minutes=1)


class StartTimer(Input):
    """What is being worked on."""

    job_id: WorkJobId = None
    note: WorkNote = Field(None, description="What you are working on.")
    visit_id: VisitId = None
    person_id: WorkerId = None
    switch: bool = Field(default=False, description="Stops a running timer and starts this one.")


class StopTimer(Input):
    """Which timer to stop, and details of the work."""

    time_entry_id: str | None = Field(None, description="The entry with the timer. Default: your own running timer.")
    break_minutes: BreakMinutes = 0
    note: WorkNote = omittable_field()
    ended_at: EndedAt = None
    person_id: WorkerId = None


@operation(
    permission=Permission.HOURS_LOG,
    effect=Effect.CHANGE,
    api_path="POST /hours/start",
    only_adds=False,
    undone_by=delete_new_hours,
    past_text="Timer started",
)
def start_timer(ctx: Context, given: StartTimer) -> TimeEntry:
    """Start timer.

    [[Clock in: for work that begins now, until stop_timer; a job that has not started is started. Each person has
    one timer at a time; `switch` stops the other one.]]
    """
    person, settings = resolve_person(ctx, given.person_id), settings_of(ctx)
    running = store.find_running(ctx, person)
    if running and not given.switch:
        raise_if_blocked([Reason(_make_running_message(running, settings.time_zone), first="stop_timer")])
    if running:
        stop_running(ctx, running, {}, ctx.now)
    return run_timer(ctx, settings, NewTimer(person, given.job_id, given.visit_id, given.note))


@operation(
    permission=Permission.HOURS_LOG,
    effect=Effect.CHANGE,
    api_path="POST /hours/stop",
    only_adds=False,
    offered_on=store.TIME_ENTRIES,
    blocked_by=TimeEntry.not_stoppable,
    not_undone=Message("A stopped timer can't be resumed. Start a new one, or edit the hours."),
    past_text="Timer stopped",
)
def stop_timer(ctx: Context, given: StopTimer) -> TimeEntry:
    """Stop timer.

    Clock out: its hours become a draft. [[If you forgot to stop it, send endedAt with the time when the work
    ended.]]
    """
    running, settings = _find_timer(ctx, given), settings_of(ctx)
    if running is None:
        hint = Message("list_hours with the status `running` shows whose timers are running.")
        message = Message(
            "No timer is running. Log the time instead.",
            for_programs=hint if ctx.actor.can(Permission.ALL_HOURS_READ) else None,
        )
        raise Blocked([Reason(message, instead="log_hours")])
    ctx.check_version(running.version)
    ended = read_work_moment("endedAt", given.ended_at, settings) if given.ended_at else ctx.now
    return stop_running(ctx, running, given.sent_fields("time_entry_id", "ended_at", "person_id"), ended)


OPERATIONS = (start_timer, stop_timer)


class NewTimer(NamedTuple):
    """A timer to start: whose, on what, and from when."""

    person_id: str
    job_id: str | None
    visit_id: str | None
    note: str | None
    # When the work began, if that was earlier than now.
    started: datetime | None = None


def run_timer(ctx: Context, settings: OrganisationSettings, timer: NewTimer) -> TimeEntry:
    """Start the timer of a person who has none running."""
    person = timer.person_id
    if timer.started:
        check_start_time(timer.started, ctx.now)
    started = _find_free_moment(ctx, person, min(timer.started or ctx.now, ctx.now))
    if timer.started:
        store.check_no_overlap(ctx, person, moment_text(started), moment_text(max(ctx.now, started + _MIN_LENGTH)))
    on = local_date(started, settings.time_zone).isoformat()
    raise_if_blocked(settings.reasons_if_closed(on))
    target = start_work(ctx, person, timer.job_id, timer.visit_id)
    entry = store.insert_unchecked(
        ctx,
        target.columns
        | {"person_id": person, "note": timer.note, "status": "running", "on_date": on, "break_minutes": 0}
        | {"started_at": moment_text(started)}
        | store.hourly_rates_of(ctx, person)._asdict(),
    )
    store.change_timer_count(ctx, target.job, 1)
    return entry


def stop_running(
    ctx: Context, running: TimeEntry, values: dict[str, Any], ended: datetime, started: datetime | None = None
) -> TimeEntry:
    """Stop a running timer. The work may have begun at another moment than the timer."""
    raise_if_blocked(running.not_stoppable(ctx.actor))
    started = started or parse_moment(running.started_at or "")
    if ended is ctx.now and ended - started > MAX_ENTRY_LENGTH:
        raise_if_blocked([Reason(_make_forgotten_message(running), first="stop_timer")])
    if ended is ctx.now or ended >= started:
        # A timer that was started by mistake counts as a minute.
        ended = max(ended, started + _MIN_LENGTH)
    time = work_time_between(
        started, ended, values.get("break_minutes", 0), settings_of(ctx).time_zone, max(ctx.now, started)
    )
    stopped = store.save(ctx, running, values | time.columns | {"status": "draft"})
    store.change_timer_count(ctx, store.job_of_entry(ctx, running), -1)
    return stopped


def _make_running_message(running: TimeEntry, zone: str) -> Message:
    hint = Message("To switch, send {field}: true.", field=FieldName("switch"))
    start = LocalMoment(running.started_at or "", zone)
    if running.job_id:
        return Message(
            "A timer on {job} has been running since {start}. Stop it first, or switch to this job.",
            for_programs=hint,
            job=running.job_name,
            start=start,
        )
    return Message(
        "A timer without a job has been running since {start}. Stop it first, or switch to this job.",
        for_programs=hint,
        start=start,
    )


def _make_forgotten_message(running: TimeEntry) -> Message:
    hint = Message("Send {field}.", field=FieldName("endedAt"))
    if running.job_id:
        return Message(
            "The timer on {job} has been running for more than 24 hours. Enter when the work ended.",
            for_programs=hint,
            job=running.job_name,
        )
    return Message("The timer has been running for more than 24 hours. Enter when the work ended.", for_programs=hint)


def _find_timer(ctx: Context, given: StopTimer) -> TimeEntry | None:
    """Return the timer to stop: that of the named entry, or the person's running one."""
    if given.time_entry_id is None:
        return store.find_running(ctx, resolve_person(ctx, given.person_id, allow_left=True))
    if given.person_id is not None:
        problem = Message("can't be combined with {field}", field=FieldName("timeEntryId"))
        raise Invalid([Fault("personId", problem)])
    return store.TIME_ENTRIES.fetch(ctx, given.time_entry_id)


def _find_free_moment(ctx: Context, person_id: str, wanted: datetime) -> datetime:
    """Return from when a person is free: then, or soon after, because short entries are rounded up to a minute."""
    free = wanted
    while (clash := store.find_overlapping(ctx, person_id, moment_text(free), None)) and clash.ended_at:
        until = parse_moment(clash.ended_at)
        if until - free > _MIN_LENGTH or until - wanted > MAX_AHEAD:
            store.refuse_clash(ctx, clash)
        free = until
    return free
