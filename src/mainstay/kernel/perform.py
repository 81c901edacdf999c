"""The one path through which everything happens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypeVar

import orjson

from mainstay.backing.database import Database, Handle
from mainstay.backing.guard import Guard
from mainstay.backing.together import Together
from mainstay.kernel.catalogue import Catalogue, admit
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.operation import Ahead, Operation
from mainstay.kernel.reaction import Chore, Happening, Reaction, Timer
from mainstay.ledger import audit, events, outbox
from mainstay.ledger.outbox_queue import Work
from mainstay.ledger.replay import Answer, Once, UsedOtherwise
from mainstay.terms.actor import Actor, house
from mainstay.terms.faults import Raw, accept
from mainstay.terms.merging import merge_parts
from mainstay.terms.refusal import Blocked, Conflict, Fault, Forbidden, Invalid, Reason, refuse, unblocking
from mainstay.terms.shapes import Input, Irrevocable, Kept, Page, Shown
from mainstay.terms.wire import Result, encoder, name_hidden, to_answer, to_json, to_record, totals_of
from mainstay.values.moments import Clock

T = TypeVar("T")

# Reads again, inside the transaction of a change, what the actor is allowed to do now, or refuses. Met by identity.
StandingNow = Callable[[Handle, Actor], Actor]


@dataclass(frozen=True, slots=True)
class Stage:
    """Where operations are performed."""

    database: Database
    clock: Clock
    standing: StandingNow
    # Rung after every change: most leave work for the worker.
    ring: Callable[[], None]
    catalogue: Catalogue
    guard: Guard
    base_url: str
    # How many bytes of files each organisation may store.
    storage_limit: int

    def perform(self, operation: Operation, actor: Actor, raw: Raw, envelope: Envelope) -> Answer:
        """Do it, or refuse. An act that cannot be undone is only rehearsed until it is confirmed."""
        admit(operation, actor)
        given = accept(operation.input, raw)
        if not operation.changes:
            # A list for a page is counted as well: that is one statement more.
            glances = operation.glances and not envelope.actions
            opened = self.database.glancing if glances else self.database.reading
            with opened(actor.organisation) as rows:
                ctx = self._context(rows, actor, envelope)
                return self._answer(ctx, _call(ctx, operation, given), operation)
        prepared = operation.ahead(self._ahead(actor, envelope), given) if operation.ahead else None
        if isinstance(given, Irrevocable) and not given.confirmed:
            return self.rehearse(operation, actor, given, envelope, prepared)

        with self.database.changing(actor.organisation) as rows:
            ctx = self._standing_context(operation, rows, actor, envelope, prepared)
            once = _once(ctx, operation, given)
            if once and (earlier := _recall(once, ctx)):
                return earlier
            answer = self._act(ctx, operation, given)
            if once:
                once.remember(rows, answer, ctx.at)
        self.ring()
        return answer

    def rehearse(
        self, operation: Operation, actor: Actor, given: Input, envelope: Envelope, prepared: Any = None
    ) -> Answer:
        """Perform it and take everything back: what would happen, or every reason why not."""
        blockers: tuple[Reason, ...] = ()
        with self.database.changing(actor.organisation, keep=False) as rows:
            ctx = self._standing_context(operation, rows, actor, envelope, prepared)
            try:
                self._act(ctx, operation, given)
            except Blocked as blocked:
                blockers = blocked.reasons
            except Conflict as conflict:
                blockers = (Reason(conflict.text),)
        return Answer(_preview(operation, ctx, blockers), preview=True, unblocks=unblocking(blockers))

    @contextmanager
    def together(self, organisation: str, *, keep: bool = True, apart: bool = True) -> Iterator["Stage"]:
        """A stage on which everything that is done to an organisation counts as one change: all of it, or nothing."""
        with Together.within(self.database, organisation, keep=keep, apart=apart) as one:
            yield replace(self, database=one, ring=lambda: None)
        self.ring()

    def act(
        self, actor: Actor, name: str, given: dict[str, str], function: Callable[[Context], T], envelope: Envelope
    ) -> T:
        """Run what is no operation of the catalogue, and write it down like one; what the function returned.

        The function may add to what the trail says was given.
        """
        with self.database.changing(actor.organisation) as rows:
            ctx = self._context(rows, actor, envelope)
            result = function(ctx)
            self._write_down(ctx, name, orjson.dumps(given).decode())
        self.ring()
        return result

    def react(self, reaction: Reaction, organisation: str, happening: Happening) -> None:
        """Do what follows an event, once."""
        given = orjson.dumps({"event": happening.id}).decode()
        self._by_itself(organisation, reaction.name, given, lambda ctx: reaction.function(ctx, happening))

    def do_chore(self, chore: Chore, work: Work) -> None:
        """Do what a change has left to be done, once."""
        given = orjson.dumps({"work": work.id}).decode()
        self._by_itself(work.organisation, chore.name, given, lambda ctx: chore.function(ctx, work.payload))

    def begin_day(self, timer: Timer, organisation: str, day: date) -> None:
        """Do what is due when an organisation's day begins, once."""
        given = orjson.dumps({"on": day.isoformat()}).decode()
        self._by_itself(organisation, timer.name, given, lambda ctx: timer.function(ctx, day))

    def find_due_timers(self, organisation: str) -> list[Timer]:
        """The timers that have something to do in an organisation; only looks."""
        with self.database.reading(organisation) as rows:
            ctx = self._context(rows, house(organisation), Envelope("find_due_timers"))
            return [timer for timer in self.catalogue.timers if timer.is_due(ctx)]

    def _by_itself(self, organisation: str, name: str, given: str, deed: Callable[[Context], None]) -> None:
        """An act of the house."""
        once = Once(house(organisation).credential, f"{name} {given}", name)
        with self.database.changing(organisation) as rows:
            ctx = self._context(rows, house(organisation), Envelope(f"{name} {given}"))
            if once.recall(rows, ctx.now):
                return
            deed(ctx)
            self._write_down(ctx, name, given)
            once.remember(rows, Answer(b"{}"), ctx.at)
        self.ring()

    def _ahead(self, actor: Actor, envelope: Envelope) -> Ahead:
        def read(function: Callable[[Context], Any]) -> Any:
            with self.database.reading(actor.organisation) as rows:
                return function(self._context(rows, actor, envelope))

        return Ahead(actor, self.guard, read)

    def _context(self, rows: Handle, actor: Actor, envelope: Envelope, prepared: Any = None) -> Context:
        return Context(
            rows, actor, envelope, self.clock, self.catalogue, self.base_url, prepared, storage_limit=self.storage_limit
        )

    def _standing_context(
        self, operation: Operation, rows: Handle, actor: Actor, envelope: Envelope, prepared: Any
    ) -> Context:
        # A role may have been lost, a key revoked or a subscription lapsed since the door was passed.
        current = self.standing(rows, actor)
        admit(operation, current)
        return self._context(rows, current, envelope, prepared)

    def _act(self, ctx: Context, operation: Operation, given: Input) -> Answer:
        # The bytes are made before the commit: a fault in making them leaves nothing changed.
        result = _call(ctx, operation, given)
        answer = self._answer(ctx, result, operation)
        self._write_down(ctx, operation.name, _told(given))
        return answer

    def _write_down(self, ctx: Context, operation: str, given: str) -> None:
        """Keep the events of an act, the letters it leaves, and the act itself; what changed nothing was none."""
        told = []
        for event in ctx.events:
            said = events.Said(event.name, event.data(), followed=bool(self.catalogue.reactions_to(event.name)))
            told.append(events.write(ctx.rows, said, ctx.at, ctx.stamp))
        for letter in ctx.letters:
            outbox.put(ctx.rows, letter, ctx.at)
        if ctx.pen.has_written or told or ctx.letters:
            acted = ctx.at, ctx.stamp, ctx.envelope.id, operation, given
            written = ctx.pen.touched, ctx.pen.changed, ctx.pen.hash_rows()
            audit.write(ctx.rows, audit.Entry(*acted, told, *written))

    def _answer(self, ctx: Context, result: Result, operation: Operation) -> Answer:
        rights = ctx.actor.rights
        if isinstance(result, Kept):
            version = result.version if result.shown.versioned else None
            if ctx.envelope.bare:
                return Answer(to_json(result, rights), version)
            actions = [] if operation.ends else self.catalogue.actions(result, ctx.actor)
            more = _say_more(ctx, operation) if operation.changes else {}
            return Answer(to_answer(result, rights, self.base_url, actions, more), version)
        if isinstance(result, Page) and result.keep:
            return Answer(self._with_actions(ctx.actor, result))
        return Answer(to_json(result, rights))

    def _with_actions(self, actor: Actor, page: Page[Any]) -> bytes:
        records = [page.keep(row) for row in page.rows] if page.keep else []
        model: type[Shown] = page.model
        data = encoder(model, actor.rights)([record.row for record in records])
        for shown, record in zip(data, records, strict=True):
            shown["availableActions"] = self.catalogue.actions(record, actor)
        told = {"object": "list", "data": data, "hasMore": page.has_more, "count": page.count}
        return orjson.dumps(told | totals_of(page) | name_hidden(model, actor.rights, page.rows))


def _say_more(ctx: Context, operation: Operation) -> dict[str, object]:
    """Return what the answer to a change says beside the record."""
    attached = {name: one for name, one in ctx.attached.items() if name in operation.attaches}
    more: dict[str, object] = {name: to_record(one, ctx.actor.rights) for name, one in attached.items()}
    if operation.ends:
        more["deleted"] = True
    # What cannot be undone has warned before, in its preview.
    if ctx.warnings and not operation.is_irreversible:
        more["warnings"] = ctx.warnings
    return more


def _call(ctx: Context, operation: Operation, given: Input) -> Result:
    """The operation itself; what it is done to comes first: seen, as it was expected, and with nothing against it."""
    if operation.needs:
        _check_fields(operation, given, ctx.actor)
    if operation.on is None:
        return operation.function(ctx, given)
    identity = getattr(given, operation.on.id_field) if operation.on.id_field else None
    if operation.makes and identity is None:
        given, _ = merge_parts(given, None)
        return operation.function(ctx, given, None)
    record: Kept = operation.on.fetch(ctx, identity)
    if operation.changes:
        ctx.summary = f"{operation.title}: {record.called}."
        if record.shown.versioned:
            ctx.expect(record.version)
        if operation.repeats and operation.repeats(given, record):
            ctx.summary = f"{record.called}: this was done before, and nothing changes."
            return record
        refuse(operation.unless(record, ctx.actor) if operation.unless else ())
        given, warnings = merge_parts(given, record)
        ctx.warnings.extend(warnings)
    return operation.function(ctx, given, record)


def _check_fields(operation: Operation, given: Input, actor: Actor) -> None:
    """Refuse what not everyone who may do this may send."""
    refused = [name for name in given.model_fields_set if not actor.may(operation.needs.get(name, operation.right))]
    if refused:
        names = ", ".join(sorted(type(given).model_fields[name].alias or name for name in refused))
        deed = "change" if operation.changes else "ask by"
        raise Forbidden(f"The role {actor.role} may not {deed} {names}. Ask an owner or admin.")


def _told(given: Input) -> str:
    """The input as the trail and the replay know it; secrets in it are hidden."""
    return given.__pydantic_serializer__.to_json(given, by_alias=True, exclude_unset=True).decode()


def _once(ctx: Context, operation: Operation, given: Input) -> Once | None:
    key = ctx.envelope.replay_key
    return Once(ctx.actor.credential, key, f"{operation.name}\n{_told(given)}") if key else None


def _recall(once: Once, ctx: Context) -> Answer | None:
    try:
        return once.recall(ctx.rows, ctx.now)
    except UsedOtherwise:
        raise Invalid([Fault(ctx.envelope.replay_field, "was used before for a different request")]) from None


def _preview(operation: Operation, ctx: Context, blockers: tuple[Reason, ...]) -> bytes:
    return orjson.dumps(
        {
            "object": "preview",
            "operation": operation.name,
            "summary": ctx.summary,
            "effects": [*ctx.effects, *(f"Webhooks are told: {event.__doc__}" for event in ctx.events)],
            "warnings": ctx.warnings,
            "blockers": [reason.text for reason in blockers],
        }
    )
