from dataclasses import replace
from datetime import timedelta

import pytest

from cast import Cast
from mainstay.terms.refusal import Conflict, Lapsed, NotFound
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from mainstay.webhooks.deliveries import redeliver_event
from mainstay.webhooks.endpoints import pause_webhook, resume_webhook
from telling import columns_of, deliveries, fan_out_all, make_webhook, set_columns


def tried(cast: Cast, status: str, due_at: str | None = None) -> tuple[str, dict[str, object]]:
    """A webhook, and a delivery to it that was tried before."""
    webhook = make_webhook(cast)
    fan_out_all(cast)
    delivery = deliveries(cast, webhook)[0]
    set_columns(cast, "delivery", delivery["id"], status=status, due_at=due_at, attempts=3, retries=3)
    set_columns(cast, "webhook", webhook, due_at=None)
    return webhook, delivery


@pytest.mark.parametrize(
    ("status", "due_at"), [("failed", None), ("delivered", None), ("waiting", "2126-11-15T10:00:00.000Z")]
)
def test_it_is_sent_again_at_once_under_the_same_id(cast: Cast, status: str, due_at: str | None) -> None:
    webhook, delivery = tried(cast, status, due_at)
    now = cast.stage.clock() + timedelta(hours=1)
    later = replace(cast, stage=replace(cast.stage, clock=lambda: now))
    again = later.perform(redeliver_event, Role.ADMIN, deliveryId=delivery["id"])
    assert (again["id"], again["eventId"], again["status"]) == (delivery["id"], delivery["event"], "waiting")
    kept = deliveries(cast, webhook)[0]
    assert kept == delivery | {"due": again["dueAt"], "attempts": 3, "retries": 0}
    assert again["dueAt"] > again["createdAt"]
    assert columns_of(cast, webhook, "due_at") == (again["dueAt"],)


def test_the_bell_rings(cast: Cast) -> None:
    _, delivery = tried(cast, "failed")
    rings: list[int] = []
    listening = replace(cast, stage=replace(cast.stage, ring=lambda: rings.append(1)))
    listening.perform(redeliver_event, deliveryId=delivery["id"])
    assert rings == [1]


def test_it_waits_for_a_paused_webhook(cast: Cast) -> None:
    webhook, delivery = tried(cast, "failed")
    cast.perform(pause_webhook, webhookId=webhook)
    assert cast.perform(redeliver_event, deliveryId=delivery["id"])["status"] == "waiting"


def test_a_disabled_webhook_must_be_set_active_first(cast: Cast) -> None:
    webhook, delivery = tried(cast, "failed")
    set_columns(cast, "webhook", webhook, status="disabled")
    with pytest.raises(Conflict, match=r"^The webhook is disabled\. Resume it first\.$") as refusal:
        cast.perform(redeliver_event, deliveryId=delivery["id"])
    assert refusal.value.unblocks == (("resume_webhook", webhook),)
    assert deliveries(cast, webhook)[0]["status"] == "failed"
    cast.perform(resume_webhook, webhookId=webhook)
    assert cast.perform(redeliver_event, deliveryId=delivery["id"])["status"] == "waiting"


def test_not_while_it_is_being_sent(cast: Cast) -> None:
    webhook, delivery = tried(cast, "sending", "2126-11-15T10:00:00.000Z")
    with pytest.raises(Conflict, match=r"^The event is being sent at this moment\."):
        cast.perform(redeliver_event, deliveryId=delivery["id"])
    assert (deliveries(cast, webhook)[0]["retries"], columns_of(cast, webhook, "due_at")) == (3, (None,))


def test_an_event_that_is_kept_no_longer_cannot_be_sent_again(cast: Cast) -> None:
    _, delivery = tried(cast, "failed")
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run("DELETE FROM event WHERE organisation_id = :organisation")
    with pytest.raises(Conflict, match=r"^The event is kept no longer"):
        cast.perform(redeliver_event, deliveryId=delivery["id"])


def test_it_is_closed_while_lapsed(cast: Cast) -> None:
    _, delivery = tried(cast, "failed")
    cast.lapse()
    with pytest.raises(Lapsed):
        cast.perform(redeliver_event, deliveryId=delivery["id"])


def test_an_unknown_and_a_foreign_delivery_are_not_found_in_the_same_words(cast: Cast, stranger: Cast) -> None:
    webhook, foreign = tried(stranger, "failed")
    for identity in (new_id("delivery"), "x", foreign["id"]):
        with pytest.raises(NotFound, match=r"^There is no delivery with that identifier\.$"):
            cast.perform(redeliver_event, deliveryId=identity)
    assert deliveries(stranger, webhook)[0]["status"] == "failed"
