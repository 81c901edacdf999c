"""Tools, derived from the catalogue: none is written by hand."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import orjson

from mainstay.doors.mcp.described import describe
from mainstay.kernel.operation import Effect, Operation
from mainstay.ledger.replay import Answer
from mainstay.terms.actor import Actor, Door
from mainstay.terms.refusal import Conflict, Fault, Forbidden, Invalid, NotFound, Refusal
from mainstay.terms.rights import Access, Rights
from mainstay.values.fields import NO_ID


class ToolResult(NamedTuple):
    """What a tool answered: words for the model, and the same as data."""

    texts: tuple[str, ...]
    data: bytes | None
    is_error: bool = False

    def wire(self) -> dict[str, Any]:
        """As the protocol shows it."""
        shown: dict[str, Any] = {
            "content": [{"type": "text", "text": text} for text in self.texts],
            "isError": self.is_error,
        }
        if self.data is not None:
            shown["structuredContent"] = orjson.Fragment(self.data)
        return shown


class Tools:
    """Every tool there is, and which of them an actor is offered."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = {operation.name: operation for operation in operations if Door.AGENT in operation.offered}
        # By what records call themselves: a list tells less of each than what gets one.
        self._listers = {
            operation.output.noun: operation.name for operation in self._operations.values() if operation.lists
        }
        self._getters = {
            operation.output.noun: operation.name
            for operation in self._operations.values()
            if operation.on and not operation.changes
        }
        # What there is none of may be another kind than the tool is about: a job's customer, say.
        self._shown = {
            operation.on.what: self._listers.get(operation.on.shown.noun)
            for operation in operations
            if operation.on and not operation.changes
        }
        self._found = {operation.on.what for operation in operations if operation.on and operation.on.found_by}
        # By what decides it: a handful of sets of rights are in use, and each offer is made once.
        self._offers: dict[tuple[Rights, Access], orjson.Fragment] = {}

    def find(self, name: str) -> Operation | None:
        """The operation behind a tool."""
        return self._operations.get(name)

    def way_out(self, operation: Operation, refusal: Refusal, actor: Actor) -> str:
        """A word to an agent that was refused: what it may call next, where there is something."""
        offered = self.names(actor.rights, actor.access)
        if isinstance(refusal, Forbidden):
            return _look(offered, "get_me", "shows what you may do")
        if isinstance(refusal, NotFound):
            name = self._shown.get(refusal.what) or "search"
            return _look(offered, name, "finds those there are" if name == "search" else "shows those there are")
        if isinstance(refusal, Invalid):
            return self._finders(refusal, offered)
        return self._way_past(operation, refusal, offered) if isinstance(refusal, Conflict) else ""

    def answered(self, operation: Operation, answer: Answer, actor: Actor) -> ToolResult:
        """The result of a tool that did what it was asked."""
        if operation.effect is not Effect.IRREVERSIBLE:
            return ToolResult((answer.body.decode(),), answer.body)
        if answer.preview:
            first = _first(answer.unblocks, self.names(actor.rights, actor.access))
            data = b'{"status":"preview","preview":' + answer.body + b"}"
            return ToolResult((_preview_words(operation, orjson.loads(answer.body), first), data.decode()), data)
        data = b'{"status":"done","result":' + answer.body + b"}"
        return ToolResult((data.decode(),), data)

    def offer(self, actor: Actor) -> orjson.Fragment:
        """The descriptions of the tools that this actor may use."""
        key = (actor.rights, actor.access)
        offer = self._offers.get(key)
        if offer is None:
            described = b",".join(map(_described, self._offered(*key)))
            offer = self._offers[key] = orjson.Fragment(b"[" + described + b"]")
        return offer

    def names(self, rights: Rights, access: Access) -> list[str]:
        """The names of the tools that such an actor may use."""
        return [operation.name for operation in self._offered(rights, access)]

    def _way_past(self, operation: Operation, refusal: Conflict, offered: list[str]) -> str:
        """What clears a state out of the way or, where nothing does, what shows it."""
        if helping := _first(refusal.unblocks, offered):
            return f" {helping}"
        about = _about(operation)
        if operation.on and (gets := self._getters.get(about)):
            return _look(offered, gets, "shows it as it is now")
        lists = self._listers.get(about)
        # A refusal may name it itself, with what to ask it for.
        return "" if lists and lists in refusal.text else _look(offered, lists, "shows those there are")

    def _finders(self, refusal: Invalid, offered: list[str]) -> str:
        """What finds the ids that were wanted; whoever sends a name instead may not know it yet."""
        wanted: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for fault in refusal.faults:
            if fault.problem.startswith(NO_ID) and (name := self._finder(fault)) in offered:
                wanted[name][fault.problem.removeprefix("is not ")] = None
        return "".join(f". {name} finds {' and '.join(ids)}" for name, ids in wanted.items()) + ("." if wanted else "")

    def _finder(self, fault: Fault) -> str:
        what = fault.problem.removeprefix(NO_ID).strip().removeprefix("a ")
        return "search" if what in self._found else self._shown.get(what) or ""

    def _offered(self, rights: Rights, access: Access) -> list[Operation]:
        return [
            operation
            for operation in self._operations.values()
            if operation.right in rights and (access is Access.WRITE or not operation.changes)
        ]


@cache
def _described(operation: Operation) -> bytes:
    """A tool as it is listed, made once for all who are offered it."""
    return orjson.dumps(describe(operation))


def _about(operation: Operation) -> str:
    """What the records call themselves that an operation is about."""
    return (operation.on.shown if operation.on else operation.output).noun


def _look(offered: Sequence[str], name: str | None, shows: str) -> str:
    return f" {name} {shows}." if name in offered else ""


def _first(unblocks: Sequence[tuple[str, str | None]], offered: Sequence[str]) -> str:
    """What is to be called before, of what this actor may use."""
    helping = [f"{name} for {at}" if at else name for name, at in unblocks if name in offered]
    return f"Call {' or '.join(helping)} first." if helping else ""


def _preview_words(operation: Operation, preview: dict[str, Any], first: str) -> str:
    lines = ["Nothing has happened yet. This is what would happen:", preview["summary"]]
    lines += [f"- {effect}" for effect in preview["effects"]]
    lines += [f"Warning: {warning}" for warning in preview["warnings"]]
    if preview["blockers"]:
        lines += ["It cannot be done now:", *(f"- {blocker}" for blocker in preview["blockers"])]
        lines += [first] if first else []
    else:
        lines.append(f"It cannot be undone. To do it, call {operation.name} again with confirmed: true.")
    return "\n".join(lines)
