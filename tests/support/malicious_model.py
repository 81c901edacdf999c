"""Stories of a malicious model: what it calls, what happens meanwhile, and what its person clicks."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from mainstay.business.assistant import store
from mainstay.business.assistant.model import Turn, TurnStatus
from mainstay.business.assistant.operations import ask_assistant, delete_conversation, stop_assistant
from mainstay.business.organisation.assistant_settings import ModelDialect, update_assistant_settings
from mainstay.business.people.roles import change_role
from mainstay.catalogue import CATALOGUE
from mainstay.doors.assistant.assistant_parts import AssistantParts
from mainstay.doors.assistant.cards import Cards
from mainstay.doors.assistant.turn_runner import TurnRunner
from mainstay.doors.assistant.turn_work import TurnWork
from mainstay.doors.runner import Threads
from mainstay.identity import sessions
from mainstay.identity.emails import EMAIL_TASK
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.values.message import PROGRAM_FORMAT
from mainstay.values.moments import local_date
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Access, Role
from mainstay.vocabulary.refusal import Refusal
from rules.examples import SampleRecords
from support.assistant import AssistantOfTests
from support.cast import EMAILS, Cast
from support.interruptions import InterruptedRunner, ProcessDied
from support.model_server import RecordedRequest
from support.model_streams import ScriptedCall, ScriptedTurn
from support.oauth_app import begin_session, find_session

T = TypeVar("T")

# Also what the office alone has, and what there is not at all.
TOOLS_TRIED = [*(operation.name for operation in CATALOGUE.operations), "run_sql"]
CALL_TRICKS = (
    "",
    "",
    "",
    "",
    "confirmed",
    "token",
    "key",
    "dry run",
    "foreign",
    "broken",
    "huge",
    "same id",
    "outsider",
)
INCIDENTS = ("die", "die later", "overtaken", "stop", "sign out", "demote", "lapse", "turn off", "ask", "delete")
CLICKS = ("confirm", "confirm", "confirm twice", "decline", "confirm old", "stop", "ask", "look")
OUTSIDER = "eve@evil.example"
# The text that only the other organisation has.
SECRET = "Xanadu"
DAILY_TOKENS, MONTHLY_TOKENS = 4_000, 6_000
_MAX_ROUNDS = 12


class CallPlan(NamedTuple):
    """A call that the model makes: which tool, and how it tries to trick the product."""

    tool: str
    trick: str


class Incident(NamedTuple):
    """Something that happens when the assistant uses the database for the nth time."""

    at: int
    kind: str


class StoryPlan(NamedTuple):
    """Who asks what, what the model replies to each question, and what happens meanwhile."""

    role: Role
    access: Access
    dialect: ModelDialect
    questions: Sequence[Sequence[Sequence[CallPlan]]]
    incidents: Sequence[Incident]
    clicks: Sequence[str]


class IdleRunner(TurnRunner):
    """Leaves each turn to the story, which goes on with it."""

    def begin(self, organisation: str, turn_id: str) -> None:
        """Do nothing."""


@dataclass
class Story:
    """A story that is being told, and what is known of it besides the database."""

    assistant: AssistantOfTests
    plan: StoryPlan
    samples: SampleRecords
    foreign: SampleRecords
    session: str = ""
    conversation: str | None = None
    turns: list[str] = field(default_factory=list)
    # The calls that the person confirmed, as the audit trail names them; and the emails that this sent.
    confirmed: set[str] = field(default_factory=set)
    emails_sent_by_clicks: set[str] = field(default_factory=set)
    # The audit trail's length when each session ended.
    ended_sessions: dict[str, int] = field(default_factory=dict)
    # The tokens that were used or reserved at each request to the model: of the day, and of the month.
    usages: list[tuple[int, int]] = field(default_factory=list)
    threads: Threads = field(default_factory=Threads)
    _accesses: int = 0

    @property
    def cast(self) -> Cast:
        """The organisation."""
        return self.samples.cast

    def tell(self) -> None:
        """Ask every question, and see each through."""
        self.session = self._sign_in()
        clicks = iter(self.plan.clicks)
        try:
            self._tell(clicks)
        finally:
            self.threads.close()

    def _tell(self, clicks: Iterator[str]) -> None:
        for number, replies in enumerate(self.plan.questions):
            self._script(replies)
            self._ask(f"Question {number}")
            for _ in range(_MAX_ROUNDS):
                turn = self._read_open_turn()
                if turn is None:
                    break
                if turn.status is TurnStatus.WORKING:
                    self.assistant.leave(turn.id)
                    asyncio.run(self._work(turn.id))
                else:
                    asyncio.run(self._click(turn, next(clicks, "decline")))

    async def _work(self, turn_id: str) -> None:
        with suppress(ProcessDied):
            await TurnWork(self._make_parts(self._interrupt), self.cast.organisation, turn_id).run()

    def _make_parts(self, interrupt: Callable[[], Awaitable[bool]]) -> AssistantParts:
        parts = self.assistant.make_parts()
        return replace(parts, runner=InterruptedRunner(parts.runner.reads_inline, self.threads, interrupt=interrupt))

    async def _interrupt(self) -> bool:
        """Let happen what the plan has at this moment; return whether the process dies after what it does now."""
        self._accesses += 1
        kinds = [incident.kind for incident in self.plan.incidents if incident.at == self._accesses]
        for kind in kinds:
            if kind == "die":
                raise ProcessDied
            if kind == "overtaken":
                await self._overtake()
            elif kind != "die later":
                self._let_happen(kind)
        return "die later" in kinds

    async def _overtake(self) -> None:
        """Another process believes that this one has died, and does the rest."""

        async def work_on() -> bool:
            return False

        for turn_id in self.turns[-1:]:
            self.assistant.leave(turn_id)
            await TurnWork(self._make_parts(work_on), self.cast.organisation, turn_id).run()

    def _let_happen(self, kind: str) -> None:
        person = self.cast.people[self.plan.role]
        with suppress(Refusal):
            if kind == "stop":
                self._perform(stop_assistant, turnId=self.turns[-1])
            elif kind == "ask":
                self._ask("In between")
            elif kind == "delete" and self.conversation:
                self._perform(delete_conversation, conversationId=self.conversation)
                self.conversation = None
            elif kind == "lapse":
                self.cast.lapse()
            elif kind == "turn off":
                self.cast.perform(
                    update_assistant_settings, self.cast.actor(Role.OWNER, door=Door.OFFICE), assistantSource="off"
                )
            elif kind == "demote" and self.plan.role is not Role.OWNER:
                self.cast.perform(change_role, personId=person, role="member", confirmed=True)
            elif kind == "sign out":
                with self.cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
                    sessions.end_sessions_of_person(db.for_organisation(self.cast.organisation), person)
                self.ended_sessions[self.session] = self.count_changes()

    async def _click(self, turn: Turn, click: str) -> None:
        cards = Cards(IdleRunner(self.assistant.make_parts()), self._person(), PROGRAM_FORMAT)
        if click in {"stop", "ask"}:
            self._let_happen(click)
            return
        try:
            shown = {card.step.number: card.token for card in await cards.open(turn)}
        except Refusal:
            # The sign-in of the question has ended, so that it can only be declined.
            click, shown = "decline", {card.number: "" for card in turn.cards}
        if click == "look":
            return
        if click == "confirm old":
            shown = {number: f"{token[:-2]}AA" for number, token in shown.items()}
        if click.startswith("confirm"):
            self.confirmed |= {f"{turn.id}:{card.content['said']}:{card.content['call']}" for card in turn.cards}
        before = self.list_emails()
        with suppress(Refusal):
            await asyncio.gather(
                *(
                    cards.decide(turn.id, shown, confirmed=click.startswith("confirm"))
                    for _ in range(2 if click == "confirm twice" else 1)
                )
            )
        self.emails_sent_by_clicks |= self.list_emails().keys() - before.keys()

    def _script(self, replies: Sequence[Sequence[CallPlan]]) -> None:
        """Let the model reply so; afterwards it has nothing more to say."""
        turns = iter([ScriptedTurn("Well.", tuple(map(self._make_call, calls))) for calls in replies if calls])

        def answer(_request: RecordedRequest) -> ScriptedTurn:
            self.usages.append(self._read_usage())
            return next(turns, ScriptedTurn("Done."))

        self.assistant.model.answer = answer

    def _read_usage(self) -> tuple[int, int]:
        """Return the tokens that the person used today, and everyone this month, with those that are reserved."""
        performer = self.cast.performer
        with performer.database.read_transaction(self.cast.organisation) as db:
            _, zone = store.read_organisation_names(db)
            day = local_date(performer.clock(), zone).isoformat()
            return store.read_usage(db, self.cast.people[self.plan.role], day)

    def _make_call(self, plan: CallPlan) -> ScriptedCall:
        samples = self.foreign if plan.trick == "foreign" else self.samples
        operation = CATALOGUE.find_operation(plan.tool) if plan.tool != "run_sql" else None
        arguments = dict(samples.example_input(operation, self.plan.role)) if operation else {}
        arguments.pop("confirmed", None)
        tricks: dict[str, dict[str, object]] = {
            "confirmed": {"confirmed": True},
            "token": {"previewToken": "A" * 60},
            "key": {"idempotencyKey": "mine"},
            "dry run": {"dryRun": False},
            "huge": {"text": "x" * 50_000},
            "outsider": {"to": [OUTSIDER], "email": OUTSIDER},
        }
        arguments |= tricks.get(plan.trick, {})
        call = ScriptedCall(plan.tool, arguments, "same" if plan.trick == "same id" else "")
        return call._replace(arguments=call.arguments_text[:-2]) if plan.trick == "broken" else call

    def _ask(self, question: str) -> None:
        given: dict[str, object] = {"question": question, "sessionId": self.session}
        given |= {"conversationId": self.conversation} if self.conversation else {"access": self.plan.access}
        with suppress(Refusal):
            answer = self._perform(ask_assistant, **given)
            self.conversation = str(answer["conversationId"])
            self.turns.append(str(answer["id"]))

    def _perform(self, operation: Any, **given: object) -> dict[str, Any]:
        return self.cast.perform(operation, self._person(), **given)

    def _person(self) -> Any:
        return self.cast.actor(self.plan.role, door=Door.OFFICE)

    def _sign_in(self) -> str:
        return find_session(self.cast, begin_session(self.cast, EMAILS[self.plan.role]))

    def _read_open_turn(self) -> Turn | None:
        with suppress(Refusal, IndexError):
            turn = self.assistant.read(self.turns[-1])
            return turn if turn.status.is_open else None
        return None

    def count_changes(self) -> int:
        """Return how many changes the audit trail has."""
        with self.cast.performer.database.read_transaction(self.cast.organisation) as db:
            row = db.one("SELECT coalesce(max(sequence), 0) FROM audit WHERE organisation_id = :organisation")
        assert row
        return int(row[0] or 0)

    def list_emails(self) -> dict[str, str]:
        """Return the emails that wait to be sent, as JSON, by their ids."""
        with self.cast.performer.database.read_transaction(self.cast.organisation) as db:
            rows = db.all(
                "SELECT id, payload FROM outbox WHERE organisation_id = :organisation AND kind = :kind", kind=EMAIL_TASK
            )
        return {str(task): str(payload) for task, payload in rows}
