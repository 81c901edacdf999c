import pytest

from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import Input, IrreversibleInput, Output, PageResult, RecordResult


class Look(Input):
    pass


class Burn(IrreversibleInput):
    pass


class LookOut(Output):
    noun = "look"


def test_the_declaration_is_read_off_the_function() -> None:
    @operation(permission=Permission.ME_READ, effect=Effect.READ, api_path="GET /look")
    def look_around(_ctx: Context, _given: Look) -> RecordResult[LookOut]:
        """Look around.

        Over both
        shoulders.

        And up.
        """
        return RecordResult(LookOut, ())

    assert (look_around.name, look_around.title) == ("look_around", "Look around")
    assert look_around.description == "Over both shoulders. And up."
    assert (look_around.input, look_around.output, look_around.returns_page) == (Look, LookOut, False)
    assert look_around.doors == frozenset(Door) - {Door.SYSTEM, Door.LINK}
    assert not look_around.changes
    assert not look_around.open_when_lapsed


def test_a_list_is_known_by_its_page() -> None:
    @operation(permission=Permission.ME_READ, effect=Effect.READ)
    def list_looks(_ctx: Context, _given: Look) -> PageResult[LookOut]:
        """List looks."""
        return PageResult.from_rows(LookOut, [], 1)

    assert (list_looks.output, list_looks.returns_page) == (LookOut, True)


@pytest.mark.parametrize("effect", [Effect.READ, Effect.CHANGE])
def test_only_what_cannot_be_undone_is_confirmed(effect: Effect) -> None:
    def burn(_ctx: Context, _given: Burn) -> RecordResult[LookOut]:
        """Burn."""
        return RecordResult(LookOut, ())

    with pytest.raises(TypeError, match="burn: an irreversible operation takes an IrreversibleInput"):
        operation(permission=Permission.ME_READ, effect=effect, not_undone=Message("Do it again."), past_text="Done")(
            burn
        )


def test_what_cannot_be_undone_must_be_confirmed() -> None:
    def look(_ctx: Context, _given: Look) -> RecordResult[LookOut]:
        """Look."""
        return RecordResult(LookOut, ())

    with pytest.raises(TypeError, match="look: an irreversible operation takes an IrreversibleInput"):
        operation(
            permission=Permission.ME_READ,
            effect=Effect.IRREVERSIBLE,
            not_undone=Message("Do it again."),
            past_text="Done",
        )(look)
