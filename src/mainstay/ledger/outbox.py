"""The outbox: what leaves the house, leaves through here, and only after the change it follows was committed.

Written in the change's transaction, emptied by the worker. A piece of work is taken by moving its due time into the
future: a worker that dies lets it fall due again, so everything happens at least once.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from mainstay.backing.database import Handle
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text

# The kind of the letter that every event leaves in the outbox.
EVENT = "event"

LEASE = timedelta(minutes=2)
# Waiting grows from seconds to hours; then the work is parked for the operator to look at.
RETRIES = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 300, 1800, 7200, 18000, 36000, 86400))


@dataclass(frozen=True, slots=True)
class Letter:
    """Work for the outbox, told by a change: done after the commit, at the worker's pace."""

    kind: str
    payload: dict[str, str]


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work, taken for a while."""

    id: str
    organisation: str
    kind: str
    payload: dict[str, str]
    attempts: int


def put(rows: Handle, letter: Letter, at: str) -> None:
    """Leave one piece of work, due at once."""
    rows.run(
        "INSERT INTO outbox (id, organisation_id, kind, payload, due_at)"
        " VALUES (:id, :organisation, :kind, :payload, :at)",
        id=new_id("out"),
        kind=letter.kind,
        payload=orjson.dumps(letter.payload).decode(),
        at=at,
    )


def take(rows: Handle, now: datetime, most: int) -> list[Work]:
    """What has been due the longest, and the events among the next of so many, for a lease. Workers take turns."""
    any_due = "EXISTS (SELECT 1 FROM outbox WHERE due_at <= :now)"
    rows.run(f"UPDATE turnstile SET passed_at = :now WHERE name = 'outbox' AND {any_due}", now=moment_text(now))
    taken = rows.all(
        "UPDATE outbox SET due_at = :leased, attempts = attempts + 1"
        " WHERE id IN (SELECT id FROM outbox WHERE due_at <= :now ORDER BY due_at, id LIMIT :most)"
        f" AND (kind = '{EVENT}' OR id = (SELECT id FROM outbox WHERE due_at <= :now ORDER BY due_at, id LIMIT 1))"
        " RETURNING id, organisation_id, kind, payload, attempts",
        leased=moment_text(now + LEASE),
        now=moment_text(now),
        most=most,
    )
    return [
        Work(str(identity), str(organisation), str(kind), orjson.loads(str(payload)), int(attempts or 0))
        for identity, organisation, kind, payload, attempts in sorted(taken)
    ]


def finish(rows: Handle, work: Work) -> None:
    """The work is done."""
    rows.run("DELETE FROM outbox WHERE id = :id", id=work.id)


def postpone(rows: Handle, work: Work, now: datetime, problem: str) -> datetime | None:
    """The work failed: when it is tried again, or None when it is parked."""
    if work.attempts > len(RETRIES):
        park(rows, work, problem)
        return None
    again = now + RETRIES[work.attempts - 1]
    _set_due(rows, work, moment_text(again), problem)
    return again


def park(rows: Handle, work: Work, problem: str) -> None:
    """The work cannot be done as things are: it stays, with the problem, until the operator looks at it."""
    _set_due(rows, work, None, problem)


def _set_due(rows: Handle, work: Work, due: str | None, problem: str) -> None:
    rows.run(
        "UPDATE outbox SET due_at = :due, problem = :problem WHERE id = :id",
        id=work.id,
        due=due,
        problem=problem[:1000],
    )
