"""How tasks leave the outbox: taken for a while, and then finished, put off, moved on or parked.

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

from mainstay.backing.database import SKIP_LOCKED, Handle
from mainstay.ledger.outbox import EVENT, FIRST, LATER, READY, Lane
from mainstay.values.moments import moment_text

# Longer tasks renew theirs.
LEASE = timedelta(minutes=2)
# Waiting grows from seconds to hours; then the task is parked for the operator to look at.
RETRIES = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 300, 1800, 7200, 18000, 36000, 86400))
# A task is parked when so many workers died while doing it.
MOST_LOST_LEASES = 3
# How many events of an organisation are taken at once, and how many organisations at the start of their day.
EVENTS_AT_ONCE = 50
DAYS_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Work:
    """A task that is taken."""

    id: str
    organisation: str
    kind: str
    payload: dict[str, str]
    attempts: int
    lane: Lane = Lane.EVENTS
    # Tells this lease from later ones.
    taken_at: str | None = None


def is_due(rows: Handle, lane: Lane, now: datetime) -> bool:
    """Whether there is something to take in a lane, unless its organisations are all being served."""
    return rows.one(f"SELECT 1 WHERE {_IS_DUE}", lane=lane.value, now=moment_text(now)) is not None


def take(rows: Handle, lane: Lane, now: datetime, after: str = "") -> list[Work]:
    """Take the next task of the organisation behind `after`, the one that was served last; none if nothing is due.

    Events of the organisation are taken together, and so are the first tasks of several organisations at the start of
    their day: most of them have nothing to do.
    """
    organisations = DAYS_AT_ONCE if lane is Lane.DAYS else 1
    _make_ready(rows, lane, now)
    # Who reaches the last organisation goes on with the first.
    for turn, behind in [(turn, behind) for turn in (FIRST, READY) for behind in dict.fromkeys((after, ""))]:
        chosen = rows.all(
            _NEXT,
            lane=lane.value,
            turn=turn,
            behind=behind,
            now=moment_text(now),
            most=organisations,
            looked_at=organisations + _BUSY,
        )
        if chosen:
            leased = [_lease(rows, lane, now, str(identity), str(kind)) for identity, kind in chosen]
            return [work for works in leased for work in works]
    return []


def renew(rows: Handle, works: Sequence[Work], now: datetime) -> None:
    """Prolong the leases of tasks that take long."""
    for work in works:
        _change(rows, work, "due_at = :until", until=moment_text(now + LEASE))


def give_back(rows: Handle, works: Sequence[Work], now: datetime) -> None:
    """Let tasks be taken again at once: the database was away while they were done, and no worker died."""
    for work in works:
        _change(rows, work, f"due_at = :now, turn = {READY}, taken_at = NULL", now=moment_text(now))


def finish(rows: Handle, work: Work) -> None:
    """The task is done."""
    rows.run("DELETE FROM outbox WHERE id = :id", id=work.id)
    # No message is about an event, and of those there are many.
    if work.kind != EVENT:
        _tell(rows, work, "sent")


def move(rows: Handle, work: Work, lane: Lane, now: datetime) -> None:
    """The task goes on in another lane, where it is new."""
    _change(
        rows,
        work,
        f"lane = :lane, due_at = :now, turn = {READY}, taken_at = NULL, attempts = 0, lost_leases = 0,"
        " problem = NULL, failed_at = NULL",
        lane=lane.value,
        now=moment_text(now),
    )


def postpone(rows: Handle, work: Work, now: datetime, problem: str) -> datetime | None:
    """The task failed: return when it is tried again, or None when it is parked."""
    if work.attempts > len(RETRIES):
        park(rows, work, now, problem, _GIVEN_UP_PRINT if work.lane is Lane.PRINTS else _GIVEN_UP)
        return None
    again = now + RETRIES[work.attempts - 1]
    _fail(rows, work, now, moment_text(again), problem)
    return again


def park(rows: Handle, work: Work, now: datetime, problem: str, told: str) -> None:
    """The task cannot be done as things are: it stays, with the problem, until someone looks at it.

    What is told of it on a record's page is for everyone who sees that.
    """
    if _fail(rows, work, now, None, problem):
        _tell(rows, work, "failed", told)


_GIVEN_UP = "The mail server did not take it, though it was tried for two days."
_GIVEN_UP_PRINT = "Its PDF could not be made, though it was tried for two days."
_STOPPED = (
    f"The worker stopped {MOST_LOST_LEASES} times while doing this. It is not tried again by itself: this may be what"
    " stopped it."
)
_LONGEST = 1000

# So many that are due are looked up at once.
_MADE_READY = 500
# So many organisations are passed over that are being served, before others are looked for in the next round.
_BUSY = 32

_IS_DUE = (
    f"EXISTS (SELECT 1 FROM outbox WHERE lane = :lane AND turn IN ({FIRST}, {READY}))"
    f" OR EXISTS (SELECT 1 FROM outbox WHERE lane = :lane AND turn = {LATER} AND due_at <= :now)"
)

# The columns of a task, as `_work` reads them.
_COLUMNS = "id, organisation_id, kind, payload, attempts, taken_at"

_DUE = f"""
WITH due AS MATERIALIZED (
    SELECT id FROM outbox WHERE lane = :lane AND turn = {LATER} AND due_at <= :now
    ORDER BY due_at LIMIT :most {SKIP_LOCKED}
)
UPDATE outbox SET turn = {READY}, taken_at = NULL,
    lost_leases = lost_leases + CASE WHEN taken_at IS NULL THEN 0 ELSE 1 END
WHERE id IN (SELECT id FROM due)
RETURNING {_COLUMNS}, lost_leases
"""

# Jumps along the index from organisation to organisation, however many tasks each has, and stops after some. One whose
# first task another worker is about to take is passed over: it gets no second one in progress.
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
    # Asked again when the row is written: whoever was quicker may have changed it.
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


def _make_ready(rows: Handle, lane: Lane, now: datetime) -> None:
    """Let the tasks whose moment has come take their turn, and park those that were taken and lost too often."""
    due = rows.all(_DUE, lane=lane.value, now=moment_text(now), most=_MADE_READY)
    for *columns, lost in due:
        if int(lost or 0) >= MOST_LOST_LEASES:
            park(rows, _work(lane, columns), now, _STOPPED, _STOPPED)


def _lease(rows: Handle, lane: Lane, now: datetime, identity: str, kind: str) -> list[Work]:
    given = {"id": identity, "now": moment_text(now), "until": moment_text(now + LEASE)}
    if kind == EVENT:
        leased = rows.all(_LEASE_EVENTS, most=EVENTS_AT_ONCE, **given)
    else:
        leased = rows.all(f"{_LEASE} = :id RETURNING {_COLUMNS}", **given)
    return sorted((_work(lane, columns) for columns in leased), key=lambda work: work.id)


def _work(lane: Lane, columns: Sequence[object]) -> Work:
    identity, organisation, kind, payload, attempts, taken_at = columns
    given = str(identity), str(organisation), str(kind), orjson.loads(str(payload)), int(str(attempts))
    return Work(*given, lane, None if taken_at is None else str(taken_at))


def _fail(rows: Handle, work: Work, now: datetime, due: str | None, problem: str) -> bool:
    return _change(
        rows,
        work,
        f"due_at = :due, turn = {LATER}, taken_at = NULL, problem = :problem, failed_at = :now",
        due=due,
        problem=problem[:_LONGEST],
        now=moment_text(now),
    )


def _change(rows: Handle, work: Work, changes: str, **given: str | None) -> bool:
    """Change a task, unless its lease was lost meanwhile; return whether it was changed."""
    mine = "WHERE id = :id AND taken_at IS NOT DISTINCT FROM :taken_at"
    return rows.run(f"UPDATE outbox SET {changes} {mine}", id=work.id, taken_at=work.taken_at, **given) > 0


def _tell(rows: Handle, work: Work, status: str, problem: str | None = None) -> None:
    rows.run(
        "UPDATE message SET status = :status, problem = :problem WHERE organisation_id = :owner AND id = :id",
        owner=work.organisation,
        id=work.id,
        status=status,
        problem=problem and problem[:_LONGEST],
    )
