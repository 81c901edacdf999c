"""What an agent is given when it is evaluated, and what it returns: the interface of all agents."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from mainstay.composition import open_performer
from mainstay.evaluation.firm import Firm, read_clock
from mainstay.evaluation.watched_performer import WatchedPerformer
from mainstay.values.json_object import JsonObject
from mainstay.vocabulary.actor import Actor


class Card(NamedTuple):
    """An irreversible operation as the person is shown it before they confirm it."""

    operation: str
    given: JsonObject
    preview: JsonObject


class AgentAnswer(NamedTuple):
    """What the agent said at the end, and how many tokens the model used, if that is known."""

    text: str
    tokens: int | None = None


@dataclass(frozen=True)
class TaskSession:
    """One task for an agent: for whom it acts, in which firm, and how the person answers it."""

    firm: Firm
    # The first name of the person who asks. An agent that performs operations in this process does so as the actor.
    asked_by: str
    actor: Actor
    performer: WatchedPerformer
    # Who asks and what day it is, for agents that are not told by their own door.
    introduction: str
    # The person's answer to a card: yes if it is what they asked for.
    confirm: Callable[[Card], bool]
    # The person's next message, after what the agent said; None if the conversation is over.
    reply: Callable[[], str | None]

    @property
    def token(self) -> str:
        """The access token with which an app acts for the person over MCP."""
        return self.firm.tokens[self.asked_by]

    def open_own_performer(self) -> WatchedPerformer:
        """Open a performer with database connections of its own, for a server that closes them when it stops."""
        return WatchedPerformer.watch(open_performer(self.firm.settings, read_clock), self.performer.log)


class AgentFailed(Exception):
    """The agent could not go on; the message says why. The task counts as not done."""


class Agent(Protocol):
    """Something that does what a person asks, with the tools of the product."""

    def run(self, prompt: str, session: TaskSession) -> AgentAnswer:
        """Do what the prompt asks, and return what it said at the end; raise AgentFailed if it cannot go on."""
