"""All that a house can do, in the order in which doors show it; what is in it is for those above to say."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mainstay.kernel.context import Context
from mainstay.kernel.event import Event
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Operation, Unless
from mainstay.kernel.reaction import Chore, Consequence, Reaction, Timer
from mainstay.terms.actor import Actor, Door
from mainstay.terms.refusal import Forbidden, Lapsed, Refusal
from mainstay.terms.rights import Access, Right
from mainstay.terms.shapes import Kept, Shown


@dataclass(frozen=True)
class Catalogue:
    """Operations, events, and what follows by itself."""

    operations: tuple[Operation, ...]
    events: tuple[type[Event], ...] = ()
    reactions: tuple[Reaction, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    timers: tuple[Timer, ...] = ()
    chores: tuple[Chore, ...] = ()

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of events."""
        return frozenset(event.name for event in self.events)

    @cached_property
    def gets(self) -> dict[str, Operation]:
        """What gets a record by itself, by the prefix of its id."""
        return {one.on.prefix: one for one in self.operations if one.on and one.tells_actions and not one.changes}

    @cached_property
    def lists(self) -> dict[str, Operation]:
        """What lists records that are also got by themselves, by the prefix of their ids."""
        by_noun = {one.output.noun: one for one in self.operations if one.lists}
        nouns = {prefix: one.output.noun for prefix, one in self.gets.items()}
        return {prefix: by_noun[noun] for prefix, noun in nouns.items() if noun in by_noun}

    @cached_property
    def listings(self) -> dict[str, tuple[Listing[Any], Right]]:
        """How each kind of record that is looked at by itself is read, and who may, by the prefix of its ids."""
        return {prefix: (one.on, one.right) for prefix, one in self.gets.items() if one.on}

    def chore(self, name: str) -> Chore | None:
        """What is done for letters of this kind, if it is a chore."""
        return next((chore for chore in self.chores if chore.name == name), None)

    def reactions_to(self, kind: str) -> list[Reaction]:
        """What follows an event of this kind."""
        return [reaction for reaction in self.reactions if reaction.event.name == kind]

    def carry_out(self, ctx: Context, event: type[Event], record: Kept) -> None:
        """Do what follows an event in the same change."""
        for consequence in self.consequences:
            if consequence.event is event:
                consequence.function(ctx, record)

    def on(self, shown: type[Shown]) -> Sequence[Operation]:
        """What is done to records that call themselves like this, however much of them is shown."""
        return self._on.get(shown.noun, ())

    def actions(self, record: Kept, actor: Actor) -> list[str]:
        """The names of what this actor can do to a record as it stands, through the door they came in by."""
        key = (record.shown, actor.door, actor.rights, actor.access, actor.subscribed)
        admitted = self._admitted.get(key)
        if admitted is None:
            admitted = self._admitted[key] = [
                (operation.name, operation.unless)
                for operation in self.on(record.shown)
                if operation.changes and is_admitted(operation, actor)
            ]
        return [name for name, unless in admitted if unless is None or not unless(record, actor)]

    @cached_property
    def _admitted(self) -> dict[tuple[object, ...], list[tuple[str, Unless | None]]]:
        """What someone may do to records of a kind, by all that decides it: only the rules of the record are left."""
        return {}

    @cached_property
    def _on(self) -> dict[str, list[Operation]]:
        found: dict[str, list[Operation]] = {}
        for operation in self.operations:
            if listing := operation.on or operation.offered_on:
                found.setdefault(listing.shown.noun, []).append(operation)
        return found


def admit(operation: Operation, actor: Actor) -> None:
    """Whether the actor may do this at all; a door asks before it reads a body."""
    may = actor.may(operation.right)
    if operation.changes and actor.access is not Access.WRITE:
        if not may:
            raise Forbidden(f"This credential is read only, and the role {actor.role} may not do this with any. {_ASK}")
        if not actor.may(Right.CONNECTIONS_WRITE):
            raise Forbidden(f"This credential is read only, and the role {actor.role} may have no other. {_IN_OFFICE}")
        raise Forbidden("This credential is read only. Use one with read and write access to change records.")
    if not may:
        raise Forbidden(f"The role {actor.role} may not do this. {_ASK}")
    if operation.changes and not actor.subscribed and not operation.open_when_lapsed:
        raise Lapsed


def is_admitted(operation: Operation, actor: Actor) -> bool:
    """Whether the actor may do this now, through the door they came in by."""
    if actor.door is not Door.HOUSE and actor.door not in operation.offered:
        return False
    try:
        admit(operation, actor)
    except Refusal:
        return False
    return True


_ASK = "Ask an owner or admin."
_IN_OFFICE = "What the role may change can be changed in the office."
