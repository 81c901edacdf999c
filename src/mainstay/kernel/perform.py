"""The one path through which everything happens."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from mainstay.backing.database import Database, Handle
from mainstay.kernel import audit, outbox, replay
from mainstay.kernel.actor import Actor
from mainstay.kernel.context import Context, Request
from mainstay.kernel.faults import Raw, accept
from mainstay.kernel.operation import Operation
from mainstay.kernel.refusal import Blocked, Forbidden, Lapsed
from mainstay.kernel.replay import Answer
from mainstay.kernel.rights import Access
from mainstay.kernel.shapes import Input, Irrevocable, One
from mainstay.kernel.wire import Result, to_json
from mainstay.values.moments import Clock

# Reads again, inside the transaction of a change, what the actor is allowed to do now, or refuses. Met by identity.
Standing = Callable[[Handle, Actor], Actor]


@dataclass(frozen=True, slots=True)
class Stage:
    """Where operations are performed."""

    database: Database
    clock: Clock
    standing: Standing
    # Rung after every change: most leave work for the worker.
    ring: Callable[[], None]
    # By operation, what is asked of the world outside before its change begins: nothing slow while others wait.
    ahead: Mapping[str, Callable[[Any], None]] = field(default_factory=dict)

    def perform(self, operation: Operation, actor: Actor, raw: Raw, request: Request) -> Answer:
        """Do it, or refuse. An act that cannot be undone is only rehearsed until it is confirmed."""
        admit(operation, actor)
        given = accept(operation.input, raw)
        if not operation.changes:
            opened = self.database.glancing if operation.glances else self.database.reading
            with opened(actor.organisation) as rows:
                result = operation.function(Context(rows, actor, request, self.clock), given)
            return _answer(result)
        if operation.name in self.ahead:
            self.ahead[operation.name](given)
        if isinstance(given, Irrevocable) and not given.confirmed:
            return self.rehearse(operation, actor, given, request)

        with self.database.changing(actor.organisation) as rows:
            ctx = self._context(operation, rows, actor, request)
            if request.replay_key and (earlier := replay.recall(ctx, operation.name, given)):
                return earlier
            answer = _act(ctx, operation, given)
            if request.replay_key:
                replay.remember(ctx, operation.name, given, answer)
        self.ring()
        return answer

    def rehearse(self, operation: Operation, actor: Actor, given: Input, request: Request) -> Answer:
        """Perform it and take everything back: what would happen, or every reason why not."""
        blockers: tuple[str, ...] = ()
        with self.database.changing(actor.organisation, keep=False) as rows:
            ctx = self._context(operation, rows, actor, request)
            try:
                _act(ctx, operation, given)
            except Blocked as blocked:
                blockers = blocked.blockers
        return Answer(_preview(operation, ctx, blockers), preview=True)

    def _context(self, operation: Operation, rows: Handle, actor: Actor, request: Request) -> Context:
        # A role may have been lost, a key revoked or a subscription lapsed since the door was passed.
        current = self.standing(rows, actor)
        admit(operation, current)
        return Context(rows, current, request, self.clock)


def admit(operation: Operation, actor: Actor) -> None:
    """Whether the actor may do this at all; a door asks before it reads a body."""
    if operation.changes and actor.access is not Access.WRITE:
        raise Forbidden("This credential is read only. Use one with read and write access to change records.")
    if not actor.may(operation.right):
        raise Forbidden(f"The role {actor.role} may not do this ({operation.right}). Ask an owner or admin.")
    if operation.changes and not actor.subscribed and not operation.open_when_lapsed:
        raise Lapsed


def _act(ctx: Context, operation: Operation, given: Input) -> Answer:
    # The bytes are made before the commit: a fault in making them leaves nothing changed.
    answer = _answer(operation.function(ctx, given))
    events = outbox.write(ctx)
    audit.write(ctx, operation.name, given, events)
    return answer


def _answer(result: Result) -> Answer:
    version = result.version if isinstance(result, One) and result.model.versioned else None
    return Answer(to_json(result), version)


def _preview(operation: Operation, ctx: Context, blockers: tuple[str, ...]) -> bytes:
    return orjson.dumps(
        {
            "object": "preview",
            "operation": operation.name,
            "summary": ctx.summary,
            "effects": [*ctx.effects, *(f"The event {event.name} goes out." for event in ctx.events)],
            "warnings": ctx.warnings,
            "blockers": blockers,
        }
    )
