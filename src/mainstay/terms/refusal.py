"""Refusals: what was asked cannot be done, and the sentence says why and what to do.

A refusal knows nothing of HTTP or JSON-RPC; each door has one table from the classes below to its own
language. Anything that is not a refusal is a bug.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class WayOut(NamedTuple):
    """What would clear something out of the way: the name of an operation."""

    operation: str
    # The record that it is done to, where that is another one than was asked about.
    at: str | None = None


class Refusal(Exception):
    """Raised by rules; `text` is safe to show to anyone who asked."""

    # What would clear what stands against it out of the way.
    unblocks: tuple[WayOut, ...] = ()

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True, slots=True)
class Fault:
    """One field that is not as it must be."""

    field: str
    problem: str

    def __str__(self) -> str:
        """The form in which every door tells it: `dueOn: is not a date`. A semicolon stands only between several."""
        return f"{self.field}: {self.problem}".replace("; ", ", ")


class Invalid(Refusal):
    """Some fields are not as they must be; all of them are told at once."""

    def __init__(self, faults: Sequence[Fault], text: str | None = None) -> None:
        super().__init__("; ".join(map(str, faults)) if text is None else text)
        self.faults = tuple(faults)


class Unauthenticated(Refusal):
    """Nobody, or nobody any more, is known by this credential."""


class Forbidden(Refusal):
    """The one who asks may not do this."""


class Lapsed(Refusal):
    """The organisation's subscription is not active, so its records do not change."""

    def __init__(self) -> None:
        super().__init__("The subscription is inactive: records can be read but not changed until it is renewed.")


class NotFound(Refusal):
    """There is no such record, or none that one may see; the two are not told apart."""

    def __init__(self, what: str) -> None:
        super().__init__(f"There is no {what} with that identifier.")
        self.what = what


class Conflict(Refusal):
    """The state of things does not allow it."""


class Reason(NamedTuple):
    """One reason why something cannot be done to a record now."""

    text: str
    # The operation that would clear it out of the way, if there is one.
    unblock: str | None = None
    # Whether it is about who asks, and not about the state of the record.
    forbids: bool = False
    # Another operation that would clear it as well.
    otherwise: str | None = None
    # The record to which `unblock` is done, where that is another one than was asked about.
    at: str | None = None


class Blocked(Conflict):
    """There are reasons against it, and all of them are told."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        super().__init__(" ".join(reason.text for reason in reasons))
        self.reasons = tuple(reasons)
        self.unblocks = unblocking(reasons)


def unblocking(reasons: Sequence[Reason]) -> tuple[WayOut, ...]:
    """What would clear these out of the way, each once."""
    named = ((name, at) for one in reasons for name, at in ((one.unblock, one.at), (one.otherwise, None)))
    return tuple(dict.fromkeys(WayOut(name, at) for name, at in named if name))


def refuse(reasons: Sequence[Reason]) -> None:
    """Go on only if there is no reason against it; who may not is told nothing else."""
    if forbidden := [reason.text for reason in reasons if reason.forbids]:
        raise Forbidden(" ".join(forbidden))
    if reasons:
        raise Blocked(reasons)


class Stale(Refusal):
    """The record has changed since the one who asks last read it."""

    def __init__(self) -> None:
        super().__init__("The record has changed since it was read. Read it again, then repeat the change.")


class TooMany(Refusal):
    """The limit of requests is reached for now."""
