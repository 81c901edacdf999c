"""Stored events: numbered without gaps, and written in the transaction of their change."""

from datetime import datetime, timedelta
from typing import NamedTuple

from mainstay.changes import outbox
from mainstay.changes.outbox import EVENT, OutboxTask
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text

# How long events and their deliveries are stored.
RETENTION = timedelta(days=30)


# A webhook that is created later gets no earlier events, and a disabled one gets none.
_TAKE_NUMBER = """
UPDATE organisation SET event_sequence = event_sequence + 1 WHERE id = :organisation
RETURNING event_sequence,
    EXISTS (SELECT 1 FROM webhook WHERE webhook.organisation_id = :organisation AND webhook.status <> 'disabled')
"""


class NewEvent(NamedTuple):
    """An event to be stored."""

    kind: str
    data: bytes
    # Whether there are reactions to events of this kind.
    has_reactions: bool


def write_event(db: DatabaseHandle, event: NewEvent, at: str, stamp: str) -> str:
    """Store an event and return its id. If it has reactions or may have webhooks, add a task for it."""
    sequence, has_webhooks = db.one(_TAKE_NUMBER) or (None, None)
    record_id = new_id("evt")
    db.run(
        "INSERT INTO event (organisation_id, sequence, id, type, created_at, actor, data)"
        " VALUES (:organisation, :sequence, :id, :type, :at, :actor, :data)",
        sequence=sequence,
        id=record_id,
        type=event.kind,
        at=at,
        actor=stamp,
        data=event.data.decode(),
    )
    if event.has_reactions or has_webhooks:
        outbox.add_task(db, OutboxTask(EVENT, {"event": record_id}), at)
    return record_id


class StoredEvent(NamedTuple):
    """A stored event, for its reactions and webhooks."""

    kind: str
    # Both as JSON.
    actor: str
    data: str


def find(db: DatabaseHandle, record_id: str) -> StoredEvent | None:
    """Return an event of the organisation, if it is still stored."""
    row = db.one("SELECT type, actor, data FROM event WHERE organisation_id = :organisation AND id = :id", id=record_id)
    return StoredEvent(*map(str, row)) if row else None


def has_old(db: DatabaseHandle, now: datetime) -> bool:
    """Return whether the organisation has events that are old enough to be deleted."""
    found = db.one(
        "SELECT 1 FROM event WHERE organisation_id = :organisation AND created_at < :before LIMIT 1",
        before=moment_text(now - RETENTION),
    )
    return found is not None


def delete_old(db: DatabaseHandle, now: datetime) -> None:
    """Delete the old events of an organisation."""
    forgotten = db.run(
        "DELETE FROM event WHERE organisation_id = :organisation AND created_at < :before",
        before=moment_text(now - RETENTION),
    )
    db.run(
        "UPDATE organisation SET events_forgotten = events_forgotten + :forgotten WHERE id = :organisation",
        forgotten=forgotten,
    )
