"""Webhooks and deliveries in the state that a test needs."""

from typing import Any

from mainstay.infrastructure.database import Value
from mainstay.webhooks.endpoints import create_webhook
from mainstay.webhooks.fan_out import fan_out
from support.cast import Cast
from support.stored_state import list_events_of

# A public address that needs no name to be looked up; nothing is ever sent there.
RECEIVER_URL = "https://1.1.1.1/webhooks"


# Before anything happened.
BEFORE_EVERYTHING = "2020-01-01T00:00:00.000Z"


def make_webhook(cast: Cast, **given: object) -> str:
    """Make a webhook with an old creation date, so that it gets all events, and return its id."""
    webhook = str(cast.perform(create_webhook, **{"url": RECEIVER_URL} | given)["id"])
    set_columns(cast, "webhook", webhook, created_at=BEFORE_EVERYTHING)
    return webhook


def fan_out_all(cast: Cast) -> None:
    """Make the deliveries of all events so far, as the worker does."""
    with cast.performer.database.write_transaction(cast.organisation) as db:
        for event in list_events_of(cast):
            fan_out(db, [(event["id"], event["type"])], event["createdAt"])


def list_stored_deliveries(cast: Cast, webhook: str) -> list[dict[str, Any]]:
    """Return the stored deliveries of a webhook, oldest event first."""
    names = ("id", "event", "type", "status", "due", "attempts", "retries", "test_body")
    with cast.performer.database.read_transaction(cast.organisation) as db:
        found = db.all(
            "SELECT id, event_id, event_type, status, due_at, attempts, retries, test_body FROM delivery"
            " WHERE organisation_id = :organisation AND webhook_id = :webhook ORDER BY event_id",
            webhook=webhook,
        )
    return [dict(zip(names, row, strict=True)) for row in found]


def set_columns(cast: Cast, table: str, record_id: str, **columns: Value) -> None:
    """Set columns of a row, as the dispatcher does for webhooks and deliveries."""
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            f"UPDATE {table} SET {assignments} WHERE organisation_id = :organisation AND id = :id",
            id=record_id,
            **columns,
        )


def read_columns(cast: Cast, webhook: str, *names: str) -> tuple[Value, ...]:
    """Read these columns of a webhook."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one(
            f"SELECT {', '.join(names)} FROM webhook WHERE organisation_id = :organisation AND id = :id", id=webhook
        )
    assert row is not None
    return row


def insert_attempt(cast: Cast, delivery: str, number: int, **columns: Value) -> None:
    """Insert an attempt at a delivery, as the dispatcher does."""
    values: dict[str, Value] = {"at": f"2026-11-15T10:00:0{number}.000Z", "duration_ms": 12, "answer": ""}
    values |= columns
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            f"INSERT INTO delivery_attempt (organisation_id, delivery_id, number, {', '.join(values)})"
            f" VALUES (:organisation, :delivery, :number, {', '.join(f':{name}' for name in values)})",
            delivery=delivery,
            number=number,
            **values,
        )
