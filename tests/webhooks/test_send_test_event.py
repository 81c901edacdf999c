from dataclasses import replace

import orjson
import pytest

from mainstay.values.ids import is_id, new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, NotFound
from mainstay.webhooks.deliveries import get_delivery, redeliver_event, send_test_event
from mainstay.webhooks.endpoints import get_webhook, update_webhook
from mainstay.webhooks.feed import list_events
from mainstay.webhooks.model import EventOut
from support.cast import Cast
from support.stored_state import list_events_of, to_event_record
from support.webhooks import list_stored_deliveries, make_webhook, read_columns, set_columns


def test_the_webhook_itself_is_sent_as_an_event(cast: Cast) -> None:
    webhook = make_webhook(cast, events=["person.left"])
    sent = cast.perform(send_test_event, Role.ADMIN, webhookId=webhook)
    assert (sent["webhookId"], sent["eventType"], sent["status"]) == (webhook, "webhook.test", "waiting")
    body = orjson.loads(cast.perform(get_delivery, deliveryId=sent["id"])["body"])
    by = {
        "kind": "person",
        "person": {"id": cast.people[Role.ADMIN], "name": "Adam Admin"},
        "via": {"door": "api", "client": None},
    }
    assert body == {
        "object": "event",
        "id": sent["eventId"],
        "type": "webhook.test",
        "createdAt": sent["createdAt"],
        "organisationId": cast.organisation,
        "sequence": 0,
        "actor": by,
        "data": {"object": to_event_record(cast.perform(get_webhook, webhookId=webhook)), "previous": {}},
    }
    assert is_id(sent["eventId"], "evt")
    assert EventOut.model_validate(body, by_alias=True, by_name=False)


def test_it_is_due_at_once_and_the_bell_rings(cast: Cast) -> None:
    rings: list[int] = []
    listening = replace(cast, performer=replace(cast.performer, wake_worker=lambda: rings.append(1)))
    webhook = make_webhook(cast)
    sent = listening.perform(send_test_event, webhookId=webhook)
    assert sent["dueAt"] == sent["createdAt"]
    assert read_columns(cast, webhook, "due_at") == (sent["dueAt"],)
    assert rings == [1]


def test_it_is_in_no_feed_and_takes_no_number(cast: Cast) -> None:
    before, feed = list_events_of(cast), cast.perform(list_events)
    cast.perform(send_test_event, webhookId=make_webhook(cast))
    assert list_events_of(cast) == before
    assert cast.perform(list_events) == feed
    with cast.performer.database.read_transaction(cast.organisation) as db:
        assert db.one("SELECT event_sequence FROM organisation WHERE id = :organisation") == (len(before),)


def test_only_the_webhook_that_is_tried_gets_it(cast: Cast) -> None:
    webhook, other = make_webhook(cast), make_webhook(cast)
    cast.perform(send_test_event, webhookId=webhook)
    cast.perform(send_test_event, webhookId=webhook)
    assert len(list_stored_deliveries(cast, webhook)) == 2
    assert list_stored_deliveries(cast, other) == []


def test_it_can_be_sent_again_with_the_same_body(cast: Cast) -> None:
    webhook = make_webhook(cast)
    sent = cast.perform(send_test_event, webhookId=webhook)
    body = list_stored_deliveries(cast, webhook)[0]["test_body"]
    cast.perform(update_webhook, webhookId=webhook, description="Changed since")
    set_columns(cast, "delivery", sent["id"], status="delivered", due_at=None)
    cast.perform(redeliver_event, deliveryId=sent["id"])
    (again,) = list_stored_deliveries(cast, webhook)
    assert (again["status"], again["test_body"]) == ("waiting", body)


@pytest.mark.parametrize("status", ["paused", "disabled"])
def test_a_webhook_that_is_not_active_is_not_tried(cast: Cast, status: str) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, status=status)
    with pytest.raises(Conflict, match=rf"^The webhook is {status}\. Resume it first\.$"):
        cast.perform(send_test_event, webhookId=webhook)
    assert list_stored_deliveries(cast, webhook) == []


def test_an_unknown_and_a_foreign_webhook_are_not_found_in_the_same_words(cast: Cast, other_cast: Cast) -> None:
    for record_id in (new_id("webhook"), "x", make_webhook(other_cast)):
        with pytest.raises(NotFound, match=r"^There is no webhook with that identifier\.$"):
            cast.perform(send_test_event, webhookId=record_id)
