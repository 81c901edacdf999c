"""Reactions: what follows an event, after the change that caused it was committed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mainstay.backing.database import Handle
from mainstay.kernel.context import Letter


@dataclass(frozen=True, slots=True)
class Happening:
    """An event as a reaction sees it."""

    rows: Handle
    type: str
    # Who did it and what it was about, as everyone is told.
    actor: dict[str, Any]
    record: dict[str, Any]
    base_url: str
    now: datetime


Reaction = Callable[[Happening], Iterable[Letter]]
