"""What speaks against an act on a record: all of it is told, to those who may know it, before anything happens."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from cast import Cast
from evidence import contents
from mainstay.business.people.model import Person
from mainstay.business.people.store import PEOPLE
from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.tools import Tools
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.operation import Effect, Operation, operation
from mainstay.terms.actor import Actor, Door
from mainstay.terms.refusal import Blocked, Conflict, Forbidden, Lapsed, NotFound, Reason, Stale
from mainstay.terms.rights import Right, Role
from mainstay.terms.shapes import Irrevocable
from mainstay.values.ids import new_id

SUNDAY, RAIN = Reason("It is Sunday."), Reason("It rains.", unblock="update_person")
RANK = Reason("You are not tall enough.", forbids=True)


class PraisePerson(Irrevocable):
    person_id: str


def praising(*reasons: Reason, conflict: str = "") -> Operation:
    """An act on a person against which these reasons speak, and which perhaps finds another on its way."""

    def reasons_against(_person: Person, _by: Actor) -> Sequence[Reason]:
        return reasons

    @operation(right=Right.PEOPLE_CHANGE, effect=Effect.IRREVERSIBLE, on=PEOPLE, unless=reasons_against)
    def praise_person(ctx: Context, _given: PraisePerson, person: Person) -> Person:
        """Praise a person."""
        ctx.effects.append("Everyone hears it.")
        if conflict:
            raise Conflict(conflict)
        return PEOPLE.save(ctx, person, {"phone": "praised"})

    return praise_person


def praise(cast: Cast, praised: Operation, by: Role = Role.OWNER, *, confirmed: bool = True) -> dict[str, object]:
    return cast.perform(praised, by, personId=cast.people[Role.MEMBER], confirmed=confirmed)


def test_without_a_reason_it_is_done_and_says_whom_it_is_about(cast: Cast) -> None:
    preview = praise(cast, praising(), confirmed=False)
    assert (preview["summary"], preview["effects"]) == ("Praise a person: Mia Member.", ["Everyone hears it."])
    assert praise(cast, praising())["phone"] == "praised"


def test_every_reason_is_told_and_nothing_happens(alone: Cast) -> None:
    before = contents(alone.stage.database)
    with pytest.raises(Blocked) as refusal:
        praise(alone, praising(SUNDAY, RAIN))
    assert refusal.value.text == "It is Sunday. It rains."
    assert refusal.value.reasons == (SUNDAY, RAIN)
    assert contents(alone.stage.database) == before


def test_in_a_preview_they_are_blockers(cast: Cast) -> None:
    preview = praise(cast, praising(SUNDAY, RAIN), confirmed=False)
    assert (preview["blockers"], preview["effects"]) == (["It is Sunday.", "It rains."], [])


@pytest.mark.parametrize("confirmed", [True, False])
def test_who_may_not_is_told_that_and_nothing_of_the_record(cast: Cast, *, confirmed: bool) -> None:
    with pytest.raises(Forbidden, match=r"^You are not tall enough\.$"):
        praise(cast, praising(SUNDAY, RANK, RAIN), confirmed=confirmed)


def test_a_conflict_found_on_the_way_is_a_blocker_too(cast: Cast) -> None:
    praised = praising(conflict="The choir is out.")
    assert praise(cast, praised, confirmed=False)["blockers"] == ["The choir is out."]
    with pytest.raises(Conflict, match=r"^The choir is out\.$"):
        praise(cast, praised)


@pytest.mark.parametrize("confirmed", [True, False])
def test_what_is_no_state_of_things_is_refused_in_a_preview_as_ever(cast: Cast, *, confirmed: bool) -> None:
    praised, member = praising(SUNDAY), cast.people[Role.MEMBER]
    with pytest.raises(NotFound):
        cast.perform(praised, personId=new_id("person"), confirmed=confirmed)
    with pytest.raises(Stale):
        cast.answer(praised, request=Envelope("r", versions=frozenset({9})), personId=member, confirmed=confirmed)
    with pytest.raises(Forbidden, match="may not do this"):
        praise(cast, praised, Role.MEMBER, confirmed=confirmed)
    cast.lapse()
    with pytest.raises(Lapsed):
        praise(cast, praised, confirmed=confirmed)


def test_what_speaks_against_it_keeps_it_from_being_available(cast: Cast) -> None:
    def available(praised: Operation) -> bool:
        stage = replace(cast.stage, catalogue=replace(CATALOGUE, operations=(*CATALOGUE.operations, praised)))
        shown = praise(replace(cast, stage=stage), praising())
        return praised.name in str(shown["availableActions"])

    assert available(praising())
    assert not available(praising(SUNDAY))
    assert not available(praising(RANK))


def test_an_agent_is_told_the_tool_that_clears_a_reason_away(cast: Cast) -> None:
    tools, actor = Tools(CATALOGUE.operations), cast.actor(Role.OWNER, door=Door.AGENT)
    praised = praising()
    assert tools.way_out(praised, Blocked([SUNDAY, RAIN]), actor) == " Call update_person first."
    # What no agent can do is no way out for one.
    assert tools.way_out(praised, Blocked([Reason("No.", unblock="name_owner")]), actor) == _LOOK
    assert tools.way_out(praised, Conflict("No."), actor) == _LOOK
    assert tools.way_out(praised, NotFound("person"), actor) == " list_people shows those there are."


_LOOK = " get_person shows it as it is now."
