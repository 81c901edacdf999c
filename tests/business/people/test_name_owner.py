import pytest

from mainstay.business.people.operations import get_person, invite_person
from mainstay.business.people.roles import change_role, name_owner, remove_person
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, NotFound, Stale
from support.cast import Cast
from support.stored_state import read_last_event


def test_a_person_becomes_an_owner_and_it_is_told(cast: Cast) -> None:
    person = cast.people[Role.MEMBER]
    assert cast.perform(name_owner, personId=person)["role"] == "owner"
    event = read_last_event(cast)
    assert (event["type"], event["data"]["object"]["id"]) == ("person.updated", person)
    assert event["data"]["previous"] == {"role": "member"}


def test_afterwards_the_one_who_named_them_can_step_down(cast: Cast) -> None:
    first, second = cast.people[Role.OWNER], cast.people[Role.ADMIN]
    with pytest.raises(Conflict, match="Make someone else an owner first"):
        cast.perform(change_role, personId=first, role="admin", confirmed=True)
    cast.perform(name_owner, personId=second)
    assert cast.perform(change_role, personId=first, role="admin", confirmed=True)["role"] == "admin"


def test_afterwards_they_can_remove_the_one_who_named_them(cast: Cast) -> None:
    first, second = cast.people[Role.OWNER], cast.people[Role.ADMIN]
    with pytest.raises(Forbidden, match="Only an owner can change or remove an owner"):
        cast.perform(remove_person, Role.ADMIN, personId=first, confirmed=True)
    cast.perform(name_owner, personId=second)
    assert cast.perform(remove_person, Role.ADMIN, personId=first, confirmed=True)["status"] == "left"


def test_an_owner_is_not_named_again(cast: Cast) -> None:
    with pytest.raises(Conflict, match="Olivia Owner is already an owner"):
        cast.perform(name_owner, personId=cast.people[Role.OWNER])


def test_only_someone_who_is_here_is_named(cast: Cast) -> None:
    invited = cast.perform(invite_person, name="Nina", email="nina@new.example", role="office")["id"]
    left = cast.people[Role.MEMBER]
    cast.perform(remove_person, personId=left, confirmed=True)
    for person in (invited, left):
        with pytest.raises(Conflict, match="is not active"):
            cast.perform(name_owner, personId=person)


def test_an_older_version_is_refused(cast: Cast) -> None:
    person = cast.people[Role.MEMBER]
    with pytest.raises(Stale):
        cast.answer(name_owner, request=RequestDetails("req_1", if_match_versions=frozenset({9})), personId=person)
    assert cast.perform(get_person, personId=person)["role"] == "member"


@pytest.mark.parametrize("role", [Role.ADMIN, Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_only_owners_name_owners(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(name_owner, role, personId=cast.people[Role.MEMBER])


def test_a_person_of_another_organisation_is_not_found(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        cast.perform(name_owner, personId=other_cast.people[Role.MEMBER])


def test_it_is_done_in_the_office_only() -> None:
    assert name_owner.doors == {Door.OFFICE}
