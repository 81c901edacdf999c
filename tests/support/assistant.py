"""The assistant for tests: its real parts with a scripted model, without a server."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from mainstay.business.assistant import store
from mainstay.business.assistant.model import Step, StepKind, Turn
from mainstay.business.assistant.operations import ask_assistant
from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.catalogue import CATALOGUE
from mainstay.doors.assistant.assistant_parts import AssistantParts
from mainstay.doors.assistant.cards import Cards, OpenCard
from mainstay.doors.assistant.live_text import LiveText
from mainstay.doors.assistant.turn_runner import TurnRunner
from mainstay.doors.assistant.turn_work import TurnWork
from mainstay.doors.mcp.instructions import INSTRUCTIONS
from mainstay.doors.mcp.tools import Tools
from mainstay.doors.runner import Runner
from mainstay.identity.encryption import Encryptor
from mainstay.infrastructure.streaming_client import StreamingClient
from mainstay.values.message import PROGRAM_FORMAT
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from support.cast import EMAILS, Cast
from support.interruptions import InterruptedRunner, ProcessDied, at_access
from support.model_server import ModelServer, run_model_server_thread
from support.oauth_app import begin_session, find_session

R = TypeVar("R")
TOOLS = Tools(CATALOGUE.operations)
ENCRYPTOR = Encryptor(b"a secret of the tests, long enough")


@dataclass
class AssistantOfTests:
    """A cast that asks an assistant whose model is scripted."""

    cast: Cast
    model: ModelServer
    dialect: ModelDialect = ModelDialect.CHAT
    sessions: dict[Role, str] = field(default_factory=dict)

    def make_parts(self) -> AssistantParts:
        """Return the parts of the assistant, as a server process opens them."""
        performer = self.cast.performer
        return AssistantParts(
            performer,
            Runner(performer.database.reads_inline),
            TOOLS,
            INSTRUCTIONS,
            StreamingClient(),
            ENCRYPTOR,
            self.model.make_settings(self.dialect),
            LiveText(),
        )

    def ask(self, question: str, role: Role = Role.OFFICE, access: str = "write", **given: object) -> Turn:
        """Ask a question, which nobody answers yet."""
        actor = self.cast.actor(role, door=Door.OFFICE)
        new = {} if "conversationId" in given else {"access": access}
        answer = self.cast.perform(
            ask_assistant, actor, question=question, sessionId=self.session_of(role), **new, **given
        )
        return self.read(str(answer["id"]))

    def answer(self, turn: Turn) -> Turn:
        """Let the assistant work on a turn until it has ended or waits for its person."""
        self.run(lambda parts: TurnWork(parts, self.cast.organisation, turn.id).run())
        return self.read(turn.id)

    def ask_and_answer(self, question: str, role: Role = Role.OFFICE, access: str = "write", **given: object) -> Turn:
        """Ask a question, and let the assistant answer it."""
        return self.answer(self.ask(question, role, access, **given))

    def decide(self, turn: Turn, *, confirmed: bool, role: Role = Role.OFFICE, go_on: bool = True) -> bool:
        """Confirm or decline all cards of a turn as they are shown, and let the assistant go on."""
        return self.decide_shown(turn, self.show_cards(turn, role), confirmed=confirmed, role=role, go_on=go_on)

    def show_cards(self, turn: Turn, role: Role = Role.OFFICE) -> dict[int, str]:
        """Return the cards of a turn as a page shows them: their tokens by their numbers."""
        return {card.step.number: card.token for card in self.open_cards(turn, role)}

    def open_cards(self, turn: Turn, role: Role = Role.OFFICE) -> list[OpenCard]:
        """Return the cards of a turn that wait for its person."""

        async def open_now(parts: AssistantParts) -> list[OpenCard]:
            cards = Cards(TurnRunner(parts), self.cast.actor(role, door=Door.OFFICE), PROGRAM_FORMAT)
            return await cards.open(self.read(turn.id))

        return self.run(open_now)

    def decide_shown(
        self, turn: Turn, shown: dict[int, str], *, confirmed: bool, role: Role = Role.OFFICE, go_on: bool = True
    ) -> bool:
        """Confirm or decline cards that were shown."""

        async def decide(parts: AssistantParts) -> bool:
            runner = TurnRunner(parts)
            cards = Cards(runner, self.cast.actor(role, door=Door.OFFICE), PROGRAM_FORMAT)
            are_same = await cards.decide(turn.id, shown, confirmed=confirmed)
            await runner.close()
            return are_same

        are_same = self.run(decide)
        if go_on:
            self.answer(turn)
        return are_same

    def run(self, act: Callable[[AssistantParts], Awaitable[R]]) -> R:
        """Run something with the parts of the assistant, in a loop of its own."""

        async def run() -> R:
            return await act(self.make_parts())

        return asyncio.run(run())

    def answer_interrupted(self, turn: Turn, number: int, act: Callable[[], object]) -> Turn:
        """Let the assistant work on a turn; something happens before it uses the database for the nth time."""

        async def work(parts: AssistantParts) -> None:
            runner = InterruptedRunner(parts.runner.reads_inline, interrupt=at_access(number, act))
            with suppress(ProcessDied):
                await TurnWork(replace(parts, runner=runner), self.cast.organisation, turn.id).run()
            runner.threads.close()

        self.run(work)
        return self.read(turn.id)

    def leave(self, turn_id: str) -> None:
        """Let the lease of a turn expire, as if the process that worked on it had died a while ago."""
        with self.cast.performer.database.write_transaction(self.cast.organisation) as db:
            db.run(
                "UPDATE conversation_turn SET leased_until = created_at"
                " WHERE organisation_id = :organisation AND id = :id AND status = 'working'",
                id=turn_id,
            )

    def read(self, turn_id: str) -> Turn:
        """Read a turn with its steps."""
        with self.cast.performer.database.read_transaction(self.cast.organisation) as db:
            return store.fetch_turn(db, turn_id)

    def session_of(self, role: Role) -> str:
        """Return the id of the session of a person of the cast."""
        if role not in self.sessions:
            self.sessions[role] = find_session(self.cast, begin_session(self.cast, EMAILS[role]))
        return self.sessions[role]


@contextmanager
def open_assistant(cast: Cast, dialect: ModelDialect = ModelDialect.CHAT) -> Iterator[AssistantOfTests]:
    """Open an assistant with a scripted model."""
    with run_model_server_thread() as model:
        yield AssistantOfTests(cast, model, dialect)


def results_of(turn: Turn) -> list[dict[str, Any]]:
    """Return the results of the calls of a turn."""
    return [step.content for step in turn.steps if step.kind is StepKind.ANSWERED]


def kinds_of(turn: Turn) -> list[StepKind]:
    """Return the kinds of the steps of a turn."""
    return [step.kind for step in turn.steps]


def text_of(turn: Turn) -> str:
    """Return the last text of the model."""
    said: Step | None = turn.last_said
    return str(said.content["text"]) if said else ""
