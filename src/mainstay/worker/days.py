"""The start of an organisation's day: what its timers do, once, as a task of the outbox.

When a day begins somewhere, a task for it is put into the outbox, so that any number of workers share the organisations
among them. Most days there is nothing to do: that is found out by reading, and many such tasks are finished together.
"""

from collections.abc import Sequence
from datetime import date

from mainstay.backing.database import EVERY, Unreachable
from mainstay.backing.log import log_error
from mainstay.business.organisation.store import claim_days, has_day_begun
from mainstay.kernel.perform import Stage
from mainstay.ledger import outbox, outbox_queue
from mainstay.ledger.outbox import Lane, Letter
from mainstay.ledger.outbox_queue import RETRIES, Work
from mainstay.values.moments import moment_text

# The kind of the task for a day that begins, and of the one for a single timer that failed then.
DAY = "day"
TIMER = "timer"

# So few that those who change one of these organisations hardly wait for it.
_AT_ONCE = 20


class UnknownTimer(Exception):
    """A timer failed that this version of Mainstay does not have."""


def schedule_days(stage: Stage) -> bool:
    """Put tasks for some organisations in which a new day has begun; return whether there were any."""
    now = stage.clock()
    with stage.database.glancing(EVERY) as rows:
        if not has_day_begun(rows, now):
            return False
    with stage.database.changing(EVERY) as rows:
        begun = claim_days(rows, now, _AT_ONCE)
        for organisation, day in begun:
            letter = Letter(DAY, {"on": day.isoformat()}, f"The start of the day {day}", lane=Lane.DAYS)
            outbox.put(rows, letter, moment_text(now), organisation=organisation)
    return bool(begun)


def finish_idle_days(stage: Stage, works: Sequence[Work]) -> list[Work]:
    """Finish the tasks of the days on which there is nothing to do; return the other tasks."""
    idle = [work for work in works if work.kind == DAY and not stage.find_due_timers(work.organisation)]
    if idle:
        with stage.database.changing(EVERY) as rows:
            for work in idle:
                outbox_queue.finish(rows, work)
    return [work for work in works if work not in idle]


def begin_day(stage: Stage, work: Work) -> None:
    """Run the timers of an organisation, and finish the task with it, in one transaction.

    A timer that fails takes back only what it did itself, and is tried again by a task of its own.
    """
    organisation, day = work.organisation, date.fromisoformat(work.payload["on"])
    with stage.together(organisation) as one:
        for timer in one.find_due_timers(organisation):
            try:
                one.begin_day(timer, organisation, day)
            except Unreachable:
                raise
            except Exception as fault:
                log_error("timer failed", fault, timer=timer.name, organisation=organisation)
                with one.database.changing(organisation) as rows:
                    outbox.put(rows, _failed(timer.name, day), moment_text(stage.clock()))
        with one.database.changing(organisation) as rows:
            outbox_queue.finish(rows, work)


def retry_timer(stage: Stage, work: Work) -> None:
    """Run a timer that failed when a day began; if it has run since, nothing happens."""
    for timer in stage.catalogue.timers:
        if timer.name == work.payload["timer"]:
            stage.begin_day(timer, work.organisation, date.fromisoformat(work.payload["on"]))
            return
    raise UnknownTimer(f"This Mainstay does not know the timer {work.payload['timer']}.")


def _failed(timer: str, day: date) -> Letter:
    about = f"What is due each day, for {day}"
    return Letter(TIMER, {"timer": timer, "on": day.isoformat()}, about, wait=RETRIES[0], lane=Lane.DAYS)
