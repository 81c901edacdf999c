from collections.abc import Callable
from dataclasses import replace

import pytest

from cast import Cast
from evidence import contents, events, holder, trail
from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.business.people.operations import get_person, invite_person, list_people, update_person
from mainstay.business.people.standing import remove_person
from mainstay.identity.keys import create_key, revoke_key
from mainstay.kernel.actor import Actor
from mainstay.kernel.catalogue import admit
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.operation import Effect, Operation, operation
from mainstay.kernel.refusal import Conflict, Fault, Forbidden, Invalid, Lapsed, Refusal, Unauthenticated
from mainstay.kernel.rights import Access, Right, Role
from mainstay.kernel.shapes import Input, Irrevocable, One, Shown

BAD = {"email": "nobody", "extra": 1}


class Nothing(Input):
    pass


class NothingOut(Shown):
    noun = "nothing"


@operation(right=Right.PEOPLE_CHANGE, effect=Effect.CHANGE)
def change_and_break(ctx: Context, _given: Nothing) -> NothingOut:
    """Change something, then fail as a bug would."""
    ctx.rows.run("UPDATE person SET phone = 'broken' WHERE organisation_id = :organisation")
    raise ZeroDivisionError


@operation(right=Right.PEOPLE_CHANGE, effect=Effect.CHANGE)
def change_and_refuse(ctx: Context, _given: Nothing) -> NothingOut:
    """Change something, then think better of it."""
    ctx.rows.run("UPDATE person SET phone = 'refused' WHERE organisation_id = :organisation")
    raise Conflict("No.")


@operation(right=Right.PEOPLE_CHANGE, effect=Effect.CHANGE)
def change_and_babble(ctx: Context, _given: Nothing) -> One[NothingOut]:
    """Change something, and answer what cannot be written."""
    ctx.rows.run("UPDATE person SET phone = 'babbled' WHERE organisation_id = :organisation")
    return One(NothingOut, ("a column too many",))


@operation(right=Right.ORGANISATION_READ, effect=Effect.READ)
def change_while_reading(ctx: Context, _given: Nothing) -> NothingOut:
    """Say it reads, and change."""
    ctx.rows.run("UPDATE person SET phone = 'sly' WHERE organisation_id = :organisation")
    return NothingOut(object="nothing")


def test_forbidden_is_told_before_invalid(cast: Cast) -> None:
    with pytest.raises(Forbidden, match=r"^The role office may not do this \(people:change\)\."):
        cast.perform(invite_person, Role.OFFICE, **BAD)


def test_read_only_is_told_before_the_role(cast: Cast) -> None:
    with pytest.raises(Forbidden, match=r"^This credential is read only\."):
        cast.perform(invite_person, cast.actor(Role.OFFICE, Access.READ), **BAD)


def test_the_role_is_told_before_the_lapse_and_the_lapse_before_invalid(cast: Cast) -> None:
    cast.lapse()
    with pytest.raises(Forbidden):
        cast.perform(invite_person, Role.OFFICE, **BAD)
    with pytest.raises(Lapsed):
        cast.perform(invite_person, **BAD)


def test_invalid_is_told_before_not_found(cast: Cast) -> None:
    with pytest.raises(Invalid):
        cast.perform(update_person, personId="person_x", **BAD)


def test_a_door_may_ask_before_it_reads_a_body(cast: Cast) -> None:
    admit(invite_person, cast.actor(Role.ADMIN))
    with pytest.raises(Forbidden):
        admit(invite_person, cast.actor(Role.MEMBER))


def test_reading_goes_on_with_read_only_access_and_while_lapsed(cast: Cast) -> None:
    cast.lapse()
    assert cast.perform(list_people, cast.actor(Role.MEMBER, Access.READ))["data"]


def revoke(cast: Cast, actor: Actor) -> None:
    cast.perform(revoke_key, keyId=actor.credential)


def demote(cast: Cast, _: Actor) -> None:
    cast.perform(update_person, personId=cast.people[Role.ADMIN], role="office")


def remove(cast: Cast, _: Actor) -> None:
    cast.perform(remove_person, personId=cast.people[Role.ADMIN], confirmed=True)


def lapse(cast: Cast, _: Actor) -> None:
    cast.lapse()


MEANWHILE = pytest.mark.parametrize(
    ("meanwhile", "kind"),
    [
        (revoke, Unauthenticated),
        (demote, Unauthenticated),
        (remove, Unauthenticated),
        (lapse, Lapsed),
    ],
)


@MEANWHILE
def test_a_key_that_lost_its_standing_after_the_door_changes_nothing(
    cast: Cast, meanwhile: Callable[[Cast, Actor], None], kind: type[Refusal]
) -> None:
    acting = holder(cast, cast.key(role=Role.ADMIN))
    meanwhile(cast, acting)
    told, written = events(cast), trail(cast)
    for operation_, given in (
        (update_organisation, {"phone": "1"}),
        (remove_person, {"personId": cast.people[Role.MEMBER]}),
        (remove_person, {"personId": cast.people[Role.MEMBER], "confirmed": True}),
    ):
        with pytest.raises(kind):
            cast.perform(operation_, acting, **given)
    assert cast.perform(get_organisation)["phone"] is None
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["status"] == "active"
    assert (events(cast), trail(cast)) == (told, written)


def test_a_person_who_lost_the_role_after_the_door_changes_nothing(cast: Cast) -> None:
    acting = cast.actor(Role.ADMIN)
    demote(cast, acting)
    with pytest.raises(Forbidden, match="The role office may not do this"):
        cast.perform(update_organisation, acting, phone="1")


def test_a_person_who_left_after_the_door_makes_no_key(cast: Cast) -> None:
    acting = cast.actor(Role.ADMIN)
    remove(cast, acting)
    with pytest.raises(Refusal):
        cast.perform(create_key, acting, name="x", access="write")


@pytest.mark.parametrize(
    ("failing", "fault"),
    [(change_and_break, ZeroDivisionError), (change_and_refuse, Conflict), (change_and_babble, ValueError)],
)
def test_a_change_that_fails_leaves_nothing(alone: Cast, failing: Operation, fault: type[Exception]) -> None:
    before = contents(alone.stage.database)
    with pytest.raises(fault):
        alone.answer(failing, request=Envelope("req_1", replay_key="once"))
    assert contents(alone.stage.database) == before


def test_a_reading_operation_cannot_change(cast: Cast) -> None:
    with pytest.raises(Exception, match=r"readonly|read-only"):
        cast.perform(change_while_reading)
    assert cast.perform(get_person, personId=cast.people[Role.OWNER])["phone"] is None


def test_one_act_has_one_moment(cast: Cast) -> None:
    person = cast.perform(invite_person, name="N", email="n@new.example", role="member")
    assert {person["createdAt"], person["updatedAt"]} == {events(cast)[-1]["createdAt"]} == {trail(cast)[-1]["at"]}


def test_the_bell_rings_for_a_change_and_for_nothing_else(cast: Cast) -> None:
    rings: list[int] = []
    stage = type(cast.stage)(cast.stage.database, cast.stage.clock, cast.stage.standing, lambda: rings.append(1))
    listening = Cast(stage, cast.organisation, cast.people)
    listening.perform(list_people)
    listening.perform(remove_person, personId=cast.people[Role.MEMBER])
    with pytest.raises(Conflict):
        listening.perform(change_and_refuse)
    assert rings == []
    listening.perform(invite_person, name="N", email="n@new.example", role="member")
    assert rings == [1]


class Forgo(Irrevocable):
    pass


@operation(right=Right.PEOPLE_CHANGE, effect=Effect.IRREVERSIBLE)
def forgo(_ctx: Context, _given: Forgo) -> NothingOut:
    """Do nothing that could be undone."""
    return NothingOut(object="nothing")


def asking(cast: Cast, *operations: Operation, refusal: Refusal | None = None) -> tuple[Cast, list[Input]]:
    """The cast on a stage that asks the world outside first, and what it was asked."""
    asked: list[Input] = []

    def ask(given: Input) -> None:
        # No change has begun: otherwise this one would wait for it for ever.
        with cast.stage.database.changing(cast.organisation):
            asked.append(given)
        if refusal:
            raise refusal

    stage = replace(cast.stage, ahead={operation_.name: ask for operation_ in operations})
    return replace(cast, stage=stage), asked


def test_the_world_outside_is_asked_once_and_before_a_change_begins(cast: Cast) -> None:
    acting, asked = asking(cast, update_organisation, forgo)
    acting.perform(update_organisation, phone="1")
    acting.perform(update_person, personId=cast.people[Role.MEMBER], phone="1")
    acting.perform(forgo)
    acting.perform(forgo, confirmed=True)
    assert [given.sent() for given in asked] == [{"phone": "1"}, {}, {"confirmed": True}]


def test_what_the_world_outside_does_not_allow_changes_nothing(cast: Cast) -> None:
    acting, asked = asking(cast, update_organisation, refusal=Invalid([Fault("phone", "is not answered")]))
    told, written = events(cast), trail(cast)
    with pytest.raises(Invalid, match=r"^phone: is not answered$"):
        acting.perform(update_organisation, phone="1")
    assert len(asked) == 1
    assert (events(cast), trail(cast)) == (told, written)


def test_the_world_outside_is_not_asked_for_one_who_may_not_or_asks_wrongly(cast: Cast) -> None:
    acting, asked = asking(cast, update_organisation)
    with pytest.raises(Forbidden):
        acting.perform(update_organisation, Role.MEMBER, phone="1")
    with pytest.raises(Invalid):
        acting.perform(update_organisation, phone=1)
    assert asked == []
