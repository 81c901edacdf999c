"""Cards: what the assistant asks its person to confirm or decline. Only a click of that person does either."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from mainstay.business.assistant import store
from mainstay.business.assistant.model import Step, StepKind, Turn, TurnStatus
from mainstay.business.assistant.operations import NOT_CONFIRMED
from mainstay.changes.idempotency import Answer
from mainstay.doors.assistant.card_warnings import PreviewedCall, find_card_warnings
from mainstay.doors.assistant.tool_calls import name_call, perform_change
from mainstay.doors.assistant.turn_runner import TurnRunner
from mainstay.doors.json import decode_json, encode_json
from mainstay.identity.authenticate import actor_of_turn
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.kernel.preview import PreviewDiffers
from mainstay.values.message import Message, MessageFormat
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.agent_json import AgentFormat
from mainstay.vocabulary.refusal import Conflict, Unauthenticated

T = TypeVar("T")


class OpenCard(NamedTuple):
    """A card that waits for its person, with what would happen now."""

    step: Step
    operation: Operation
    preview: Answer
    # What the form sends back, so that nothing is done if something else would happen by then.
    token: str
    # What the assistant itself arranged, until now.
    warnings: list[Message]
    # Whether the same would happen without the cards before it.
    stands_alone: bool


@dataclass(frozen=True, slots=True)
class Cards:
    """The cards of one person, whose messages are rendered in this format."""

    turns: TurnRunner
    person: Actor
    message_format: MessageFormat

    async def open(self, turn: Turn) -> list[OpenCard]:
        """Return the cards of a turn that wait, as they are now: what would happen if all are confirmed in order."""
        if turn.status is not TurnStatus.WAITING:
            return []
        return await self._write(self._open_now, turn)

    async def decide(self, turn_id: str, shown: Mapping[int, str], *, confirmed: bool) -> bool:
        """Perform what each of these cards shows, in order; return whether all are still as they were shown.

        `shown` has the tokens of the cards by the numbers of their steps.
        """
        decided = [
            await self._write(self._decide_now, turn_id, number, token if confirmed else None)
            for number, token in sorted(shown.items())
        ]
        await self._write(self._go_on, turn_id)
        return all(decided)

    def _decide_now(self, turn_id: str, number: int, token: str | None) -> bool:
        """Do what a card shows if there is a token, and store the result, both or neither.

        Return False if the card was decided meanwhile, or if something else would happen now.
        """
        performer, organisation = self.turns.parts.performer, self.person.organisation
        try:
            with performer.open_batch(organisation) as batch, batch.database.read_transaction(organisation) as db:
                turn = self._fetch_own(db, turn_id)
                card = next((card for card in turn.cards if card.number == number), None)
                if turn.status is not TurnStatus.WAITING or card is None:
                    return False
                result = _DECLINED if token is None else self._perform(batch, db, turn_id, card, token)
                store.add_step(db, turn_id, StepKind.ANSWERED, {**card.place._asdict(), **result}, performer.clock())
        except PreviewDiffers:
            return False
        return True

    def _perform(self, batch: Performer, db: DatabaseHandle, turn_id: str, card: Step, token: str) -> dict[str, Any]:
        """Perform what a card shows, as the assistant, and return its result."""
        assistant, operation = _read_assistant(db, turn_id), self._find_operation(card)
        arguments = card.content["arguments"]
        details = RequestDetails(
            name_call(turn_id, card.place),
            confirmed_in_office=True,
            message_format=self.message_format,
            agent_format=AgentFormat(assistant.time_zone),
        )
        if operation.is_irreversible:
            arguments |= {"confirmed": True, "previewToken": token}
        else:
            preview = self._preview(batch, assistant, card)
            if _find_token(preview):
                details = details._replace(preview_token=token)
            elif token != _hash_of(preview):
                raise PreviewDiffers(preview)
        result = perform_change(replace(self.turns.parts, performer=batch), assistant, operation, arguments, details)
        return result | {"decision": "confirmed"}

    def _open_now(self, turn: Turn) -> list[OpenCard]:
        """Try the cards one after the other, as they are confirmed, and roll all of it back.

        Two invoices, for example, would be sent under two numbers.
        """
        performer, organisation = self.turns.parts.performer, self.person.organisation
        with (
            performer.open_batch(organisation, commit=False) as batch,
            batch.database.read_transaction(organisation) as db,
        ):
            assistant = _read_assistant(db, turn.id)
            conversation = store.read_conversation(db, turn.conversation_id)
            changes = [change for one in conversation.turns for change in one.undoable_changes]
            cards: list[OpenCard] = []
            alone = [self._preview(batch, assistant, step) for step in turn.cards]
            for step, preview_alone in zip(turn.cards, alone, strict=True):
                if cards:
                    self._perform(batch, db, turn.id, cards[-1].step, cards[-1].token)
                preview = self._preview(batch, assistant, step) if cards else preview_alone
                token = _find_token(preview) or _hash_of(preview)
                stands_alone = _content_of(preview) == _content_of(preview_alone)
                # The assistant may have changed something after it asked, so the warnings are found when the card is
                # shown.
                operation = self._find_operation(step)
                call = PreviewedCall.from_preview(step.content["arguments"], decode_json(preview.body))
                warnings = find_card_warnings(batch, assistant, operation, call, changes)
                cards.append(OpenCard(step, operation, preview, token, warnings, stands_alone))
        return cards

    def _preview(self, batch: Performer, assistant: Actor, step: Step) -> Answer:
        operation = self._find_operation(step)
        return batch.perform(operation, assistant, encode_json(step.content["arguments"]), self._details(operation))

    def _find_operation(self, card: Step) -> Operation:
        operation = self.turns.parts.tools.find_operation(card.content["operation"])
        if operation is None:
            raise Conflict(_NO_LONGER)
        return operation

    def _details(self, operation: Operation) -> RequestDetails:
        """Return the details of a preview; what is irreversible has one anyway."""
        return RequestDetails("card", dry_run=not operation.is_irreversible, message_format=self.message_format)

    def _fetch_own(self, db: DatabaseHandle, turn_id: str) -> Turn:
        db.me = self.person.id
        return store.fetch_own_turn(db, turn_id)

    async def _write(self, function: Callable[..., T], *values: Any) -> T:
        return await self.turns.parts.runner.run_change(self.person.organisation, function, *values)

    def _go_on(self, turn_id: str) -> None:
        """Let the assistant go on once nothing waits for its person."""
        performer = self.turns.parts.performer
        with performer.database.write_transaction(self.person.organisation) as db:
            turn = self._fetch_own(db, turn_id)
            if turn.status is TurnStatus.WAITING and not turn.cards:
                store.set_status(db, turn_id, TurnStatus.WORKING, performer.clock())


_DECLINED: dict[str, Any] = {"text": NOT_CONFIRMED, "isError": True, "decision": "declined"}
_NO_LONGER = Message("This can no longer be done.")


def _read_assistant(db: DatabaseHandle, turn_id: str) -> Actor:
    try:
        return actor_of_turn(db, turn_id)
    except Unauthenticated as refusal:
        raise Conflict(refusal.message or _NO_LONGER) from None


def _find_token(preview: Answer) -> str | None:
    """Return the token of a preview of something irreversible, itself or within an undo."""
    token: str | None = decode_json(preview.body).get("previewToken")
    return token


def _content_of(preview: Answer) -> dict[str, Any]:
    """Return what a preview says, without its token."""
    content: dict[str, Any] = decode_json(preview.body)
    return {name: value for name, value in content.items() if name != "previewToken"}


def _hash_of(preview: Answer) -> str:
    """Return what stands for a preview that has no token."""
    return hashlib.sha256(preview.body).hexdigest()
