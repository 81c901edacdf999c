"""The start of an organisation's day: what its timers do, once, as a task of the outbox.

When a day begins somewhere, a task for it is added to the outbox, so that any number of workers share this work. On
most days there is nothing to do: a read finds that out, and many such tasks are finished together.

On SQLite all changes share one lock and each transaction waits for the disk, so several organisations begin their day
in one transaction. On PostgreSQL each organisation has a transaction of its own, and holds no lock for others.
"""

from collections.abc import Sequence
from datetime import date

from mainstay.business.organisation.store import claim_new_days, has_new_day
from mainstay.changes import outbox, outbox_queue
from mainstay.changes.outbox import Lane, OutboxTask
from mainstay.changes.outbox_queue import RETRIES, LeasedTask
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseUnavailable
from mainstay.infrastructure.log import log_error
from mainstay.kernel.perform import Performer
from mainstay.kernel.reaction import DailyTimer
from mainstay.values.message import CalendarDate, Message
from mainstay.values.moments import moment_text

# The kind of the task for a day that begins, and of the one for a single timer that failed then.
DAY_TASK = "day"
TIMER_TASK = "timer"

# So few organisations that other changes in them hardly wait.
_DAYS_AT_ONCE = 20


class UnknownTimer(Exception):
    """A task names a timer that this version of Mainstay does not have."""

    def __init__(self, timer: str) -> None:
        self.message = Message("This version of Mainstay does not know the timer {timer}.", timer=timer)
        super().__init__(self.message)


def schedule_days(performer: Performer) -> bool:
    """Add tasks for some organisations in which a new day has begun; return whether there were any."""
    now = performer.clock()
    with performer.database.single_read(ALL_ORGANISATIONS) as db:
        if not has_new_day(db, now):
            return False
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        begun = claim_new_days(db, now, _DAYS_AT_ONCE)
        for organisation, day in begun:
            task = OutboxTask(
                DAY_TASK,
                {"on": day.isoformat()},
                Message("Start of {day}", day=CalendarDate(day.isoformat())),
                lane=Lane.DAYS,
            )
            outbox.add_task(db, task, moment_text(now), organisation=organisation)
    return bool(begun)


def finish_idle_days(performer: Performer, tasks: Sequence[LeasedTask]) -> list[LeasedTask]:
    """Finish the tasks of the days on which there is nothing to do; return the other tasks."""
    idle = [task for task in tasks if task.kind == DAY_TASK and not performer.find_due_timers(task.organisation)]
    if idle:
        with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            for task in idle:
                outbox_queue.finish_task(db, task)
    return [task for task in tasks if task not in idle]


def begin_days(performer: Performer, tasks: Sequence[LeasedTask]) -> None:
    """Begin the days of several organisations in one transaction, which waits once for the disk; only on SQLite.

    The due timers are found before the transaction, because it blocks all other changes.
    """
    due = [(task, performer.find_due_timers(task.organisation)) for task in tasks]
    with performer.open_batch(ALL_ORGANISATIONS) as batch:
        for task, timers in due:
            _run_timers(batch, task, timers)


def begin_day(performer: Performer, task: LeasedTask) -> None:
    """Run the timers of an organisation, and finish the task with it, in one transaction."""
    timers = performer.find_due_timers(task.organisation)
    with performer.open_batch(task.organisation) as batch:
        _run_timers(batch, task, timers)


def retry_timer(performer: Performer, task: LeasedTask) -> None:
    """Run a timer that failed when a day began; if it has run since, nothing happens."""
    for timer in performer.catalogue.timers:
        if timer.name == task.payload["timer"]:
            performer.run_daily_timer(timer, task.organisation, date.fromisoformat(task.payload["on"]))
            return
    raise UnknownTimer(task.payload["timer"])


def _run_timers(batch: Performer, task: LeasedTask, timers: Sequence[DailyTimer]) -> None:
    """Run these timers, and finish the task.

    If a timer fails, only its own changes are rolled back, and a task of its own retries it.
    """
    organisation, day = task.organisation, date.fromisoformat(task.payload["on"])
    for timer in timers:
        try:
            batch.run_daily_timer(timer, organisation, day)
        except DatabaseUnavailable:
            raise
        except Exception as error:
            log_error("timer failed", error, timer=timer.name, organisation=organisation)
            with batch.database.write_transaction(organisation) as db:
                outbox.add_task(db, _make_retry_task(timer.name, day), moment_text(batch.clock()))
    with batch.database.write_transaction(organisation) as db:
        outbox_queue.finish_task(db, task)


def _make_retry_task(timer: str, day: date) -> OutboxTask:
    description = Message("What is due each day, for {day}", day=CalendarDate(day.isoformat()))
    return OutboxTask(
        TIMER_TASK, {"timer": timer, "on": day.isoformat()}, description, delay=RETRIES[0], lane=Lane.DAYS
    )
