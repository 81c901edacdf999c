"""From one event to a delivery for every webhook that wants it."""

from collections.abc import Sequence

from mainstay.backing.database import Handle
from mainstay.values.ids import new_id
from mainstay.webhooks.model import wants


def fan_out(rows: Handle, events: Sequence[tuple[str, str]], at: str) -> None:
    """Let events, each with its kind, be sent to the organisation's webhooks; once each, however often it is said.

    None goes to a webhook that was made after it happened, as it may be when the worker is behind. A paused webhook
    gets them later, a disabled one does not. Each webhook is called once and in the order of their ids, as the
    dispatcher does it: so neither ever waits for the other in a circle.
    """
    webhooks = rows.all(
        "SELECT id, events FROM webhook WHERE organisation_id = :organisation AND status <> 'disabled' ORDER BY id"
    )
    for webhook, kinds in webhooks:
        wanted = [(event, kind) for event, kind in events if wants(None if kinds is None else str(kinds), kind)]
        if wanted and call(rows, str(webhook), at):
            for event, _ in wanted:
                _insert_if_later(rows, str(webhook), event, at)


def call(rows: Handle, webhook: str, at: str) -> bool:
    """Have the dispatcher look at a webhook from this moment on; False when it is disabled.

    It comes before what is written to the webhook's deliveries, and writes even where nothing changes: its row is the
    lock under which the dispatcher reckons when it must look again.
    """
    called = rows.run(
        "UPDATE webhook SET due_at = CASE WHEN due_at < :at THEN due_at ELSE :at END"
        " WHERE organisation_id = :organisation AND id = :id AND status <> 'disabled'",
        id=webhook,
        at=at,
    )
    return called > 0


def insert(rows: Handle, webhook: str, event: str, type_: str, at: str) -> str:
    """A delivery that is due, unless there is one of this event already; its id."""
    identity = new_id("delivery")
    rows.run(
        f"{_INTO} VALUES (:organisation, :id, :webhook, :event, :type, 'waiting', :at, :at) {_ONCE}",
        id=identity,
        webhook=webhook,
        event=event,
        type=type_,
        at=at,
    )
    return identity


def _insert_if_later(rows: Handle, webhook: str, event: str, at: str) -> None:
    rows.run(
        f"{_INTO} SELECT :organisation, :id, w.id, e.id, e.type, 'waiting', :at, :at FROM webhook w, event e"
        " WHERE w.organisation_id = :organisation AND w.id = :webhook"
        f" AND e.organisation_id = :organisation AND e.id = :event AND e.created_at >= w.created_at {_ONCE}",
        id=new_id("delivery"),
        webhook=webhook,
        event=event,
        at=at,
    )


_INTO = "INSERT INTO delivery (organisation_id, id, webhook_id, event_id, event_type, status, due_at, created_at)"
_ONCE = "ON CONFLICT (organisation_id, event_id, webhook_id) DO NOTHING"
