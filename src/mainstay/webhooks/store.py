"""The queries on webhooks, their deliveries and their events."""

from mainstay.infrastructure.database import DatabaseHandle
from mainstay.kernel.context import Context
from mainstay.kernel.kind import Kind
from mainstay.vocabulary.record_json import column_names
from mainstay.vocabulary.schemas import RecordResult
from mainstay.webhooks.model import AttemptOut, Delivery, EventOut, Webhook

WEBHOOKS = Kind(
    Webhook,
    source="webhook",
    area="Settings",
    columns={
        "status": "CASE WHEN webhook.status = 'active' AND webhook.failing_since IS NOT NULL THEN 'failing'"
        " ELSE webhook.status END"
    },
)

_WITH_LAST_ATTEMPT = """
delivery LEFT JOIN delivery_attempt ON delivery_attempt.organisation_id = delivery.organisation_id
 AND delivery_attempt.delivery_id = delivery.id AND delivery_attempt.number =
 (SELECT max(number) FROM delivery_attempt WHERE organisation_id = :organisation AND delivery_id = delivery.id)
"""

DELIVERIES = Kind(
    Delivery,
    source=" ".join(_WITH_LAST_ATTEMPT.split()),
    plural="deliveries",
    area="Settings",
    columns={
        "status": "CASE WHEN delivery.status = 'waiting' AND delivery.retries > 0 THEN 'retrying'"
        " ELSE delivery.status END",
        # If nothing is sent to the webhook now, there is no next attempt.
        "due_at": "CASE WHEN delivery.status = 'waiting' AND 'active' = (SELECT status FROM webhook WHERE"
        " webhook.organisation_id = :organisation AND webhook.id = delivery.webhook_id) THEN delivery.due_at END",
        "last_attempt_at": "delivery_attempt.at",
        "last_status": "delivery_attempt.status",
        "last_error": "delivery_attempt.error",
        "last_duration_ms": "delivery_attempt.duration_ms",
        "to_nowhere": "CASE (SELECT status FROM webhook WHERE webhook.organisation_id = :organisation"
        " AND webhook.id = delivery.webhook_id) WHEN 'disabled' THEN 1 ELSE 0 END",
        "has_body": "CASE WHEN delivery.test_body IS NOT NULL OR EXISTS (SELECT 1 FROM event"
        " WHERE event.organisation_id = :organisation AND event.id = delivery.event_id) THEN 1 ELSE 0 END",
    },
    equal_filters=("webhook_id",),
    filters={
        "status": {
            "waiting": "delivery.status = 'waiting' AND delivery.retries = 0",
            "retrying": "delivery.status = 'waiting' AND delivery.retries > 0",
            **{status: f"delivery.status = '{status}'" for status in ("sending", "delivered", "failed")},
        },
    },
)

# Selects the columns of an event that are sent out.
SELECT_EVENT = f"SELECT {', '.join(column_names(EventOut))} FROM event WHERE organisation_id = :organisation"


def find_event(db: DatabaseHandle, record_id: str) -> RecordResult[EventOut] | None:
    """Return an event as it is sent out, or None if it is no longer stored."""
    row = db.one(f"{SELECT_EVENT} AND id = :id", id=record_id)
    return RecordResult(EventOut, row) if row else None


# Selects the columns of an attempt that are sent out. `tried_at` has another name in the table.
_COLUMN_NAMES = {"tried_at": "at"}
_SELECT_ATTEMPTS = f"""
SELECT {", ".join(_COLUMN_NAMES.get(name, name) for name in column_names(AttemptOut))} FROM delivery_attempt
WHERE organisation_id = :organisation AND delivery_id = :id ORDER BY number DESC LIMIT 100
"""


def list_attempts(ctx: Context, delivery_id: str) -> list[RecordResult[AttemptOut]]:
    """Return the attempts of a delivery, the last one first."""
    return [RecordResult(AttemptOut, row) for row in ctx.db.all(_SELECT_ATTEMPTS, id=delivery_id)]


def count_webhooks(ctx: Context) -> tuple[int, bool]:
    """Return how many webhooks there are, and whether the organisation is a sample firm, which sends none."""
    row = ctx.db.one(
        "SELECT (SELECT count(*) FROM webhook WHERE organisation_id = :organisation), is_sample FROM organisation"
        " WHERE id = :organisation"
    )
    return (int(row[0] or 0), bool(row[1])) if row else (0, False)


def count_due_deliveries(ctx: Context, record_id: str) -> int:
    """Return how many deliveries to a webhook are still due."""
    row = ctx.db.one(
        "SELECT count(*) FROM delivery"
        " WHERE organisation_id = :organisation AND webhook_id = :id AND due_at IS NOT NULL",
        id=record_id,
    )
    return int(row[0] or 0) if row else 0


def remove_webhook(ctx: Context, record_id: str) -> None:
    """Delete a webhook. Its deliveries are deleted with it."""
    ctx.writer.remove(WEBHOOKS.table, record_id)


def find_organisation(db: DatabaseHandle, webhook_id: str) -> list[str]:
    """Return the organisation that a webhook belongs to, if any. The handle is not bound to one organisation."""
    return [str(found) for (found,) in db.all("SELECT organisation_id FROM webhook WHERE id = :id", id=webhook_id)]
