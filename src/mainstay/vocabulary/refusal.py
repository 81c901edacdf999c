"""Refusals: why a request cannot be carried out, and what to do instead.

A refusal knows nothing of HTTP or JSON-RPC: each door has one table from the classes below to its own status codes. Any
other exception is a bug.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mainstay.values.message import NO_TEXT, PROGRAM_FORMAT, Message, ShownMessage


class UnblockingAction(NamedTuple):
    """An operation that helps after a refusal."""

    operation: str
    # The record that it is done to, if that is a different one.
    record_id: str | None = None
    # Whether it is done instead of the refused operation; otherwise it is done first, and removes the reason.
    is_alternative: bool = False


class Refusal(Exception):
    """Raised by rules; the message can be shown to the actor."""

    # The operations that help.
    unblocking_actions: tuple[UnblockingAction, ...] = ()

    def __init__(self, message: ShownMessage) -> None:
        super().__init__(message)
        self.message = message

    @property
    def text(self) -> str:
        """The message as programs get it."""
        return PROGRAM_FORMAT.render(self.message)

    def __str__(self) -> str:
        """Return the message as programs get it."""
        return self.text


@dataclass(frozen=True, slots=True)
class Fault:
    """A field of an input that is wrong."""

    field: str
    # Without a subject: `is not a date`. The field, or its label, comes before it.
    message: ShownMessage

    @property
    def problem(self) -> str:
        """The message as programs get it."""
        return PROGRAM_FORMAT.render(self.message)

    def __str__(self) -> str:
        """Return it as `dueOn: is not a date`. Semicolons are replaced, because they separate several faults."""
        return f"{self.field}: {self.problem}".replace("; ", ", ")


def template_of(fault: Fault) -> str:
    """Return the template of a fault, by which doors recognise it."""
    return fault.message.template if isinstance(fault.message, Message) else fault.message


class Invalid(Refusal):
    """Some fields of the input are wrong; all faults are named at once."""

    def __init__(self, faults: Sequence[Fault], message: ShownMessage | None = None) -> None:
        super().__init__(NO_TEXT if message is None else message)
        self.faults = tuple(faults)

    @property
    def text(self) -> str:
        """The message as programs get it: every faulty field, separated by semicolons."""
        return super().text or "; ".join(map(str, self.faults))


class Unauthenticated(Refusal):
    """The credential is unknown or no longer valid."""


class Forbidden(Refusal):
    """The actor may not do this."""


class Lapsed(Refusal):
    """The subscription of the organisation is not active, so its records cannot be changed."""

    def __init__(self) -> None:
        super().__init__(
            Message("The subscription is inactive: records can be read but not changed until it is renewed.")
        )


class NotFound(Refusal):
    """There is no such record, or the actor may not see it; the message is the same for both."""

    def __init__(self, label: str) -> None:
        super().__init__(Message("There is no {record} with that identifier.", record=Message.with_values(label, {})))
        self.label = label


class Conflict(Refusal):
    """The current state of the data does not allow it."""


class Reason(NamedTuple):
    """A reason why an operation cannot be performed on a record now."""

    message: ShownMessage
    # The operation that removes the reason, or several of which any does.
    first: str | tuple[str, ...] | None = None
    # Whether the reason is a missing permission, not the state of the record.
    forbids: bool = False
    # The operation to choose instead, or several.
    instead: str | tuple[str, ...] | None = None
    # The record that these are done to, if that is a different one.
    unblock_on: str | None = None

    @property
    def text(self) -> str:
        """The message as programs get it."""
        return PROGRAM_FORMAT.render(self.message)

    @property
    def unblocking_actions(self) -> list[UnblockingAction]:
        """The operations that help."""
        return [
            *(UnblockingAction(name, self.unblock_on, is_alternative=True) for name in _to_tuple(self.instead)),
            *(UnblockingAction(name, self.unblock_on) for name in _to_tuple(self.first)),
        ]


def _to_tuple(names: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names or ()


class Blocked(Conflict):
    """There are reasons against the operation; all of them are named."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        super().__init__(join_messages([reason.message for reason in reasons]))
        self.reasons = tuple(reasons)
        self.unblocking_actions = find_unblocking_actions(reasons)


def join_messages(messages: Sequence[ShownMessage]) -> ShownMessage:
    """Return several sentences as one message."""
    if len(messages) == 1:
        return messages[0]
    names = [f"sentence{number}" for number in range(len(messages))]
    return Message.with_values(" ".join(f"{{{name}}}" for name in names), dict(zip(names, messages, strict=True)))


def find_unblocking_actions(reasons: Sequence[Reason]) -> tuple[UnblockingAction, ...]:
    """Return the operations that help against these reasons, each once."""
    return tuple(dict.fromkeys(action for reason in reasons for action in reason.unblocking_actions))


def raise_if_blocked(reasons: Sequence[Reason]) -> None:
    """Raise a refusal if there are reasons. If a permission is missing, it names only that."""
    if forbidden := [reason.message for reason in reasons if reason.forbids]:
        raise Forbidden(join_messages(forbidden))
    if reasons:
        raise Blocked(reasons)


class Stale(Refusal):
    """The record has changed since the client last read it; of several, `records` has the ids of the changed ones."""

    def __init__(self, records: Sequence[str] = ()) -> None:
        super().__init__(Message("The record has changed since it was read. Read it again, then repeat the change."))
        self.records = tuple(records)


class TooManyRequests(Refusal):
    """The rate limit is reached."""
