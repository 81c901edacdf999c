"""Events as they are kept: numbered without gaps, in the transaction of the change they tell of."""

from datetime import datetime, timedelta

from mainstay.backing.database import Handle
from mainstay.ledger import outbox
from mainstay.ledger.outbox import EVENT, Letter
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text

# How long events are kept, and what is told of them.
KEPT = timedelta(days=30)


def write(rows: Handle, kind: str, data: bytes, at: str, by: str) -> str:
    """Keep one event, and leave the work that follows it; its id."""
    numbered = rows.one(
        "UPDATE organisation SET event_sequence = event_sequence + 1 WHERE id = :organisation RETURNING event_sequence"
    )
    identity = new_id("evt")
    rows.run(
        "INSERT INTO event (organisation_id, sequence, id, type, created_at, actor, data)"
        " VALUES (:organisation, :sequence, :id, :type, :at, :actor, :data)",
        sequence=numbered[0] if numbered else None,
        id=identity,
        type=kind,
        at=at,
        actor=by,
        data=data.decode(),
    )
    outbox.put(rows, Letter(EVENT, {"event": identity}), at)
    return identity


def forget_old(rows: Handle, now: datetime) -> None:
    """Remove the events of an organisation that are kept no longer."""
    forgotten = rows.run(
        "DELETE FROM event WHERE organisation_id = :organisation AND created_at < :before",
        before=moment_text(now - KEPT),
    )
    rows.run(
        "UPDATE organisation SET events_forgotten = events_forgotten + :forgotten WHERE id = :organisation",
        forgotten=forgotten,
    )
