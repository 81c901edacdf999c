"""A webhook that is gone, or does nothing but fail, is given up; and those who can mend it are told."""

from datetime import timedelta
from typing import Any

import orjson
import pytest

from cast import EMAILS, Cast
from dispatching import BASE_URL, Desk, delivery_state, put_deliveries, trusted_webhook
from mainstay.backing.database import EVERY
from mainstay.business.people.standing import remove_person
from mainstay.terms.actor import house
from mainstay.terms.refusal import Conflict
from mainstay.terms.rights import Role
from mainstay.values.moments import moment_text
from mainstay.webhooks.disabling import disable_webhook, plain
from mainstay.webhooks.endpoints import get_webhook, resume_webhook
from mainstay.webhooks.schedule import FAILING, GONE
from telling import columns_of, deliveries, fan_out_all, make_webhook, set_columns


def mails_of(cast: Cast) -> dict[str, dict[str, Any]]:
    """The mails that wait in the outbox for people of an organisation."""
    with cast.stage.database.reading(EVERY) as rows:
        found = rows.all(
            "SELECT payload FROM outbox WHERE kind = 'mail' AND organisation_id = :mine", mine=cast.organisation
        )
    return {mail["to"]: mail for (payload,) in found for mail in [orjson.loads(str(payload))]}


def test_410_disables_at_once_and_fails_what_waits(desk: Desk, cast: Cast) -> None:
    webhook, other = trusted_webhook(cast), make_webhook(cast)
    (done,) = put_deliveries(cast, webhook, 1, desk.clock())
    desk.hand_in(*desk.take())
    put_deliveries(cast, webhook, 6, desk.clock())
    put_deliveries(cast, other, 1, desk.clock() + timedelta(hours=1))
    first, *_ = desk.take()
    desk.hand_in(first, status=410)

    shown = cast.perform(get_webhook, webhookId=webhook)
    assert (shown["status"], shown["disabledReason"]) == ("disabled", GONE)
    assert shown["version"] == 2
    assert shown["updatedBy"] == {"kind": "house", "person": None, "via": {"door": "house", "client": None}}
    assert columns_of(cast, webhook, "due_at") == (None,)
    states = {delivery["id"]: (delivery["status"], delivery["due"]) for delivery in deliveries(cast, webhook)}
    assert states.pop(done) == ("delivered", None)
    assert set(states.values()) == {("failed", None)}
    assert len(states) == 6
    assert [delivery["status"] for delivery in deliveries(cast, other)] == ["waiting"]
    assert desk.take() == []


def test_nothing_more_is_kept_for_it_until_it_is_set_active(desk: Desk, cast: Cast) -> None:
    webhook = make_webhook(cast)
    put_deliveries(cast, webhook, 1, desk.clock())
    desk.hand_in(*desk.take(), status=410)
    fan_out_all(cast)
    assert len(deliveries(cast, webhook)) == 1

    cast.perform(resume_webhook, webhookId=webhook)
    put_deliveries(cast, webhook, 1, desk.clock())
    (sending,) = desk.take()
    # The days before count no longer.
    desk.clock.forward(days=4)
    desk.hand_in(sending, status=500)
    assert columns_of(cast, webhook, "status") == ("active",)


def test_owners_and_admins_are_told_which_why_and_what_to_do(desk: Desk, cast: Cast) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, url="https://name:word@1.1.1.1/hook?key=hidden")
    put_deliveries(cast, webhook, 1, desk.clock())
    desk.hand_in(*desk.take(), status=410)

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


def test_who_has_left_is_not_told(desk: Desk, cast: Cast) -> None:
    webhook = make_webhook(cast)
    put_deliveries(cast, webhook, 1, desk.clock())
    cast.perform(remove_person, personId=cast.people[Role.ADMIN], confirmed=True)
    desk.hand_in(*desk.take(), status=410)
    assert set(mails_of(cast)) == {EMAILS[Role.OWNER]}


def test_five_days_of_nothing_but_failures_disable(desk: Desk, cast: Cast) -> None:
    webhook = make_webhook(cast)
    put_deliveries(cast, webhook, 1, desk.clock())
    desk.hand_in(*desk.take(), status=500)
    for hours in (119, 1):
        assert columns_of(cast, webhook, "status") == ("active",)
        assert mails_of(cast) == {}
        desk.clock.forward(hours=hours)
        put_deliveries(cast, webhook, 1, desk.clock())
        (sending, *_) = desk.take()
        desk.hand_in(sending, status=None, error="no answer in time")

    assert columns_of(cast, webhook, "status", "disabled_reason") == ("disabled", FAILING)
    assert {delivery["status"] for delivery in deliveries(cast, webhook)} == {"failed"}
    assert len(mails_of(cast)) == 2


def test_one_success_and_the_five_days_begin_anew(desk: Desk, cast: Cast) -> None:
    webhook = make_webhook(cast)
    for day, status in enumerate([500, 500, 500, 500, 200, 500, 500, 500, 500, 500]):
        put_deliveries(cast, webhook, 1, desk.clock())
        for sending in desk.take():
            desk.hand_in(sending, status=status)
        assert columns_of(cast, webhook, "status") == ("active",), day
        desk.clock.forward(days=1)
    put_deliveries(cast, webhook, 1, desk.clock())
    desk.hand_in(*desk.take(), status=500)
    assert columns_of(cast, webhook, "status") == ("disabled",)


def test_in_one_cycle_the_last_word_counts(desk: Desk, cast: Cast) -> None:
    webhook = trusted_webhook(cast)
    put_deliveries(cast, webhook, 2, desk.clock())
    set_columns(cast, "webhook", webhook, failing_since=moment_text(desk.clock() - timedelta(days=6)))
    good, bad = desk.take()
    desk.queue.exchange([*desk.results([good]), *desk.results([bad], status=500)])
    assert columns_of(cast, webhook, "status", "failing_since") == ("active", moment_text(desk.clock()))


def test_two_who_find_it_gone_write_once(desk: Desk, cast: Cast) -> None:
    webhook = trusted_webhook(cast)
    put_deliveries(cast, webhook, 4, desk.clock())
    first, second, third, fourth = desk.take()
    desk.hand_in(first, second, status=410)
    desk.hand_in(third, status=410)
    desk.hand_in(fourth, status=200)
    with cast.stage.database.reading(cast.organisation) as rows:
        assert rows.one("SELECT count(*) FROM outbox WHERE kind = 'mail' AND organisation_id = :organisation") == (2,)
    assert delivery_state(cast, fourth.delivery)[0] == "failed"
    assert columns_of(cast, webhook, "version") == (2,)


@pytest.mark.parametrize("change", [{"url": "https://1.1.1.1/mended"}, {"failing_since": None}, {"status": "disabled"}])
def test_what_was_mended_meanwhile_is_left_alone(desk: Desk, cast: Cast, change: dict[str, str | None]) -> None:
    webhook = make_webhook(cast)
    put_deliveries(cast, webhook, 1, desk.clock())
    since = moment_text(desk.clock())
    set_columns(cast, "webhook", webhook, failing_since=since)
    url = str(columns_of(cast, webhook, "url")[0])
    set_columns(cast, "webhook", webhook, **change)
    found = {"webhookId": webhook, "url": url, "failingSince": since, "reason": GONE}
    with pytest.raises(Conflict):
        cast.perform(disable_webhook, house(cast.organisation), **found)
    assert [delivery["status"] for delivery in deliveries(cast, webhook)] == ["waiting"]
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
    assert plain(url) == shown
