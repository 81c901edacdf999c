from dataclasses import replace
from datetime import timedelta

import pytest

from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Lapsed, NotFound, UnblockingAction
from mainstay.webhooks.deliveries import redeliver_event
from mainstay.webhooks.endpoints import pause_webhook, resume_webhook
from support.cast import Cast
from support.webhooks import fan_out_all, list_stored_deliveries, make_webhook, read_columns, set_columns


def make_tried_delivery(cast: Cast, status: str, due_at: str | None = None) -> tuple[str, dict[str, object]]:
    """A webhook, and a delivery to it that was tried before."""
    webhook = make_webhook(cast)
    fan_out_all(cast)
    delivery = list_stored_deliveries(cast, webhook)[0]
    set_columns(cast, "delivery", delivery["id"], status=status, due_at=due_at, attempts=3, retries=3)
    set_columns(cast, "webhook", webhook, due_at=None)
    return webhook, delivery


@pytest.mark.parametrize(
    ("status", "due_at"), [("failed", None), ("delivered", None), ("waiting", "2126-11-15T10:00:00.000Z")]
)
def test_it_is_sent_again_at_once_under_the_same_id(cast: Cast, status: str, due_at: str | None) -> None:
    webhook, delivery = make_tried_delivery(cast, status, due_at)
    now = cast.performer.clock() + timedelta(hours=1)
    later = replace(cast, performer=replace(cast.performer, clock=lambda: now))
    again = later.perform(redeliver_event, Role.ADMIN, deliveryId=delivery["id"])
    assert (again["id"], again["eventId"], again["status"]) == (delivery["id"], delivery["event"], "waiting")
    kept = list_stored_deliveries(cast, webhook)[0]
    assert kept == delivery | {"due": again["dueAt"], "attempts": 3, "retries": 0}
    assert again["dueAt"] > again["createdAt"]
    assert read_columns(cast, webhook, "due_at") == (again["dueAt"],)


def test_the_bell_rings(cast: Cast) -> None:
    _, delivery = make_tried_delivery(cast, "failed")
    rings: list[int] = []
    listening = replace(cast, performer=replace(cast.performer, wake_worker=lambda: rings.append(1)))
    listening.perform(redeliver_event, deliveryId=delivery["id"])
    assert rings == [1]


def test_it_waits_for_a_paused_webhook(cast: Cast) -> None:
    webhook, delivery = make_tried_delivery(cast, "failed")
    cast.perform(pause_webhook, webhookId=webhook)
    assert cast.perform(redeliver_event, deliveryId=delivery["id"])["status"] == "waiting"


def test_a_disabled_webhook_must_be_set_active_first(cast: Cast) -> None:
    webhook, delivery = make_tried_delivery(cast, "failed")
    set_columns(cast, "webhook", webhook, status="disabled")
    with pytest.raises(Conflict, match=r"^The webhook is disabled\. Resume it first\.$") as refusal:
        cast.perform(redeliver_event, deliveryId=delivery["id"])
    assert refusal.value.unblocking_actions == (UnblockingAction("resume_webhook", webhook),)
    assert list_stored_deliveries(cast, webhook)[0]["status"] == "failed"
    cast.perform(resume_webhook, webhookId=webhook)
    assert cast.perform(redeliver_event, deliveryId=delivery["id"])["status"] == "waiting"


def test_not_while_it_is_being_sent(cast: Cast) -> None:
    webhook, delivery = make_tried_delivery(cast, "sending", "2126-11-15T10:00:00.000Z")
    with pytest.raises(Conflict, match=r"^The event is being sent right now\."):
        cast.perform(redeliver_event, deliveryId=delivery["id"])
    assert (list_stored_deliveries(cast, webhook)[0]["retries"], read_columns(cast, webhook, "due_at")) == (3, (None,))


def test_an_event_that_is_kept_no_longer_cannot_be_sent_again(cast: Cast) -> None:
    _, delivery = make_tried_delivery(cast, "failed")
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("DELETE FROM event WHERE organisation_id = :organisation")
    with pytest.raises(Conflict, match=r"^The event has been deleted"):
        cast.perform(redeliver_event, deliveryId=delivery["id"])


def test_it_is_closed_while_lapsed(cast: Cast) -> None:
    _, delivery = make_tried_delivery(cast, "failed")
    cast.lapse()
    with pytest.raises(Lapsed):
        cast.perform(redeliver_event, deliveryId=delivery["id"])


def test_an_unknown_and_a_foreign_delivery_are_not_found_in_the_same_words(cast: Cast, other_cast: Cast) -> None:
    webhook, foreign = make_tried_delivery(other_cast, "failed")
    for record_id in (new_id("delivery"), "x", foreign["id"]):
        with pytest.raises(NotFound, match=r"^There is no delivery with that identifier\.$"):
            cast.perform(redeliver_event, deliveryId=record_id)
    assert list_stored_deliveries(other_cast, webhook)[0]["status"] == "failed"
