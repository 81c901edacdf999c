"""A webhook that is gone, or does nothing but fail, is given up; and those who can mend it are told."""

from datetime import timedelta
from typing import Any

import orjson
import pytest

from mainstay.business.people.roles import remove_person
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import system_actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict
from mainstay.webhooks.disabling import disable_webhook, hide_url_secrets
from mainstay.webhooks.endpoints import get_webhook, resume_webhook
from mainstay.webhooks.retry_schedule import FAILING, GONE
from support.cast import EMAILS, Cast
from support.dispatchers import BASE_URL, QueueHarness, insert_deliveries, make_trusted_webhook, read_delivery_state
from support.webhooks import fan_out_all, list_stored_deliveries, make_webhook, read_columns, set_columns


def mails_of(cast: Cast) -> dict[str, dict[str, Any]]:
    """The mails that wait in the outbox for people of an organisation."""
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        found = db.all(
            "SELECT payload FROM outbox WHERE kind = 'mail' AND organisation_id = :mine", mine=cast.organisation
        )
    return {mail["to"]: mail for (payload,) in found for mail in [orjson.loads(str(payload))]}


def test_410_disables_at_once_and_fails_what_waits(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook, other = make_trusted_webhook(cast), make_webhook(cast)
    (done,) = insert_deliveries(cast, webhook, 1, queue_harness.clock())
    queue_harness.hand_in_attempts(*queue_harness.take())
    insert_deliveries(cast, webhook, 6, queue_harness.clock())
    insert_deliveries(cast, other, 1, queue_harness.clock() + timedelta(hours=1))
    first, *_ = queue_harness.take()
    queue_harness.hand_in_attempts(first, status=410)

    shown = cast.perform(get_webhook, webhookId=webhook)
    assert (shown["status"], shown["disabledReason"]) == ("disabled", GONE)
    assert shown["version"] == 2
    assert shown["updatedBy"] == {"kind": "house", "person": None, "via": {"door": "house", "client": None}}
    assert read_columns(cast, webhook, "due_at") == (None,)
    states = {
        delivery["id"]: (delivery["status"], delivery["due"]) for delivery in list_stored_deliveries(cast, webhook)
    }
    assert states.pop(done) == ("delivered", None)
    assert set(states.values()) == {("failed", None)}
    assert len(states) == 6
    assert [delivery["status"] for delivery in list_stored_deliveries(cast, other)] == ["waiting"]
    assert queue_harness.take() == []


def test_nothing_more_is_kept_for_it_until_it_is_set_active(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_webhook(cast)
    insert_deliveries(cast, webhook, 1, queue_harness.clock())
    queue_harness.hand_in_attempts(*queue_harness.take(), status=410)
    fan_out_all(cast)
    assert len(list_stored_deliveries(cast, webhook)) == 1

    cast.perform(resume_webhook, webhookId=webhook)
    insert_deliveries(cast, webhook, 1, queue_harness.clock())
    (sending,) = queue_harness.take()
    # The days before count no longer.
    queue_harness.clock.advance(days=4)
    queue_harness.hand_in_attempts(sending, status=500)
    assert read_columns(cast, webhook, "status") == ("active",)


def test_owners_and_admins_are_told_which_why_and_what_to_do(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, url="https://name:word@1.1.1.1/hook?key=hidden")
    insert_deliveries(cast, webhook, 1, queue_harness.clock())
    queue_harness.hand_in_attempts(*queue_harness.take(), status=410)

    mails = mails_of(cast)
    assert set(mails) == {EMAILS[Role.OWNER], EMAILS[Role.ADMIN]}
    mail = mails[EMAILS[Role.OWNER]]
    assert mail["subject"].startswith("A webhook of Organisation ")
    assert "Hello Olivia Owner," in mail["text"]
    assert "https://1.1.1.1/hook\n" in mail["text"]
    assert GONE in mail["text"]
    assert "Settings → Developer → Webhooks" in mail["text"]
    assert f"{BASE_URL}/settings/developer/webhooks/{webhook}" in mail["text"]
    assert "hidden" not in mail["text"]
    assert "word" not in mail["text"]


def test_who_has_left_is_not_told(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_webhook(cast)
    insert_deliveries(cast, webhook, 1, queue_harness.clock())
    cast.perform(remove_person, personId=cast.people[Role.ADMIN], confirmed=True)
    queue_harness.hand_in_attempts(*queue_harness.take(), status=410)
    assert set(mails_of(cast)) == {EMAILS[Role.OWNER]}


def test_five_days_of_nothing_but_failures_disable(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_webhook(cast)
    insert_deliveries(cast, webhook, 1, queue_harness.clock())
    queue_harness.hand_in_attempts(*queue_harness.take(), status=500)
    for hours in (119, 1):
        assert read_columns(cast, webhook, "status") == ("active",)
        assert mails_of(cast) == {}
        queue_harness.clock.advance(hours=hours)
        insert_deliveries(cast, webhook, 1, queue_harness.clock())
        (sending, *_) = queue_harness.take()
        queue_harness.hand_in_attempts(sending, status=None, error="no answer in time")

    assert read_columns(cast, webhook, "status", "disabled_reason") == ("disabled", FAILING)
    assert {delivery["status"] for delivery in list_stored_deliveries(cast, webhook)} == {"failed"}
    assert len(mails_of(cast)) == 2


def test_one_success_and_the_five_days_begin_anew(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_webhook(cast)
    for day, status in enumerate([500, 500, 500, 500, 200, 500, 500, 500, 500, 500]):
        insert_deliveries(cast, webhook, 1, queue_harness.clock())
        for sending in queue_harness.take():
            queue_harness.hand_in_attempts(sending, status=status)
        assert read_columns(cast, webhook, "status") == ("active",), day
        queue_harness.clock.advance(days=1)
    insert_deliveries(cast, webhook, 1, queue_harness.clock())
    queue_harness.hand_in_attempts(*queue_harness.take(), status=500)
    assert read_columns(cast, webhook, "status") == ("disabled",)


def test_in_one_cycle_the_last_word_counts(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_trusted_webhook(cast)
    insert_deliveries(cast, webhook, 2, queue_harness.clock())
    set_columns(cast, "webhook", webhook, failing_since=moment_text(queue_harness.clock() - timedelta(days=6)))
    good, bad = queue_harness.take()
    queue_harness.queue.exchange(
        [*queue_harness.make_attempts([good]), *queue_harness.make_attempts([bad], status=500)]
    )
    assert read_columns(cast, webhook, "status", "failing_since") == ("active", moment_text(queue_harness.clock()))


def test_two_who_find_it_gone_write_once(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_trusted_webhook(cast)
    insert_deliveries(cast, webhook, 4, queue_harness.clock())
    first, second, third, fourth = queue_harness.take()
    queue_harness.hand_in_attempts(first, second, status=410)
    queue_harness.hand_in_attempts(third, status=410)
    queue_harness.hand_in_attempts(fourth, status=200)
    with cast.performer.database.read_transaction(cast.organisation) as db:
        assert db.one("SELECT count(*) FROM outbox WHERE kind = 'mail' AND organisation_id = :organisation") == (2,)
    assert read_delivery_state(cast, fourth.delivery)[0] == "failed"
    assert read_columns(cast, webhook, "version") == (2,)


@pytest.mark.parametrize("change", [{"url": "https://1.1.1.1/mended"}, {"failing_since": None}, {"status": "disabled"}])
def test_what_was_mended_meanwhile_is_left_alone(
    queue_harness: QueueHarness, cast: Cast, change: dict[str, str | None]
) -> None:
    webhook = make_webhook(cast)
    insert_deliveries(cast, webhook, 1, queue_harness.clock())
    since = moment_text(queue_harness.clock())
    set_columns(cast, "webhook", webhook, failing_since=since)
    url = str(read_columns(cast, webhook, "url")[0])
    set_columns(cast, "webhook", webhook, **change)
    found = {"webhookId": webhook, "url": url, "failingSince": since, "reason": GONE}
    with pytest.raises(Conflict):
        cast.perform(disable_webhook, system_actor(cast.organisation), **found)
    assert [delivery["status"] for delivery in list_stored_deliveries(cast, webhook)] == ["waiting"]
    assert mails_of(cast) == {}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.example/b?c=d#e", "https://a.example/b"),
        ("https://user:word@a.example:8443/b", "https://a.example:8443/b"),
        ("https://a.example", "https://a.example"),
    ],
)
def test_an_address_is_told_without_what_may_be_secret(url: str, shown: str) -> None:
    assert hide_url_secrets(url) == shown
