from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.values.ids import is_id
from mainstay.vocabulary.actor import Door, operator_actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Invalid
from mainstay.webhooks.endpoints import create_webhook, delete_webhook, list_webhooks, update_webhook
from mainstay.webhooks.signature import Signer
from support.cast import Cast
from support.stored_state import list_events_of, read_all_rows, read_trail
from support.webhooks import RECEIVER_URL, make_webhook


def test_the_webhook_is_active_and_wants_everything(cast: Cast) -> None:
    made = cast.perform(create_webhook, Role.ADMIN, url=RECEIVER_URL)
    assert is_id(made.pop("id"), "webhook")
    by = {
        "kind": "person",
        "person": {"id": cast.people[Role.ADMIN], "name": "Adam Admin"},
        "via": {"door": "api", "client": None},
    }
    assert made.pop("createdBy") == made.pop("updatedBy") == by
    assert made.pop("createdAt") == made.pop("updatedAt")
    assert made == {
        "object": "webhook",
        "version": 1,
        "url": RECEIVER_URL,
        "description": None,
        "events": None,
        "status": "active",
        "disabledReason": None,
        "failingSince": None,
        "generation": 1,
        "rotatedAt": None,
        "availableActions": [],
    }


def test_chosen_kinds_are_kept_once_each_in_the_order_given(cast: Cast) -> None:
    chosen = ["person.left", "person.joined", "person.left"]
    made = cast.perform(create_webhook, url=RECEIVER_URL, events=chosen, description=" Our till ")
    assert (made["events"], made["description"]) == (["person.left", "person.joined"], "Our till")


def test_the_operator_makes_one(cast: Cast) -> None:
    made = cast.perform(create_webhook, operator_actor(cast.organisation), url=RECEIVER_URL)
    assert made["createdBy"] == {"kind": "operator", "person": None, "via": {"door": "cli", "client": None}}


def test_no_table_holds_its_secret(cast: Cast) -> None:
    made = cast.perform(create_webhook, url=RECEIVER_URL)
    secret = Signer(b"the installation's").reveal_secret(made["id"], made["generation"])
    assert secret.removeprefix("whsec_") not in str(read_all_rows(cast.performer.database))


def test_the_audit_trail_tells_of_it_and_no_event_goes_out(cast: Cast) -> None:
    event_count = len(list_events_of(cast))
    cast.perform(create_webhook, url=RECEIVER_URL)
    assert (read_trail(cast)[-1]["operation"], read_trail(cast)[-1]["given"]) == (
        "create_webhook",
        {"url": RECEIVER_URL},
    )
    assert len(list_events_of(cast)) == event_count


def test_it_is_offered_to_people_only() -> None:
    assert create_webhook.doors == {Door.OFFICE, Door.CLI}
    assert create_webhook.api_path is None


def test_the_eleventh_is_refused(cast: Cast, other_cast: Cast) -> None:
    made = [make_webhook(cast) for _ in range(10)]
    with pytest.raises(Conflict, match=r"^You can have up to 10 webhooks\. Delete one first\.$"):
        make_webhook(cast)
    assert make_webhook(other_cast)
    cast.perform(delete_webhook, webhookId=made[0], confirmed=True)
    assert make_webhook(cast)


def test_of_many_at_once_ten_are_made(cast: Cast) -> None:
    def attempt(_: int) -> bool:
        try:
            make_webhook(cast)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(attempt, range(16))) == 10
    assert len(cast.perform(list_webhooks)["data"]) == 10


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "url: is required"),
        ({"url": "example.com"}, "url: is not an address such as https://example.com/webhooks"),
        ({"url": "ftp://example.com"}, "url: is not an address such as https://example.com/webhooks"),
        ({"url": "https://"}, "url: is not an address such as https://example.com/webhooks"),
        ({"url": RECEIVER_URL + "x" * 2000}, "url: is longer than 2000 characters"),
        ({"url": RECEIVER_URL, "events": []}, "events: is empty, choose at least one type, or leave it out for all"),
        (
            {"url": RECEIVER_URL, "events": ["person.joined", "person.flew"]},
            "events: has an unknown type of event, choose from {kinds}",
        ),
        (
            {"url": RECEIVER_URL, "events": ["webhook.test"]},
            "events: has an unknown type of event, choose from {kinds}",
        ),
        ({"url": RECEIVER_URL, "events": "person.joined"}, "events: is not a list"),
        ({"url": RECEIVER_URL, "description": ""}, "description: is empty"),
        ({"url": RECEIVER_URL, "secret": "mine"}, "secret: is not known here"),
    ],
)
def test_a_wrong_field_is_refused(cast: Cast, given: dict[str, object], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(create_webhook, **given)
    assert refusal.value.text == text.format(kinds=", ".join(sorted(CATALOGUE.event_names)))


@pytest.mark.parametrize(
    "url",
    ["http://1.1.1.1/", "https://127.0.0.1/", "https://10.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest"],
)
def test_an_address_that_is_not_public_is_refused_beside_its_field(cast: Cast, url: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(create_webhook, url=url)
    (fault,) = refusal.value.faults
    assert fault.field == "url"
    assert cast.perform(list_webhooks)["data"] == []


def test_names_are_looked_up_while_no_change_is_open(cast: Cast) -> None:
    looked_up: list[str] = []

    def look_up(host: str, _port: int) -> list[str]:
        # It would wait for the change in vain, if there were one.
        with cast.performer.database.write_transaction(cast.organisation):
            looked_up.append(host)
        return ["1.1.1.1"]

    guarded = replace(cast, performer=replace(cast.performer, guard=AddressGuard(allow_private=False, resolve=look_up)))
    webhook = guarded.perform(create_webhook, url="https://receiver.example/")["id"]
    guarded.perform(update_webhook, webhookId=webhook, url="https://other.example/")
    guarded.perform(update_webhook, webhookId=webhook, description="The same address")
    assert looked_up == ["receiver.example", "other.example"]


def test_where_there_is_no_room_no_name_is_looked_up(cast: Cast) -> None:
    for _ in range(10):
        make_webhook(cast)

    def look_up(host: str, _port: int) -> list[str]:
        pytest.fail(f"looked up {host}")

    guarded = replace(cast, performer=replace(cast.performer, guard=AddressGuard(allow_private=False, resolve=look_up)))
    with pytest.raises(Conflict, match="up to 10 webhooks"):
        guarded.perform(create_webhook, url="https://receiver.example/")
