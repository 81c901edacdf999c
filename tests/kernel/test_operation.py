import pytest

from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Door
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Irrevocable, One, Page, Shown


class Look(Input):
    pass


class Burn(Irrevocable):
    pass


class LookOut(Shown):
    noun = "look"


def test_the_declaration_is_read_off_the_function() -> None:
    @operation(right=Right.ME_READ, effect=Effect.READ, rest="GET /look")
    def look_around(_ctx: Context, _given: Look) -> One[LookOut]:
        """Look around.

        Over both
        shoulders.

        And up.
        """
        return One(LookOut, ())

    assert (look_around.name, look_around.title) == ("look_around", "Look around")
    assert look_around.description == "Over both shoulders. And up."
    assert (look_around.input, look_around.output, look_around.lists) == (Look, LookOut, False)
    assert look_around.offered == frozenset(Door) - {Door.HOUSE, Door.LINK}
    assert not look_around.changes
    assert not look_around.open_when_lapsed


def test_a_list_is_known_by_its_page() -> None:
    @operation(right=Right.ME_READ, effect=Effect.READ)
    def list_looks(_ctx: Context, _given: Look) -> Page[LookOut]:
        """List looks."""
        return Page.cut(LookOut, [], 1)

    assert (list_looks.output, list_looks.lists) == (LookOut, True)


@pytest.mark.parametrize("effect", [Effect.READ, Effect.CHANGE])
def test_only_what_cannot_be_undone_is_confirmed(effect: Effect) -> None:
    def burn(_ctx: Context, _given: Burn) -> One[LookOut]:
        """Burn."""
        return One(LookOut, ())

    with pytest.raises(TypeError, match="burn: an irreversible operation takes an Irrevocable input"):
        operation(right=Right.ME_READ, effect=effect)(burn)


def test_what_cannot_be_undone_must_be_confirmed() -> None:
    def look(_ctx: Context, _given: Look) -> One[LookOut]:
        """Look."""
        return One(LookOut, ())

    with pytest.raises(TypeError, match="look: an irreversible operation takes an Irrevocable input"):
        operation(right=Right.ME_READ, effect=Effect.IRREVERSIBLE)(look)
