import pytest

from cast import EMAILS, PASSWORD, Cast
from evidence import as_told, last_event, trail
from mainstay.backing.database import EVERY
from mainstay.business.people.joining import add_person
from mainstay.business.people.operations import get_person, invite_person
from mainstay.business.people.standing import remove_person
from mainstay.identity.passwords import is_password
from mainstay.terms.actor import operator
from mainstay.terms.refusal import Conflict, Forbidden, Invalid
from mainstay.terms.rights import Role


def join(cast: Cast, **given: object) -> dict[str, object]:
    words = {"name": "Nina New", "email": EMAILS[Role.ADMIN], "role": "member", "password": PASSWORD}
    return cast.perform(add_person, operator(cast.organisation), **words | given)


def test_a_person_is_active_at_once(cast: Cast) -> None:
    person = join(cast, email=f"Nina.{cast.organisation}@new.example")
    assert (person["status"], person["role"], person["version"]) == ("active", "member", 1)
    assert person["createdBy"] == {"kind": "operator", "person": None, "via": {"door": "cli", "client": None}}
    assert as_told(cast.perform(get_person, personId=person["id"])) == as_told(person)


def test_the_event_tells_of_it_and_the_trail_hides_the_password(cast: Cast) -> None:
    person = join(cast, email=f"nina.{cast.organisation}@new.example", password="very secret words")
    event = last_event(cast)
    assert (event["type"], event["data"]["object"]) == ("person.joined", as_told(person))
    entry = trail(cast)[-1]
    assert entry["operation"] == "add_person"
    assert "very secret words" not in str(entry)


def test_the_account_is_found_by_the_folded_address_and_its_password_is_kept_hashed(cast: Cast) -> None:
    join(cast, email=f"NINA.{cast.organisation}@new.example", password="very secret words")
    with cast.stage.database.reading(EVERY) as rows:
        row = rows.one(
            "SELECT password_hash FROM account WHERE email_folded = :email",
            email=f"nina.{cast.organisation}@new.example".casefold(),
        )
    assert row is not None
    assert is_password("very secret words", str(row[0]))
    assert not is_password("another", str(row[0]))


def test_one_who_has_an_account_keeps_its_password(cast: Cast, stranger: Cast) -> None:
    email = f"nina.{cast.organisation}@new.example"
    join(cast, email=email, password="the first password")
    join(stranger, email=email, password="a second one")
    with cast.stage.database.reading(EVERY) as rows:
        found = rows.all("SELECT password_hash FROM account WHERE email_folded = :email", email=email.casefold())
    assert len(found) == 1
    assert is_password("the first password", str(found[0][0]))


@pytest.mark.parametrize("role", list(Role))
def test_the_operator_gives_any_role(cast: Cast, role: Role) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    assert join(cast, email=EMAILS[Role.MEMBER], role=role)["role"] == role


def test_one_who_was_invited_becomes_active_and_keeps_what_was_said_of_them(cast: Cast) -> None:
    invited = cast.perform(
        invite_person, name="N", email=f"N.{cast.organisation}@new.example", role="office", costRate="12.00"
    )
    joined = join(cast, email=f"n.{cast.organisation}@new.example", name="Nina", role="member")
    assert joined["id"] == invited["id"]
    assert (joined["status"], joined["name"], joined["role"], joined["costRate"]) == (
        "active",
        "Nina",
        "member",
        "12.00",
    )


def test_one_who_left_comes_back(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    back = join(cast, email=EMAILS[Role.MEMBER].upper())
    assert (back["id"], back["status"]) == (cast.people[Role.MEMBER], "active")


def test_one_who_is_active_is_refused(cast: Cast) -> None:
    with pytest.raises(Conflict, match=r"is already a person of this organisation: Adam Admin"):
        join(cast, email=EMAILS[Role.ADMIN].upper())


def test_an_admin_may_not(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        cast.perform(add_person, Role.ADMIN, name="N", email="n@new.example", role="owner", password=PASSWORD)


def test_every_missing_field_is_told(cast: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(add_person, operator(cast.organisation))
    assert refusal.value.text == ("name: is required; email: is required; role: is required; password: is required")
