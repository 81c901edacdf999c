"""The feed of events over HTTP."""

from dataclasses import replace

import pytest

from mainstay.business.people.operations import update_person
from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Access, Role
from mainstay.webhooks.deliveries import get_delivery
from support.cast import Cast
from support.raw_http import check_refusal, remove_known_names
from support.servers import RunningServer
from support.webhooks import fan_out_all, list_stored_deliveries, make_webhook

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

EVENTS = "/api/v1/events"


def change_person(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone=new_id("phone"))


def test_a_read_only_key_reads_what_happened_oldest_first_page_by_page(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key(Access.READ, Role.ADMIN)
    change_person(cast)

    first = server.request("GET", f"{EVENTS}?limit=4", key)
    rest = server.request("GET", f"{EVENTS}?startingAfter={first.json()['data'][-1]['id']}", key)

    assert (first.status_code, rest.status_code) == (200, 200)
    assert (first.json()["hasMore"], rest.json()["hasMore"]) == (True, False)
    both = first.json()["data"] + rest.json()["data"]
    assert [event["sequence"] for event in both] == [1, 2, 3, 4, 5, 6]
    assert {event["organisationId"] for event in both} == {cast.organisation}


def test_it_can_be_narrowed_to_a_kind(server: RunningServer, cast: Cast) -> None:
    change_person(cast)
    change_person(cast)
    key = cast.make_key(Access.READ)
    found = server.request("GET", f"{EVENTS}?type=person.updated", key).json()["data"]
    assert [event["sequence"] for event in found] == [6, 7]
    behind = server.request("GET", f"{EVENTS}?type=person.updated&startingAfter={found[0]['id']}&limit=1", key)
    assert behind.json() == {"object": "list", "data": [found[1]], "hasMore": False}


def test_an_event_is_byte_for_byte_what_a_webhook_is_sent(server: RunningServer, cast: Cast) -> None:
    change_person(cast)
    # Saved without a look at the address, to which nobody sends anything.
    offline = replace(cast, performer=replace(cast.performer, guard=AddressGuard(allow_private=True)))
    webhook = make_webhook(offline, url="https://127.0.0.1/")
    fan_out_all(cast)
    bodies = [
        cast.perform(get_delivery, deliveryId=each["id"])["body"] for each in list_stored_deliveries(cast, webhook)
    ]
    feed = server.request("GET", EVENTS, cast.make_key()).content
    assert feed == b'{"object":"list","data":[%s],"hasMore":false}' % ",".join(bodies).encode()
    assert len(bodies) == 6


def test_another_organisation_sees_none_of_it(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    change_person(cast)
    body = server.request("GET", EVENTS, other_cast.make_key()).text
    assert cast.organisation not in body
    assert other_cast.organisation in body


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("since=2026-11-15", "since: is not a moment such as 2026-11-15T10:30:50Z"),
        (
            "starting_after=x",
            (
                "starting_after: is not known here"
                " (perhaps startingAfter, known: limit, startingAfter, type, since, order)"
            ),
        ),
        ("startingAfter=evt_1", "startingAfter: is not the id of an event"),
        ("limit=0", "limit: is below 1"),
        ("type=person.joined&type=person.left", "type: is sent twice"),
    ],
)
def test_wrong_parameters_are_named(server: RunningServer, cast: Cast, query: str, told: str) -> None:
    assert remove_known_names(check_refusal(server.request("GET", f"{EVENTS}?{query}", cast.make_key()), 422)) == told


def test_a_wrong_kind_is_told_which_there_are(server: RunningServer, cast: Cast) -> None:
    message = check_refusal(server.request("GET", f"{EVENTS}?type=nothing", cast.make_key()), 422)
    kinds = (
        "equipment.created, equipment.updated,"
        " invoice.created, invoice.credited, invoice.deleted, invoice.overdue, invoice.paid, invoice.partPaid,"
        " invoice.sent, invoice.updated, invoice.viewed, invoice.voided,"
        " job.cancelled, job.completed, job.created, job.scheduled, job.started, job.updated,"
        " person.invited, person.joined, person.left, person.updated,"
        " quote.accepted, quote.created, quote.declined, quote.expired, quote.sent, quote.superseded, quote.updated,"
        " quote.viewed, quote.withdrawn"
    )
    assert message == f"type: has an unknown type of event, choose from {kinds}"


def test_webhooks_themselves_have_no_place_in_the_api(server: RunningServer, cast: Cast) -> None:
    check_refusal(server.request("GET", "/api/v1/webhooks", cast.make_key()), 404)
    assert check_refusal(server.request("POST", EVENTS, cast.make_key(), json={}), 405)
