"""Create a delivery of an event for each webhook that wants it."""

from collections.abc import Sequence

from mainstay.infrastructure.database import DatabaseHandle
from mainstay.values.ids import new_id
from mainstay.webhooks.model import is_kind_wanted


def fan_out(db: DatabaseHandle, events: Sequence[tuple[str, str]], at: str) -> None:
    """Create the deliveries of events, given as ID and kind. Repeating this creates no second delivery.

    A webhook gets no event from before it was created, which may come up if the worker is behind. A paused webhook gets
    its events later, a disabled one does not. Each webhook is updated once, in the order of their IDs and as the
    dispatcher does it, so the two never deadlock.
    """
    webhooks = db.all(
        "SELECT id, events FROM webhook WHERE organisation_id = :organisation AND status <> 'disabled' ORDER BY id"
    )
    for webhook, kinds in webhooks:
        wanted = [
            (event, kind) for event, kind in events if is_kind_wanted(None if kinds is None else str(kinds), kind)
        ]
        if wanted and make_due(db, str(webhook), at):
            for event, _ in wanted:
                _insert_if_later(db, str(webhook), event, at)


def make_due(db: DatabaseHandle, webhook_id: str, at: str) -> bool:
    """Make the dispatcher look at a webhook from a given time on. Return False if it is disabled.

    Call this before you write to the webhook's deliveries. It writes even if nothing changes, because the webhook's row
    is the lock under which the dispatcher computes when the webhook is due again.
    """
    changed = db.run(
        "UPDATE webhook SET due_at = CASE WHEN due_at < :at THEN due_at ELSE :at END"
        " WHERE organisation_id = :organisation AND id = :id AND status <> 'disabled'",
        id=webhook_id,
        at=at,
    )
    return changed > 0


def insert_delivery(db: DatabaseHandle, webhook_id: str, event: str, type_: str, at: str) -> str:
    """Create a delivery that is due, unless the event has one already. Return its ID."""
    record_id = new_id("delivery")
    db.run(
        f"{_INSERT} VALUES (:organisation, :id, :webhook, :event, :type, 'waiting', :at, :at) {_IF_NEW}",
        id=record_id,
        webhook=webhook_id,
        event=event,
        type=type_,
        at=at,
    )
    return record_id


def _insert_if_later(db: DatabaseHandle, webhook_id: str, event: str, at: str) -> None:
    db.run(
        f"{_INSERT} SELECT :organisation, :id, w.id, e.id, e.type, 'waiting', :at, :at FROM webhook w, event e"
        " WHERE w.organisation_id = :organisation AND w.id = :webhook"
        f" AND e.organisation_id = :organisation AND e.id = :event AND e.created_at >= w.created_at {_IF_NEW}",
        id=new_id("delivery"),
        webhook=webhook_id,
        event=event,
        at=at,
    )


_INSERT = "INSERT INTO delivery (organisation_id, id, webhook_id, event_id, event_type, status, due_at, created_at)"
_IF_NEW = "ON CONFLICT (organisation_id, event_id, webhook_id) DO NOTHING"
