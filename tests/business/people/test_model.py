import pytest

from mainstay.business.people.model import Person, Status, check_rank
from mainstay.terms.actor import Actor, Door, Named
from mainstay.terms.refusal import Forbidden, Reason
from mainstay.terms.rights import RIGHTS, Access, Role

# From the highest to the lowest.
ORDER = (Role.OWNER, Role.ADMIN, Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR)
ABOVE = Reason("Only an owner may change or remove an owner.", forbids=True)
GONE = Reason("Pat has left the organisation. Invite them again to bring them back.", unblock="invite_person")
LAST = Reason(
    "Pat is the only owner. Name another owner first, in the office under People.",
    unblock="name_owner",
)


def acting(role: Role, identity: str = "person_y") -> Actor:
    return Actor(
        "org_x",
        Named(identity, "Someone"),
        role,
        RIGHTS[role],
        Access.WRITE,
        subscribed=True,
        door=Door.OFFICE,
        credential="x",
    )


def person(role: Role, status: Status = "active", *, only_owner: bool = False) -> Person:
    return Person((), "person_x", "Pat", "pat@x.example", role, status, only_owner, "{}")


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
        check_rank(acting(Role.ADMIN), Role.OWNER)


def test_only_an_owner_changes_removes_or_demotes_an_owner() -> None:
    owner, admin = person(Role.OWNER), acting(Role.ADMIN)
    for reasons in (owner.not_changeable, owner.not_removable, owner.not_given_a_role):
        assert reasons(admin) == [ABOVE]
        assert reasons(acting(Role.OWNER)) == []


def test_the_only_owner_neither_leaves_nor_is_demoted() -> None:
    last = person(Role.OWNER, only_owner=True)
    assert last.not_given_a_role(acting(Role.OWNER)) == [LAST]
    assert last.not_removable(acting(Role.OWNER)) == [LAST]
    assert last.not_changeable(acting(Role.OWNER)) == []


def test_one_who_has_left_is_not_changed_and_does_not_leave_again() -> None:
    left = person(Role.MEMBER, "left")
    assert left.not_changeable(acting(Role.OWNER)) == [GONE]
    assert left.not_given_a_role(acting(Role.OWNER)) == [GONE]
    assert left.not_removable(acting(Role.OWNER)) == [Reason("Pat has already left the organisation.")]


def test_all_reasons_are_told() -> None:
    gone_owner = person(Role.OWNER, "left", only_owner=True)
    assert gone_owner.not_given_a_role(acting(Role.ADMIN)) == [ABOVE, GONE, LAST]


@pytest.mark.parametrize("role", ORDER)
def test_everyone_may_change_themselves_as_long_as_they_are_here(role: Role) -> None:
    themselves = acting(role, "person_x")
    assert person(role).not_changeable(themselves) == []
    assert person(role, "left").not_changeable(themselves) == [GONE]


@pytest.mark.parametrize("role", ORDER[2:])
def test_those_not_in_charge_change_nobody_else(role: Role) -> None:
    (reason,) = person(Role.MEMBER).not_changeable(acting(role))
    assert reason == Reason(f"The role {role} may change only its own details. Ask an owner or admin.", forbids=True)


@pytest.mark.parametrize(("status", "reasons"), [("invited", []), ("active", None), ("left", None)])
def test_only_someone_who_was_invited_is_invited_again(status: Status, reasons: list[Reason] | None) -> None:
    expected = [Reason("Pat is not waiting for an invitation.")] if reasons is None else reasons
    assert person(Role.MEMBER, status).not_waiting(acting(Role.ADMIN)) == expected


@pytest.mark.parametrize("status", ["invited", "left"])
def test_only_someone_who_is_here_becomes_an_owner(status: Status) -> None:
    (reason,) = person(Role.MEMBER, status).not_nameable(acting(Role.OWNER))
    assert reason.text.startswith("Pat is not in the organisation now.")
    assert person(Role.MEMBER).not_nameable(acting(Role.OWNER)) == []
    assert person(Role.OWNER).not_nameable(acting(Role.OWNER)) == [Reason("Pat is an owner already.")]


def test_keys_are_lost_with_the_right_to_make_them() -> None:
    losing = {(was, becomes) for was in ORDER for becomes in ORDER if person(was).loses_keys(becomes)}
    makers, others = ORDER[:2], ORDER[2:]
    assert losing == {(was, becomes) for was in makers for becomes in others}
