"""The work on one turn: ask the model, make its calls, and store each step whole, until there is an answer.

All that decides what comes next is stored. So any process can go on where another one stopped: what was done is not
done again, because each change is made in the transaction that stores its result.
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from mainstay.business.assistant import store
from mainstay.business.assistant.model import (
    TOO_LONG,
    CallPlace,
    Conversation,
    StepKind,
    Turn,
    TurnStatus,
    is_too_long,
)
from mainstay.business.assistant.store import Cost, LeaseLost
from mainstay.business.organisation.assistant_settings import AssistantSettings, AssistantSource
from mainstay.doors.assistant.assistant_parts import AssistantParts
from mainstay.doors.assistant.models.client import stream_reply
from mainstay.doors.assistant.models.conversation import Finished, ModelRequest, TextDelta
from mainstay.doors.assistant.models.model_problem import ModelProblem
from mainstay.doors.assistant.models.model_settings import ModelSettings
from mainstay.doors.assistant.models.token_estimate import estimate_request_tokens, estimate_text_tokens
from mainstay.doors.assistant.prompt import (
    Surroundings,
    build_instructions,
    build_messages,
    choose_tools,
    describe_tools,
)
from mainstay.doors.assistant.tool_calls import (
    decode_arguments,
    find_tool,
    name_call,
    needs_person,
    perform_change,
    perform_read,
    preview_call,
)
from mainstay.identity.authenticate import actor_of_turn
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.infrastructure.deadline import reset_deadline
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.values.message import Message
from mainstay.values.moments import local_date
from mainstay.values.stored_message import dump_message
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.agent_json import AgentFormat
from mainstay.vocabulary.refusal import NotFound, Unauthenticated

T = TypeVar("T")

MAX_MODEL_CALLS, MAX_TOOL_CALLS, MAX_SECONDS, MAX_OUTPUT_TOKENS = 25, 40, 300, 4_096
# How often a model is asked again if its server fails for a moment, and the pauses before.
_PAUSES = (1.0, 4.0)
_LONGEST_PAUSE = 20.0
_HEARTBEAT_SECONDS = 5.0

_OFF = Message("The assistant was turned off.")
_NO_MODEL = Message("The assistant isn't set up. An owner or admin can do this in Settings → Assistant.")
_MODEL_LIMIT = Message("The answer needed more than {count} steps. Ask for less at once.", count=MAX_MODEL_CALLS)
_TOOL_LIMIT = Message(
    "The assistant can look up or change {count} things for one question. Ask for less at once.",
    count=MAX_TOOL_CALLS,
)
_TIME_LIMIT = Message("The answer took more than {count} minutes. Ask for less at once.", count=MAX_SECONDS // 60)
_PERSON_LIMIT = Message("You have reached your limit for today. The assistant answers again tomorrow.")
_MONTH_LIMIT = Message("Your organisation has reached its limit for this month. An owner or admin can raise it.")
_FAULT = Message("Something went wrong on our side. Ask again.")
_CUT_OFF = Message("The answer was too long and ends here.")


class EndOfTurn(Exception):
    """The turn ends before there is an answer."""

    def __init__(self, status: TurnStatus, problem: Message | None = None) -> None:
        super().__init__()
        self.status = status
        self.problem = problem


class TurnState(NamedTuple):
    """All that decides how a turn goes on."""

    conversation: Conversation
    turn: Turn
    actor: Actor
    settings: AssistantSettings
    surroundings: Surroundings

    @property
    def day(self) -> str:
        """Today's date in the organisation."""
        return local_date(self.surroundings.now, self.surroundings.time_zone).isoformat()


@dataclass(slots=True)
class ArrivingReply:
    """What has arrived of a reply."""

    # Whether the server has accepted the request.
    has_begun: bool = False
    texts: list[str] = field(default_factory=list)


def find_reached_limit(settings: AssistantSettings, usage: tuple[int, int]) -> Message | None:
    """Return why nothing more can be asked: the tokens that a person used today, or everyone this month."""
    today, month = usage
    if today >= settings.assistant_daily_tokens:
        return _PERSON_LIMIT
    return _MONTH_LIMIT if month >= settings.assistant_monthly_tokens else None


class TurnWork:
    """The work of this process on one turn."""

    def __init__(self, parts: AssistantParts, organisation: str, turn_id: str) -> None:
        self._parts = parts
        self._organisation = organisation
        self._turn_id = turn_id
        self._lease = secrets.token_hex(8)
        self._began = monotonic()
        self._stopping = asyncio.Event()
        self._reserved_tokens = 0

    async def run(self) -> None:
        """Work on the turn until it has ended or waits for its person, unless another process does already."""
        if not await self._write(store.take_lease, self._turn_id, self._lease, self._parts.performer.clock()):
            return
        try:
            await self._work()
        except EndOfTurn as end:
            await self._end(end.status, end.problem)
        except LeaseLost:
            # Another process goes on with it, or it was ended.
            return
        finally:
            self._parts.live.publish(self._turn_id)

    def stop(self) -> None:
        """Notice at once that its person wants the turn to stop."""
        self._stopping.set()

    async def release(self) -> None:
        """Let another process go on at once, because this one ends."""
        with suppress(LeaseLost):
            await self._write(store.release_lease, self._turn_id, self._lease, self._parts.performer.clock())

    async def fail(self) -> None:
        """End the turn because of a fault of ours."""
        await self._end(TurnStatus.FAILED, _FAULT)

    async def _work(self) -> None:
        while True:
            reset_deadline()
            state = await self._read_state()
            self._check_limits(state)
            if calls := state.turn.pending_calls:
                await self._make_call(state, calls[0])
            elif state.turn.cards:
                raise EndOfTurn(TurnStatus.WAITING)
            elif (said := state.turn.last_said) and not said.content["calls"]:
                raise EndOfTurn(TurnStatus.DONE, _CUT_OFF if said.content["reason"] == "length" else None)
            else:
                await self._ask_model(state)
            self._parts.live.publish(self._turn_id)

    async def _read_state(self) -> TurnState:
        try:
            return await self._parts.runner.run_read(self._read)
        except (Unauthenticated, NotFound) as refusal:
            raise EndOfTurn(TurnStatus.STOPPED, Message("{reason}", reason=refusal.text)) from None

    def _read(self) -> TurnState:
        performer = self._parts.performer
        with performer.database.read_transaction(self._organisation) as db:
            turn = store.fetch_turn(db, self._turn_id)
            actor = actor_of_turn(db, self._turn_id)
            conversation = store.read_conversation(db, turn.conversation_id)
            settings = store.read_assistant_settings(db)
            name, zone = store.read_organisation_names(db)
            here = Surroundings(actor, name, zone, performer.clock(), performer.base_url)
        return TurnState(conversation, turn, actor, settings, here)

    def _check_limits(self, state: TurnState) -> None:
        turn, settings = state.turn, state.settings
        if turn.stop_requested:
            raise EndOfTurn(TurnStatus.STOPPED)
        if settings.assistant_source is AssistantSource.OFF:
            raise EndOfTurn(TurnStatus.STOPPED, _OFF)
        if turn.worked_ms / 1000 > MAX_SECONDS:
            raise EndOfTurn(TurnStatus.FAILED, _TIME_LIMIT)
        if is_too_long(state.conversation.turns):
            raise EndOfTurn(TurnStatus.FAILED, TOO_LONG)

    def _check_model_limits(self, state: TurnState) -> ModelSettings:
        if state.turn.model_calls >= MAX_MODEL_CALLS:
            raise EndOfTurn(TurnStatus.FAILED, _MODEL_LIMIT)
        model = self._parts.choose_model(self._organisation, state.settings)
        if model is None:
            raise EndOfTurn(TurnStatus.FAILED, _NO_MODEL)
        return model

    async def _ask_model(self, state: TurnState) -> None:
        """Ask the model for its next reply, and store it whole."""
        model, request = self._check_model_limits(state), self._build_request(state)
        ends_at = asyncio.get_running_loop().time() + MAX_SECONDS - state.turn.worked_ms / 1000
        for pause in (*_PAUSES, None):
            await self._write(self._reserve_tokens, state, estimate_request_tokens(request) + MAX_OUTPUT_TOKENS)
            arriving = ArrivingReply()
            try:
                async with asyncio.timeout_at(ends_at):
                    finished = await self._stream(model, request, arriving)
            except TimeoutError:
                await self._store_partial(state, request, arriving)
                raise EndOfTurn(TurnStatus.FAILED, _TIME_LIMIT) from None
            except ModelProblem as problem:
                if arriving.texts:
                    await self._store_partial(state, request, arriving)
                elif not arriving.has_begun:
                    await self._write(self._settle_tokens, state, 0)
                if pause is None or not problem.is_temporary or arriving.texts:
                    raise EndOfTurn(TurnStatus.FAILED, problem.message) from None
                await asyncio.sleep(max(pause, min(problem.retry_after or 0, _LONGEST_PAUSE)))
                continue
            except EndOfTurn:
                # The person stopped it: what was written so far stays.
                await self._store_partial(state, request, arriving)
                raise
            break
        reply = finished.reply
        content = {
            "text": reply.text,
            # Calls of a reply that was cut may be incomplete.
            "calls": [] if finished.reason == "length" else [list(call) for call in reply.calls],
            "raw": reply.raw,
            "reason": finished.reason,
        }
        await self._store(
            state, StepKind.SAID, content, Cost(model_calls=1, tokens=finished.input_tokens + finished.output_tokens)
        )

    def _reserve_tokens(self, db: DatabaseHandle, state: TurnState, tokens: int) -> None:
        """Count the tokens of a reply beforehand, up to those that are left of the day and of the month.

        So several questions at once do not each exceed what is left. Once the reply is there, what it really took is
        counted instead. If it is of no use, or if its conversation is deleted meanwhile, this counts: the model has
        read the question all the same.
        """
        settings, person = state.settings, state.conversation.person_id
        today, month = usage = store.read_usage(db, person, state.day)
        if limit := find_reached_limit(settings, usage):
            raise EndOfTurn(TurnStatus.FAILED, limit)
        left = min(settings.assistant_daily_tokens - today, settings.assistant_monthly_tokens - month)
        self._reserved_tokens = min(tokens, left)
        store.add_usage(db, person, state.day, self._reserved_tokens)

    def _settle_tokens(self, db: DatabaseHandle, state: TurnState, tokens: int) -> None:
        """Count these tokens instead of those that were reserved."""
        store.add_usage(db, state.conversation.person_id, state.day, tokens - self._reserved_tokens)

    async def _stream(self, model: ModelSettings, request: ModelRequest, arriving: ArrivingReply) -> Finished:
        """Return the reply of the model. Meanwhile, keep the lease, and end if the person wants to stop."""
        reply = asyncio.create_task(self._receive(model, request, arriving))
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            while not reply.done():
                await asyncio.wait({reply, stopping}, timeout=_HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if not reply.done() and await self._renew_lease():
                    raise EndOfTurn(TurnStatus.STOPPED)
            return reply.result()
        finally:
            stopping.cancel()
            reply.cancel()
            with suppress(asyncio.CancelledError, ModelProblem):
                await reply

    async def _receive(self, model: ModelSettings, request: ModelRequest, arriving: ArrivingReply) -> Finished:
        async with aclosing(stream_reply(self._parts.client, model, request)) as events:
            async for event in events:
                arriving.has_begun = True
                if isinstance(event, Finished):
                    return event
                if isinstance(event, TextDelta):
                    arriving.texts.append(event.text)
                    self._parts.live.publish(self._turn_id, event.text)
        raise ModelProblem(Message("The model's answer broke off."), is_temporary=True)

    def _build_request(self, state: TurnState) -> ModelRequest:
        turns = state.conversation.turns
        here = state.surroundings
        tools = describe_tools(self._parts.tools, here.actor.permissions, here.actor.access)
        context_tokens = state.settings.assistant_context_tokens
        return ModelRequest(
            build_instructions(self._parts.tool_instructions, here, state.turn.record_id),
            build_messages(turns, context_tokens),
            choose_tools(tools, context_tokens, state.turn.question),
            MAX_OUTPUT_TOKENS,
        )

    async def _store_partial(self, state: TurnState, request: ModelRequest, arriving: ArrivingReply) -> None:
        """Store what the model had written when it was interrupted, and count roughly what it read and wrote."""
        text = "".join(arriving.texts)
        tokens = estimate_request_tokens(request) + estimate_text_tokens(len(text))
        content: dict[str, Any] = {"text": text, "calls": [], "raw": None, "reason": "end"}
        await self._store(state, StepKind.SAID, content, Cost(model_calls=1, tokens=tokens))

    async def _make_call(self, state: TurnState, place: CallPlace) -> None:
        """Make a call of the model, or ask its person; store the result or the question."""
        if state.turn.tool_calls >= MAX_TOOL_CALLS:
            raise EndOfTurn(TurnStatus.FAILED, _TOOL_LIMIT)
        step = next(step for step in state.turn.steps if step.number == place.said)
        _id, name, arguments_text = step.content["calls"][place.call]
        operation = find_tool(self._parts, state.actor, name)
        arguments = decode_arguments(arguments_text)
        if operation is None or isinstance(arguments, str):
            text = arguments if isinstance(arguments, str) else f"There is no tool {name[:100]!r}."
            await self._store_result(state, place, {"text": text, "isError": True})
        elif needs_person(operation, arguments, state.conversation):
            await self._ask_person(state, operation, arguments, place)
        elif operation.changes:
            agent_format = AgentFormat(state.actor.time_zone)
            details = RequestDetails(name_call(self._turn_id, place), agent_format=agent_format)
            await self._run_change(self._change_now, state, operation, arguments, place, details)
        else:
            details = RequestDetails(name_call(self._turn_id, place))
            result = await perform_read(self._parts, state.actor, operation, arguments, details)
            await self._store_result(state, place, result)

    def _change_now(
        self,
        state: TurnState,
        operation: Operation,
        arguments: Mapping[str, Any],
        place: CallPlace,
        details: RequestDetails,
    ) -> None:
        """Make a change and store its result, both or neither, and only while the turn is this process's."""
        performer, organisation = self._parts.performer, self._organisation
        with performer.open_batch(organisation) as batch, batch.database.read_transaction(organisation) as db:
            store.add_cost(db, self._turn_id, self._lease, Cost(tool_calls=1))
            result = perform_change(replace(self._parts, performer=batch), state.actor, operation, arguments, details)
            self._store_now(db, state, StepKind.ANSWERED, {**place._asdict(), **result}, Cost())

    async def _ask_person(
        self, state: TurnState, operation: Operation, arguments: dict[str, Any], place: CallPlace
    ) -> None:
        """Show the person what would happen, so that they confirm or decline it."""
        content: dict[str, Any] = await preview_call(self._parts, state.actor, operation, arguments)
        kind = StepKind.ASKED if "operation" in content else StepKind.ANSWERED
        await self._store(state, kind, {**place._asdict(), **content}, Cost(tool_calls=1))

    async def _store_result(self, state: TurnState, place: CallPlace, result: Mapping[str, Any]) -> None:
        await self._store(state, StepKind.ANSWERED, {**place._asdict(), **result}, Cost(tool_calls=1))

    async def _store(self, state: TurnState, kind: StepKind, content: Mapping[str, Any], cost: Cost) -> None:
        await self._write(self._store_now, state, kind, content, cost)

    def _store_now(
        self, db: DatabaseHandle, state: TurnState, kind: StepKind, content: Mapping[str, Any], cost: Cost
    ) -> None:
        now = monotonic()
        store.add_cost(db, self._turn_id, self._lease, cost._replace(worked_ms=int((now - self._began) * 1000)))
        store.add_step(db, self._turn_id, kind, content, self._parts.performer.clock())
        if cost.tokens:
            self._settle_tokens(db, state, cost.tokens)
        self._began = now

    async def _end(self, status: TurnStatus, problem: Message | None) -> None:
        text = dump_message(problem) if problem else None

        def end(db: DatabaseHandle) -> None:
            store.add_cost(db, self._turn_id, self._lease, Cost())
            store.set_status(db, self._turn_id, status, self._parts.performer.clock(), text)

        with suppress(LeaseLost):
            await self._write(end)

    async def _renew_lease(self) -> bool:
        """Show that this process still works on the turn; return whether its person wants to stop."""
        return await self._write(store.renew_lease, self._turn_id, self._lease, self._parts.performer.clock())

    async def _write(self, function: Callable[..., T], *values: Any) -> T:
        return await self._run_change(self._write_now, function, *values)

    async def _run_change(self, function: Callable[..., T], *values: Any) -> T:
        reset_deadline()
        return await self._parts.runner.run_change(self._organisation, function, *values)

    def _write_now(self, function: Callable[..., T], *values: Any) -> T:
        with self._parts.performer.database.write_transaction(self._organisation) as db:
            return function(db, *values)
