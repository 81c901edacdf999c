"""What became of each delivery, and sending it again."""

from collections.abc import Iterator
from dataclasses import fields
from itertools import islice
from typing import Annotated

from pydantic import Field

from mainstay.identity.keys import FOR_PEOPLE
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.ledger.events import KEPT
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, ListInput, One, Page
from mainstay.terms.wire import to_json
from mainstay.values.fields import LAST_SEEN, Moment, id_of
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.webhooks.fan_out import call, insert
from mainstay.webhooks.model import (
    TEST,
    Delivery,
    DeliveryDetail,
    DeliveryOut,
    DeliveryStatus,
    EventOut,
    RedeliveredOut,
    Webhook,
)
from mainstay.webhooks.store import DELIVERIES, WEBHOOKS, attempts_at, find_event

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
    since: Moment = Field(description="Everything from then on; at most 30 days ago.")


class SendTestEvent(Input):
    """Which webhook to try."""

    webhook_id: str = Field(description="The webhook's id.")


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.READ, offered=FOR_PEOPLE)
def list_deliveries(ctx: Context, given: ListDeliveries) -> Page[DeliveryOut]:
    """List the deliveries to a webhook, newest first.

    They are kept for 30 days.
    """
    WEBHOOKS.fetch(ctx, given.webhook_id)
    return DELIVERIES.page(ctx, given)


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.READ, offered=FOR_PEOPLE, on=DELIVERIES)
def get_delivery(ctx: Context, _given: GetDelivery, delivery: Delivery) -> DeliveryDetail:
    """Get one delivery.

    With what is sent, every attempt and what was answered.
    """
    history = b",".join(map(to_json, attempts_at(ctx, delivery.id))).decode()
    known = {of.name: getattr(delivery, of.name) for of in fields(delivery)}
    return DeliveryDetail(**known | {"row": (*delivery.row, _body(ctx, delivery), f"[{history}]")})


@operation(
    right=Right.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    offered=FOR_PEOPLE,
    on=DELIVERIES,
    unless=Delivery.not_repeatable,
    done="The event is on its way again.",
)
def redeliver_event(ctx: Context, _given: RedeliverEvent, delivery: Delivery) -> Delivery:
    """Send an event to a webhook again.

    Also one that was delivered. It has the same id, so that a receiver who knows it already can tell.
    """
    call(ctx.rows, delivery.webhook_id, ctx.at)
    _send_again(ctx, delivery.id)
    ctx.pen.touch(delivery.webhook_id)
    return DELIVERIES.fetch(ctx, delivery.id)


@operation(
    right=Right.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    offered=FOR_PEOPLE,
    on=WEBHOOKS,
    unless=Webhook.disabled,
    done="What did not arrive since then is on its way again.",
)
def redeliver_failed(ctx: Context, given: RedeliverFailed, webhook: Webhook) -> RedeliveredOut:
    """Send a webhook everything that did not reach it since a time.

    That is every event of a kind it wants whose delivery has failed, or which happened while it was disabled: oldest
    first, and at most 5,000 at once. Ask again for the rest.
    """
    if given.since < moment_text(ctx.now - KEPT):
        raise Invalid([Fault("since", f"is more than {KEPT.days} days ago; events are kept no longer")])
    if given.since > ctx.at:
        raise Invalid([Fault("since", "lies in the future")])
    call(ctx.rows, webhook.id, ctx.at)
    missed = _missed(ctx, webhook, given.since)
    chosen = list(islice(missed, MOST_AT_ONCE))
    has_more = next(missed, None) is not None
    for event, kind, delivery in chosen:
        if delivery is None:
            insert(ctx.rows, webhook.id, event, kind, ctx.at)
        else:
            _send_again(ctx, delivery)
    if chosen:
        ctx.pen.touch(webhook.id)
    return RedeliveredOut(object=RedeliveredOut.noun, webhook_id=webhook.id, count=len(chosen), has_more=has_more)


@operation(
    right=Right.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    offered=FOR_PEOPLE,
    only_adds=True,
    on=WEBHOOKS,
    unless=Webhook.not_sent_to,
    done="The test event is on its way. What becomes of it appears in the list.",
)
def send_test_event(ctx: Context, _given: SendTestEvent, webhook: Webhook) -> Delivery:
    """Send a webhook an event to try it with.

    Its kind is `webhook.test` and its record the webhook itself. It is in no feed and takes no sequence number.
    """
    call(ctx.rows, webhook.id, ctx.at)
    event = new_id("evt")
    data = b'{"object":%s,"previous":{}}' % to_json(webhook)
    body = to_json(One(EventOut, (event, TEST, ctx.at, ctx.actor.organisation, 0, ctx.stamp, data.decode())))
    delivery = insert(ctx.rows, webhook.id, event, TEST, ctx.at)
    ctx.rows.run(
        "UPDATE delivery SET test_body = :body WHERE organisation_id = :organisation AND id = :id",
        id=delivery,
        body=body.decode(),
    )
    ctx.pen.touch(webhook.id)
    return DELIVERIES.fetch(ctx, delivery)


OPERATIONS = (list_deliveries, get_delivery, redeliver_event, redeliver_failed, send_test_event)


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


def _body(ctx: Context, delivery: Delivery) -> str | None:
    """What is sent, as long as it is kept."""
    test = ctx.rows.one(
        "SELECT test_body FROM delivery WHERE organisation_id = :organisation AND id = :id AND test_body IS NOT NULL",
        id=delivery.id,
    )
    if test:
        return str(test[0])
    event = find_event(ctx.rows, delivery.event_id)
    return to_json(event).decode() if event else None


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
            if delivery != _FINE and webhook.wants(str(kind)):
                yield str(event), str(kind), None if delivery is None else str(delivery)
        after = int(batch[-1][0] or 0)


def _send_again(ctx: Context, delivery: str) -> None:
    """Begin a new row of retries, unless it is being sent."""
    ctx.rows.run(
        "UPDATE delivery SET status = 'waiting', due_at = :at, retries = 0"
        " WHERE organisation_id = :organisation AND id = :id AND status <> 'sending'",
        id=delivery,
        at=ctx.at,
    )
