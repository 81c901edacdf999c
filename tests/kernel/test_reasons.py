"""All reasons against an operation on a record are reported to those who may know them, before anything happens."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from mainstay.business.people.model import Person
from mainstay.business.people.store import PEOPLE
from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.tools import Tools
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.operation import Effect, Operation, OperationReturning, operation
from mainstay.values.ids import new_id
from mainstay.values.message import Message, RenderedText
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Permission, Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, Lapsed, NotFound, Reason, Stale
from mainstay.vocabulary.schemas import IrreversibleInput
from support.cast import Cast
from support.stored_state import read_all_rows

SUNDAY, RAIN = Reason(Message("It is Sunday.")), Reason(Message("It rains."), first="update_person")
TOO_SHORT = Reason(Message("You are not tall enough."), is_missing_permission=True)
_GET_PERSON_HINT = " get_person shows its current state."


class PraisePerson(IrreversibleInput):
    person_id: str


def build_operation(*reasons: Reason, conflict: str = "") -> OperationReturning[Any]:
    """Build an operation on a person that these reasons block, and that may meet a conflict while it runs."""

    def reasons_against(_person: Person, _by: Actor) -> Sequence[Reason]:
        return reasons

    @operation(
        permission=Permission.PEOPLE_CHANGE,
        effect=Effect.IRREVERSIBLE,
        on=PEOPLE,
        blocked_by=reasons_against,
        not_undone=Message("Do it again."),
        past_text="Done",
    )
    def praise_person(ctx: Context, _given: PraisePerson, person: Person) -> Person:
        """Praise a person."""
        ctx.effects.append(Message("Everyone hears it."))
        if conflict:
            raise Conflict(RenderedText(conflict))
        return PEOPLE.save(ctx, person, {"phone": "praised"})

    return praise_person


def praise(
    cast: Cast, praise_operation: Operation, by: Role = Role.OWNER, *, confirmed: bool = True
) -> dict[str, object]:
    return cast.perform(praise_operation, by, personId=cast.people[Role.MEMBER], confirmed=confirmed)


def test_without_a_reason_it_is_done_and_says_whom_it_is_about(cast: Cast) -> None:
    preview = praise(cast, build_operation(), confirmed=False)
    assert (preview["summary"], preview["effects"]) == ("Praise a person: Mia Member.", ["Everyone hears it."])
    assert praise(cast, build_operation())["phone"] == "praised"


def test_every_reason_is_told_and_nothing_happens(only_cast: Cast) -> None:
    before = read_all_rows(only_cast.performer.database)
    with pytest.raises(Blocked) as refusal:
        praise(only_cast, build_operation(SUNDAY, RAIN))
    assert refusal.value.text == "It is Sunday. It rains."
    assert refusal.value.reasons == (SUNDAY, RAIN)
    assert read_all_rows(only_cast.performer.database) == before


def test_the_reasons_are_blockers_in_a_preview(cast: Cast) -> None:
    preview = praise(cast, build_operation(SUNDAY, RAIN), confirmed=False)
    assert (preview["blockers"], preview["effects"]) == (["It is Sunday.", "It rains."], [])


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_forbidding_reason_hides_the_other_reasons(cast: Cast, *, confirmed: bool) -> None:
    with pytest.raises(Forbidden, match=r"^You are not tall enough\.$"):
        praise(cast, build_operation(SUNDAY, TOO_SHORT, RAIN), confirmed=confirmed)


def test_a_conflict_found_on_the_way_is_a_blocker_too(cast: Cast) -> None:
    praise_operation = build_operation(conflict="The choir is out.")
    assert praise(cast, praise_operation, confirmed=False)["blockers"] == ["The choir is out."]
    with pytest.raises(Conflict, match=r"^The choir is out\.$"):
        praise(cast, praise_operation)


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_preview_is_refused_for_not_found_stale_forbidden_and_lapsed(cast: Cast, *, confirmed: bool) -> None:
    praise_operation, member = build_operation(SUNDAY), cast.people[Role.MEMBER]
    with pytest.raises(NotFound):
        cast.perform(praise_operation, personId=new_id("person"), confirmed=confirmed)
    with pytest.raises(Stale):
        cast.answer(
            praise_operation,
            request=RequestDetails("r", if_match_versions=frozenset({9})),
            personId=member,
            confirmed=confirmed,
        )
    with pytest.raises(Forbidden, match="don't have access"):
        praise(cast, praise_operation, Role.MEMBER, confirmed=confirmed)
    cast.lapse()
    with pytest.raises(Lapsed):
        praise(cast, praise_operation, confirmed=confirmed)


def test_an_operation_with_a_reason_against_it_is_not_an_available_action(cast: Cast) -> None:
    def available(praise_operation: OperationReturning[Any]) -> bool:
        performer = replace(
            cast.performer, catalogue=replace(CATALOGUE, operations=(*CATALOGUE.operations, praise_operation))
        )
        shown = praise(replace(cast, performer=performer), build_operation())
        return praise_operation.name in str(shown["availableActions"])

    assert available(build_operation())
    assert not available(build_operation(SUNDAY))
    assert not available(build_operation(TOO_SHORT))


def test_a_hint_names_the_tool_that_unblocks(cast: Cast) -> None:
    tools, actor = Tools(CATALOGUE.operations), cast.actor(Role.OWNER, door=Door.AGENT)
    praise_operation = build_operation()
    assert tools.hint_after(praise_operation, Blocked([SUNDAY, RAIN]), actor) == " First: call update_person."
    # A tool that agents do not have is not suggested.
    blocked = Blocked([Reason(Message("No."), first="name_owner")])
    assert tools.hint_after(praise_operation, blocked, actor) == _GET_PERSON_HINT
    assert tools.hint_after(praise_operation, Conflict(Message("No.")), actor) == _GET_PERSON_HINT
    assert tools.hint_after(praise_operation, NotFound("person"), actor) == " list_people lists them."
