"""How tasks leave the outbox: leased to a worker, and then finished, postponed, moved to another lane or parked.

A worker takes a task by a lease: `due_at` moves to the moment at which the lease ends, and `taken_at` says since when.
A worker that dies lets the lease run out, so that everything is done at least once. A task whose leases are lost again
and again is parked, because it may be what kills the workers. A worker that lost its lease can change nothing any more.

Organisations take turns within a lane, and have one task at a time in progress there (events: one batch). So an
organisation with a thousand tasks delays another one by one task, and each further worker serves another organisation.
Any number of workers may take at once: on PostgreSQL they skip what another one is about to take, on SQLite they write
one after another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from mainstay.changes.outbox import EVENT, FIRST, LATER, READY, Lane
from mainstay.infrastructure.database import SKIP_LOCKED, DatabaseHandle
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from mainstay.values.stored_message import dump_message

# Tasks that take longer renew their lease.
LEASE = timedelta(minutes=2)
# Waiting grows from seconds to hours; then the task is parked for the operator to look at.
RETRIES = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 300, 1800, 7200, 18000, 36000, 86400))
# A task is parked when so many workers died while doing it.
MAX_LOST_LEASES = 3
# How many events of an organisation are taken at once, and how many organisations at the start of their day.
EVENTS_AT_ONCE = 50
DAYS_AT_ONCE = 10


@dataclass(frozen=True, slots=True)
class LeasedTask:
    """A task that a worker has leased."""

    id: str
    organisation: str
    kind: str
    payload: dict[str, str]
    attempts: int
    lane: Lane = Lane.EVENTS
    # Distinguishes this lease from later ones.
    taken_at: str | None = None


def is_due(db: DatabaseHandle, lane: Lane, now: datetime) -> bool:
    """Return whether a lane has due tasks; their organisations may all have another task in progress."""
    return db.one(f"SELECT 1 WHERE {_IS_DUE}", lane=lane.value, now=moment_text(now)) is not None


def take_tasks(db: DatabaseHandle, lane: Lane, now: datetime, after: str = "") -> list[LeasedTask]:
    """Take the next task of the organisation behind `after`, which was served last; return none if nothing is due.

    Events of the organisation are taken together, and so are the first tasks of several organisations at the start of
    their day: most of them have nothing to do.
    """
    organisations = DAYS_AT_ONCE if lane is Lane.DAYS else 1
    _make_ready(db, lane, now)
    # After the last organisation comes the first one again.
    for turn, after_organisation in [
        (turn, after_organisation) for turn in (FIRST, READY) for after_organisation in dict.fromkeys((after, ""))
    ]:
        chosen = db.all(
            _NEXT,
            lane=lane.value,
            turn=turn,
            behind=after_organisation,
            now=moment_text(now),
            most=organisations,
            looked_at=organisations + _MAX_BUSY,
        )
        if chosen:
            leased = [_lease_tasks(db, lane, now, str(record_id), str(kind)) for record_id, kind in chosen]
            return [task for tasks in leased for task in tasks]
    return []


def renew_leases(db: DatabaseHandle, tasks: Sequence[LeasedTask], now: datetime) -> None:
    """Renew the leases of tasks that take long."""
    for task in tasks:
        _update_task(db, task, "due_at = :until", until=moment_text(now + LEASE))


def return_tasks(db: DatabaseHandle, tasks: Sequence[LeasedTask], now: datetime) -> None:
    """Return tasks to the queue at once: the database was unavailable while they were done, and no worker died."""
    for task in tasks:
        _update_task(db, task, f"due_at = :now, turn = {READY}, taken_at = NULL", now=moment_text(now))


def finish_task(db: DatabaseHandle, task: LeasedTask) -> None:
    """Remove a task that is done."""
    db.run("DELETE FROM outbox WHERE id = :id", id=task.id)
    # Events are many and have no message.
    if task.kind != EVENT:
        _update_message(db, task, "sent")


def move_task(db: DatabaseHandle, task: LeasedTask, lane: Lane, now: datetime) -> None:
    """Move a task to another lane, as a new task there."""
    _update_task(
        db,
        task,
        f"lane = :lane, due_at = :now, turn = {READY}, taken_at = NULL, attempts = 0, lost_leases = 0,"
        " problem = NULL, failed_at = NULL",
        lane=lane.value,
        now=moment_text(now),
    )


def postpone_task(db: DatabaseHandle, task: LeasedTask, now: datetime, problem: Message | str) -> datetime | None:
    """Retry a failed task later; return when, or None if it was parked instead."""
    if task.attempts > len(RETRIES):
        park_task(db, task, now, problem, _GIVEN_UP_PRINT if task.lane is Lane.PDFS else _GIVEN_UP)
        return None
    retry_at = now + RETRIES[task.attempts - 1]
    _mark_failed(db, task, now, moment_text(retry_at), problem)
    return retry_at


def park_task(
    db: DatabaseHandle, task: LeasedTask, now: datetime, problem: Message | str, message: Message | str
) -> None:
    """Park a task that cannot be done now: it stays, with the problem, until someone looks at it.

    The page of the record shows the message to everyone who sees the record.
    """
    if _mark_failed(db, task, now, None, problem):
        _update_message(db, task, "failed", message)


_GIVEN_UP = Message("The mail server did not accept it within two days.")
_GIVEN_UP_PRINT = Message("Its PDF could not be created within two days.")
_STOPPED = Message(
    "The worker stopped {times} times while doing this. It is not retried automatically, because it may be the cause.",
    times=MAX_LOST_LEASES,
)
_MAX_PROBLEM_LENGTH = 1000

# At most so many due tasks are made ready at once.
_MAX_MADE_READY = 500
# At most so many organisations with a task in progress are skipped in one round.
_MAX_BUSY = 32

_IS_DUE = (
    f"EXISTS (SELECT 1 FROM outbox WHERE lane = :lane AND turn IN ({FIRST}, {READY}))"
    f" OR EXISTS (SELECT 1 FROM outbox WHERE lane = :lane AND turn = {LATER} AND due_at <= :now)"
)

# The columns of a task, as `_task_from_columns` reads them.
_COLUMNS = "id, organisation_id, kind, payload, attempts, taken_at"

_MAKE_READY = f"""
WITH due AS MATERIALIZED (
    SELECT id FROM outbox WHERE lane = :lane AND turn = {LATER} AND due_at <= :now
    ORDER BY due_at LIMIT :most {SKIP_LOCKED}
)
UPDATE outbox SET turn = {READY}, taken_at = NULL,
    lost_leases = lost_leases + CASE WHEN taken_at IS NULL THEN 0 ELSE 1 END
WHERE id IN (SELECT id FROM due)
RETURNING {_COLUMNS}, lost_leases
"""

# Jumps along the index from organisation to organisation, however many tasks each has, and stops after some of them. An
# organisation is skipped if another worker is about to take its first task, so that it never has two in progress.
_NEXT = f"""
WITH RECURSIVE serving (organisation_id, number) AS (
    SELECT (SELECT min(organisation_id) FROM outbox
            WHERE lane = :lane AND turn = :turn AND organisation_id > :behind), 1
    UNION ALL
    SELECT (SELECT min(outbox.organisation_id) FROM outbox
            WHERE lane = :lane AND turn = :turn AND outbox.organisation_id > serving.organisation_id), number + 1
    FROM serving WHERE serving.organisation_id IS NOT NULL AND number < :looked_at
)
SELECT outbox.id, outbox.kind FROM serving JOIN outbox ON outbox.id = (
    SELECT id FROM outbox AS own WHERE own.lane = :lane AND own.turn = :turn
    AND own.organisation_id = serving.organisation_id ORDER BY own.due_at, own.id LIMIT 1)
WHERE outbox.turn = :turn AND outbox.due_at <= :now AND NOT EXISTS (
    SELECT 1 FROM outbox AS busy WHERE busy.lane = :lane AND busy.organisation_id = serving.organisation_id
    AND busy.taken_at IS NOT NULL)
ORDER BY number LIMIT :most {SKIP_LOCKED}
"""

_LEASE = (
    f"UPDATE outbox SET due_at = :until, taken_at = :now, attempts = attempts + 1, turn = {LATER}"
    # The turn is checked again when the row is written, because another worker may have been quicker.
    f" WHERE turn < {LATER} AND id"
)

_LEASE_EVENTS = f"""
WITH first AS MATERIALIZED (
    SELECT own.id, own.kind FROM outbox AS chosen
    JOIN outbox AS own ON own.lane = chosen.lane AND own.turn = chosen.turn
        AND own.organisation_id = chosen.organisation_id
    WHERE chosen.id = :id AND own.due_at <= :now ORDER BY own.due_at, own.id LIMIT :most
)
{_LEASE} IN (SELECT id FROM first WHERE kind = '{EVENT}') RETURNING {_COLUMNS}
"""


def _make_ready(db: DatabaseHandle, lane: Lane, now: datetime) -> None:
    """Make the tasks ready whose time has come, and park those whose leases were lost too often."""
    due = db.all(_MAKE_READY, lane=lane.value, now=moment_text(now), most=_MAX_MADE_READY)
    for *columns, lost in due:
        if int(lost or 0) >= MAX_LOST_LEASES:
            park_task(db, _task_from_columns(lane, columns), now, _STOPPED, _STOPPED)


def _lease_tasks(db: DatabaseHandle, lane: Lane, now: datetime, record_id: str, kind: str) -> list[LeasedTask]:
    parameters = {"id": record_id, "now": moment_text(now), "until": moment_text(now + LEASE)}
    if kind == EVENT:
        leased = db.all(_LEASE_EVENTS, most=EVENTS_AT_ONCE, **parameters)
    else:
        leased = db.all(f"{_LEASE} = :id RETURNING {_COLUMNS}", **parameters)
    return sorted((_task_from_columns(lane, columns) for columns in leased), key=lambda task: task.id)


def _task_from_columns(lane: Lane, columns: Sequence[object]) -> LeasedTask:
    record_id, organisation, kind, payload, attempts, taken_at = columns
    fields = str(record_id), str(organisation), str(kind), orjson.loads(str(payload)), int(str(attempts))
    return LeasedTask(*fields, lane, None if taken_at is None else str(taken_at))


def _mark_failed(db: DatabaseHandle, task: LeasedTask, now: datetime, due: str | None, problem: Message | str) -> bool:
    return _update_task(
        db,
        task,
        f"due_at = :due, turn = {LATER}, taken_at = NULL, problem = :problem, failed_at = :now",
        due=due,
        problem=_to_stored(problem),
        now=moment_text(now),
    )


def _update_task(db: DatabaseHandle, task: LeasedTask, changes: str, **parameters: str | None) -> bool:
    """Change a task, unless its lease was lost meanwhile; return whether it was changed."""
    condition = "WHERE id = :id AND taken_at IS NOT DISTINCT FROM :taken_at"
    return db.run(f"UPDATE outbox SET {changes} {condition}", id=task.id, taken_at=task.taken_at, **parameters) > 0


def _update_message(db: DatabaseHandle, task: LeasedTask, status: str, problem: Message | str | None = None) -> None:
    db.run(
        "UPDATE message SET status = :status, problem = :problem WHERE organisation_id = :owner AND id = :id",
        owner=task.organisation,
        id=task.id,
        status=status,
        problem=None if problem is None else _to_stored(problem),
    )


def _to_stored(problem: Message | str) -> str:
    return dump_message(problem if isinstance(problem, Message) else problem[:_MAX_PROBLEM_LENGTH])
