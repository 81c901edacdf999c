import pytest

from mainstay.business.people.model import Person, Status, check_rank
from mainstay.kernel.actor import Actor, Door
from mainstay.kernel.refusal import Blocked, Conflict, Forbidden
from mainstay.kernel.rights import Access, Role

# From the highest to the lowest.
ORDER = (Role.OWNER, Role.ADMIN, Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR)


def acting(role: Role) -> Actor:
    return Actor("org_x", None, role, Access.WRITE, subscribed=True, door=Door.OFFICE, credential="x")


def person(role: Role, status: Status = "active") -> Person:
    return Person("person_x", "Pat", "pat@x.example", role, status, 1)


@pytest.mark.parametrize("by", ORDER)
def test_a_role_is_given_by_those_who_stand_as_high(by: Role) -> None:
    refused = []
    for role in ORDER:
        try:
            check_rank(acting(by), role)
        except Forbidden:
            refused.append(role)
    assert refused == list(ORDER[: ORDER.index(by)])


def test_the_refusal_names_both_roles() -> None:
    with pytest.raises(Forbidden, match=r"^The role admin may not give the role owner\.$"):
        person(Role.MEMBER).check_change(acting(Role.ADMIN), Role.OWNER, 1)


def test_an_owner_may_name_another_owner() -> None:
    person(Role.MEMBER).check_change(acting(Role.OWNER), Role.OWNER, 1)


def test_only_an_owner_changes_an_owner_even_when_the_role_stays() -> None:
    with pytest.raises(Forbidden, match="Only an owner"):
        person(Role.OWNER).check_change(acting(Role.ADMIN), None, 1)


def test_the_only_owner_is_not_demoted() -> None:
    with pytest.raises(Conflict, match="only owner"):
        person(Role.OWNER).check_change(acting(Role.OWNER), Role.ADMIN, 0)


def test_an_owner_who_is_invited_only_is_no_owner_the_organisation_stands_on() -> None:
    person(Role.OWNER, "invited").check_change(acting(Role.OWNER), Role.ADMIN, 0)
    person(Role.OWNER, "invited").check_leaving(acting(Role.OWNER), 0)


def test_one_who_has_left_is_not_changed() -> None:
    with pytest.raises(Conflict, match="has left the organisation"):
        person(Role.MEMBER, "left").check_change(acting(Role.OWNER), None, 1)


def test_one_who_has_left_does_not_leave_again() -> None:
    with pytest.raises(Blocked) as refusal:
        person(Role.MEMBER, "left").check_leaving(acting(Role.OWNER), 1)
    assert refusal.value.blockers == ("Pat has already left the organisation.",)


def test_keys_are_lost_with_the_right_to_make_them() -> None:
    losing = {(was, becomes) for was in ORDER for becomes in ORDER if person(was).loses_keys(becomes)}
    makers, others = ORDER[:2], ORDER[2:]
    assert losing == {(was, becomes) for was in makers for becomes in others}
