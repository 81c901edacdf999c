"""Cards: what the assistant asks its person to confirm or decline. Only a click of that person does either."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from mainstay.business.assistant import store
from mainstay.business.assistant.model import Step, StepKind, Turn, TurnStatus
from mainstay.business.assistant.operations import NOT_CONFIRMED
from mainstay.changes.idempotency import Answer
from mainstay.doors.assistant.turn_runner import TurnRunner
from mainstay.doors.assistant.turn_work import call_key, perform_call
from mainstay.doors.json import decode_json, encode_json
from mainstay.identity.authenticate import actor_of_turn
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.preview import PreviewDiffers
from mainstay.values.message import Message, MessageFormat
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import Conflict, Unauthenticated


class OpenCard(NamedTuple):
    """A card that waits for its person, with what would happen now."""

    step: Step
    operation: Operation
    preview: Answer
    # What the form sends back, so that nothing is done if something else would happen by then.
    token: str


@dataclass(frozen=True, slots=True)
class Cards:
    """The cards of one person, whose messages are rendered in this format."""

    turns: TurnRunner
    person: Actor
    message_format: MessageFormat

    async def open(self, turn: Turn) -> list[OpenCard]:
        """Return the cards of a turn that wait, as they are now."""
        if turn.status is not TurnStatus.WAITING:
            return []
        assistant = await self._read_assistant(turn.id)
        return [await self._open_card(assistant, step) for step in turn.cards]

    async def decide(self, turn_id: str, shown: Mapping[int, str], *, confirmed: bool) -> bool:
        """Perform what these cards show, or nothing of it; return whether all are still as they were shown.

        `shown` has the tokens of the cards by the numbers of their steps.
        """
        are_same = True
        for number, token in shown.items():
            turn = await self._read(turn_id)
            card = next((card for card in turn.cards if card.number == number), None)
            if turn.status is not TurnStatus.WAITING or card is None:
                are_same = False
                continue
            try:
                result = await self._perform(turn, card, token) if confirmed else _DECLINED
            except PreviewDiffers:
                are_same = False
                continue
            await self._write(self._store_result, turn_id, card, result)
        if await self._write(self._go_on, turn_id):
            self.turns.begin(self.person.organisation, turn_id)
        return are_same

    async def _perform(self, turn: Turn, step: Step, token: str) -> dict[str, Any]:
        """Perform what a card shows, as the assistant, and return its result."""
        parts, assistant = self.turns.parts, await self._read_assistant(turn.id)
        card = await self._open_card(assistant, step)
        if not card.operation.is_irreversible and token != card.token:
            raise PreviewDiffers(card.preview)
        confirmation = {"confirmed": True, "previewToken": token} if card.operation.is_irreversible else {}
        key = call_key(turn.id, step.content["said"], step.content["call"])
        details = RequestDetails(key, idempotency_key=key, confirmed_in_office=True, message_format=self.message_format)
        result = await perform_call(parts, assistant, card.operation, step.content["arguments"] | confirmation, details)
        return result | {"decision": "confirmed"}

    async def _open_card(self, assistant: Actor, step: Step) -> OpenCard:
        parts = self.turns.parts
        operation = parts.tools.find_operation(step.content["operation"])
        if operation is None:
            raise Conflict(Message("This can no longer be done."))
        details = RequestDetails("card", dry_run=not operation.is_irreversible, message_format=self.message_format)
        given = encode_json(step.content["arguments"])
        preview = await parts.runner.perform(parts.performer, operation, assistant, given, details)
        return OpenCard(step, operation, preview, _token_of(operation, preview))

    async def _read_assistant(self, turn_id: str) -> Actor:
        try:
            return await self.turns.parts.runner.run_read(self._read_assistant_now, turn_id)
        except Unauthenticated as ended:
            raise Conflict(ended.message or Message("This can no longer be done.")) from None

    def _read_assistant_now(self, turn_id: str) -> Actor:
        with self.turns.parts.performer.database.read_transaction(self.person.organisation) as db:
            return actor_of_turn(db, turn_id)

    async def _read(self, turn_id: str) -> Turn:
        return await self.turns.parts.runner.run_read(self._read_now, turn_id)

    def _read_now(self, turn_id: str) -> Turn:
        with self.turns.parts.performer.database.read_transaction(self.person.organisation) as db:
            db.me = self.person.id
            return store.fetch_own_turn(db, turn_id)

    async def _write(self, function: Any, *values: Any) -> Any:
        return await self.turns.parts.runner.run_change(self.person.organisation, function, *values)

    def _store_result(self, turn_id: str, card: Step, result: Mapping[str, Any]) -> None:
        """Store the result of a card, unless it was decided meanwhile: each call gets one."""
        performer = self.turns.parts.performer
        with performer.database.write_transaction(self.person.organisation) as db:
            if any(one.number == card.number for one in store.fetch_turn(db, turn_id).cards):
                content = {"said": card.content["said"], "call": card.content["call"], **result}
                store.add_step(db, turn_id, StepKind.ANSWERED, content, performer.clock())

    def _go_on(self, turn_id: str) -> bool:
        """Let the assistant go on once nothing waits for its person; return whether it does."""
        performer = self.turns.parts.performer
        with performer.database.write_transaction(self.person.organisation) as db:
            turn = store.fetch_turn(db, turn_id)
            if turn.status is not TurnStatus.WAITING or turn.cards:
                return False
            store.set_status(db, turn_id, TurnStatus.WORKING, performer.clock())
            return True


_DECLINED: dict[str, Any] = {"text": NOT_CONFIRMED, "isError": True, "decision": "declined"}


def _token_of(operation: Operation, preview: Answer) -> str:
    """Return the token of a preview; of what can be undone, a hash of what it says."""
    if operation.is_irreversible:
        token: str = decode_json(preview.body)["previewToken"]
        return token
    return hashlib.sha256(preview.body).hexdigest()
