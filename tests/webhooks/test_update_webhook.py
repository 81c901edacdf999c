import pytest

from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid, Lapsed, NotFound, Stale
from mainstay.webhooks.endpoints import create_webhook, get_webhook, update_webhook
from support.cast import Cast
from support.quotes import cast_later
from support.webhooks import RECEIVER_URL, make_webhook, read_columns, set_columns

SINCE = "2026-11-15T10:00:00.000Z"
OTHER = "https://1.0.0.1/elsewhere"


def test_only_what_is_sent_changes(cast: Cast) -> None:
    before = cast.perform(create_webhook, url=RECEIVER_URL, events=["person.left"], description="Till")
    after = cast_later(cast, minutes=1).perform(
        update_webhook, Role.ADMIN, webhookId=before["id"], description="Our till"
    )
    changed = {name: value for name, value in after.items() if before[name] != value}
    assert changed.keys() == {"description", "updatedAt", "updatedBy", "version"}
    assert (changed["description"], changed["version"]) == ("Our till", 2)
    assert cast.perform(get_webhook, webhookId=before["id"]) == after


def test_null_means_all_kinds_and_no_description(cast: Cast) -> None:
    webhook = make_webhook(cast, events=["person.left"], description="Till")
    after = cast.perform(update_webhook, webhookId=webhook, events=None, description=None)
    assert (after["events"], after["description"]) == (None, None)
    again = cast.perform(update_webhook, webhookId=webhook, events=["person.joined"])
    assert again["events"] == ["person.joined"]


def test_what_is_as_wished_already_makes_no_new_version(cast: Cast) -> None:
    made = cast.perform(create_webhook, url=RECEIVER_URL)
    set_columns(cast, "webhook", made["id"], trusted=1, failing_since=SINCE)
    same = cast.perform(update_webhook, webhookId=made["id"], url=RECEIVER_URL, events=None)
    assert same == made | {"failingSince": SINCE, "status": "failing"}
    assert read_columns(cast, made["id"], "trusted") == (1,)


def test_a_new_address_is_not_trusted_yet_and_has_not_failed(cast: Cast) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, trusted=1, failing_since=SINCE)
    after = cast.perform(update_webhook, webhookId=webhook, url=OTHER)
    assert (after["url"], after["failingSince"]) == (OTHER, None)
    assert read_columns(cast, webhook, "trusted") == (0,)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"status": "paused"}, "status: is not known here"),
        ({"url": None}, "url: is not text"),
        ({"url": "x"}, "url: is not an address such as https://example.com/webhooks"),
        ({"events": []}, "events: is empty, choose at least one type, or leave it out for all"),
        ({"generation": 7}, "generation: is not known here"),
    ],
)
def test_a_wrong_field_is_refused(cast: Cast, given: dict[str, object], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(update_webhook, webhookId=make_webhook(cast), **given)
    assert refusal.value.text == text


def test_an_address_that_is_not_public_is_refused(cast: Cast) -> None:
    webhook = make_webhook(cast)
    with pytest.raises(Invalid, match=r"^url: leads to an address that is not public$"):
        cast.perform(update_webhook, webhookId=webhook, url="https://192.168.0.1/")
    assert cast.perform(get_webhook, webhookId=webhook)["url"] == RECEIVER_URL


def test_someone_who_read_an_earlier_version_is_told(cast: Cast) -> None:
    webhook = make_webhook(cast)
    with pytest.raises(Stale):
        cast.answer(update_webhook, request=RequestDetails("req_1", frozenset({2})), webhookId=webhook, description="x")


def test_it_is_closed_while_lapsed(cast: Cast) -> None:
    webhook = make_webhook(cast)
    cast.lapse()
    with pytest.raises(Lapsed):
        cast.perform(update_webhook, webhookId=webhook, description="x")


def test_an_unknown_and_a_foreign_webhook_are_not_found_in_the_same_words(cast: Cast, other_cast: Cast) -> None:
    foreign = make_webhook(other_cast)
    for record_id in (new_id("webhook"), "x", foreign):
        with pytest.raises(NotFound, match=r"^There is no webhook with that identifier\.$"):
            cast.perform(update_webhook, webhookId=record_id, description="x")
    assert other_cast.perform(get_webhook, webhookId=foreign)["status"] == "active"
