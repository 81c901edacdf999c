import pytest

from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid, NotFound
from mainstay.webhooks.deliveries import list_deliveries
from support.cast import Cast
from support.stored_state import list_events_of
from support.webhooks import fan_out_all, insert_attempt, list_stored_deliveries, make_webhook, set_columns


def test_a_delivery_that_was_not_tried_is_waiting(cast: Cast) -> None:
    webhook = make_webhook(cast)
    fan_out_all(cast)
    happened = list_events_of(cast)
    page = cast.perform(list_deliveries, Role.ADMIN, webhookId=webhook)
    assert [delivery["eventId"] for delivery in page["data"]] == [event["id"] for event in happened][::-1]
    newest = page["data"][0]
    assert newest.pop("id") == list_stored_deliveries(cast, webhook)[-1]["id"]
    assert newest == {
        "object": "delivery",
        "webhookId": webhook,
        "eventId": happened[-1]["id"],
        "eventType": "person.joined",
        "status": "waiting",
        "attempts": 0,
        "dueAt": happened[-1]["createdAt"],
        "createdAt": happened[-1]["createdAt"],
        "lastAttemptAt": None,
        "lastStatus": None,
        "lastError": None,
        "lastDurationMs": None,
    }


def test_the_last_attempt_is_told(cast: Cast) -> None:
    webhook = make_webhook(cast)
    fan_out_all(cast)
    record_id = list_stored_deliveries(cast, webhook)[-1]["id"]
    insert_attempt(cast, record_id, 1, status=500, duration_ms=7)
    insert_attempt(cast, record_id, 2, error="connection refused", duration_ms=34)
    # The process that sent the third has died; the fourth is under way.
    set_columns(cast, "delivery", record_id, status="sending", attempts=4, due_at="2026-11-15T11:00:00.000Z")
    newest = cast.perform(list_deliveries, webhookId=webhook)["data"][0]
    last = [newest[name] for name in ("lastAttemptAt", "lastStatus", "lastError", "lastDurationMs")]
    assert last == ["2026-11-15T10:00:02.000Z", None, "connection refused", 34]
    assert (newest["status"], newest["attempts"], newest["dueAt"]) == ("sending", 4, None)


def test_it_can_be_narrowed_to_a_status(cast: Cast) -> None:
    webhook = make_webhook(cast)
    fan_out_all(cast)
    failed, delivered, *_ = list_stored_deliveries(cast, webhook)
    set_columns(cast, "delivery", failed["id"], status="failed", due_at=None)
    set_columns(cast, "delivery", delivered["id"], status="delivered", due_at=None)
    for status, found in (("failed", [failed["id"]]), ("delivered", [delivered["id"]]), ("sending", [])):
        page = cast.perform(list_deliveries, webhookId=webhook, status=status)
        assert [delivery["id"] for delivery in page["data"]] == found
    assert len(cast.perform(list_deliveries, webhookId=webhook, status="waiting")["data"]) == 3


def test_the_pages_together_are_the_whole_list(cast: Cast) -> None:
    webhook = make_webhook(cast)
    fan_out_all(cast)
    whole = [delivery["id"] for delivery in cast.perform(list_deliveries, webhookId=webhook)["data"]]
    behind: dict[str, str] = {}
    found, more = [], True
    while more:
        page = cast.perform(list_deliveries, webhookId=webhook, limit=2, **behind)
        found += [delivery["id"] for delivery in page["data"]]
        more, behind = page["hasMore"], {"startingAfter": found[-1]}
    assert found == whole
    assert len(whole) == 5


def test_only_the_deliveries_of_this_webhook_are_listed(cast: Cast, other_cast: Cast) -> None:
    make_webhook(cast)
    make_webhook(other_cast)
    for organisation in (cast, other_cast):
        fan_out_all(organisation)
    assert cast.perform(list_deliveries, webhookId=make_webhook(cast))["data"] == []


def test_a_wrong_cursor_or_status_is_refused(cast: Cast) -> None:
    webhook = make_webhook(cast)
    with pytest.raises(
        Invalid, match=r"^startingAfter: is not the id of a delivery; status: is not one of 'waiting', "
    ):
        cast.perform(list_deliveries, webhookId=webhook, startingAfter=webhook, status="lost")


def test_an_unknown_and_a_foreign_webhook_are_not_found_in_the_same_words(cast: Cast, other_cast: Cast) -> None:
    for record_id in (new_id("webhook"), "x", make_webhook(other_cast)):
        with pytest.raises(NotFound, match=r"^There is no webhook with that identifier\.$"):
            cast.perform(list_deliveries, webhookId=record_id)
