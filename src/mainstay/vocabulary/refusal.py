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
    # The record to perform it on, if it is not the one of the refused operation.
    record_id: str | None = None
    # Whether it replaces the refused operation. Otherwise it removes the reason, and the refused one can follow.
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
        """The message in the format for programs."""
        return PROGRAM_FORMAT.render(self.message)

    def __str__(self) -> str:
        """Return the message in the format for programs."""
        return self.text


@dataclass(frozen=True, slots=True)
class Fault:
    """A field of an input that is wrong."""

    field: str
    # A predicate, such as `is not a date`. The name or the label of the field comes before it.
    message: ShownMessage

    @property
    def problem(self) -> str:
        """The message in the format for programs."""
        return PROGRAM_FORMAT.render(self.message)

    def __str__(self) -> str:
        """Return the fault as `dueOn: is not a date`, without semicolons, because these separate several faults."""
        return f"{self.field}: {self.problem}".replace("; ", ", ")


def template_of(fault: Fault) -> str:
    """Return the template of a fault's message, by which doors recognise the fault."""
    return fault.message.template if isinstance(fault.message, Message) else fault.message


class Invalid(Refusal):
    """Some fields of the input are wrong; all faults are named at once."""

    def __init__(self, faults: Sequence[Fault], message: ShownMessage | None = None) -> None:
        super().__init__(NO_TEXT if message is None else message)
        self.faults = tuple(faults)

    @property
    def text(self) -> str:
        """The message in the format for programs: all faults, separated by semicolons."""
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
        super().__init__(Message("There is no {record} with that identifier.", record=Message.from_template(label)))
        self.label = label


class Conflict(Refusal):
    """The current state of the data does not allow it."""


class Reason(NamedTuple):
    """A reason why an operation cannot be performed on a record now."""

    message: ShownMessage
    # The operation that removes the reason, or several, each of which does.
    first: str | tuple[str, ...] | None = None
    # Whether the reason is a missing permission, not the state of the record.
    is_missing_permission: bool = False
    # The operation to perform instead, or several to choose from.
    instead: str | tuple[str, ...] | None = None
    # The record to perform these on, if it is not the one of the refused operation.
    unblocking_record_id: str | None = None

    @property
    def text(self) -> str:
        """The message in the format for programs."""
        return PROGRAM_FORMAT.render(self.message)

    @property
    def unblocking_actions(self) -> list[UnblockingAction]:
        """The operations that help."""
        return [
            *(
                UnblockingAction(name, self.unblocking_record_id, is_alternative=True)
                for name in _to_tuple(self.instead)
            ),
            *(UnblockingAction(name, self.unblocking_record_id) for name in _to_tuple(self.first)),
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
    return Message.from_template(" ".join(f"{{{name}}}" for name in names), dict(zip(names, messages, strict=True)))


def find_unblocking_actions(reasons: Sequence[Reason]) -> tuple[UnblockingAction, ...]:
    """Return the operations that help against these reasons, each once."""
    return tuple(dict.fromkeys(action for reason in reasons for action in reason.unblocking_actions))


def raise_if_blocked(reasons: Sequence[Reason]) -> None:
    """Raise a refusal if there are reasons. If permissions are missing, the refusal names only these."""
    if forbidden := [reason.message for reason in reasons if reason.is_missing_permission]:
        raise Forbidden(join_messages(forbidden))
    if reasons:
        raise Blocked(reasons)


class Stale(Refusal):
    """The record has changed since the client last read it.

    If the change was about several records, `record_ids` has the ids of those that have changed.
    """

    def __init__(self, record_ids: Sequence[str] = ()) -> None:
        super().__init__(Message("The record has changed since it was read. Read it again, then repeat the change."))
        self.record_ids = tuple(record_ids)


class TooManyRequests(Refusal):
    """The rate limit is reached."""
