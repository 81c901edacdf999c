import pytest

from mainstay.business.people.operations import invite_again, invite_person, update_person
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, NotFound
from support.cast import EMAILS, Cast
from support.stored_state import operations_on, read_last_event, to_event_record
from support.webhooks import set_columns


def test_the_invitation_is_told_again(cast: Cast) -> None:
    person = cast.perform(invite_person, name="Nina", email="nina@new.example", role="office")
    first = read_last_event(cast)["id"]
    assert to_event_record(cast.perform(invite_again, personId=person["id"])) == to_event_record(person)
    event = read_last_event(cast)
    assert (event["type"], event["data"]["object"]["id"]) == ("person.invited", person["id"])
    assert event["id"] != first
    assert operations_on(cast, person["id"]) == ["invite_person", "invite_again"]


def test_by_the_sign_in_of_someone_who_is_here_nobody_is_invited_again(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], email="mia@elsewhere.example")
    person = cast.perform(invite_person, name="Nina", email="nina@new.example", role="admin")["id"]
    # As it could be before it was refused.
    set_columns(cast, "person", person, email=EMAILS[Role.MEMBER], email_folded=EMAILS[Role.MEMBER])
    with pytest.raises(Conflict, match="Mia Member already signs in to this organisation"):
        cast.perform(invite_again, personId=person)


def test_someone_who_is_here_is_not_invited_again(cast: Cast) -> None:
    with pytest.raises(Conflict, match="Mia Member has no pending invitation"):
        cast.perform(invite_again, personId=cast.people[Role.MEMBER])


def test_a_person_of_another_organisation_is_not_found(cast: Cast, other_cast: Cast) -> None:
    person = other_cast.perform(invite_person, name="Nina", email="nina@new.example", role="office")
    with pytest.raises(NotFound):
        cast.perform(invite_again, personId=person["id"])


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_only_owners_and_admins_invite_again(cast: Cast, role: Role) -> None:
    person = cast.perform(invite_person, name="Nina", email="nina@new.example", role="office")
    with pytest.raises(Forbidden):
        cast.perform(invite_again, role, personId=person["id"])
