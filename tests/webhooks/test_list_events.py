import orjson
import pytest

from mainstay.business.people.operations import invite_person, update_person
from mainstay.catalogue import CATALOGUE
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Access, Role
from mainstay.vocabulary.refusal import Forbidden, Invalid
from mainstay.webhooks.feed import list_events
from support.cast import Cast
from support.stored_state import list_events_of


def test_what_happened_is_listed_oldest_first(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="1")
    page = cast.perform(list_events, cast.actor(Role.ADMIN, Access.READ))
    assert [event["sequence"] for event in page["data"]] == [1, 2, 3, 4, 5, 6]
    assert page["hasMore"] is False
    kept = list_events_of(cast)[-1]
    assert page["data"][-1] == kept | {"object": "event", "organisationId": cast.organisation}
    assert page["data"][-1]["data"]["previous"] == {"phone": None}


def test_the_pages_together_are_the_whole_feed(cast: Cast) -> None:
    whole = cast.perform(list_events)["data"]
    behind: dict[str, str] = {}
    found, more = [], True
    while more:
        page = cast.perform(list_events, limit=2, **behind)
        found += page["data"]
        more, behind = page["hasMore"], {"startingAfter": found[-1]["id"]}
    assert found == whole
    assert len(whole) == 5
    assert cast.perform(list_events, **behind) == {"object": "list", "data": [], "hasMore": False}
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="1")
    assert [event["type"] for event in cast.perform(list_events, **behind)["data"]] == ["person.updated"]


def test_it_can_be_narrowed_to_a_kind(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="1")
    cast.perform(invite_person, name="N", email="n@new.example", role="member")
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="2")
    updated = cast.perform(list_events, type="person.updated")["data"]
    assert [event["sequence"] for event in updated] == [6, 8]
    assert cast.perform(list_events, type="person.updated", startingAfter=updated[0]["id"])["data"] == updated[1:]
    joined = cast.perform(list_events, limit=1)["data"][0]
    assert cast.perform(list_events, type="person.updated", startingAfter=joined["id"])["data"] == updated
    assert cast.perform(list_events, type="person.left")["data"] == []


def test_whoever_last_saw_what_is_kept_no_longer_goes_on_with_the_oldest(cast: Cast) -> None:
    first = cast.perform(list_events, limit=1)["data"][0]["id"]
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("DELETE FROM event WHERE organisation_id = :organisation AND sequence <= 2")
    assert [event["sequence"] for event in cast.perform(list_events, startingAfter=first)["data"]] == [3, 4, 5]


def test_another_organisation_s_events_are_not_listed(cast: Cast, other_cast: Cast) -> None:
    foreign = other_cast.perform(list_events)["data"]
    mine = cast.perform(list_events)["data"]
    assert {event["organisationId"] for event in mine} == {cast.organisation}
    assert cast.perform(list_events, startingAfter=foreign[2]["id"]) == cast.perform(
        list_events, startingAfter=new_id("evt")
    )


def test_every_entry_is_written_alike(cast: Cast) -> None:
    body = cast.answer(list_events).body
    assert orjson.dumps(orjson.loads(body)) == body


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_events_hold_everything_so_only_owners_and_admins_read_them(cast: Cast, role: Role) -> None:
    with pytest.raises(
        Forbidden, match=rf"^You don't have access to this\. Ask an owner or admin\. Your role is {role}\.$"
    ):
        cast.perform(list_events, role)


def test_it_is_offered_to_programs() -> None:
    assert list_events.doors == {Door.API, Door.AGENT}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"startingAfter": "evt_1"}, "startingAfter: is not the id of an event"),
        ({"startingAfter": new_id("person")}, "startingAfter: is not the id of an event"),
        ({"limit": 0}, "limit: is below 1"),
        ({"limit": 101}, "limit: is above 100"),
        ({"type": "person.flew"}, "type: has an unknown type of event, choose from {kinds}"),
        ({"kind": "person.left"}, "kind: is not known here"),
    ],
)
def test_a_wrong_parameter_is_refused(cast: Cast, given: dict[str, object], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(list_events, **given)
    assert refusal.value.text == text.format(kinds=", ".join(sorted(CATALOGUE.event_names)))
