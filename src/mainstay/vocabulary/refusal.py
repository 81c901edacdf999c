"""Refusals: why a request cannot be carried out, and what to do instead.

A refusal knows nothing of HTTP or JSON-RPC: each door has one table from the classes below to its own status codes. Any
other exception is a bug.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class UnblockingAction(NamedTuple):
    """An operation that would remove a reason for a refusal."""

    operation: str
    # The record that it is done to, if that is a different one.
    record_id: str | None = None


class Refusal(Exception):
    """Raised by rules; `text` can be shown to the actor."""

    # The operations that would remove the reasons for it.
    unblocking_actions: tuple[UnblockingAction, ...] = ()

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True, slots=True)
class Fault:
    """A field of an input that is wrong."""

    field: str
    problem: str

    def __str__(self) -> str:
        """Return it as `dueOn: is not a date`. Semicolons are replaced, because they separate several faults."""
        return f"{self.field}: {self.problem}".replace("; ", ", ")


class Invalid(Refusal):
    """Some fields of the input are wrong; all faults are named at once."""

    def __init__(self, faults: Sequence[Fault], text: str | None = None) -> None:
        super().__init__("; ".join(map(str, faults)) if text is None else text)
        self.faults = tuple(faults)


class Unauthenticated(Refusal):
    """The credential is unknown or no longer valid."""


class Forbidden(Refusal):
    """The actor may not do this."""


class Lapsed(Refusal):
    """The subscription of the organisation is not active, so its records cannot be changed."""

    def __init__(self) -> None:
        super().__init__("The subscription is inactive: records can be read but not changed until it is renewed.")


class NotFound(Refusal):
    """There is no such record, or the actor may not see it; the message is the same for both."""

    def __init__(self, label: str) -> None:
        super().__init__(f"There is no {label} with that identifier.")
        self.label = label


class Conflict(Refusal):
    """The current state of the data does not allow it."""


class Reason(NamedTuple):
    """A reason why an operation cannot be performed on a record now."""

    text: str
    # The operation that would remove the reason, if there is one.
    unblocked_by: str | None = None
    # Whether the reason is a missing permission, not the state of the record.
    forbids: bool = False
    # Another operation that would also remove it.
    also_unblocked_by: str | None = None
    # The record that `unblocked_by` is done to, if that is a different one.
    unblock_on: str | None = None


class Blocked(Conflict):
    """There are reasons against the operation; all of them are named."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        super().__init__(" ".join(reason.text for reason in reasons))
        self.reasons = tuple(reasons)
        self.unblocking_actions = find_unblocking_actions(reasons)


def find_unblocking_actions(reasons: Sequence[Reason]) -> tuple[UnblockingAction, ...]:
    """Return the operations that would remove these reasons, each once."""
    named = (
        (name, at)
        for reason in reasons
        for name, at in ((reason.unblocked_by, reason.unblock_on), (reason.also_unblocked_by, None))
    )
    return tuple(dict.fromkeys(UnblockingAction(name, at) for name, at in named if name))


def raise_if_blocked(reasons: Sequence[Reason]) -> None:
    """Raise a refusal if there are reasons. If a permission is missing, it names only that."""
    if forbidden := [reason.text for reason in reasons if reason.forbids]:
        raise Forbidden(" ".join(forbidden))
    if reasons:
        raise Blocked(reasons)


class Stale(Refusal):
    """The record has changed since the client last read it; of several, `records` has the ids of the changed ones."""

    def __init__(self, records: Sequence[str] = ()) -> None:
        super().__init__("The record has changed since it was read. Read it again, then repeat the change.")
        self.records = tuple(records)


class TooManyRequests(Refusal):
    """The rate limit is reached."""
