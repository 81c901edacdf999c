"""Where webhooks are kept."""

from typing import Any, cast

import orjson

from mainstay.backing.database import Row
from mainstay.kernel.context import Context
from mainstay.kernel.refusal import NotFound
from mainstay.kernel.shapes import One, Page
from mainstay.values.ids import new_id
from mainstay.webhooks.model import Webhook, WebhookOut, WebhookStatus

# The columns of WebhookOut in its order.
_SELECT = """
SELECT id, created_at, created_by, updated_at, updated_by, version, url, description, events, status, disabled_reason,
       failing_since, generation, rotated_at
FROM webhook WHERE organisation_id = :organisation
"""
_RULED = """
SELECT id, url, events, status, generation, created_at, version FROM webhook WHERE organisation_id = :organisation
"""


def show(ctx: Context, identity: str) -> One[WebhookOut]:
    """The webhook as everyone sees it."""
    return One(WebhookOut, _found(ctx.rows.one(f"{_SELECT} AND id = :id", id=identity)))


def fetch(ctx: Context, identity: str) -> Webhook:
    """The webhook as the rules see it."""
    row = _found(ctx.rows.one(f"{_RULED} AND id = :id", id=identity))
    _, url, kinds, status, generation, created_at, version = row
    return Webhook(
        id=identity,
        url=str(url),
        kinds=None if kinds is None else str(kinds),
        status=cast("WebhookStatus", status),
        generation=int(generation or 0),
        created_at=str(created_at),
        version=int(version or 0),
    )


def page(ctx: Context, *, after: str | None, limit: int) -> Page[WebhookOut]:
    """The newest first."""
    behind = "AND id < :after" if after else ""
    rows = ctx.rows.all(f"{_SELECT} {behind} ORDER BY id DESC LIMIT :limit", after=after, limit=limit + 1)
    return Page.cut(WebhookOut, rows, limit)


def count(ctx: Context) -> int:
    """How many there are."""
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


def insert(ctx: Context, values: dict[str, Any]) -> str:
    """A new webhook; its id."""
    identity = new_id("webhook")
    ctx.pen.insert("webhook", identity, _columns(values))
    return identity


def save(ctx: Context, identity: str, changes: dict[str, Any]) -> None:
    """Write the changed fields."""
    ctx.pen.save("webhook", identity, _columns(changes))


def delete(ctx: Context, identity: str) -> None:
    """Remove a webhook; its deliveries go with it."""
    ctx.rows.run("DELETE FROM webhook WHERE organisation_id = :organisation AND id = :id", id=identity)


def _columns(values: dict[str, Any]) -> dict[str, Any]:
    kinds = values.get("events")
    return values | ({"events": orjson.dumps(kinds).decode()} if kinds else {})


def _found(row: Row | None) -> Row:
    if row is None:
        raise NotFound("webhook")
    return row
