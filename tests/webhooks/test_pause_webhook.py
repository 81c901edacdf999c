from dataclasses import replace

import pytest

from cast import Cast
from evidence import as_told, events, trail
from mainstay.kernel.context import Envelope
from mainstay.terms.refusal import Blocked, Forbidden, Lapsed, NotFound, Stale
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from mainstay.webhooks.endpoints import get_webhook, pause_webhook
from telling import columns_of, deliveries, fan_out_all, make_webhook, set_columns

SINCE = "2026-11-15T10:00:00.000Z"


def test_a_webhook_is_paused_and_keeps_what_happens(cast: Cast) -> None:
    webhook = make_webhook(cast)
    paused = cast.perform(pause_webhook, Role.ADMIN, webhookId=webhook)
    assert (paused["status"], paused["version"]) == ("paused", 2)
    assert as_told(cast.perform(get_webhook, webhookId=webhook)) == as_told(paused)
    fan_out_all(cast)
    assert {delivery["status"] for delivery in deliveries(cast, webhook)} == {"waiting"}
    assert len(deliveries(cast, webhook)) == len(events(cast))


def test_the_bell_rings_and_the_trail_tells_of_it(cast: Cast) -> None:
    rings: list[int] = []
    listening = replace(cast, stage=replace(cast.stage, ring=lambda: rings.append(1)))
    webhook = make_webhook(cast)
    listening.perform(pause_webhook, webhookId=webhook)
    assert rings == [1]
    assert (trail(cast)[-1]["operation"], trail(cast)[-1]["given"]) == ("pause_webhook", {"webhookId": webhook})


def test_one_that_fails_is_paused_too_and_its_failures_are_over(cast: Cast) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, failing_since=SINCE)
    assert cast.perform(get_webhook, webhookId=webhook)["status"] == "failing"
    assert cast.perform(pause_webhook, webhookId=webhook)["failingSince"] is None
    assert columns_of(cast, webhook, "status") == ("paused",)


@pytest.mark.parametrize("status", ["paused", "disabled"])
def test_what_nothing_is_sent_to_is_not_paused(cast: Cast, status: str) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, status=status)
    with pytest.raises(Blocked, match=rf"^The webhook is {status}\. Resume it first\.$") as refusal:
        cast.perform(pause_webhook, webhookId=webhook)
    assert [reason.unblock for reason in refusal.value.reasons] == ["resume_webhook"]
    assert columns_of(cast, webhook, "status", "version") == (status, 1)


def test_someone_who_read_an_earlier_version_is_told(cast: Cast) -> None:
    webhook = make_webhook(cast)
    with pytest.raises(Stale):
        cast.answer(pause_webhook, request=Envelope("req_1", frozenset({2})), webhookId=webhook)


def test_it_is_closed_while_lapsed_and_to_those_who_may_not(cast: Cast) -> None:
    webhook = make_webhook(cast)
    with pytest.raises(Forbidden):
        cast.perform(pause_webhook, Role.OFFICE, webhookId=webhook)
    cast.lapse()
    with pytest.raises(Lapsed):
        cast.perform(pause_webhook, webhookId=webhook)


def test_an_unknown_and_a_foreign_webhook_are_not_found_in_the_same_words(cast: Cast, stranger: Cast) -> None:
    foreign = make_webhook(stranger)
    for identity in (new_id("webhook"), "x", foreign):
        with pytest.raises(NotFound, match=r"^There is no webhook with that identifier\.$"):
            cast.perform(pause_webhook, webhookId=identity)
    assert stranger.perform(get_webhook, webhookId=foreign)["status"] == "active"
