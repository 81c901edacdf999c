"""Operations on deliveries: list them, send them again, and send a test event."""

from collections.abc import Iterator
from dataclasses import fields
from itertools import islice
from typing import Annotated

from pydantic import Field

from mainstay.changes.events import RETENTION
from mainstay.identity.keys import PEOPLE_DOORS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import STARTING_AFTER, Moment, make_id_validator
from mainstay.values.ids import new_id
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.record_json import to_json
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input, ListInput, PageResult, RecordResult
from mainstay.webhooks.fan_out import insert_delivery, make_due
from mainstay.webhooks.model import (
    TEST_EVENT,
    Delivery,
    DeliveryDetail,
    DeliveryOut,
    DeliveryStatus,
    EventOut,
    RedeliveredOut,
    Webhook,
)
from mainstay.webhooks.store import DELIVERIES, WEBHOOKS, find_event, list_attempts

MAX_REDELIVERED = 5_000
_BATCH_SIZE = 1_000


class ListDeliveries(ListInput):
    """Which deliveries to list."""

    webhook_id: str = Field(description="The webhook's ID.")
    starting_after: Annotated[str | None, make_id_validator("delivery")] = STARTING_AFTER
    status: DeliveryStatus | None = Field(None, description="Only deliveries with this status.")


class RedeliverFailed(Input):
    """Which webhook, and from when."""

    webhook_id: str = Field(description="The webhook's ID.")
    since: Moment = Field(description="Events from this time on; at most 30 days ago.")


@operation(permission=Permission.WEBHOOKS_MANAGE, effect=Effect.READ, doors=PEOPLE_DOORS | {Door.AGENT})
def list_deliveries(ctx: Context, given: ListDeliveries) -> PageResult[DeliveryOut]:
    """List webhook deliveries.

    Newest first. They are kept for 30 days.
    """
    WEBHOOKS.fetch(ctx, given.webhook_id)
    return DELIVERIES.page(ctx, given)


@operation(permission=Permission.WEBHOOKS_MANAGE, effect=Effect.READ, doors=PEOPLE_DOORS, on=DELIVERIES)
def get_delivery(ctx: Context, _given: Input, delivery: Delivery) -> DeliveryDetail:
    """Get webhook delivery.

    Its body, every attempt and the responses.
    """
    history = b",".join(map(to_json, list_attempts(ctx, delivery.id))).decode()
    values = {column.name: getattr(delivery, column.name) for column in fields(delivery)}
    return DeliveryDetail(**values | {"row": (*delivery.row, _read_body(ctx, delivery), f"[{history}]")})


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    on=DELIVERIES,
    blocked_by=Delivery.not_repeatable,
    done_message="Event queued to be sent again.",
    not_undone=Message("The event has been sent again."),
    past_text="Event resent",
)
def redeliver_event(ctx: Context, _given: Input, delivery: Delivery) -> Delivery:
    """Resend event.

    You can also resend a delivered event. It keeps its ID, so the receiver can recognise it.
    """
    make_due(ctx.db, delivery.webhook_id, ctx.now_text)
    _send_again(ctx, delivery.id)
    ctx.writer.touch(delivery.webhook_id)
    return DELIVERIES.fetch(ctx, delivery.id)


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    on=WEBHOOKS,
    blocked_by=Webhook.not_deliverable,
    done_message="Missed events queued to be sent again.",
    not_undone=Message("The events have been sent again."),
    past_text="Failed events resent",
)
def redeliver_failed(ctx: Context, given: RedeliverFailed, webhook: Webhook) -> RedeliveredOut:
    """Resend missed events.

    All events since a time whose delivery failed, or which happened while the webhook was disabled: oldest first, at
    most 5,000 at once. Repeat for the rest.
    """
    if given.since < moment_text(ctx.now - RETENTION):
        raise Invalid(
            [Fault("since", Message("is more than {days} days ago; older events are deleted", days=RETENTION.days))]
        )
    if given.since > ctx.now_text:
        raise Invalid([Fault("since", Message("is in the future"))])
    make_due(ctx.db, webhook.id, ctx.now_text)
    missed = _find_missed(ctx, webhook, given.since)
    chosen = list(islice(missed, MAX_REDELIVERED))
    has_more = next(missed, None) is not None
    for event, kind, delivery in chosen:
        if delivery is None:
            insert_delivery(ctx.db, webhook.id, event, kind, ctx.now_text)
        else:
            _send_again(ctx, delivery)
    if chosen:
        ctx.writer.touch(webhook.id)
    return RedeliveredOut(object=RedeliveredOut.noun, webhook_id=webhook.id, count=len(chosen), has_more=has_more)


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    only_adds=True,
    on=WEBHOOKS,
    blocked_by=Webhook.not_sent_to,
    done_message="Test event sent. The result appears in the list.",
    not_undone=Message("The test event has been sent."),
    past_text="Test event sent",
)
def send_test_event(ctx: Context, _given: Input, webhook: Webhook) -> Delivery:
    """Send test event.

    [[Its type is `webhook.test` and its record the webhook itself.]] It is not in the feed and has no sequence
    number.
    """
    make_due(ctx.db, webhook.id, ctx.now_text)
    event = new_id("evt")
    data = b'{"object":%s,"previous":{}}' % to_json(webhook)
    body = to_json(
        RecordResult(EventOut, (event, TEST_EVENT, ctx.now_text, ctx.actor.organisation, 0, ctx.stamp, data.decode()))
    )
    delivery = insert_delivery(ctx.db, webhook.id, event, TEST_EVENT, ctx.now_text)
    ctx.db.run(
        "UPDATE delivery SET test_body = :body WHERE organisation_id = :organisation AND id = :id",
        id=delivery,
        body=body.decode(),
    )
    ctx.writer.touch(webhook.id)
    return DELIVERIES.fetch(ctx, delivery)


OPERATIONS = (list_deliveries, get_delivery, redeliver_event, redeliver_failed, send_test_event)


# Marks a delivery that succeeded, or that is on its way for the first time.
_NOT_MISSED = ""
# The delivery is looked up for each event. A database without statistics on its tables might choose a join that takes
# minutes.
_WITH_DELIVERY = f"""
SELECT e.sequence, e.id, e.type, (
  SELECT CASE WHEN d.status = 'failed' OR (d.status = 'waiting' AND d.retries > 0) THEN d.id ELSE '{_NOT_MISSED}' END
  FROM delivery d
  WHERE d.organisation_id = :organisation AND d.event_id = e.id AND d.webhook_id = :webhook)
FROM event e
WHERE e.organisation_id = :organisation AND e.sequence > :after AND e.created_at >= :since
ORDER BY e.sequence LIMIT :batch
"""


def _read_body(ctx: Context, delivery: Delivery) -> str | None:
    """Return the body that is sent, or None if the event is no longer stored."""
    test = ctx.db.one(
        "SELECT test_body FROM delivery WHERE organisation_id = :organisation AND id = :id AND test_body IS NOT NULL",
        id=delivery.id,
    )
    if test:
        return str(test[0])
    event = find_event(ctx.db, delivery.event_id)
    return to_json(event).decode() if event else None


def _find_missed(ctx: Context, webhook: Webhook, since: str) -> Iterator[tuple[str, str, str | None]]:
    """Yield the events that did not reach a webhook, oldest first.

    Each comes with its kind, and with the ID of its delivery if it has one.
    """
    after = 0
    while batch := ctx.db.all(
        _WITH_DELIVERY,
        webhook=webhook.id,
        after=after,
        # Events from before the webhook existed did not fail to reach it.
        since=max(since, webhook.created_at),
        batch=_BATCH_SIZE,
    ):
        for _, event, kind, delivery in batch:
            if delivery != _NOT_MISSED and webhook.wants(str(kind)):
                yield str(event), str(kind), None if delivery is None else str(delivery)
        after = int(batch[-1][0] or 0)


def _send_again(ctx: Context, delivery_id: str) -> None:
    """Start a new series of attempts, unless the delivery is being sent now."""
    ctx.db.run(
        "UPDATE delivery SET status = 'waiting', due_at = :at, retries = 0"
        " WHERE organisation_id = :organisation AND id = :id AND status <> 'sending'",
        id=delivery_id,
        at=ctx.now_text,
    )
