import pytest

from cast import EMAILS, PASSWORD, Cast
from evidence import as_told, events, trail
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.people.joining import create_organisation
from mainstay.business.people.operations import list_people
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import operator
from mainstay.terms.refusal import Invalid, NotFound, Refusal
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id

GIVEN: dict[str, object] = {
    "name": "Beam & Sons",
    "ownerName": "Olivia Owner",
    "ownerEmail": EMAILS[Role.OWNER],
    "password": PASSWORD,
}


def begin(stage: Stage, **given: object) -> tuple[Cast, dict[str, object]]:
    organisation = Cast(stage, new_id("org"), {})
    owner = organisation.perform(create_organisation, operator(organisation.organisation), **GIVEN | given)
    organisation.people[Role.OWNER] = owner["id"]
    return organisation, owner


def test_an_organisation_begins_with_its_owner(stage: Stage) -> None:
    organisation, owner = begin(stage)
    assert (owner["object"], owner["role"], owner["status"]) == ("person", "owner", "active")
    assert organisation.perform(list_people)["data"] == [as_told(owner)]
    assert organisation.perform(get_organisation)["name"] == "Beam & Sons"


def test_it_is_active_and_british_when_nothing_is_said(stage: Stage) -> None:
    shown = begin(stage)[0].perform(get_organisation)
    assert (shown["country"], shown["currency"], shown["timeZone"]) == ("GB", "GBP", "Europe/London")
    assert shown["subscription"] == {"status": "active"}


def test_it_is_where_it_is_said_to_be(stage: Stage) -> None:
    shown = begin(stage, country="DE", currency="EUR", timeZone="Europe/Berlin")[0].perform(get_organisation)
    assert (shown["country"], shown["currency"], shown["timeZone"]) == ("DE", "EUR", "Europe/Berlin")


def test_its_story_begins_with_the_owner_who_joined(stage: Stage) -> None:
    organisation, owner = begin(stage)
    (event,) = events(organisation)
    assert (event["sequence"], event["type"], event["data"]["object"]) == (1, "person.joined", as_told(owner))
    (entry,) = trail(organisation)
    assert (entry["sequence"], entry["operation"]) == (1, "create_organisation")
    assert PASSWORD not in str(entry)


def test_a_wrong_field_leaves_no_organisation(stage: Stage) -> None:
    organisation = Cast(stage, new_id("org"), {})
    with pytest.raises(Invalid) as refusal:
        organisation.perform(
            create_organisation, operator(organisation.organisation), **GIVEN | {"currency": "XXX", "ownerEmail": "me"}
        )
    assert refusal.value.text == (
        "currency: is not a currency code such as EUR; ownerEmail: is not an e-mail address such as kim@example.com"
    )
    with pytest.raises(NotFound):
        organisation.perform(get_organisation, operator(organisation.organisation))


def test_an_organisation_that_is_there_is_not_made_again(cast: Cast) -> None:
    with pytest.raises(Refusal, match="already"):
        cast.perform(create_organisation, operator(cast.organisation), **GIVEN)
