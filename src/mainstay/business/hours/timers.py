"""Timers: hours that are being worked."""

from datetime import datetime, timedelta
from typing import Any

from pydantic import Field

from mainstay.business.hours import store
from mainstay.business.hours.asked import (
    BreakMinutes,
    EndedAt,
    JobId,
    Note,
    PersonId,
    VisitId,
    moment_of,
    whose,
    work,
)
from mainstay.business.hours.model import AHEAD, LONGEST, TimeEntry, worked_between
from mainstay.business.organisation.house import House, house_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Blocked, Fault, Invalid, Reason, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input
from mainstay.values.fields import omittable
from mainstay.values.moments import local_date, moment_text, parse_moment
from mainstay.values.wall_times import wall_text

# No entry is shorter.
_SHORTEST = timedelta(minutes=1)


class StartTimer(Input):
    """What is being worked on."""

    job_id: JobId = None
    note: Note = Field(None, description="What the work is.")
    visit_id: VisitId = None
    person_id: PersonId = None
    switch: bool = Field(default=False, description="Stop the timer that runs, if one does, and start this one.")


class StopTimer(Input):
    """What to say of the work that ends."""

    time_entry_id: str | None = Field(None, description="The entry whose timer it is, where it is not one's own.")
    break_minutes: BreakMinutes = 0
    note: Note = omittable()
    ended_at: EndedAt = None
    person_id: PersonId = None


@operation(
    right=Right.HOURS_LOG, effect=Effect.CHANGE, rest="POST /hours/start", only_adds=False, done="The timer runs."
)
def start_timer(ctx: Context, given: StartTimer) -> TimeEntry:
    """Start a timer.

    For work that begins now; stop_timer ends it, and a job that waited begins. One runs at a time for each person:
    `switch` stops another.
    """
    person, house = whose(ctx, given.person_id), house_of(ctx)
    running = store.find_running(ctx, person)
    if running and not given.switch:
        since = wall_text(running.started_at or "", house.time_zone)
        text = f"A timer runs already: {running.work}, since {since}. Stop it first, or switch over (`switch`: true)."
        refuse([Reason(text, unblock="stop_timer")])
    if running:
        _stop(ctx, house, running, {}, ctx.now)
    started = _free_from(ctx, person)
    on = local_date(started, house.time_zone).isoformat()
    refuse(house.if_closed(on))
    done = work(ctx, person, given.job_id, given.visit_id)
    entry = store.insert_free(
        ctx,
        done.columns
        | {"person_id": person, "note": given.note, "status": "running", "on_date": on, "break_minutes": 0}
        | {"started_at": moment_text(started)}
        | store.rates_of(ctx, person)._asdict(),
    )
    store.count_timers(ctx, done.job, 1)
    return entry


@operation(
    right=Right.HOURS_LOG,
    effect=Effect.CHANGE,
    rest="POST /hours/stop",
    only_adds=False,
    offered_on=store.ENTRIES,
    unless=TimeEntry.not_stoppable,
    done="The timer is stopped.",
)
def stop_timer(ctx: Context, given: StopTimer) -> TimeEntry:
    """Stop the timer that runs.

    Its hours are a draft then. Where it was forgotten, endedAt says when the work ended.
    """
    running, house = _meant(ctx, given), house_of(ctx)
    if running is None:
        told = "No timer runs, so there is none to stop. Log the time instead (log_hours)."
        if ctx.actor.may(Right.ALL_HOURS_READ):
            told += " list_hours with the status `running` tells whose timers run."
        raise Blocked([Reason(told)])
    ctx.expect(running.version)
    ended = moment_of("endedAt", given.ended_at, house) if given.ended_at else ctx.now
    return _stop(ctx, house, running, given.sent("time_entry_id", "ended_at", "person_id"), ended)


OPERATIONS = (start_timer, stop_timer)


def _meant(ctx: Context, given: StopTimer) -> TimeEntry | None:
    """The timer that is to be stopped: of this entry, or the one that runs for someone."""
    if given.time_entry_id is None:
        return store.find_running(ctx, whose(ctx, given.person_id, or_left=True))
    if given.person_id is not None:
        raise Invalid([Fault("personId", "follows from timeEntryId; send only one of them")])
    return store.ENTRIES.fetch(ctx, given.time_entry_id)


def _stop(ctx: Context, house: House, running: TimeEntry, said: dict[str, Any], ended: datetime) -> TimeEntry:
    refuse(running.not_stoppable(ctx.actor))
    started = parse_moment(running.started_at or "")
    if ended is ctx.now:
        # A timer that was started by a slip of the hand counts as a minute.
        ended = max(ended, started + _SHORTEST)
        if ended - started > LONGEST:
            text = f"The timer on {running.work} has run for more than 24 hours. Say when the work ended (endedAt)."
            refuse([Reason(text, unblock="stop_timer")])
    time = worked_between(started, ended, said.get("break_minutes", 0), house.time_zone, max(ctx.now, started))
    stopped = store.save(ctx, running, said | time.columns | {"status": "draft"})
    store.count_timers(ctx, store.job_of(ctx, running), -1)
    return stopped


def _free_from(ctx: Context, person: str) -> datetime:
    """From when someone is free: now, or a moment later, behind the entries that were rounded up to a minute each."""
    free = ctx.now
    while (clash := store.find_within(ctx, person, moment_text(free), None)) and clash.ended_at:
        until = parse_moment(clash.ended_at)
        if until - free > _SHORTEST or until - ctx.now > AHEAD:
            store.refuse_clash(ctx, clash)
        free = until
    return free
