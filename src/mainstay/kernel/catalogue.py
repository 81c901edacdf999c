"""The catalogue: a list of operations and events, in the order in which doors show them. `catalogue.py` fills it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mainstay.kernel.context import Context
from mainstay.kernel.event import Event
from mainstay.kernel.kind import Kind
from mainstay.kernel.operation import BlockedBy, Operation, OperationReturning
from mainstay.kernel.reaction import DailyTimer, ImmediateReaction, Reaction, TaskKind
from mainstay.kernel.record_store import RecordStore
from mainstay.values.message import Choice, Message
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Access, Permission
from mainstay.vocabulary.refusal import Forbidden, Lapsed, Refusal
from mainstay.vocabulary.schemas import Output, StoredRecord
from mainstay.vocabulary.toolsets import Toolset


@dataclass(frozen=True)
class Catalogue:
    """Operations and events, and what the system does by itself after them."""

    operations: tuple[OperationReturning[Any], ...]
    events: tuple[type[Event], ...] = ()
    reactions: tuple[Reaction, ...] = ()
    immediate_reactions: tuple[ImmediateReaction, ...] = ()
    timers: tuple[DailyTimer, ...] = ()
    task_kinds: tuple[TaskKind, ...] = ()

    @cached_property
    def event_names(self) -> frozenset[str]:
        """The names of all events."""
        return frozenset(event.name for event in self.events)

    @cached_property
    def get_operations(self) -> dict[str, OperationReturning[Any]]:
        """The operations that get one record, by the prefix of its id."""
        return {one.on.prefix: one for one in self.operations if one.on and one.shows_actions and not one.changes}

    @cached_property
    def kinds(self) -> dict[str, Kind[Any]]:
        """The kinds of records that have pages, by the prefix of their ids."""
        return {prefix: one.on for prefix, one in self.get_operations.items() if isinstance(one.on, Kind)}

    @cached_property
    def list_operations(self) -> dict[str, OperationReturning[Any]]:
        """The operations that list records, by the prefix of the ids; only of kinds that have a `get` operation too."""
        by_noun = {one.output.noun: one for one in self.operations if one.returns_page}
        nouns = {prefix: one.output.noun for prefix, one in self.get_operations.items()}
        return {prefix: by_noun[noun] for prefix, noun in nouns.items() if noun in by_noun}

    @cached_property
    def record_stores(self) -> dict[str, tuple[RecordStore[Any], Permission]]:
        """The store of each kind of record that has a `get` operation, and the permission to read it, by id prefix."""
        return {prefix: (one.on, one.permission) for prefix, one in self.get_operations.items() if one.on}

    def find_record_stores(self, actor: Actor) -> Mapping[str, tuple[RecordStore[Any], Permission]]:
        """Return the stores of the kinds of records in the areas of an actor."""
        if actor.toolsets is None:
            return self.record_stores
        return {
            prefix: store
            for prefix, store in self.record_stores.items()
            if actor.has_area(self.get_operations[prefix].area)
        }

    @cached_property
    def _past_texts(self) -> dict[str, str]:
        by_system: tuple[Reaction | DailyTimer | TaskKind, ...] = (*self.reactions, *self.timers, *self.task_kinds)
        return {one.name: one.past_text for one in (*self.operations, *by_system)}

    @cached_property
    def _past_texts_by_value(self) -> dict[str, tuple[str, Mapping[str, str]]]:
        return {one.name: one.past_text_by for one in self.operations if one.past_text_by}

    @cached_property
    def _operations_by_name(self) -> dict[str, Operation]:
        return {one.name: one for one in self.operations}

    def find_operation(self, name: str) -> Operation | None:
        """Return the operation with this name, or None."""
        return self._operations_by_name.get(name)

    def find_past_text(self, name: str, action_input: Mapping[str, Any]) -> str | None:
        """Return what an operation, or the system itself, did with this input; None if it no longer exists."""
        field, texts = self._past_texts_by_value.get(name, ("", {}))
        return texts.get(str(action_input.get(field))) or self._past_texts.get(name)

    def find_task_handler(self, name: str) -> TaskKind | None:
        """Return the handler for tasks of this kind, if there is one."""
        return next((kind for kind in self.task_kinds if kind.name == name), None)

    def reactions_to(self, kind: str) -> list[Reaction]:
        """Return the reactions to events of this name."""
        return [reaction for reaction in self.reactions if reaction.event.name == kind]

    def react_immediately(self, ctx: Context, event: type[Event], record: StoredRecord) -> None:
        """Run the immediate reactions to an event, in the same transaction."""
        for reaction in self.immediate_reactions:
            if reaction.event is event:
                reaction.function(ctx, record)

    def operations_on(self, output: type[Output]) -> Sequence[Operation]:
        """Return the operations on records with the noun of this model; several models can share one noun."""
        return self._operations_by_noun.get(output.noun, ())

    def find_actions(self, record: StoredRecord, actor: Actor) -> list[str]:
        """Return the names of the operations that this actor can perform on a record now, through their door."""
        key = (record.output, actor.door, actor.permissions, actor.access, actor.subscribed, actor.toolsets)
        permitted = self._permitted_operations.get(key)
        if permitted is None:
            permitted = self._permitted_operations[key] = [
                (operation.name, operation.blocked_by)
                for operation in self.operations_on(record.output)
                if operation.changes and is_permitted(operation, actor)
            ]
        return [name for name, blocked_by in permitted if blocked_by is None or not blocked_by(record, actor)]

    @cached_property
    def _permitted_operations(self) -> dict[tuple[object, ...], list[tuple[str, BlockedBy | None]]]:
        """Cache the operations that an actor may perform on a kind of record, apart from the rules of each record."""
        return {}

    @cached_property
    def _operations_by_noun(self) -> dict[str, list[Operation]]:
        by_noun: dict[str, list[Operation]] = {}
        for operation in self.operations:
            if record_store := operation.on or operation.offered_on:
                by_noun.setdefault(record_store.output.noun, []).append(operation)
        return by_noun


def check_permission(operation: Operation, actor: Actor) -> None:
    """Raise a refusal if the actor may not perform the operation. Doors call this before they read a body."""
    if not (operation.is_always_offered or actor.has_area(operation.area)):
        areas = [toolset.label for toolset in Toolset if actor.has_area(toolset)]
        raise Forbidden(
            Message("This key or app is limited to these areas: {areas}. Ask an owner or admin.", areas=areas)
        )
    has_permission = actor.can(operation.permission)
    if operation.changes and actor.access is not Access.WRITE:
        if not has_permission:
            raise Forbidden(
                Message(
                    "This credential is read only, and the role {role} can't do this anyway. Ask an owner or admin.",
                    role=Choice(actor.role),
                )
            )
        if not actor.can(Permission.CONNECTIONS_WRITE):
            raise Forbidden(
                Message(
                    "This credential is read only, and the role {role} can't get another. Make the change on the"
                    " website.",
                    role=Choice(actor.role),
                )
            )
        raise Forbidden(Message("This credential is read only. Use one with read and write access to change records."))
    if not has_permission:
        role = Message("Your role is {role}.", role=Choice(actor.role))
        raise Forbidden(Message("You don't have access to this. Ask an owner or admin.", for_programs=role))
    if operation.changes and not actor.subscribed and not operation.open_when_lapsed:
        raise Lapsed


def is_permitted(operation: Operation, actor: Actor) -> bool:
    """Return whether the actor may perform the operation now, through their door."""
    if actor.door is not Door.SYSTEM and actor.door not in operation.doors:
        return False
    try:
        check_permission(operation, actor)
    except Refusal:
        return False
    return True
