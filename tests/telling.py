"""Webhooks and their deliveries, put into the state that a test needs."""

from typing import Any

from cast import Cast
from evidence import events
from mainstay.backing.database import Value
from mainstay.webhooks.endpoints import create_webhook
from mainstay.webhooks.fan_out import fan_out

# A public address that needs no name to be looked up; nothing is ever sent there.
RECEIVER = "https://1.1.1.1/webhooks"


# Before anything happened.
LONG_AGO = "2020-01-01T00:00:00.000Z"


def make_webhook(cast: Cast, **given: object) -> str:
    """The id of a webhook that was made long ago, so that it hears of all that has happened."""
    webhook = str(cast.perform(create_webhook, **{"url": RECEIVER} | given)["id"])
    set_columns(cast, "webhook", webhook, created_at=LONG_AGO)
    return webhook


def fan_out_all(cast: Cast) -> None:
    """Everything that has happened, told to the webhooks as the worker would."""
    with cast.stage.database.changing(cast.organisation) as rows:
        for event in events(cast):
            fan_out(rows, [(event["id"], event["type"])], event["createdAt"])


def deliveries(cast: Cast, webhook: str) -> list[dict[str, Any]]:
    """The deliveries of a webhook as they are kept, oldest event first."""
    names = ("id", "event", "type", "status", "due", "attempts", "retries", "test_body")
    with cast.stage.database.reading(cast.organisation) as rows:
        found = rows.all(
            "SELECT id, event_id, event_type, status, due_at, attempts, retries, test_body FROM delivery"
            " WHERE organisation_id = :organisation AND webhook_id = :webhook ORDER BY event_id",
            webhook=webhook,
        )
    return [dict(zip(names, row, strict=True)) for row in found]


def set_columns(cast: Cast, table: str, identity: str, **columns: Value) -> None:
    """What the dispatcher would have written to a webhook or a delivery."""
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run(
            f"UPDATE {table} SET {assignments} WHERE organisation_id = :organisation AND id = :id",
            id=identity,
            **columns,
        )


def columns_of(cast: Cast, webhook: str, *names: str) -> tuple[Value, ...]:
    """These columns of a webhook as they are kept."""
    with cast.stage.database.reading(cast.organisation) as rows:
        row = rows.one(
            f"SELECT {', '.join(names)} FROM webhook WHERE organisation_id = :organisation AND id = :id", id=webhook
        )
    assert row is not None
    return row


def add_attempt(cast: Cast, delivery: str, number: int, **columns: Value) -> None:
    """An attempt at a delivery, as the dispatcher writes it down."""
    values: dict[str, Value] = {"at": f"2026-11-15T10:00:0{number}.000Z", "duration_ms": 12, "answer": ""}
    values |= columns
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run(
            f"INSERT INTO delivery_attempt (organisation_id, delivery_id, number, {', '.join(values)})"
            f" VALUES (:organisation, :delivery, :number, {', '.join(f':{name}' for name in values)})",
            delivery=delivery,
            number=number,
            **values,
        )
