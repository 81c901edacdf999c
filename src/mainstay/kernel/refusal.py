"""Refusals: what was asked cannot be done, and the sentence says why and what to do.

A refusal knows nothing of HTTP or JSON-RPC; each door has one table from the classes below to its own
language. Anything that is not a refusal is a bug.
"""

from collections.abc import Sequence
from dataclasses import dataclass


class Refusal(Exception):
    """Raised by rules; `text` is safe to show to anyone who asked."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True, slots=True)
class Fault:
    """One field that is not as it must be."""

    field: str
    problem: str

    def __str__(self) -> str:
        """The form in which every door tells it: `dueOn: is not a date`."""
        return f"{self.field}: {self.problem}"


class Invalid(Refusal):
    """Some fields are not as they must be; all of them are told at once."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(map(str, faults)))
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


class Conflict(Refusal):
    """The state of things does not allow it."""


class Blocked(Conflict):
    """An act that cannot be undone has reasons against it: performed, it is refused; rehearsed, all are shown."""

    def __init__(self, blockers: Sequence[str]) -> None:
        super().__init__(" ".join(blockers))
        self.blockers = tuple(blockers)


class Stale(Refusal):
    """The record has changed since the one who asks last read it."""

    def __init__(self) -> None:
        super().__init__("The record has changed since it was read. Read it again, then repeat the change.")


class TooMany(Refusal):
    """The limit of requests is reached for now."""
