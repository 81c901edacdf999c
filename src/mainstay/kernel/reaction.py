"""What the system does by itself: reactions to events, daily timers and tasks.

Each of these runs in a transaction of its own, as the system, in the same way as the operations of people. Each has an
idempotency key, so that a repeat does nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from mainstay.kernel.context import Context
from mainstay.kernel.event import Event
from mainstay.vocabulary.schemas import StoredRecord


class ReactionEvent(NamedTuple):
    """An event as a reaction gets it: the actor and the record, in the JSON form that webhooks get."""

    id: str
    actor: dict[str, Any]
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reaction:
    """A function that runs after each event of one kind, in a transaction of its own."""

    event: type[Event]
    function: Callable[[Context, ReactionEvent], None]
    # What it did, in the past tense, for timelines.
    past_text: str

    @property
    def name(self) -> str:
        """The name under which the audit trail records it."""
        return self.function.__name__


@dataclass(frozen=True, slots=True)
class ImmediateReaction:
    """A function that runs in the transaction of an event and as its actor, so that the answer includes its changes."""

    event: type[Event]
    function: Callable[[Context, StoredRecord], None]


@dataclass(frozen=True, slots=True)
class DailyTimer:
    """A function that runs in each organisation once a day, when its day begins; it is given the new date."""

    function: Callable[[Context, date], None]
    # What it did, in the past tense, for timelines.
    past_text: str
    # Whether there is anything to do. This is checked before, in a read transaction that blocks nobody.
    is_due: Callable[[Context], bool] = lambda _ctx: True

    @property
    def name(self) -> str:
        """The name under which the audit trail records it."""
        return self.function.__name__


@dataclass(frozen=True, slots=True)
class TaskKind:
    """A function for tasks that the worker does after a change; it is given the payload of the task."""

    # The kind of the tasks.
    name: str
    function: Callable[[Context, Mapping[str, str]], None]
    # What it did, in the past tense, for timelines.
    past_text: str
