"""Where webhooks, their deliveries and events are kept."""

from mainstay.backing.database import Handle
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.terms.shapes import One
from mainstay.terms.wire import column_names
from mainstay.webhooks.model import AttemptOut, Delivery, EventOut, Webhook

WEBHOOKS = Listing(
    Webhook,
    source="webhook",
    what="webhook",
    prefix="webhook",
    id_field="webhook_id",
    columns={
        "status": "CASE WHEN webhook.status = 'active' AND webhook.failing_since IS NOT NULL THEN 'failing'"
        " ELSE webhook.status END"
    },
)

_LAST = """
delivery LEFT JOIN delivery_attempt ON delivery_attempt.organisation_id = delivery.organisation_id
 AND delivery_attempt.delivery_id = delivery.id AND delivery_attempt.number =
 (SELECT max(number) FROM delivery_attempt WHERE organisation_id = :organisation AND delivery_id = delivery.id)
"""

DELIVERIES = Listing(
    Delivery,
    source=" ".join(_LAST.split()),
    what="delivery",
    prefix="delivery",
    id_field="delivery_id",
    columns={
        "status": "CASE WHEN delivery.status = 'waiting' AND delivery.retries > 0 THEN 'retrying'"
        " ELSE delivery.status END",
        # Where nothing is sent to now, nothing is tried next.
        "due_at": "CASE WHEN delivery.status = 'waiting' AND 'active' = (SELECT status FROM webhook WHERE"
        " webhook.organisation_id = :organisation AND webhook.id = delivery.webhook_id) THEN delivery.due_at END",
        "last_attempt_at": "delivery_attempt.at",
        "last_status": "delivery_attempt.status",
        "last_error": "delivery_attempt.error",
        "last_duration_ms": "delivery_attempt.duration_ms",
    },
    facts={
        "to_nowhere": "CASE (SELECT status FROM webhook WHERE webhook.organisation_id = :organisation"
        " AND webhook.id = delivery.webhook_id) WHEN 'disabled' THEN 1 ELSE 0 END",
        "has_body": "CASE WHEN delivery.test_body IS NOT NULL OR EXISTS (SELECT 1 FROM event"
        " WHERE event.organisation_id = :organisation AND event.id = delivery.event_id) THEN 1 ELSE 0 END",
    },
    filters={
        "webhook_id": "delivery.webhook_id = :webhook_id",
        "status": {
            "waiting": "delivery.status = 'waiting' AND delivery.retries = 0",
            "retrying": "delivery.status = 'waiting' AND delivery.retries > 0",
            **{status: f"delivery.status = '{status}'" for status in ("sending", "delivered", "failed")},
        },
    },
)

# What is told of an event, and nothing else of its row.
EVENT = f"SELECT {', '.join(column_names(EventOut))} FROM event WHERE organisation_id = :organisation"


def find_event(rows: Handle, identity: str) -> One[EventOut] | None:
    """What is told of an event, while it is kept."""
    row = rows.one(f"{EVENT} AND id = :id", id=identity)
    return One(EventOut, row) if row else None


# What is told of an attempt, likewise; when it was is told by another name than it is kept by.
_KEPT_AS = {"tried_at": "at"}
_ATTEMPTS = f"""
SELECT {", ".join(_KEPT_AS.get(name, name) for name in column_names(AttemptOut))} FROM delivery_attempt
WHERE organisation_id = :organisation AND delivery_id = :id ORDER BY number DESC LIMIT 100
"""


def attempts_at(ctx: Context, delivery: str) -> list[One[AttemptOut]]:
    """What was tried to make a delivery, the last first."""
    return [One(AttemptOut, row) for row in ctx.rows.all(_ATTEMPTS, id=delivery)]


def count(ctx: Context) -> int:
    """How many webhooks there are."""
    row = ctx.rows.one("SELECT count(*) FROM webhook WHERE organisation_id = :organisation")
    return int(row[0] or 0) if row else 0


def count_due(ctx: Context, identity: str) -> int:
    """How many deliveries of a webhook are still to be made."""
    row = ctx.rows.one(
        "SELECT count(*) FROM delivery"
        " WHERE organisation_id = :organisation AND webhook_id = :id AND due_at IS NOT NULL",
        id=identity,
    )
    return int(row[0] or 0) if row else 0


def delete(ctx: Context, identity: str) -> None:
    """Remove a webhook; its deliveries go with it."""
    ctx.pen.remove(WEBHOOKS.table, identity)


def find_organisation(rows: Handle, webhook: str) -> list[str]:
    """The organisation that a webhook belongs to; the handle looks across them."""
    return [str(found) for (found,) in rows.all("SELECT organisation_id FROM webhook WHERE id = :id", id=webhook)]
