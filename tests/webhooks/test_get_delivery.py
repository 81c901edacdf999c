import pytest

from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound
from mainstay.webhooks.deliveries import get_delivery, list_deliveries
from mainstay.webhooks.feed import list_events
from support.cast import Cast
from support.webhooks import fan_out_all, insert_attempt, list_stored_deliveries, make_webhook


def make_first_delivery(cast: Cast) -> tuple[str, str]:
    webhook = make_webhook(cast)
    fan_out_all(cast)
    return webhook, list_stored_deliveries(cast, webhook)[0]["id"]


def test_it_is_shown_as_in_the_list_with_its_body_and_its_attempts(cast: Cast) -> None:
    webhook, delivery = make_first_delivery(cast)
    insert_attempt(cast, delivery, 1, status=500, duration_ms=7, answer="Oh “no”.")
    insert_attempt(cast, delivery, 2, error="no answer in time", duration_ms=15000)
    listed = cast.perform(list_deliveries, webhookId=webhook)["data"][-1]
    shown = cast.perform(get_delivery, Role.ADMIN, deliveryId=delivery)
    assert {name: shown[name] for name in listed} == listed
    assert shown["history"] == [
        {
            "object": "attempt",
            "number": 2,
            "triedAt": "2026-11-15T10:00:02.000Z",
            "status": None,
            "error": "no answer in time",
            "durationMs": 15000,
            "answer": "",
            "headers": None,
        },
        {
            "object": "attempt",
            "number": 1,
            "triedAt": "2026-11-15T10:00:01.000Z",
            "status": 500,
            "error": None,
            "durationMs": 7,
            "answer": "Oh “no”.",
            "headers": None,
        },
    ]
    assert shown.keys() - listed.keys() == {"body", "history", "url", "availableActions"}


def test_the_body_is_the_event_byte_for_byte_as_the_feed_has_it(cast: Cast) -> None:
    _, delivery = make_first_delivery(cast)
    feed = cast.answer(list_events, limit=1).body
    body = cast.perform(get_delivery, deliveryId=delivery)["body"]
    assert feed == b'{"object":"list","data":[%s],"hasMore":true}' % body.encode()


def test_a_delivery_that_was_not_tried_has_no_attempts(cast: Cast) -> None:
    _, delivery = make_first_delivery(cast)
    assert cast.perform(get_delivery, deliveryId=delivery)["history"] == []


def test_the_body_of_an_event_that_is_kept_no_longer_is_null(cast: Cast) -> None:
    _, delivery = make_first_delivery(cast)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("DELETE FROM event WHERE organisation_id = :organisation")
    assert cast.perform(get_delivery, deliveryId=delivery)["body"] is None


def test_an_unknown_and_a_foreign_delivery_are_not_found_in_the_same_words(cast: Cast, other_cast: Cast) -> None:
    _, foreign = make_first_delivery(other_cast)
    for record_id in (new_id("delivery"), "x", foreign):
        with pytest.raises(NotFound, match=r"^There is no delivery with that identifier\.$"):
            cast.perform(get_delivery, deliveryId=record_id)
