from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import pytest

from cast import Cast
from evidence import contents, events, holder, trail
from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.business.people.operations import get_person, invite_person, list_people, update_person
from mainstay.business.people.standing import change_role, remove_person
from mainstay.identity.keys import create_key, revoke_key
from mainstay.kernel.catalogue import admit
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.operation import Ahead, Effect, Operation, operation
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Conflict, Fault, Forbidden, Invalid, Lapsed, Refusal, Unauthenticated
from mainstay.terms.rights import Access, Right, Role
from mainstay.terms.shapes import Input, Irrevocable, One, Shown

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
    with pytest.raises(Forbidden, match=r"^The role office may not do this\. Ask an owner or admin\.$"):
        cast.perform(invite_person, Role.OFFICE, **BAD)


def test_read_only_is_told_before_the_role(cast: Cast) -> None:
    with pytest.raises(
        Forbidden, match=r"^This credential is read only, and the role office may not do this with any\."
    ):
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
    cast.perform(change_role, personId=cast.people[Role.ADMIN], role="office", confirmed=True)


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
    listening = replace(cast, stage=replace(cast.stage, ring=lambda: rings.append(1)))
    listening.perform(list_people)
    listening.perform(remove_person, personId=cast.people[Role.MEMBER])
    with pytest.raises(Conflict):
        listening.perform(change_and_refuse)
    assert rings == []
    listening.perform(invite_person, name="N", email="n@new.example", role="member")
    assert rings == [1]


class Forgo(Irrevocable):
    pass


class Asked(NamedTuple):
    """What was asked ahead of changes, and what is refused then."""

    given: list[Input]
    refusal: Refusal | None = None


def asking(cast: Cast, asked: Asked, effect: Effect = Effect.CHANGE) -> Operation:
    """An operation that asks ahead, hands on how often it has asked, and tells what was handed to it."""

    def ask(ahead: Ahead, given: Input) -> int:
        # No change has begun: otherwise this one would wait for it for ever.
        with cast.stage.database.changing(cast.organisation):
            asked.given.append(given)
        if asked.refusal:
            raise asked.refusal
        assert ahead.read(lambda ctx: ctx.rows.organisation) == cast.organisation
        return len(asked.given)

    def ponder(ctx: Context, given: Input) -> AnswerOut:
        """Ponder."""
        assert given is asked.given[-1]
        return AnswerOut(object="answer", handed_on=ctx.ahead)

    takes = Forgo if effect is Effect.IRREVERSIBLE else Ponder
    ponder.__annotations__ = {"ctx": Context, "given": takes, "return": AnswerOut}
    return operation(right=Right.PEOPLE_CHANGE, effect=effect, ahead=ask)(ponder)


class Ponder(Input):
    phone: str = ""


class AnswerOut(Shown):
    noun = "answer"

    handed_on: int


def test_what_comes_ahead_comes_once_before_the_change_and_is_handed_on(cast: Cast) -> None:
    asked = Asked([])
    ponder = asking(cast, asked)
    assert cast.perform(ponder, phone="1")["handedOn"] == 1
    assert cast.perform(ponder, phone="2")["handedOn"] == 2
    cast.perform(update_organisation, phone="1")
    assert [given.sent() for given in asked.given] == [{"phone": "1"}, {"phone": "2"}]


def test_it_comes_ahead_of_a_rehearsal_too(cast: Cast) -> None:
    asked = Asked([])
    forgo = asking(cast, asked, Effect.IRREVERSIBLE)
    assert cast.perform(forgo)["object"] == "preview"
    assert cast.perform(forgo, confirmed=True)["handedOn"] == 2


def test_what_is_refused_ahead_changes_nothing(cast: Cast) -> None:
    asked = Asked([], Invalid([Fault("phone", "is not answered")]))
    told, written = events(cast), trail(cast)
    with pytest.raises(Invalid, match=r"^phone: is not answered$"):
        cast.perform(asking(cast, asked), phone="1")
    assert len(asked.given) == 1
    assert (events(cast), trail(cast)) == (told, written)


def test_nothing_is_asked_for_one_who_may_not_or_asks_wrongly(cast: Cast) -> None:
    asked = Asked([])
    ponder = asking(cast, asked)
    with pytest.raises(Forbidden):
        cast.perform(ponder, Role.MEMBER, phone="1")
    with pytest.raises(Invalid):
        cast.perform(ponder, phone=1)
    assert asked.given == []
