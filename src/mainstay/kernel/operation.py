"""The declaration of an operation: everything the doors need to know of it, said once."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, TypedDict, Unpack, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from mainstay.backing.guard import Guard
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.terms.actor import Actor, Door
from mainstay.terms.merging import make_change_input
from mainstay.terms.refusal import Reason
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Input, Irrevocable, Kept, Page, Shown
from mainstay.terms.wire import Result

# The reasons that a record may have against what someone would do to it.
Unless = Callable[[Any, Actor], Sequence[Reason]]

EVERYWHERE = frozenset(Door) - {Door.HOUSE, Door.LINK}


class Effect(Enum):
    """What an operation does to the records."""

    READ = auto()
    CHANGE = auto()
    IRREVERSIBLE = auto()


@dataclass(frozen=True, slots=True)
class Ahead:
    """What may be asked before a change begins, when nobody waits for it yet."""

    actor: Actor
    guard: Guard
    # Reads with a Context, in a transaction that is over before the change begins.
    read: Callable[[Callable[[Context], Any]], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One thing the house can do."""

    name: str
    title: str
    description: str
    input: type[Input]
    output: type[Shown]
    # Whether it answers with a page of `output` rather than with one; and if one, whether with what can be done to it.
    lists: bool
    tells_actions: bool
    right: Right
    effect: Effect
    # Whether records may be different afterwards, and whether ones that were there before may be.
    changes: bool
    only_adds: bool
    # The fields that not everyone who may do this may send.
    needs: dict[str, Right]
    function: Callable[..., Result]
    # The records it is done to, one of which its input names, and the reasons that one may have against it.
    on: Listing[Any] | None = None
    unless: Unless | None = None
    # Whether what is asked was done to the record before: a repeat changes nothing, and is answered with the record.
    repeats: Callable[[Any, Any], bool] | None = None
    # Where it is done to several at once, or to one that need not be named: the records on each of which it is offered.
    offered_on: Listing[Any] | None = None
    # Whether it also makes such a record, where its input names none.
    makes: bool = False
    # What is slow and comes before the change: hashing, or asking the world outside. What it gives is handed on.
    ahead: Callable[[Ahead, Any], Any] | None = None
    rest: str | None = None
    offered: frozenset[Door] = EVERYWHERE
    open_when_lapsed: bool = False
    # Whether someone outside is written to because of it.
    mails: bool = False
    # Whether it is a reading of one statement, which needs no transaction around it.
    glances: bool = False
    # Whether it reads so much that it must not hold up what is quick.
    takes_long: bool = False
    # Whether the office asks people once more before it, though no door shows beforehand what would happen.
    grave: bool = False
    # Where it answers with a file that is kept, what kind of file that is: its output then names the file.
    gives: str | None = None
    # What a list says of all its records together, if its input has `totals`.
    totals: type[BaseModel] | None = None
    # What people are told when it is done, and whether the record is gone then.
    done: str = "Done."
    ends: bool = False
    # The other records that its answer may show, and by which names: those that `ctx.attached` has.
    attaches: Mapping[str, type[Shown]] = field(default_factory=dict)

    @property
    def is_irreversible(self) -> bool:
        """Whether it cannot be undone, and so is shown before it is done."""
        return self.effect is Effect.IRREVERSIBLE


class Facts(TypedDict, total=False):
    """What a declaration says beyond right and effect, where it is not as usual; Operation tells what each means."""

    on: Listing[Any]
    offered_on: Listing[Any]
    unless: Unless
    repeats: Callable[[Any, Any], bool]
    makes: bool
    ahead: Callable[[Ahead, Any], Any]
    rest: str
    offered: frozenset[Door]
    open_when_lapsed: bool
    mails: bool
    glances: bool
    takes_long: bool
    grave: bool
    gives: str
    totals: type[BaseModel]
    done: str
    ends: bool
    attaches: Mapping[str, type[Shown]]


def operation(
    *, right: Right, effect: Effect, only_adds: bool | None = None, **facts: Unpack[Facts]
) -> Callable[[Callable[..., Result]], Operation]:
    """Declare a function as an operation; its types and its docstring are part of the declaration.

    What is done to a record alters it, and what is done to none only adds, unless it says otherwise.
    """
    on = facts.get("on")

    def declare(function: Callable[..., Result]) -> Operation:
        hints = get_type_hints(function)
        _context, given, *record, answer = hints.values()
        _check(function.__name__, effect, given, on, takes_record=bool(record))
        return Operation(
            name=function.__name__,
            **_words(function),
            input=make_change_input(given) if on and effect is not Effect.READ else given,
            output=_shown(answer),
            lists=get_origin(answer) is Page,
            tells_actions=isinstance(answer, type) and issubclass(answer, Kept),
            right=right,
            effect=effect,
            changes=effect is not Effect.READ,
            only_adds=on is None if only_adds is None else only_adds,
            needs=_needs(given),
            function=function,
            **facts,
        )

    return declare


def _check(name: str, effect: Effect, given: type[Input], on: Listing[Any] | None, *, takes_record: bool) -> None:
    if (effect is Effect.IRREVERSIBLE) != issubclass(given, Irrevocable):
        raise TypeError(f"{name}: an irreversible operation takes an Irrevocable input, and no other")
    if on and on.id_field and on.id_field not in given.model_fields:
        raise TypeError(f"{name}: its input does not say which {on.what}: {on.id_field}")
    if (on is not None) != takes_record:
        raise TypeError(f"{name}: an operation on a record takes it, and no other does")


def _words(function: Callable[..., Result]) -> dict[str, Any]:
    title, _, description = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
    return {"title": title.rstrip("."), "description": " ".join(description.split())}


def _shown(answer: Any) -> type[Shown]:
    of: Any = get_args(answer)[0] if get_origin(answer) else answer
    shown: type[Shown] = of.shown if issubclass(of, Kept) else of
    return shown


def _needs(given: type[Input]) -> dict[str, Right]:
    return {
        name: needs.right
        for name, field in given.model_fields.items()
        for needs in field.metadata
        if isinstance(needs, Needs)
    }
