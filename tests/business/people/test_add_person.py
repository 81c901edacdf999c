import pytest

from mainstay.business.people.invitations import add_person
from mainstay.business.people.operations import get_person, invite_person
from mainstay.business.people.roles import remove_person
from mainstay.identity.passwords import is_password
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid
from support.cast import EMAILS, PASSWORD, Cast
from support.stored_state import read_last_event, read_trail, to_event_record


def add_member(cast: Cast, **given: object) -> dict[str, object]:
    words = {"name": "Nina New", "email": EMAILS[Role.ADMIN], "role": "member", "password": PASSWORD}
    return cast.perform(add_person, operator_actor(cast.organisation), **words | given)


def test_a_person_is_active_at_once(cast: Cast) -> None:
    person = add_member(cast, email=f"Nina.{cast.organisation}@new.example")
    assert (person["status"], person["role"], person["version"]) == ("active", "member", 1)
    assert person["createdBy"] == {"kind": "operator", "person": None, "via": {"door": "cli", "client": None}}
    assert to_event_record(cast.perform(get_person, personId=person["id"])) == to_event_record(person)


def test_the_event_tells_of_it_and_the_trail_hides_the_password(cast: Cast) -> None:
    person = add_member(cast, email=f"nina.{cast.organisation}@new.example", password="very secret words")
    event = read_last_event(cast)
    assert (event["type"], event["data"]["object"]) == ("person.joined", to_event_record(person))
    entry = read_trail(cast)[-1]
    assert entry["operation"] == "add_person"
    assert "very secret words" not in str(entry)


def test_the_account_is_found_by_the_folded_address_and_its_password_is_kept_hashed(cast: Cast) -> None:
    add_member(cast, email=f"NINA.{cast.organisation}@new.example", password="very secret words")
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        row = db.one(
            "SELECT password_hash FROM account WHERE email_folded = :email",
            email=f"nina.{cast.organisation}@new.example".casefold(),
        )
    assert row is not None
    assert is_password("very secret words", str(row[0]))
    assert not is_password("another", str(row[0]))


def test_one_who_has_an_account_keeps_its_password(cast: Cast, other_cast: Cast) -> None:
    email = f"nina.{cast.organisation}@new.example"
    add_member(cast, email=email, password="the first password")
    add_member(other_cast, email=email, password="a second one")
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        found = db.all("SELECT password_hash FROM account WHERE email_folded = :email", email=email.casefold())
    assert len(found) == 1
    assert is_password("the first password", str(found[0][0]))


@pytest.mark.parametrize("role", list(Role))
def test_the_operator_gives_any_role(cast: Cast, role: Role) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    assert add_member(cast, email=EMAILS[Role.MEMBER], role=role)["role"] == role


def test_one_who_was_invited_becomes_active_and_keeps_what_was_said_of_them(cast: Cast) -> None:
    invited = cast.perform(
        invite_person, name="N", email=f"N.{cast.organisation}@new.example", role="office", costRate="12.00"
    )
    joined = add_member(cast, email=f"n.{cast.organisation}@new.example", name="Nina", role="member")
    assert joined["id"] == invited["id"]
    assert (joined["status"], joined["name"], joined["role"], joined["costRate"]) == (
        "active",
        "Nina",
        "member",
        "12.00",
    )


def test_one_who_left_comes_back(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    back = add_member(cast, email=EMAILS[Role.MEMBER].upper())
    assert (back["id"], back["status"]) == (cast.people[Role.MEMBER], "active")


def test_one_who_is_active_is_refused(cast: Cast) -> None:
    with pytest.raises(Conflict, match=r"already belongs to Adam Admin in this organisation"):
        add_member(cast, email=EMAILS[Role.ADMIN].upper())


def test_an_admin_may_not(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        cast.perform(add_person, Role.ADMIN, name="N", email="n@new.example", role="owner", password=PASSWORD)


def test_every_missing_field_is_told(cast: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(add_person, operator_actor(cast.organisation))
    assert refusal.value.text == "name: is required; email: is required; role: is required"
