"""Confirmations: irreversible operations of programs, which wait until their person confirms them in the office."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from mainstay.changes.idempotency import QUESTION_PREFIX
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.values.moments import moment_text

# No longer than it is known that a question was replied to.
LIFETIME = timedelta(hours=24)
# How many operations of one program may wait at once.
MAX_WAITING = 100


class RequestedOperation(NamedTuple):
    """What a program asked for: the operation with its input as JSON, and the key that names the request."""

    credential: str
    door: str
    operation: str
    given: str
    idempotency_key: str | None


@dataclass(frozen=True, slots=True)
class Confirmation:
    """An operation that waits for a person, or has been confirmed."""

    id: str
    person_id: str
    requested: RequestedOperation
    is_used: bool


_IS_USED_SQL = (
    "EXISTS (SELECT 1 FROM replay WHERE replay.organisation_id = confirmation.organisation_id"
    f" AND replay.credential = confirmation.credential AND replay.key = '{QUESTION_PREFIX}' || confirmation.id)"
)


def insert_confirmation(
    db: DatabaseHandle, confirmation_id: str, person_id: str | None, requested: RequestedOperation, expires_at: str
) -> None:
    """Store an operation that waits for a person."""
    db.run(
        "INSERT INTO confirmation"
        " (organisation_id, id, person_id, credential, door, operation, given, idempotency_key, expires_at)"
        " VALUES (:organisation, :id, :person, :credential, :door, :operation, :given, :idempotency_key, :expires_at)",
        id=confirmation_id,
        person=person_id,
        expires_at=expires_at,
        **requested._asdict(),
    )


def count_waiting(db: DatabaseHandle, person_id: str | None, credential: str) -> int:
    """Return how many operations of a program wait for its person."""
    row = db.one(
        "SELECT count(*) FROM confirmation WHERE organisation_id = :organisation AND person_id = :person"
        f" AND credential = :credential AND NOT {_IS_USED_SQL}",
        person=person_id,
        credential=credential,
    )
    return int(str(row[0])) if row else 0


def find_confirmation(db: DatabaseHandle, confirmation_id: str, now: datetime) -> Confirmation | None:
    """Return a confirmation that has not expired, if there is one."""
    row = db.one(
        "SELECT person_id, credential, door, operation, given, idempotency_key,"
        f" CASE WHEN {_IS_USED_SQL} THEN 1 ELSE 0 END"
        " FROM confirmation WHERE organisation_id = :organisation AND id = :id AND expires_at > :now",
        id=confirmation_id,
        now=moment_text(now),
    )
    if row is None:
        return None
    person, credential, door, operation, given, key, used = row
    requested = RequestedOperation(str(credential), str(door), str(operation), str(given), str(key) if key else None)
    return Confirmation(confirmation_id, str(person), requested, bool(used))


def delete_old(db: DatabaseHandle, now: datetime) -> None:
    """Delete the confirmations that have expired."""
    db.run("DELETE FROM confirmation WHERE expires_at <= :now", now=moment_text(now))
