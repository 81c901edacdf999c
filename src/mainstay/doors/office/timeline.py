"""What happened to a record, told as what was done and not as what can be done."""

import re
from collections.abc import Mapping
from typing import Any

from mainstay.kernel.operation import Operation
from mainstay.values.words import words_of

_UNSAID = "Done."
_SENTENCE = re.compile(r"The (?P<what>.+?)(?P<state>'s state)? (?:is|are) (?P<done>[^.]+)\.")
# What was decided, as it is afterwards.
_DECIDED = {
    "approve": "approved",
    "reject": "rejected",
    "decline": "declined",
    "unapprove": "to be approved again",
}
_LONGEST = 120


def told(operation: Operation, given: Mapping[str, Any]) -> str:
    """An act in words: `Visit planned`, `Job: in progress`, `Hours rejected: Which job was it?`."""
    outcome = _outcome(operation, given)
    reason = given.get("reason")
    return f"{outcome}: {_short(str(reason))}" if reason else outcome


def _outcome(operation: Operation, given: Mapping[str, Any]) -> str:
    if operation.done == _UNSAID:
        return operation.title
    found = _SENTENCE.match(operation.done)
    if found is None:
        changes = operation.name.startswith("update_")
        return "Details changed" if changes else _first(operation.done).removeprefix("The ").capitalize()
    what, status = found["what"].capitalize(), given.get("status")
    if found["state"] and status:
        return f"{what}: {words_of(str(status)).lower()}"
    return f"{what} {_DECIDED.get(str(given.get('decision')), found['done'])}"


def _first(text: str) -> str:
    """The first sentence, without its end."""
    return text.partition(".")[0]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}\N{HORIZONTAL ELLIPSIS}"
