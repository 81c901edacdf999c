"""What the house does by itself: reactions to events, and what is due when an organisation's day turns.

Each runs in a transaction of its own as the house, through the same path as what people do, and with a key by which a
repeat is known and does nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from mainstay.kernel.context import Context
from mainstay.kernel.event import Event
from mainstay.terms.shapes import Kept


class Happening(NamedTuple):
    """An event as a reaction sees it: who did it and what it was about, as everyone is told."""

    id: str
    actor: dict[str, Any]
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reaction:
    """What follows one kind of event."""

    event: type[Event]
    function: Callable[[Context, Happening], None]

    @property
    def name(self) -> str:
        """What the trail calls it."""
        return self.function.__name__


@dataclass(frozen=True, slots=True)
class Consequence:
    """What follows one kind of event at once: in the same change, and by whoever makes it, so that its answer tells."""

    event: type[Event]
    function: Callable[[Context, Kept], None]


@dataclass(frozen=True, slots=True)
class Timer:
    """What is done in each organisation once a day, when its day begins: told the new date there."""

    function: Callable[[Context, date], None]
    # Whether there is anything to do; asked before, and without keeping anyone from changing things.
    is_due: Callable[[Context], bool] = lambda _ctx: True

    @property
    def name(self) -> str:
        """What the trail calls it."""
        return self.function.__name__


@dataclass(frozen=True, slots=True)
class Chore:
    """What a change leaves to be done after it, at the worker's pace: told what its letter says."""

    # The kind of the letters.
    name: str
    function: Callable[[Context, Mapping[str, str]], None]
