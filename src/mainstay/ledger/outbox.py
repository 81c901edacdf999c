"""The outbox: what leaves the house, leaves through here, and only after the change it follows was committed.

Written in the change's transaction, emptied by the worker. A piece of work is taken by moving its due time into the
future: a worker that dies lets it fall due again, so everything happens at least once. Of a letter that is about a
record a message is kept beside it, which tells what became of it for as long as there is the record.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import orjson

from mainstay.backing.database import Handle, Row
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text, parse_moment

# The kind of the letter that an event leaves in the outbox.
EVENT = "event"
PREFIX = "out"

LEASE = timedelta(minutes=2)
# Waiting grows from seconds to hours; then the work is parked for the operator to look at.
RETRIES = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 300, 1800, 7200, 18000, 36000, 86400))
# Nothing is ever put off for so long.
NEVER_SO_LONG = timedelta(days=2)
# The shortest that moments are apart.
_A_MOMENT = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Letter:
    """Work for the outbox, told by a change: done after the commit, at the worker's pace."""

    kind: str
    payload: dict[str, str]
    # What it is, for those who look at what could not be done.
    about: str | None = None
    message: "Mention | None" = None
    # How long it can wait, so that what comes in between is done with it.
    wait: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class Mention:
    """What a record's page tells of a letter about it."""

    record: str
    to: str
    subject: str


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work, taken for a while."""

    id: str
    organisation: str
    kind: str
    payload: dict[str, str]
    attempts: int


class Depth(NamedTuple):
    """How much waits, how much is parked, and for how many seconds the longest of what waits has been due."""

    waiting: int
    parked: int
    late: float


def put(rows: Handle, letter: Letter, at: str) -> None:
    """Leave one piece of work, due then."""
    identity = new_id(PREFIX)
    rows.run(
        "INSERT INTO outbox (id, organisation_id, kind, payload, about, due_at)"
        " VALUES (:id, :organisation, :kind, :payload, :about, :at)",
        id=identity,
        kind=letter.kind,
        payload=_payload(letter),
        about=letter.about,
        at=at,
    )
    if letter.message:
        rows.run(
            "INSERT INTO message (organisation_id, id, record_id, recipient, subject, status, created_at)"
            " VALUES (:organisation, :id, :record, :recipient, :subject, 'queued', :at)",
            id=identity,
            record=letter.message.record,
            recipient=letter.message.to,
            subject=letter.message.subject,
            at=at,
        )


def waits(rows: Handle, letter: Letter) -> bool:
    """Whether the same work of the organisation waits already."""
    same = "SELECT 1 FROM outbox WHERE organisation_id = :organisation AND kind = :kind AND payload = :payload LIMIT 1"
    return rows.one(same, kind=letter.kind, payload=_payload(letter)) is not None


def is_parked(rows: Handle, letter: Letter) -> bool:
    """Whether the same task of the organisation has failed for good."""
    same = (
        "SELECT 1 FROM outbox WHERE organisation_id = :organisation AND due_at IS NULL"
        " AND kind = :kind AND payload = :payload LIMIT 1"
    )
    return rows.one(same, kind=letter.kind, payload=_payload(letter)) is not None


def hurry(rows: Handle, organisation: str, letter: Letter, now: datetime) -> None:
    """Let work that is due be done before all else in the installation; the handle looks across organisations."""
    found = rows.one("SELECT min(due_at) FROM outbox WHERE due_at <= :now", now=moment_text(now))
    if found is None or found[0] is None:
        return
    rows.run(
        "UPDATE outbox SET due_at = :first"
        " WHERE organisation_id = :owner AND kind = :kind AND payload = :payload AND due_at <= :now",
        owner=organisation,
        kind=letter.kind,
        payload=_payload(letter),
        first=moment_text(parse_moment(str(found[0])) - _A_MOMENT),
        now=moment_text(now),
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
    # No message is about an event, and of those there are many.
    if work.kind != EVENT:
        _tell(rows, work, "sent")


def postpone(rows: Handle, work: Work, now: datetime, problem: str) -> datetime | None:
    """The work failed: when it is tried again, or None when it is parked."""
    if work.attempts > len(RETRIES):
        park(rows, work, now, problem, _GIVEN_UP)
        return None
    again = now + RETRIES[work.attempts - 1]
    _set_due(rows, work, now, moment_text(again), problem)
    return again


def park(rows: Handle, work: Work, now: datetime, problem: str, told: str) -> None:
    """The work cannot be done as things are: it stays, with the problem, until someone looks at it.

    What is told of it on a record's page is for everyone who sees that.
    """
    _set_due(rows, work, now, None, problem)
    _tell(rows, work, "failed", told)


def put_back(rows: Handle, identity: str, at: str, returning: str) -> Row:
    """Let a piece of work of the organisation be tried as if for the first time, from then on; these columns of it."""
    named = "WHERE organisation_id = :organisation AND id = :id"
    rows.run(f"UPDATE message SET status = 'queued', problem = NULL {named}", id=identity)
    anew = f"UPDATE outbox SET due_at = :at, attempts = 0, problem = NULL, failed_at = NULL {named}"
    return rows.one(f"{anew} RETURNING {returning}", id=identity, at=at) or ()


def drop(rows: Handle, identity: str) -> None:
    """Let a piece of work of the organisation never be done; what was told of it on a record's page stays."""
    rows.run("DELETE FROM outbox WHERE organisation_id = :organisation AND id = :id", id=identity)


def bring_forward(rows: Handle, now: datetime) -> None:
    """Let what waits for a moment that only a clock can have set which ran ahead be due now."""
    rows.run(
        "UPDATE outbox SET due_at = :at WHERE due_at > :latest",
        at=moment_text(now),
        latest=moment_text(now + NEVER_SO_LONG),
    )


def forget(rows: Handle, kind: str) -> None:
    """Let go of all that waits of one kind, in the handle's organisation."""
    rows.run("DELETE FROM outbox WHERE organisation_id = :organisation AND kind = :kind", kind=kind)


def find_organisations(rows: Handle, identity: str | None = None) -> list[str]:
    """The organisations whose work, or this piece of whose work, is parked; the handle looks across them."""
    found = rows.all(
        "SELECT DISTINCT organisation_id FROM outbox WHERE due_at IS NULL"
        " AND (CAST(:id AS text) IS NULL OR id = :id) ORDER BY organisation_id",
        id=identity,
    )
    return [str(organisation) for (organisation,) in found]


def depth(rows: Handle, now: datetime) -> Depth:
    """How much there is in the whole installation."""
    found = rows.one("SELECT count(due_at), count(*) - count(due_at), min(due_at) FROM outbox")
    waiting, parked, since = found or (0, 0, None)
    late = (now - parse_moment(str(since))).total_seconds() if since else 0.0
    return Depth(int(waiting or 0), int(parked or 0), max(late, 0.0))


def depth_of(rows: Handle, kind: str) -> tuple[int, int]:
    """How much of one kind waits in the whole installation, and how much is parked."""
    found = rows.one("SELECT count(due_at), count(*) - count(due_at) FROM outbox WHERE kind = :kind", kind=kind)
    waiting, parked = found or (0, 0)
    return int(waiting or 0), int(parked or 0)


_GIVEN_UP = "The mail server did not take it, though it was tried for two days."


def _payload(letter: Letter) -> str:
    return orjson.dumps(letter.payload).decode()


def _set_due(rows: Handle, work: Work, now: datetime, due: str | None, problem: str) -> None:
    rows.run(
        "UPDATE outbox SET due_at = :due, problem = :problem, failed_at = :now WHERE id = :id",
        id=work.id,
        due=due,
        problem=problem[:_LONGEST],
        now=moment_text(now),
    )


def _tell(rows: Handle, work: Work, status: str, problem: str | None = None) -> None:
    rows.run(
        "UPDATE message SET status = :status, problem = :problem WHERE organisation_id = :owner AND id = :id",
        owner=work.organisation,
        id=work.id,
        status=status,
        problem=problem and problem[:_LONGEST],
    )


_LONGEST = 1000
