import pytest

from mainstay.business.organisation.operations import get_organisation
from mainstay.business.people.invitations import create_organisation
from mainstay.business.people.operations import list_people
from mainstay.kernel.perform import Performer
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid, NotFound, Refusal
from support.cast import EMAILS, PASSWORD, Cast
from support.stored_state import list_events_of, read_trail, to_event_record

GIVEN: dict[str, object] = {
    "name": "Beam & Sons",
    "ownerName": "Olivia Owner",
    "ownerEmail": EMAILS[Role.OWNER],
    "password": PASSWORD,
}


def make_organisation(performer: Performer, **given: object) -> tuple[Cast, dict[str, object]]:
    cast = Cast(performer, new_id("org"), {})
    owner = cast.perform(create_organisation, operator_actor(cast.organisation), **GIVEN | given)
    cast.people[Role.OWNER] = owner["id"]
    return cast, owner


def test_an_organisation_begins_with_its_owner(performer: Performer) -> None:
    organisation, owner = make_organisation(performer)
    assert (owner["object"], owner["role"], owner["status"]) == ("person", "owner", "active")
    assert organisation.perform(list_people)["data"] == [to_event_record(owner)]
    assert organisation.perform(get_organisation)["name"] == "Beam & Sons"


def test_it_is_active_and_british_when_nothing_is_said(performer: Performer) -> None:
    shown = make_organisation(performer)[0].perform(get_organisation)
    assert (shown["country"], shown["currency"], shown["timeZone"]) == ("GB", "GBP", "Europe/London")
    assert shown["subscription"] == {"status": "active"}


def test_it_is_where_it_is_said_to_be(performer: Performer) -> None:
    shown = make_organisation(performer, country="DE", currency="EUR", timeZone="Europe/Berlin")[0].perform(
        get_organisation
    )
    assert (shown["country"], shown["currency"], shown["timeZone"]) == ("DE", "EUR", "Europe/Berlin")


def test_its_story_begins_with_the_owner_who_joined(performer: Performer) -> None:
    organisation, owner = make_organisation(performer)
    (event,) = list_events_of(organisation)
    assert (event["sequence"], event["type"], event["data"]["object"]) == (1, "person.joined", to_event_record(owner))
    (entry,) = read_trail(organisation)
    assert (entry["sequence"], entry["operation"]) == (1, "create_organisation")
    assert PASSWORD not in str(entry)


def test_a_wrong_field_leaves_no_organisation(performer: Performer) -> None:
    organisation = Cast(performer, new_id("org"), {})
    with pytest.raises(Invalid) as refusal:
        organisation.perform(
            create_organisation,
            operator_actor(organisation.organisation),
            **GIVEN | {"currency": "XXX", "ownerEmail": "me"},
        )
    assert refusal.value.text == (
        "currency: is not a currency code such as EUR; ownerEmail: is not an email address such as kim@example.com"
    )
    with pytest.raises(NotFound):
        organisation.perform(get_organisation, operator_actor(organisation.organisation))


def test_an_organisation_that_is_there_is_not_made_again(cast: Cast) -> None:
    with pytest.raises(Refusal, match="already"):
        cast.perform(create_organisation, operator_actor(cast.organisation), **GIVEN)
