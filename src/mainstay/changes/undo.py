"""How to undo a change: stored with the change, for a day."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import orjson

from mainstay.infrastructure.database import DatabaseHandle
from mainstay.values.moments import moment_text

# How long a change can be undone.
RETENTION = timedelta(hours=24)


class Inverse(NamedTuple):
    """An operation that undoes a change or a part of it, with its input as JSON has it."""

    operation: str
    input: Mapping[str, Any]


class VersionStep(NamedTuple):
    """The versions of a record before and after a change; 0 if it was not there, or has none."""

    before: int
    after: int


class UndoRecord(NamedTuple):
    """What is stored to undo a change."""

    # The operations, in the order in which they are performed.
    inverses: Sequence[Inverse]
    # The versions of the records that were written, by id.
    versions: Mapping[str, VersionStep]
    # The ids of the outbox tasks that send emails about the change.
    emails: Sequence[str]
    # Why this very change cannot be undone, as the template of a message without values; then there is nothing else.
    reason: str | None = None


class FoundChange(NamedTuple):
    """A change as the audit trail has it, and how to undo it."""

    operation: str
    person_id: str | None
    # The API key or connected app that made it, if one did.
    client_id: str | None
    at: str
    # None if nothing is stored, because it cannot be undone or is too old.
    undo: UndoRecord | None
    is_undone: bool


def store(db: DatabaseHandle, sequence: int, record: UndoRecord, at: str) -> None:
    """Store how to undo the change with this number, in the transaction of the change."""
    db.run(
        "INSERT INTO undo (organisation_id, sequence, created_at, inverses, versions, emails, reason)"
        " VALUES (:organisation, :sequence, :at, :inverses, :versions, :emails, :reason)",
        sequence=sequence,
        at=at,
        inverses=_to_json([[*inverse] for inverse in record.inverses]),
        versions=_to_json({record_id: [*step] for record_id, step in record.versions.items()}),
        emails=_to_json(record.emails),
        reason=record.reason,
    )


def find_change(db: DatabaseHandle, sequence: int) -> FoundChange | None:
    """Return the change of the organisation with this number in the audit trail."""
    row = db.one(
        "SELECT a.operation, a.person_id, a.client_id, a.at, u.inverses, u.versions, u.emails, u.reason, u.undone"
        " FROM audit a LEFT JOIN undo u ON u.organisation_id = a.organisation_id AND u.sequence = a.sequence"
        " WHERE a.organisation_id = :organisation AND a.sequence = :sequence",
        sequence=sequence,
    )
    if row is None:
        return None
    operation, person_id, client_id, at, inverses, versions, emails, reason, undone = row
    stored = None
    if inverses is not None:
        steps = {record_id: VersionStep(*step) for record_id, step in orjson.loads(str(versions)).items()}
        pairs = [Inverse(*pair) for pair in orjson.loads(str(inverses))]
        stored = UndoRecord(pairs, steps, orjson.loads(str(emails)), None if reason is None else str(reason))
    person, client = (None if one is None else str(one) for one in (person_id, client_id))
    return FoundChange(str(operation), person, client, str(at), stored, undone == 1)


def find_undone(db: DatabaseHandle, sequences: Sequence[int], now: datetime) -> dict[int, bool]:
    """Return which of these changes were undone; without those that are too old to be undone."""
    names = {f"sequence_{number}": sequence for number, sequence in enumerate(sequences)}
    rows = db.all(
        "SELECT sequence, undone FROM undo WHERE organisation_id = :organisation AND reason IS NULL"
        f" AND created_at > :since AND sequence IN ({', '.join(f':{name}' for name in names)})",
        since=moment_text(now - RETENTION),
        **names,
    )
    return {int(str(sequence)): undone == 1 for sequence, undone in rows}


def mark_undone(db: DatabaseHandle, sequence: int) -> None:
    """Note that a change was undone, so that it is not undone again."""
    db.run(
        "UPDATE undo SET undone = 1 WHERE organisation_id = :organisation AND sequence = :sequence", sequence=sequence
    )


def delete_old(db: DatabaseHandle, now: datetime) -> None:
    """Delete what is stored for changes that are too old to be undone."""
    db.run("DELETE FROM undo WHERE created_at <= :before", before=moment_text(now - RETENTION))


def _to_json(value: object) -> str:
    return orjson.dumps(value).decode()
