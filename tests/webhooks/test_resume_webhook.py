from dataclasses import replace
from datetime import timedelta

import pytest

from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Lapsed, NotFound, Stale
from mainstay.webhooks.endpoints import get_webhook, pause_webhook, resume_webhook
from support.cast import Cast
from support.webhooks import make_webhook, read_columns, set_columns

SINCE = "2026-11-15T10:00:00.000Z"


def test_a_disabled_webhook_is_revived_with_a_clean_slate(cast: Cast) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, status="disabled", disabled_reason="Five days.", failing_since=SINCE)
    after = cast.perform(resume_webhook, webhookId=webhook)
    assert (after["status"], after["disabledReason"], after["failingSince"]) == ("active", None, None)


def test_the_days_of_a_pause_are_no_days_of_failure(cast: Cast) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, failing_since=SINCE)
    cast.perform(pause_webhook, webhookId=webhook)
    after = cast.perform(resume_webhook, Role.ADMIN, webhookId=webhook)
    assert (after["status"], after["failingSince"], after["version"]) == ("active", None, 3)


def test_a_resumed_webhook_is_looked_at_at_once(cast: Cast) -> None:
    webhook = make_webhook(cast)
    cast.perform(pause_webhook, webhookId=webhook)
    set_columns(cast, "webhook", webhook, due_at=None)
    later = cast.performer.clock() + timedelta(hours=1)
    resumed = replace(cast, performer=replace(cast.performer, clock=lambda: later)).perform(
        resume_webhook, webhookId=webhook
    )
    assert read_columns(cast, webhook, "due_at") == (resumed["updatedAt"],)


@pytest.mark.parametrize("failing_since", [None, SINCE])
def test_one_that_is_sent_to_is_not_resumed(cast: Cast, failing_since: str | None) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, failing_since=failing_since)
    with pytest.raises(Blocked, match=r"^The webhook is already active\.$"):
        cast.perform(resume_webhook, webhookId=webhook)
    assert read_columns(cast, webhook, "failing_since", "version") == (failing_since, 1)


def test_someone_who_read_an_earlier_version_is_told(cast: Cast) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, status="paused")
    with pytest.raises(Stale):
        cast.answer(resume_webhook, request=RequestDetails("req_1", frozenset({2})), webhookId=webhook)


def test_it_is_closed_while_lapsed_and_to_those_who_may_not(cast: Cast) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, status="paused")
    with pytest.raises(Forbidden):
        cast.perform(resume_webhook, Role.OFFICE, webhookId=webhook)
    cast.lapse()
    with pytest.raises(Lapsed):
        cast.perform(resume_webhook, webhookId=webhook)


def test_an_unknown_and_a_foreign_webhook_are_not_found_in_the_same_words(cast: Cast, other_cast: Cast) -> None:
    foreign = make_webhook(other_cast)
    set_columns(other_cast, "webhook", foreign, status="paused")
    for record_id in (new_id("webhook"), "x", foreign):
        with pytest.raises(NotFound, match=r"^There is no webhook with that identifier\.$"):
            cast.perform(resume_webhook, webhookId=record_id)
    assert other_cast.perform(get_webhook, webhookId=foreign)["status"] == "paused"
