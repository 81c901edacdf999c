import pytest

from mainstay.business.people.invitations import add_person
from mainstay.business.people.operations import get_person, invite_person, list_people, update_person
from mainstay.business.people.roles import remove_person
from mainstay.identity.authenticate import InvalidKey
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Invalid
from support.cast import EMAILS, Cast
from support.stored_state import actor_with_key, list_events_of, read_last_event, read_trail, to_event_record

NINA: dict[str, object] = {"name": "Nina New", "email": "Nina@New.example", "role": "member"}


def test_someone_is_invited(cast: Cast) -> None:
    person = cast.perform(invite_person, **NINA)
    assert (person["name"], person["email"], person["role"]) == ("Nina New", "Nina@New.example", "member")
    assert (person["status"], person["version"]) == ("invited", 1)
    assert cast.perform(get_person, personId=person["id"]) == person


def test_the_record_names_the_person_and_the_key(cast: Cast) -> None:
    acting = actor_with_key(cast, cast.make_key(role=Role.ADMIN))
    person = cast.perform(invite_person, acting, **NINA)
    assert person["createdBy"] == person["updatedBy"]
    assert person["createdBy"] == {
        "kind": "person",
        "person": {"id": cast.people[Role.ADMIN], "name": "Adam Admin"},
        "via": {"door": "api", "client": {"id": acting.credential, "name": "admin write"}},
    }


def test_the_event_carries_the_record(cast: Cast) -> None:
    person = cast.perform(invite_person, **NINA)
    event = read_last_event(cast)
    assert event["type"] == "person.invited"
    assert event["data"] == {"object": to_event_record(person), "previous": {}}
    assert event["actor"] == person["createdBy"]
    assert event["createdAt"] == person["createdAt"]


def test_the_audit_trail_tells_of_it(cast: Cast) -> None:
    cast.perform(invite_person, **NINA)
    entry = read_trail(cast)[-1]
    assert entry["operation"] == "invite_person"
    assert entry["given"] == NINA
    assert entry["events"] == [read_last_event(cast)["id"]]


@pytest.mark.parametrize("email", ["Nina@New.example", "nina@new.example", " NINA@NEW.EXAMPLE "])
def test_an_address_that_is_known_is_refused_in_whatever_case(cast: Cast, email: str) -> None:
    person = cast.perform(invite_person, **NINA)
    event_count = len(list_events_of(cast))
    with pytest.raises(Conflict, match=r"already belongs to Nina New in this organisation\.$"):
        cast.perform(invite_person, name="Other", email=email, role="office")
    assert cast.perform(get_person, personId=person["id"]) == person
    assert len(list_events_of(cast)) == event_count


def test_addresses_are_folded_beyond_ascii(cast: Cast) -> None:
    cast.perform(invite_person, name="N", email="zoë@straße.example", role="member")
    for same in ("ZOË@STRAẞE.example", "zoe\u0308@xn--strae-oqa.example"):
        with pytest.raises(Conflict):
            cast.perform(invite_person, name="N", email=same, role="member")


def test_another_mailbox_is_another_person(cast: Cast) -> None:
    for other in ("kim@straße.example", "kim@strasse.example", "straße@new.example", "strasse@new.example"):
        cast.perform(invite_person, name="N", email=other, role="member")


def test_the_same_address_may_be_a_person_of_another_organisation(cast: Cast, other_cast: Cast) -> None:
    cast.perform(invite_person, **NINA)
    assert other_cast.perform(invite_person, **NINA)["status"] == "invited"


def test_one_who_left_comes_back_with_their_id_and_their_history(cast: Cast) -> None:
    member = cast.people[Role.MEMBER]
    before = cast.perform(remove_person, personId=member, confirmed=True)
    back = cast.perform(invite_person, name="Mia Again", email=EMAILS[Role.MEMBER].upper(), role="office")

    assert back["id"] == member
    assert (back["status"], back["name"], back["role"]) == ("invited", "Mia Again", "office")
    assert back["createdAt"] == before["createdAt"]
    assert back["version"] == before["version"] + 1
    assert read_last_event(cast)["type"] == "person.invited"
    assert [person["id"] for person in cast.perform(list_people)["data"]].count(member) == 1


def test_one_who_comes_back_revives_no_key(cast: Cast) -> None:
    key = cast.make_key(role=Role.ADMIN)
    cast.perform(remove_person, personId=cast.people[Role.ADMIN], confirmed=True)
    cast.perform(invite_person, name="Adam Again", email=EMAILS[Role.ADMIN], role="admin")
    cast.perform(
        add_person,
        operator_actor(cast.organisation),
        name="Adam Again",
        email=EMAILS[Role.ADMIN],
        role="admin",
        password="never used",
    )
    with pytest.raises(InvalidKey):
        actor_with_key(cast, key)


@pytest.mark.parametrize("role", ["admin", "office", "member", "subcontractor"])
@pytest.mark.parametrize("by", [Role.OWNER, Role.ADMIN])
def test_owners_and_admins_give_every_other_role(cast: Cast, by: Role, role: str) -> None:
    assert cast.perform(invite_person, by, **NINA | {"role": role})["role"] == role


def test_nobody_is_invited_as_owner(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^role: is not one of 'admin', 'office', 'member' or 'subcontractor'$"):
        cast.perform(invite_person, **NINA | {"role": "owner"})


def test_every_missing_field_is_told(cast: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(invite_person)
    assert refusal.value.text == "name: is required; email: is required; role: is required"


@pytest.mark.parametrize("name", ["id", "status", "accountId", "account_id", "version", "organisationId"])
def test_what_is_not_one_s_to_set_is_refused(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=rf"^{name}: is not known here$"):
        cast.perform(invite_person, **NINA, **{name: "active"})


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"costRate": "-1"}, "costRate: is not a number such as 85.50, from 0, with at most four decimals"),
        ({"costRate": "100000000.01"}, "costRate: is too large, the maximum is 100000000"),
        ({"billRate": "100000000.01"}, "billRate: is too large, the maximum is 100000000"),
        ({"skills": ["gas", ""]}, "skills.1: is empty"),
        ({"skills": ["x"] * 51}, "skills: has more than 50 entries"),
        ({"skills": None}, "skills: is not a list"),
        ({"colour": "blue"}, "colour: is not a colour such as #3366cc"),
        ({"email": "nobody"}, "email: is not an email address such as kim@example.com"),
    ],
)
def test_a_wrong_field_is_refused(cast: Cast, given: dict[str, object], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(invite_person, **NINA | given)
    assert refusal.value.text == text


def test_the_sign_in_of_someone_who_is_here_invites_nobody_else(cast: Cast) -> None:
    member = cast.people[Role.MEMBER]
    cast.perform(update_person, personId=member, email="mia@elsewhere.example")
    message = rf"^Mia Member already signs in to this organisation with {EMAILS[Role.MEMBER]}\.$"
    with pytest.raises(Conflict, match=message):
        cast.perform(invite_person, name="Mia Again", email=EMAILS[Role.MEMBER], role="admin")
    with pytest.raises(Conflict, match=message):
        cast.perform(
            add_person,
            operator_actor(cast.organisation),
            name="Mia Again",
            email=EMAILS[Role.MEMBER],
            role="admin",
            password="a password of Mia's",
        )
    # Once they have left, they come back by it, and are who they were.
    cast.perform(remove_person, personId=member, confirmed=True)
    back = cast.perform(invite_person, name="Mia", email=EMAILS[Role.MEMBER], role="member")
    assert (back["id"], back["status"], back["email"]) == (member, "invited", EMAILS[Role.MEMBER])
