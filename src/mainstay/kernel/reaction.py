"""Reactions: what follows an event, after the change that caused it was committed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from mainstay.backing.database import Handle
from mainstay.kernel.context import Letter

# The kind of a letter that is a mail: to, subject, text.
MAIL = "mail"


@dataclass(frozen=True, slots=True)
class Happening:
    """An event as a reaction sees it."""

    rows: Handle
    type: str
    # Who did it and what it was about, as everyone is told.
    actor: dict[str, Any]
    record: dict[str, Any]
    base_url: str


Reaction = Callable[[Happening], Iterable[Letter]]


def mail(to: str, subject: str, text: str) -> Letter:
    """A mail for the outbox."""
    return Letter(MAIL, {"to": to, "subject": subject, "text": text})
