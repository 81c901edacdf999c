"""Conversations with the assistant: turns and their steps."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
from pydantic import Field

from mainstay.values.choices import TextEnum
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Access
from mainstay.vocabulary.schemas import Output

# The most characters of a conversation's steps, and of the texts of the model among them. The server of a model decides
# how much it writes. All steps are read at each step; all texts are shown on one page, which takes a second then.
_MAX_LENGTH, _MAX_TEXT_LENGTH = 2_000_000, 300_000
TOO_LONG = Message("This conversation has become too long. Begin a new one.")


class ConversationOut(Output):
    """A conversation with the assistant."""

    noun = "conversation"
    office_path = "/assistant/{id}"

    id: str
    title: str = Field(description="The beginning of the first question.")
    access: Access = Field(description="Whether the assistant may only read, or also change records.")
    created_at: str
    asked_at: str = Field(title="Last question", description="When the latest question was asked.")


class TurnOut(Output):
    """A question to the assistant."""

    noun = "turn"

    id: str
    conversation_id: str


class TurnStatus(TextEnum):
    """How far the answer to a question is."""

    WORKING = "working"
    # Its person has to confirm or decline something first.
    WAITING = "waiting"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def is_open(self) -> bool:
        """Whether it is not finished."""
        return self in {TurnStatus.WORKING, TurnStatus.WAITING}


class StepKind(TextEnum):
    """What happened in a step of a turn."""

    # The model said something, or called tools, or both.
    SAID = "said"
    # A call got its result.
    ANSWERED = "answered"
    # The person is asked to confirm a call.
    ASKED = "asked"


class CallPlace(NamedTuple):
    """Which call of a turn: the number of the step in which the model made it, and its position there."""

    said: int
    call: int


class Step(NamedTuple):
    """One step of a turn, as it is stored."""

    number: int
    kind: StepKind
    content: dict[str, Any]
    created_at: str
    # The characters of the content as it is stored.
    length: int = 0

    @property
    def place(self) -> CallPlace:
        """The call that it answers or asks about."""
        return CallPlace(self.content["said"], self.content["call"])


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, and the work on its answer."""

    id: str
    conversation_id: str
    session_id: str
    question: str
    # The record whose page the question was asked on.
    record_id: str | None
    status: TurnStatus
    # Why it ended early.
    problem: str | None
    stop_requested: bool
    model_calls: int
    tool_calls: int
    tokens: int
    worked_ms: int
    created_at: str
    ended_at: str | None
    steps: tuple[Step, ...] = field(default=(), compare=False)

    @property
    def last_said(self) -> Step | None:
        """The latest reply of the model."""
        return next((step for step in reversed(self.steps) if step.kind is StepKind.SAID), None)

    @property
    def results(self) -> dict[CallPlace, Step]:
        """The results of calls."""
        return {step.place: step for step in self.steps if step.kind is StepKind.ANSWERED}

    @property
    def cards(self) -> list[Step]:
        """The latest question for each call that its person has neither confirmed nor declined."""
        asked = {step.place: step for step in self.steps if step.kind is StepKind.ASKED}
        answered = self.results
        return [step for place, step in sorted(asked.items()) if place not in answered]

    @property
    def pending_calls(self) -> list[CallPlace]:
        """The calls of the latest reply that have no result and that nobody is asked about, in their order."""
        said = self.last_said
        if said is None:
            return []
        handled = {step.place for step in self.steps if step.kind is not StepKind.SAID}
        calls = [CallPlace(said.number, position) for position in range(len(said.content["calls"]))]
        return [call for call in calls if call not in handled]

    @property
    def undoable_changes(self) -> list[str]:
        """The changes that were made for it and can be undone, the newest first."""
        return [str(step.content["change"]) for step in reversed(self.steps) if step.content.get("change")]

    @property
    def unconfirmed_changes(self) -> list[str]:
        """Those of them that the assistant made by itself, without a click of its person."""
        return [
            str(step.content["change"])
            for step in self.steps
            if step.content.get("change") and "decision" not in step.content
        ]


class Conversation(NamedTuple):
    """A conversation with all its turns, the oldest first."""

    id: str
    person_id: str
    title: str
    access: Access
    turns: tuple[Turn, ...]


def is_too_long(turns: Iterable[Turn]) -> bool:
    """Return whether the turns of a conversation are too long to go on with it."""
    steps = [step for turn in turns for step in turn.steps]
    texts = (step.content["text"] for step in steps if step.kind is StepKind.SAID)
    return sum(step.length for step in steps) > _MAX_LENGTH or sum(map(len, texts)) > _MAX_TEXT_LENGTH


def parse_step(number: int, kind: str, content: str, created_at: str) -> Step:
    """Return a step from its stored columns."""
    return Step(number, StepKind(kind), orjson.loads(content), created_at, len(content))
