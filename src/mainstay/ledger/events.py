"""Events as they are kept: numbered without gaps, in the transaction of the change they tell of."""

from datetime import datetime, timedelta
from typing import NamedTuple

from mainstay.backing.database import Handle
from mainstay.ledger import outbox
from mainstay.ledger.outbox import EVENT, Letter
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text

# How long events are kept, and what is told of them.
KEPT = timedelta(days=30)


# A webhook that is made later is told of nothing that was before it, and a disabled one of nothing at all.
_NUMBERED = """
UPDATE organisation SET event_sequence = event_sequence + 1 WHERE id = :organisation
RETURNING event_sequence,
    EXISTS (SELECT 1 FROM webhook WHERE webhook.organisation_id = :organisation AND webhook.status <> 'disabled')
"""


class Said(NamedTuple):
    """What an act says has happened."""

    kind: str
    data: bytes
    # Whether something in the house follows events of this kind.
    followed: bool


def write(rows: Handle, said: Said, at: str, by: str) -> str:
    """Keep one event, and leave work where something follows it or there may be a webhook to tell; its id."""
    sequence, heard = rows.one(_NUMBERED) or (None, None)
    identity = new_id("evt")
    rows.run(
        "INSERT INTO event (organisation_id, sequence, id, type, created_at, actor, data)"
        " VALUES (:organisation, :sequence, :id, :type, :at, :actor, :data)",
        sequence=sequence,
        id=identity,
        type=said.kind,
        at=at,
        actor=by,
        data=said.data.decode(),
    )
    if said.followed or heard:
        outbox.put(rows, Letter(EVENT, {"event": identity}), at)
    return identity


class Happened(NamedTuple):
    """An event as it is kept, for what follows it."""

    kind: str
    # Both as JSON.
    actor: str
    data: str


def find(rows: Handle, identity: str) -> Happened | None:
    """An event of the organisation, while it is kept."""
    row = rows.one(
        "SELECT type, actor, data FROM event WHERE organisation_id = :organisation AND id = :id", id=identity
    )
    return Happened(*map(str, row)) if row else None


def has_old(rows: Handle, now: datetime) -> bool:
    """Whether the organisation has events that are kept no longer."""
    found = rows.one(
        "SELECT 1 FROM event WHERE organisation_id = :organisation AND created_at < :before LIMIT 1",
        before=moment_text(now - KEPT),
    )
    return found is not None


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
