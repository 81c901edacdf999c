from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import pytest

from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.business.people.operations import get_person, invite_person, list_people, update_person
from mainstay.business.people.roles import change_role, remove_person
from mainstay.identity.keys import create_key, revoke_key
from mainstay.kernel.catalogue import check_permission
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.operation import Effect, Operation, Preparation, operation
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Access, Permission, Role
from mainstay.vocabulary.refusal import Conflict, Fault, Forbidden, Invalid, Lapsed, Refusal, Unauthenticated
from mainstay.vocabulary.schemas import Input, IrreversibleInput, Output, RecordResult
from support.cast import Cast
from support.stored_state import actor_with_key, list_events_of, read_all_rows, read_trail

BAD = {"email": "nobody", "extra": 1}


class Nothing(Input):
    pass


class NothingOut(Output):
    noun = "nothing"


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    not_undone=Message("Do it again."),
    past_text="Done",
)
def change_and_break(ctx: Context, _given: Nothing) -> NothingOut:
    """Change something, then fail as a bug would."""
    ctx.db.run("UPDATE person SET phone = 'broken' WHERE organisation_id = :organisation")
    raise ZeroDivisionError


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    not_undone=Message("Do it again."),
    past_text="Done",
)
def change_and_refuse(ctx: Context, _given: Nothing) -> NothingOut:
    """Change something, then think better of it."""
    ctx.db.run("UPDATE person SET phone = 'refused' WHERE organisation_id = :organisation")
    raise Conflict(Message("No."))


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    not_undone=Message("Do it again."),
    past_text="Done",
)
def change_and_babble(ctx: Context, _given: Nothing) -> RecordResult[NothingOut]:
    """Change something, and answer what cannot be written."""
    ctx.db.run("UPDATE person SET phone = 'babbled' WHERE organisation_id = :organisation")
    return RecordResult(NothingOut, ("a column too many",))


@operation(permission=Permission.ORGANISATION_READ, effect=Effect.READ)
def change_while_reading(ctx: Context, _given: Nothing) -> NothingOut:
    """Say it reads, and change."""
    ctx.db.run("UPDATE person SET phone = 'sly' WHERE organisation_id = :organisation")
    return NothingOut(object="nothing")


def test_forbidden_is_told_before_invalid(cast: Cast) -> None:
    with pytest.raises(
        Forbidden, match=r"^You don't have access to this\. Ask an owner or admin\. Your role is office\.$"
    ):
        cast.perform(invite_person, Role.OFFICE, **BAD)


def test_read_only_is_told_before_the_role(cast: Cast) -> None:
    with pytest.raises(Forbidden, match=r"^This credential is read only, and the role office can't do this anyway\."):
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
    check_permission(invite_person, cast.actor(Role.ADMIN))
    with pytest.raises(Forbidden):
        check_permission(invite_person, cast.actor(Role.MEMBER))


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
def test_a_key_that_lost_its_permission_after_the_door_changes_nothing(
    cast: Cast, meanwhile: Callable[[Cast, Actor], None], kind: type[Refusal]
) -> None:
    acting = actor_with_key(cast, cast.make_key(role=Role.ADMIN))
    meanwhile(cast, acting)
    events_before, written = list_events_of(cast), read_trail(cast)
    for operation_, given in (
        (update_organisation, {"phone": "1"}),
        (remove_person, {"personId": cast.people[Role.MEMBER]}),
        (remove_person, {"personId": cast.people[Role.MEMBER], "confirmed": True}),
    ):
        with pytest.raises(kind):
            cast.perform(operation_, acting, **given)
    assert cast.perform(get_organisation)["phone"] is None
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["status"] == "active"
    assert (list_events_of(cast), read_trail(cast)) == (events_before, written)


def test_a_person_who_lost_the_role_after_the_door_changes_nothing(cast: Cast) -> None:
    acting = cast.actor(Role.ADMIN)
    demote(cast, acting)
    with pytest.raises(Forbidden, match="You don't have access to this"):
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
def test_a_change_that_fails_leaves_nothing(only_cast: Cast, failing: Operation, fault: type[Exception]) -> None:
    before = read_all_rows(only_cast.performer.database)
    with pytest.raises(fault):
        only_cast.answer(failing, request=RequestDetails("req_1", idempotency_key="once"))
    assert read_all_rows(only_cast.performer.database) == before


def test_a_reading_operation_cannot_change(cast: Cast) -> None:
    with pytest.raises(Exception, match=r"readonly|read-only"):
        cast.perform(change_while_reading)
    assert cast.perform(get_person, personId=cast.people[Role.OWNER])["phone"] is None


def test_one_act_has_one_moment(cast: Cast) -> None:
    person = cast.perform(invite_person, name="N", email="n@new.example", role="member")
    assert (
        {person["createdAt"], person["updatedAt"]}
        == {list_events_of(cast)[-1]["createdAt"]}
        == {read_trail(cast)[-1]["at"]}
    )


def test_the_worker_is_woken_for_a_change_and_for_nothing_else(cast: Cast) -> None:
    rings: list[int] = []
    listening = replace(cast, performer=replace(cast.performer, wake_worker=lambda: rings.append(1)))
    listening.perform(list_people)
    listening.perform(remove_person, personId=cast.people[Role.MEMBER])
    with pytest.raises(Conflict):
        listening.perform(change_and_refuse)
    assert rings == []
    listening.perform(invite_person, name="N", email="n@new.example", role="member")
    assert rings == [1]


class Forgo(IrreversibleInput):
    pass


class PreparedCalls(NamedTuple):
    """The inputs for which an operation was prepared, and the refusal that its preparation raises."""

    inputs: list[Input]
    refusal: Refusal | None = None


def build_preparing_operation(cast: Cast, calls: PreparedCalls, effect: Effect = Effect.CHANGE) -> Operation:
    """Build an operation that is prepared before its transaction and answers what was handed to it."""

    def prepare(preparation: Preparation, given: Input) -> int:
        # No change has begun: otherwise this one would wait for it for ever.
        with cast.performer.database.write_transaction(cast.organisation):
            calls.inputs.append(given)
        if calls.refusal:
            raise calls.refusal
        assert preparation.read(lambda ctx: ctx.db.organisation) == cast.organisation
        return len(calls.inputs)

    def ponder(ctx: Context, given: Input) -> AnswerOut:
        """Ponder."""
        assert given is calls.inputs[-1]
        return AnswerOut(object="answer", handed_on=ctx.prepared)

    input_model = Forgo if effect is Effect.IRREVERSIBLE else Ponder
    ponder.__annotations__ = {"ctx": Context, "given": input_model, "return": AnswerOut}
    return operation(
        permission=Permission.PEOPLE_CHANGE,
        effect=effect,
        prepare=prepare,
        not_undone=Message("Do it again."),
        past_text="Done",
    )(ponder)


class Ponder(Input):
    phone: str = ""


class AnswerOut(Output):
    noun = "answer"

    handed_on: int


def test_it_is_prepared_once_before_the_change_and_handed_on(cast: Cast) -> None:
    calls = PreparedCalls([])
    ponder = build_preparing_operation(cast, calls)
    assert cast.perform(ponder, phone="1")["handedOn"] == 1
    assert cast.perform(ponder, phone="2")["handedOn"] == 2
    cast.perform(update_organisation, phone="1")
    assert [given.sent_fields() for given in calls.inputs] == [{"phone": "1"}, {"phone": "2"}]


def test_it_is_prepared_before_a_preview_too(cast: Cast) -> None:
    calls = PreparedCalls([])
    forgo = build_preparing_operation(cast, calls, Effect.IRREVERSIBLE)
    assert cast.perform(forgo)["object"] == "preview"
    assert cast.perform(forgo, confirmed=True)["handedOn"] == 2


def test_what_is_refused_while_preparing_changes_nothing(cast: Cast) -> None:
    calls = PreparedCalls([], Invalid([Fault("phone", Message("is not answered"))]))
    events_before, written = list_events_of(cast), read_trail(cast)
    with pytest.raises(Invalid, match=r"^phone: is not answered$"):
        cast.perform(build_preparing_operation(cast, calls), phone="1")
    assert len(calls.inputs) == 1
    assert (list_events_of(cast), read_trail(cast)) == (events_before, written)


def test_nothing_is_prepared_without_permission_or_with_a_wrong_input(cast: Cast) -> None:
    calls = PreparedCalls([])
    ponder = build_preparing_operation(cast, calls)
    with pytest.raises(Forbidden):
        cast.perform(ponder, Role.MEMBER, phone="1")
    with pytest.raises(Invalid):
        cast.perform(ponder, phone=1)
    assert calls.inputs == []
