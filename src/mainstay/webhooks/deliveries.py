"""What became of each delivery, and sending it again."""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from pydantic import Field

from mainstay.backing.database import Row
from mainstay.identity.keys import FOR_PEOPLE
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.refusal import Conflict, Fault, Invalid, NotFound
from mainstay.kernel.rights import Right
from mainstay.kernel.shapes import Input, ListInput, One, Page
from mainstay.kernel.wire import to_json
from mainstay.values.fields import LAST_SEEN, Moment, id_of
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.webhooks import store
from mainstay.webhooks.fan_out import call, insert
from mainstay.webhooks.model import (
    EVENT_COLUMNS,
    KEPT,
    TEST,
    AttemptOut,
    DeliveryDetailOut,
    DeliveryOut,
    DeliveryStatus,
    EventOut,
    RedeliveredOut,
    Webhook,
    wants,
)

MOST_AT_ONCE = 5_000
_BATCH = 1_000


class ListDeliveries(ListInput):
    """Which deliveries to list."""

    webhook_id: str = Field(description="The webhook's id.")
    starting_after: Annotated[str | None, id_of("delivery")] = LAST_SEEN
    status: DeliveryStatus | None = Field(None, description="Only these.")


class GetDelivery(Input):
    """Which delivery."""

    delivery_id: str = Field(description="The delivery's id.")


class RedeliverEvent(Input):
    """Which delivery to make again."""

    delivery_id: str = Field(description="The delivery's id.")


class RedeliverFailed(Input):
    """Which webhook is to be sent what it missed."""

    webhook_id: str = Field(description="The webhook's id.")
    since: Moment = Field(description="Events from then on, such as 2026-11-15T10:30:50Z; at most 30 days ago.")


class SendTestEvent(Input):
    """Which webhook to try."""

    webhook_id: str = Field(description="The webhook's id.")


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.READ, offered=FOR_PEOPLE)
def list_deliveries(ctx: Context, given: ListDeliveries) -> Page[DeliveryOut]:
    """List the deliveries to a webhook, newest first.

    They are kept for 30 days.
    """
    store.fetch(ctx, given.webhook_id)
    sql = f"{_SELECT} AND d.webhook_id = :webhook"
    if given.status:
        sql += " AND d.status = :status"
    if given.starting_after:
        sql += " AND d.id < :after"
    rows = ctx.rows.all(
        f"{sql} ORDER BY d.id DESC LIMIT :limit",
        webhook=given.webhook_id,
        status=given.status,
        after=given.starting_after,
        limit=given.limit + 1,
    )
    return Page.cut(DeliveryOut, rows, given.limit)


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.READ, offered=FOR_PEOPLE)
def get_delivery(ctx: Context, given: GetDelivery) -> One[DeliveryDetailOut]:
    """Get one delivery.

    With what is sent, every attempt and what was answered.
    """
    row = _fetch(ctx, given.delivery_id).row
    attempts = ctx.rows.all(
        "SELECT number, at, status, error, duration_ms, answer FROM delivery_attempt"
        " WHERE organisation_id = :organisation AND delivery_id = :id ORDER BY number DESC LIMIT 100",
        id=given.delivery_id,
    )
    history = b",".join(to_json(One(AttemptOut, attempt)) for attempt in attempts).decode()
    return One(DeliveryDetailOut, (*row, _body(ctx, row), f"[{history}]"))


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.CHANGE, offered=FOR_PEOPLE)
def redeliver_event(ctx: Context, given: RedeliverEvent) -> One[DeliveryOut]:
    """Send an event to a webhook again.

    Also one that was delivered. It has the same id, so that a receiver who knows it already can tell.
    """
    row = _fetch(ctx, given.delivery_id).row
    if _body(ctx, row) is None:
        raise Conflict("The event is kept no longer, so it cannot be sent again.")
    _call(ctx, str(row[1]))
    if not _send_again(ctx, given.delivery_id):
        raise Conflict("The event is being sent at this moment. Wait for what becomes of it.")
    return _fetch(ctx, given.delivery_id)


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.CHANGE, offered=FOR_PEOPLE)
def redeliver_failed(ctx: Context, given: RedeliverFailed) -> RedeliveredOut:
    """Send a webhook everything that did not reach it since a time.

    That is every event of a kind it wants whose delivery has failed, or which happened while it was disabled: oldest
    first, and at most 5,000 at once. Ask again for the rest.
    """
    if given.since < moment_text(ctx.now - KEPT):
        raise Invalid([Fault("since", f"is more than {KEPT.days} days ago; events are kept no longer")])
    if given.since > ctx.at:
        raise Invalid([Fault("since", "lies in the future")])
    webhook = store.fetch(ctx, given.webhook_id)
    _call(ctx, webhook.id)
    missed = _missed(ctx, webhook, given.since)
    chosen = list(islice(missed, MOST_AT_ONCE))
    has_more = next(missed, None) is not None
    for event, kind, delivery in chosen:
        if delivery is None:
            insert(ctx.rows, webhook.id, event, kind, ctx.at)
        else:
            _send_again(ctx, delivery)
    return RedeliveredOut(object=RedeliveredOut.noun, webhook_id=webhook.id, count=len(chosen), has_more=has_more)


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.CHANGE, offered=FOR_PEOPLE)
def send_test_event(ctx: Context, given: SendTestEvent) -> One[DeliveryOut]:
    """Send a webhook an event to try it with.

    Its kind is `webhook.test` and its record the webhook itself. It is in no feed and takes no sequence number.
    """
    webhook = store.fetch(ctx, given.webhook_id)
    if webhook.status != "active":
        raise Conflict(f"The webhook is {webhook.status}. Set it active first.")
    _call(ctx, webhook.id)
    event = new_id("evt")
    data = b'{"object":%s,"previous":{}}' % to_json(store.show(ctx, webhook.id))
    body = to_json(One(EventOut, (event, TEST, ctx.at, ctx.actor.organisation, 0, ctx.stamp, data.decode())))
    delivery = insert(ctx.rows, webhook.id, event, TEST, ctx.at)
    ctx.rows.run(
        "UPDATE delivery SET test_body = :body WHERE organisation_id = :organisation AND id = :id",
        id=delivery,
        body=body.decode(),
    )
    return _fetch(ctx, delivery)


# The columns of DeliveryOut in its order.
_SELECT = """
SELECT d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempts,
       CASE WHEN d.status = 'waiting' THEN d.due_at END, d.created_at, a.at, a.status, a.error, a.duration_ms
FROM delivery d LEFT JOIN delivery_attempt a ON a.organisation_id = d.organisation_id AND a.delivery_id = d.id
 AND a.number = (SELECT max(number) FROM delivery_attempt WHERE organisation_id = :organisation AND delivery_id = d.id)
WHERE d.organisation_id = :organisation
"""

# In place of a delivery: it arrived, or is on its way for the first time.
_FINE = ""
# The delivery is looked up for each event: before a database knows its tables, it joins them in ways that take minutes.
_WITH_DELIVERY = f"""
SELECT e.sequence, e.id, e.type, (
  SELECT CASE WHEN d.status = 'failed' OR (d.status = 'waiting' AND d.retries > 0) THEN d.id ELSE '{_FINE}' END
  FROM delivery d
  WHERE d.organisation_id = :organisation AND d.event_id = e.id AND d.webhook_id = :webhook)
FROM event e
WHERE e.organisation_id = :organisation AND e.sequence > :after AND e.created_at >= :since
ORDER BY e.sequence LIMIT :batch
"""


def _fetch(ctx: Context, identity: str) -> One[DeliveryOut]:
    row = ctx.rows.one(f"{_SELECT} AND d.id = :id", id=identity)
    if row is None:
        raise NotFound("delivery")
    return One(DeliveryOut, row)


def _body(ctx: Context, delivery: Row) -> str | None:
    """What is sent, as long as it is kept."""
    test = ctx.rows.one(
        "SELECT test_body FROM delivery WHERE organisation_id = :organisation AND id = :id AND test_body IS NOT NULL",
        id=delivery[0],
    )
    if test:
        return str(test[0])
    event = ctx.rows.one(
        f"SELECT {EVENT_COLUMNS} FROM event WHERE organisation_id = :organisation AND id = :id", id=delivery[2]
    )
    return to_json(One(EventOut, event)).decode() if event else None


def _missed(ctx: Context, webhook: Webhook, since: str) -> Iterator[tuple[str, str, str | None]]:
    """The events that did not reach a webhook, oldest first, each with its kind and its delivery if there is one."""
    after = 0
    while batch := ctx.rows.all(
        _WITH_DELIVERY,
        webhook=webhook.id,
        after=after,
        # What happened before there was a webhook did not fail to reach it.
        since=max(since, webhook.created_at),
        batch=_BATCH,
    ):
        for _, event, kind, delivery in batch:
            if delivery != _FINE and wants(webhook.kinds, str(kind)):
                yield str(event), str(kind), None if delivery is None else str(delivery)
        after = int(batch[-1][0] or 0)


def _call(ctx: Context, webhook: str) -> None:
    if not call(ctx.rows, webhook, ctx.at):
        raise Conflict("The webhook is disabled. Set it active first.")


def _send_again(ctx: Context, delivery: str) -> bool:
    """Begin a new row of retries; False while it is being sent."""
    changed = ctx.rows.run(
        "UPDATE delivery SET status = 'waiting', due_at = :at, retries = 0"
        " WHERE organisation_id = :organisation AND id = :id AND status <> 'sending'",
        id=delivery,
        at=ctx.at,
    )
    return changed > 0
