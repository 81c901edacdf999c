import pytest

from mainstay.business.people.model import Person, PersonStatus, check_role_rank
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor, Door, Named
from mainstay.vocabulary.permissions import ROLE_PERMISSIONS, Access, Role
from mainstay.vocabulary.refusal import Forbidden, Reason

# From the highest to the lowest.
ORDER = (Role.OWNER, Role.ADMIN, Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR)
OWNERS_ONLY = Reason(Message("Only an owner can change or remove an owner."), is_missing_permission=True)
HAS_LEFT = Reason(
    Message("{person} has left the organisation. Invite them again to bring them back.", person="Pat"),
    first="invite_person",
)
LAST_OWNER = Reason(
    Message("{person} is the only owner. Make someone else an owner first, on the website under People.", person="Pat"),
    first="name_owner",
)


def build_actor(role: Role, record_id: str = "person_y") -> Actor:
    return Actor(
        "org_x",
        Named(record_id, "Someone"),
        role,
        ROLE_PERMISSIONS[role],
        Access.WRITE,
        subscribed=True,
        door=Door.OFFICE,
        credential="x",
    )


def build_person(role: Role, status: PersonStatus = "active", *, only_owner: bool = False) -> Person:
    return Person((), "person_x", "Pat", "pat@x.example", role, status, only_owner, "{}")


@pytest.mark.parametrize("by", ORDER)
def test_a_role_is_given_by_those_who_stand_as_high(by: Role) -> None:
    refused = []
    for role in ORDER:
        try:
            check_role_rank(build_actor(by), role)
        except Forbidden:
            refused.append(role)
    assert refused == list(ORDER[: ORDER.index(by)])


def test_the_refusal_names_both_roles() -> None:
    with pytest.raises(Forbidden, match=r"^You can't give the role owner, because it is above your own\.$"):
        check_role_rank(build_actor(Role.ADMIN), Role.OWNER)


def test_only_an_owner_changes_removes_or_demotes_an_owner() -> None:
    owner, admin = build_person(Role.OWNER), build_actor(Role.ADMIN)
    for reasons in (owner.not_changeable, owner.not_removable, owner.role_not_changeable):
        assert reasons(admin) == [OWNERS_ONLY]
        assert reasons(build_actor(Role.OWNER)) == []


def test_the_only_owner_neither_leaves_nor_is_demoted() -> None:
    last = build_person(Role.OWNER, only_owner=True)
    assert last.role_not_changeable(build_actor(Role.OWNER)) == [LAST_OWNER]
    assert last.not_removable(build_actor(Role.OWNER)) == [LAST_OWNER]
    assert last.not_changeable(build_actor(Role.OWNER)) == []


def test_one_who_has_left_is_not_changed_and_does_not_leave_again() -> None:
    left = build_person(Role.MEMBER, "left")
    assert left.not_changeable(build_actor(Role.OWNER)) == [HAS_LEFT]
    assert left.role_not_changeable(build_actor(Role.OWNER)) == [HAS_LEFT]
    assert left.not_removable(build_actor(Role.OWNER)) == [
        Reason(Message("{person} has already left the organisation.", person="Pat"))
    ]


def test_all_reasons_are_told() -> None:
    gone_owner = build_person(Role.OWNER, "left", only_owner=True)
    assert gone_owner.role_not_changeable(build_actor(Role.ADMIN)) == [OWNERS_ONLY, HAS_LEFT, LAST_OWNER]


@pytest.mark.parametrize("role", ORDER)
def test_everyone_may_change_themselves_as_long_as_they_are_here(role: Role) -> None:
    themselves = build_actor(role, "person_x")
    assert build_person(role).not_changeable(themselves) == []
    assert build_person(role, "left").not_changeable(themselves) == [HAS_LEFT]


@pytest.mark.parametrize("role", ORDER[2:])
def test_those_not_in_charge_change_nobody_else(role: Role) -> None:
    (reason,) = build_person(Role.MEMBER).not_changeable(build_actor(role))
    assert reason == Reason(
        Message("You can only change your own details. Ask an owner or admin."), is_missing_permission=True
    )


@pytest.mark.parametrize(("status", "reasons"), [("invited", []), ("active", None), ("left", None)])
def test_only_someone_who_was_invited_is_invited_again(status: PersonStatus, reasons: list[Reason] | None) -> None:
    expected = [Reason(Message("{person} has no pending invitation.", person="Pat"))] if reasons is None else reasons
    assert build_person(Role.MEMBER, status).not_reinvitable(build_actor(Role.ADMIN)) == expected


@pytest.mark.parametrize("status", ["invited", "left"])
def test_only_someone_who_is_here_becomes_an_owner(status: PersonStatus) -> None:
    (reason,) = build_person(Role.MEMBER, status).not_nameable(build_actor(Role.OWNER))
    assert reason.text.startswith("Pat is not active.")
    assert build_person(Role.MEMBER).not_nameable(build_actor(Role.OWNER)) == []
    assert build_person(Role.OWNER).not_nameable(build_actor(Role.OWNER)) == [
        Reason(Message("{person} is already an owner.", person="Pat"))
    ]


def test_keys_are_lost_with_the_right_to_make_them() -> None:
    losing = {(was, becomes) for was in ORDER for becomes in ORDER if build_person(was).loses_keys(becomes)}
    makers, others = ORDER[:2], ORDER[2:]
    assert losing == {(was, becomes) for was in makers for becomes in others}
