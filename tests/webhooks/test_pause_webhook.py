from dataclasses import replace

import pytest

from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Lapsed, NotFound, Stale
from mainstay.webhooks.endpoints import get_webhook, pause_webhook
from support.cast import Cast
from support.stored_state import list_events_of, read_trail, to_event_record
from support.webhooks import fan_out_all, list_stored_deliveries, make_webhook, read_columns, set_columns

SINCE = "2026-11-15T10:00:00.000Z"


def test_a_webhook_is_paused_and_keeps_what_happens(cast: Cast) -> None:
    webhook = make_webhook(cast)
    paused = cast.perform(pause_webhook, Role.ADMIN, webhookId=webhook)
    assert (paused["status"], paused["version"]) == ("paused", 2)
    assert to_event_record(cast.perform(get_webhook, webhookId=webhook)) == to_event_record(paused)
    fan_out_all(cast)
    assert {delivery["status"] for delivery in list_stored_deliveries(cast, webhook)} == {"waiting"}
    assert len(list_stored_deliveries(cast, webhook)) == len(list_events_of(cast))


def test_the_bell_rings_and_the_trail_tells_of_it(cast: Cast) -> None:
    rings: list[int] = []
    listening = replace(cast, performer=replace(cast.performer, wake_worker=lambda: rings.append(1)))
    webhook = make_webhook(cast)
    listening.perform(pause_webhook, webhookId=webhook)
    assert rings == [1]
    assert (read_trail(cast)[-1]["operation"], read_trail(cast)[-1]["given"]) == (
        "pause_webhook",
        {"webhookId": webhook},
    )


def test_one_that_fails_is_paused_too_and_its_failures_are_over(cast: Cast) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, failing_since=SINCE)
    assert cast.perform(get_webhook, webhookId=webhook)["status"] == "failing"
    assert cast.perform(pause_webhook, webhookId=webhook)["failingSince"] is None
    assert read_columns(cast, webhook, "status") == ("paused",)


@pytest.mark.parametrize("status", ["paused", "disabled"])
def test_what_nothing_is_sent_to_is_not_paused(cast: Cast, status: str) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, status=status)
    with pytest.raises(Blocked, match=rf"^The webhook is {status}\. Resume it first\.$") as refusal:
        cast.perform(pause_webhook, webhookId=webhook)
    assert [reason.first for reason in refusal.value.reasons] == ["resume_webhook"]
    assert read_columns(cast, webhook, "status", "version") == (status, 1)


def test_someone_who_read_an_earlier_version_is_told(cast: Cast) -> None:
    webhook = make_webhook(cast)
    with pytest.raises(Stale):
        cast.answer(pause_webhook, request=RequestDetails("req_1", frozenset({2})), webhookId=webhook)


def test_it_is_closed_while_lapsed_and_to_those_who_may_not(cast: Cast) -> None:
    webhook = make_webhook(cast)
    with pytest.raises(Forbidden):
        cast.perform(pause_webhook, Role.OFFICE, webhookId=webhook)
    cast.lapse()
    with pytest.raises(Lapsed):
        cast.perform(pause_webhook, webhookId=webhook)


def test_an_unknown_and_a_foreign_webhook_are_not_found_in_the_same_words(cast: Cast, other_cast: Cast) -> None:
    foreign = make_webhook(other_cast)
    for record_id in (new_id("webhook"), "x", foreign):
        with pytest.raises(NotFound, match=r"^There is no webhook with that identifier\.$"):
            cast.perform(pause_webhook, webhookId=record_id)
    assert other_cast.perform(get_webhook, webhookId=foreign)["status"] == "active"
