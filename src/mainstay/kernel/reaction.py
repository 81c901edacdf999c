"""Reactions: what follows an event, after the change that caused it was committed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mainstay.backing.database import Handle
from mainstay.kernel.context import Letter

# The kind of a letter that is a mail: to, subject, text.
MAIL = "mail"
# Stands in a mail's text where its one-time link goes; no name can hold it. The link itself is made when it is sent.
LINK = "\x02"


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


def mail(to: str, subject: str, text: str, link: tuple[str, str] | None = None) -> Letter:
    """A mail for the outbox. A link in it waits there as its kind and id, which open nothing."""
    payload = {"to": to, "subject": subject, "text": text}
    if link:
        payload["link_kind"], payload["link"] = link
    return Letter(MAIL, payload)
