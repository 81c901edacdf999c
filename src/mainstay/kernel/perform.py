"""The one path by which operations, reactions, timers and tasks are performed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from typing import Any, TypeVar

import orjson

from mainstay.changes import audit, confirmations, events, outbox, undo
from mainstay.changes.idempotency import QUESTION_PREFIX, Answer, IdempotentRequest, KeyReused
from mainstay.changes.outbox import EMAIL_LANES
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.changes.undo import UndoRecord
from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.batch_transaction import BatchTransaction
from mainstay.infrastructure.database import Database, DatabaseHandle
from mainstay.kernel.call import call_operation, find_inverses
from mainstay.kernel.catalogue import Catalogue, check_permission
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.operation import Operation, Preparation
from mainstay.kernel.preview import PreviewMaker, reasons_of
from mainstay.kernel.program_links import ProgramLinks
from mainstay.kernel.reaction import DailyTimer, Reaction, ReactionEvent, TaskKind
from mainstay.kernel.undo import make_undo_record
from mainstay.values.ids import new_id
from mainstay.values.message import Message
from mainstay.values.moments import Clock, moment_text
from mainstay.values.reader_language import ENGLISH_ONLY, Languages
from mainstay.vocabulary.actor import Actor, system_actor
from mainstay.vocabulary.agent_json import format_for_agent, format_local_moment
from mainstay.vocabulary.record_json import (
    Result,
    compile_encoder,
    make_hidden_field,
    make_totals_field,
    to_answer,
    to_answer_for_agent,
    to_dict,
    to_json,
    to_json_for_agent,
)
from mainstay.vocabulary.refusal import (
    Conflict,
    Fault,
    Invalid,
    Reason,
)
from mainstay.vocabulary.schemas import Input, IrreversibleInput, Output, PageResult, StoredRecord
from mainstay.vocabulary.validation import RawInput, parse_input

T = TypeVar("T")

# Reads the current permissions of the actor inside the transaction of a change, or refuses. `identity` provides it.
RereadActor = Callable[[DatabaseHandle, Actor, datetime], Actor]


@dataclass(frozen=True, slots=True)
class Performer:
    """Performs operations on a database."""

    database: Database
    clock: Clock
    reread_actor: RereadActor
    # Called after every change, because most changes leave tasks for the worker.
    wake_worker: Callable[[], None]
    catalogue: Catalogue
    guard: AddressGuard
    base_url: str
    # How many bytes of files each organisation may store.
    storage_limit: int
    preview_maker: PreviewMaker
    program_links: ProgramLinks
    # The languages of pages, and of emails to people.
    languages: Languages = ENGLISH_ONLY

    def perform(self, operation: Operation, actor: Actor, raw: RawInput, request: RequestDetails) -> Answer:
        """Perform an operation, or refuse.

        A dry run of a change, and an irreversible operation that is not confirmed, are only previewed.
        """
        check_permission(operation, actor)
        given = parse_input(operation.input, raw)
        if not operation.changes:
            # A list for a page is counted as well, which takes a second statement.
            single_statement = operation.single_statement and not request.with_actions
            open_transaction = self.database.single_read if single_statement else self.database.read_transaction
            with open_transaction(actor.organisation) as db:
                ctx = self._make_context(db, actor, request)
                return self._make_answer(ctx, call_operation(ctx, operation, given).after, operation)
        answer = self._change(operation, actor, given, request)
        if answer.is_preview or answer.awaits_confirmation:
            return answer
        # What is stored for a repeat is the same for all doors, and has no secrets.
        body = answer.body
        if operation.complete_answer:
            body = operation.complete_answer(self.program_links, body)
        if request.agent_format:
            body = format_for_agent(body, operation.output, request.agent_format, operation.extra_records)
        return answer._replace(body=body)

    def _change(self, operation: Operation, actor: Actor, given: Input, request: RequestDetails) -> Answer:
        prepared = operation.prepare(self._make_preparation(actor, request), given) if operation.prepare else None
        if request.dry_run or (isinstance(given, IrreversibleInput) and not given.confirmed):
            return self.preview(operation, actor, given, request, prepared)
        try:
            with self.database.write_transaction(actor.organisation) as db:
                ctx = self._make_current_context(operation, db, actor, request, prepared)
                idempotent = _make_idempotent_request(ctx, operation, given)
                if idempotent and (earlier := _find_earlier_answer(idempotent, ctx)):
                    return earlier
                _use_question(ctx)
                answer = self._perform_as_shown(ctx, operation, given)
                self._check_confirmation(ctx, operation, given)
                if idempotent:
                    idempotent.store_answer(db, answer, ctx.now_text)
        except _WaitsForPerson as waits:
            if not waits.in_office:
                return waits.preview
            return self._request_confirmation(operation, actor, given, request, waits.preview)
        self.wake_worker()
        return answer

    def preview(
        self, operation: Operation, actor: Actor, given: Input, request: RequestDetails, prepared: Any = None
    ) -> Answer:
        """Perform an operation and roll it back; return what would happen, or every reason against it."""
        reasons: Sequence[Reason] = ()
        with self.database.write_transaction(actor.organisation, keep=False) as db:
            ctx = self._make_current_context(operation, db, actor, request, prepared)
            try:
                self._perform_change(ctx, operation, given)
            except Conflict as conflict:
                reasons = reasons_of(conflict)
        return self.preview_maker.make_preview(ctx, operation, given, reasons)

    def decline(self, actor: Actor, request_id: str, question_id: str) -> None:
        """Note that a person declined what they were asked to confirm, so that the question counts no more."""
        with self.database.write_transaction(actor.organisation) as db:
            _use_question(self._make_context(db, actor, RequestDetails(request_id, question_id=question_id)))

    @contextmanager
    def open_batch(
        self, organisation: str, *, commit: bool = True, uses_savepoints: bool = True
    ) -> Iterator["Performer"]:
        """Open a performer whose operations on an organisation share one transaction: all of them happen, or none."""
        with BatchTransaction.open(self.database, organisation, keep=commit, uses_savepoints=uses_savepoints) as batch:
            yield replace(self, database=batch, wake_worker=lambda: None)
        self.wake_worker()

    def perform_function(
        self, actor: Actor, name: str, given: dict[str, str], function: Callable[[Context], T], request: RequestDetails
    ) -> T:
        """Run a function that is not an operation, record it in the audit trail like one, and return its result.

        The function may add to `given`, the input that the audit trail records.
        """
        with self.database.write_transaction(actor.organisation) as db:
            ctx = self._make_context(db, actor, request)
            result = function(ctx)
            self._store_change(ctx, name, orjson.dumps(given).decode())
        self.wake_worker()
        return result

    def run_reaction(self, reaction: Reaction, organisation: str, event: ReactionEvent) -> None:
        """Run a reaction to an event, once."""
        given = orjson.dumps({"event": event.id}).decode()
        self._run_once_as_system(organisation, reaction.name, given, lambda ctx: reaction.function(ctx, event))

    def run_task(self, handler: TaskKind, task: LeasedTask) -> None:
        """Run the handler of a task, once."""
        given = orjson.dumps({"work": task.id}).decode()
        self._run_once_as_system(
            task.organisation, handler.name, given, lambda ctx: handler.function(ctx, task.payload)
        )

    def run_daily_timer(self, timer: DailyTimer, organisation: str, day: date) -> None:
        """Run a timer for the day that begins in an organisation, once."""
        given = orjson.dumps({"on": day.isoformat()}).decode()
        self._run_once_as_system(organisation, timer.name, given, lambda ctx: timer.function(ctx, day))

    def find_due_timers(self, organisation: str) -> list[DailyTimer]:
        """Return the timers that have something to do in an organisation, without running them."""
        with self.database.read_transaction(organisation) as db:
            ctx = self._make_context(db, system_actor(organisation), RequestDetails("find_due_timers"))
            return [timer for timer in self.catalogue.timers if timer.is_due(ctx)]

    def _run_once_as_system(self, organisation: str, name: str, given: str, run: Callable[[Context], None]) -> None:
        """Run a function as the system, unless it has run before with the same name and input."""
        idempotent = IdempotentRequest(system_actor(organisation).credential, f"{name} {given}", name)
        with self.database.write_transaction(organisation) as db:
            ctx = self._make_context(db, system_actor(organisation), RequestDetails(f"{name} {given}"))
            if idempotent.find_answer(db, ctx.now):
                return
            run(ctx)
            self._store_change(ctx, name, given)
            idempotent.store_answer(db, Answer(b"{}"), ctx.now_text)
        self.wake_worker()

    def _make_preparation(self, actor: Actor, request: RequestDetails) -> Preparation:
        def read(function: Callable[[Context], Any]) -> Any:
            with self.database.read_transaction(actor.organisation) as db:
                return function(self._make_context(db, actor, request))

        return Preparation(actor, self.guard, read)

    def _make_context(self, db: DatabaseHandle, actor: Actor, request: RequestDetails, prepared: Any = None) -> Context:
        return Context(
            db,
            actor,
            request,
            self.clock,
            self.catalogue,
            self.base_url,
            prepared,
            storage_limit=self.storage_limit,
            program_links=self.program_links,
            languages=self.languages,
        )

    def _make_current_context(
        self, operation: Operation, db: DatabaseHandle, actor: Actor, request: RequestDetails, prepared: Any
    ) -> Context:
        # Since the door admitted the actor, a role may be lost, a key revoked or a subscription lapsed.
        current = self.reread_actor(db, actor, self.clock())
        check_permission(operation, current)
        return self._make_context(db, current, request, prepared)

    def _check_confirmation(self, ctx: Context, operation: Operation, given: Input) -> None:
        """Roll back what the person of the program has to confirm.

        If they chose so or can be asked, that is every change that cannot be undone, itself or within an undo. If the
        program has a limit, it is every change of more than that amount. For both programs, it is every change that
        gives someone access, because they would have none of these limits.
        """
        limit = ctx.actor.amount_limit
        is_irreversible = operation.is_irreversible or ctx.needs_person
        waits = (ctx.actor.confirms_in_office and is_irreversible) or (limit is not None and ctx.committed > limit)
        if operation.gives_access:
            waits |= ctx.actor.confirms_in_office or limit is not None
        if waits and not ctx.request.confirmed_in_office:
            raise _WaitsForPerson(self.preview_maker.make_preview(ctx, operation, given, ()), in_office=True)
        if ctx.needs_person and ctx.request.asks_person:
            raise _WaitsForPerson(self.preview_maker.make_preview(ctx, operation, given, ()), in_office=False)

    def _request_confirmation(
        self, operation: Operation, actor: Actor, given: Input, request: RequestDetails, preview: Answer
    ) -> Answer:
        """Store an operation until its person confirms it in the office, and return where they do that."""
        confirmation_id, expires_at = new_id("confirmation"), moment_text(self.clock() + confirmations.LIFETIME)
        requested = confirmations.RequestedOperation(
            actor.credential, actor.door, operation.name, _input_json(given), request.idempotency_key
        )
        with self.database.write_transaction(actor.organisation) as db:
            if confirmations.count_waiting(db, actor.id, actor.credential) >= confirmations.MAX_WAITING:
                raise Conflict(
                    Message(
                        "{count} operations already wait until their person confirms them on the website. Ask for more"
                        " once some are confirmed; each waits for a day at most.",
                        count=confirmations.MAX_WAITING,
                    )
                )
            confirmations.insert_confirmation(db, confirmation_id, actor.id, requested, expires_at)
        body = {
            "object": "confirmation",
            "id": confirmation_id,
            "url": f"{self.base_url}/confirm/{confirmation_id}",
            "expiresAt": format_local_moment(expires_at, request.agent_format.time_zone)
            if request.agent_format
            else expires_at,
            "preview": orjson.Fragment(preview.body),
        }
        return Answer(orjson.dumps(body), awaits_confirmation=True)

    def _perform_as_shown(self, ctx: Context, operation: Operation, given: Input) -> Answer:
        """Perform a change. If it was confirmed with the token of a preview, refuse it if that would differ now."""
        token = ctx.request.preview_token
        if token is None and isinstance(given, IrreversibleInput):
            token = given.preview_token
        if token is None:
            return self._perform_change(ctx, operation, given)
        try:
            answer = self._perform_change(ctx, operation, given)
        except Conflict as conflict:
            self.preview_maker.check_token(token, ctx, operation, given, reasons_of(conflict))
            raise
        self.preview_maker.check_token(token, ctx, operation, given, ())
        return answer

    def _perform_change(self, ctx: Context, operation: Operation, given: Input) -> Answer:
        # The answer is encoded before the commit, so that a failure to encode it changes nothing.
        act = call_operation(ctx, operation, given)
        answer = self._make_answer(ctx, act.after, operation)
        inverses = find_inverses(operation, act) if operation.undone_by else ()
        make_record = partial(make_undo_record, ctx, inverses, act) if inverses else None
        change = self._store_change(ctx, operation.name, _input_json(given), make_record)
        return answer if isinstance(inverses, Message) or not inverses else answer._replace(undoable_change=change)

    def _store_change(
        self, ctx: Context, operation: str, given: str, make_record: Callable[[list[str]], UndoRecord] | None = None
    ) -> int | None:
        """Store the events, the tasks and the audit entry of an operation; nothing if it changed nothing.

        `make_record` returns what is stored to undo it, given the ids of the tasks that send emails. Return the number
        of the change.
        """
        event_ids = []
        for event in ctx.events:
            new_event = events.NewEvent(
                event.name, event.to_payload(), has_reactions=bool(self.catalogue.reactions_to(event.name))
            )
            event_ids.append(events.write_event(ctx.db, new_event, ctx.now_text, ctx.stamp))
        emails = []
        for task in ctx.tasks:
            task_id = outbox.add_task(ctx.db, task, ctx.now_text)
            if task.lane in EMAIL_LANES:
                emails.append(task_id)
        if ctx.writer.has_written or event_ids or ctx.tasks:
            action = ctx.now_text, ctx.stamp, ctx.request.id, operation, given
            changes = ctx.writer.touched, ctx.writer.changed_fields, ctx.writer.hash_rows()
            sequence = audit.write_entry(ctx.db, audit.AuditEntry(*action, event_ids, *changes))
            if make_record:
                undo.store(ctx.db, sequence, make_record(emails), ctx.now_text)
            return sequence
        return None

    def _make_answer(self, ctx: Context, result: Result, operation: Operation) -> Answer:
        permissions = ctx.actor.permissions
        # The answer to a change is stored for a repeat, and formatted afterwards.
        agent_format = None if operation.changes else ctx.request.agent_format
        if isinstance(result, StoredRecord):
            version = result.version if result.output.is_versioned else None
            if ctx.request.record_only:
                return Answer(to_json(result, permissions), version)
            actions = [] if operation.deletes else self.catalogue.find_actions(result, ctx.actor)
            if agent_format:
                return Answer(to_answer_for_agent(result, permissions, self.base_url, actions, agent_format), version)
            extra_fields = _extra_answer_fields(ctx, operation) if operation.changes else {}
            return Answer(to_answer(result, permissions, self.base_url, actions, extra_fields), version)
        if isinstance(result, PageResult) and result.from_row:
            return Answer(self._make_actions_page(ctx.actor, result))
        if agent_format:
            return Answer(to_json_for_agent(result, operation.output, permissions, agent_format))
        return Answer(to_json(result, permissions))

    def _make_actions_page(self, actor: Actor, page: PageResult[Any]) -> bytes:
        records = [page.from_row(row) for row in page.rows] if page.from_row else []
        model: type[Output] = page.model
        data = compile_encoder(model, actor.permissions)([record.row for record in records])
        for fields, record in zip(data, records, strict=True):
            fields["availableActions"] = self.catalogue.find_actions(record, actor)
        envelope = {"object": "list", "data": data, "hasMore": page.has_more, "count": page.count}
        return orjson.dumps(envelope | make_totals_field(page) | make_hidden_field(model, actor.permissions, page.rows))


class _WaitsForPerson(Exception):
    """Rolls back an operation that the person of the program has to confirm, in the office or where they are asked."""

    def __init__(self, preview: Answer, *, in_office: bool) -> None:
        super().__init__()
        self.preview = preview
        self.in_office = in_office


def _extra_answer_fields(ctx: Context, operation: Operation) -> dict[str, object]:
    """Return what the answer to a change contains besides the fields of the record."""
    extra_records = {name: one for name, one in ctx.extra_records.items() if name in operation.extra_records}
    extra_fields: dict[str, object] = {name: to_dict(one, ctx.actor.permissions) for name, one in extra_records.items()}
    if operation.deletes:
        extra_fields["deleted"] = True
    # An irreversible operation has shown its warnings in its preview.
    if ctx.warnings and not operation.is_irreversible:
        extra_fields["warnings"] = [ctx.request.message_format.render(warning) for warning in ctx.warnings]
    return extra_fields


def _input_json(given: Input) -> str:
    """Return the input as the audit trail and the idempotency fingerprint have it, with secrets hidden."""
    return given.__pydantic_serializer__.to_json(given, by_alias=True, exclude_unset=True).decode()


def _make_idempotent_request(ctx: Context, operation: Operation, given: Input) -> IdempotentRequest | None:
    key = ctx.request.idempotency_key
    return IdempotentRequest(ctx.actor.credential, key, f"{operation.name}\n{_input_json(given)}") if key else None


def _use_question(ctx: Context) -> None:
    """Refuse a confirmation whose question was replied to before; otherwise note that it is replied to."""
    if ctx.request.question_id is None:
        return
    once = IdempotentRequest(ctx.actor.credential, QUESTION_PREFIX + ctx.request.question_id, "question")
    if once.find_answer(ctx.db, ctx.now):
        raise Conflict(Message("This confirmation was used before. Nothing was done."))
    once.store_answer(ctx.db, Answer(b"{}"), ctx.now_text)


def _find_earlier_answer(idempotent: IdempotentRequest, ctx: Context) -> Answer | None:
    try:
        return idempotent.find_answer(ctx.db, ctx.now)
    except KeyReused:
        problem = Message("was already used for a different request")
        raise Invalid([Fault(ctx.request.idempotency_field, problem)]) from None
