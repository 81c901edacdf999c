import pytest

from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound
from mainstay.webhooks.endpoints import create_webhook, get_webhook
from support.cast import Cast
from support.webhooks import RECEIVER_URL, make_webhook, set_columns


def test_the_webhook_is_shown_as_it_was_made(cast: Cast) -> None:
    made = cast.perform(create_webhook, url=RECEIVER_URL)
    assert cast.perform(get_webhook, Role.ADMIN, webhookId=made["id"]) == made


def test_what_the_dispatcher_found_out_is_shown(cast: Cast) -> None:
    webhook = make_webhook(cast)
    since = "2026-11-15T10:00:00.000Z"
    set_columns(cast, "webhook", webhook, status="disabled", disabled_reason="It answered 410.", failing_since=since)
    shown = cast.perform(get_webhook, webhookId=webhook)
    assert (shown["status"], shown["disabledReason"], shown["failingSince"]) == ("disabled", "It answered 410.", since)


def test_an_unknown_and_a_foreign_webhook_are_not_found_in_the_same_words(cast: Cast, other_cast: Cast) -> None:
    for record_id in (new_id("webhook"), "x", make_webhook(other_cast)):
        with pytest.raises(NotFound, match=r"^There is no webhook with that identifier\.$"):
            cast.perform(get_webhook, webhookId=record_id)
