"""The built-in assistant as an agent that is evaluated, with any model."""

import asyncio
import secrets
from dataclasses import dataclass

import orjson

from mainstay.business.assistant import store
from mainstay.business.assistant.model import Turn, TurnStatus
from mainstay.business.assistant.operations import ask_assistant
from mainstay.catalogue import CATALOGUE
from mainstay.doors.assistant.assistant_parts import AssistantParts
from mainstay.doors.assistant.cards import Cards
from mainstay.doors.assistant.live_text import LiveText
from mainstay.doors.assistant.models.model_settings import ModelSettings
from mainstay.doors.assistant.turn_runner import TurnRunner
from mainstay.doors.assistant.turn_work import TurnWork
from mainstay.doors.mcp.instructions import INSTRUCTIONS
from mainstay.doors.mcp.tools import Tools
from mainstay.doors.runner import Runner
from mainstay.evaluation.agent import AgentAnswer, AgentFailed, Card, TaskSession
from mainstay.identity import sessions
from mainstay.identity.encryption import Encryptor
from mainstay.identity.sessions import NewSession
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.streaming_client import StreamingClient
from mainstay.kernel.context import RequestDetails
from mainstay.values.message import PROGRAM_FORMAT
from mainstay.values.stored_message import load_message
from mainstay.vocabulary.permissions import Access, Permission


@dataclass(frozen=True)
class BuiltInAgent:
    """Asks the built-in assistant, and confirms its cards as the person of the task would."""

    model: ModelSettings

    def run(self, prompt: str, session: TaskSession) -> AgentAnswer:
        """Do what the prompt asks, and return what the assistant said at the end."""
        return asyncio.run(_Talk(self.model, session).run(prompt))


class _Talk:
    """The conversation about one task."""

    def __init__(self, model: ModelSettings, session: TaskSession) -> None:
        self._session = session
        performer = session.performer
        self._parts = AssistantParts(
            performer,
            Runner(performer.database.reads_inline),
            Tools(CATALOGUE.operations),
            INSTRUCTIONS,
            StreamingClient(),
            Encryptor(secrets.token_bytes(32)),
            model,
            LiveText(),
        )

    async def run(self, prompt: str) -> AgentAnswer:
        """Send the prompt and the answers of the person, until the conversation is over."""
        may_change = self._session.actor.can(Permission.CONNECTIONS_WRITE)
        given: dict[str, object] = {"access": Access.WRITE if may_change else Access.READ}
        message: str | None = prompt
        tokens = 0
        text = ""
        sign_in = self._begin_session()
        while message is not None:
            asked = self._session.performer.perform(
                ask_assistant,
                self._session.actor,
                orjson.dumps({"question": message, "sessionId": sign_in, **given}),
                RequestDetails("evaluation"),
            )
            turn_id, conversation_id = (orjson.loads(asked.body)[name] for name in ("id", "conversationId"))
            turn = await self._answer(turn_id)
            tokens += turn.tokens
            if turn.status is not TurnStatus.DONE:
                raise AgentFailed(
                    f"The assistant ended early: {load_message(turn.problem) if turn.problem else turn.status}"
                )
            text = str(turn.last_said.content["text"]) if turn.last_said else ""
            given, message = {"conversationId": conversation_id}, self._session.reply()
        return AgentAnswer(text, tokens)

    async def _answer(self, turn_id: str) -> Turn:
        """Let the assistant work until it has answered, and decide its cards meanwhile."""
        await TurnWork(self._parts, self._session.actor.organisation, turn_id).run()
        while (turn := self._read(turn_id)).status is TurnStatus.WAITING:
            runner = TurnRunner(self._parts)
            cards = Cards(runner, self._session.actor, PROGRAM_FORMAT)
            for card in await cards.open(turn):
                content = card.step.content
                shown = Card(content["operation"], content["arguments"], orjson.loads(card.preview.body))
                is_yes = self._session.confirm(shown)
                await cards.decide(turn_id, {card.step.number: card.token}, confirmed=is_yes)
            await runner.close()
            await TurnWork(self._parts, self._session.actor.organisation, turn_id).run()
        return turn

    def _read(self, turn_id: str) -> Turn:
        with self._session.performer.database.read_transaction(self._session.actor.organisation) as db:
            return store.fetch_turn(db, turn_id)

    def _begin_session(self) -> str:
        """Sign the person in, because the assistant works only as long as they are."""
        performer, actor = self._session.performer, self._session.actor
        with performer.database.read_transaction(actor.organisation) as db:
            account = sessions.find_account(db, actor.id or "")
        with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            secret = sessions.begin_session(
                db, NewSession(account, actor.organisation, "evaluation"), performer.clock()
            )
            session = sessions.find(db, secret, performer.clock())
        if session is None:
            raise AgentFailed("The person could not be signed in.")
        return session.id
