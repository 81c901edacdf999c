"""The declaration of an operation: everything the doors need to know of it, said once."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from mainstay.kernel.actor import Door
from mainstay.kernel.context import Context
from mainstay.kernel.rights import Right
from mainstay.kernel.shapes import Input, Irrevocable, Page, Shown
from mainstay.kernel.wire import Result

EVERYWHERE = frozenset(Door)


class Effect(Enum):
    """What an operation does to the records."""

    READ = auto()
    CHANGE = auto()
    IRREVERSIBLE = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One thing the house can do."""

    name: str
    title: str
    description: str
    input: type[Input]
    output: type[Shown]
    # Whether it answers with a page of `output` rather than with one.
    lists: bool
    right: Right
    effect: Effect
    # Whether records may be different afterwards.
    changes: bool
    rest: str | None
    offered: frozenset[Door]
    open_when_lapsed: bool
    # Whether someone outside is written to because of it.
    mails: bool
    # Whether it is a reading of one statement, which needs no transaction around it.
    glances: bool
    function: Callable[[Context, Any], Result]


G = TypeVar("G", bound=Input)


def operation(
    *,
    right: Right,
    effect: Effect,
    rest: str | None = None,
    offered: frozenset[Door] = EVERYWHERE,
    open_when_lapsed: bool = False,
    mails: bool = False,
    glances: bool = False,
) -> Callable[[Callable[[Context, G], Result]], Operation]:
    """Declare a function as an operation; its types and its docstring are part of the declaration."""

    def declare(function: Callable[[Context, G], Result]) -> Operation:
        hints = get_type_hints(function)
        _context, given, output = hints.values()
        record = get_args(output)[0] if get_origin(output) else output
        if (effect is Effect.IRREVERSIBLE) != issubclass(given, Irrevocable):
            raise TypeError(f"{function.__name__}: an irreversible operation takes an Irrevocable input, and no other")
        title, _, description = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
        return Operation(
            name=function.__name__,
            title=title.rstrip("."),
            description=" ".join(description.split()),
            input=given,
            output=record,
            lists=get_origin(output) is Page,
            right=right,
            effect=effect,
            changes=effect is not Effect.READ,
            rest=rest,
            offered=offered,
            open_when_lapsed=open_when_lapsed,
            mails=mails,
            glances=glances,
            function=function,
        )

    return declare
