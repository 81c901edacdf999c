"""The tools of the tool server, all derived from the catalogue."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import orjson

from mainstay.changes.idempotency import Answer
from mainstay.doors.agent_calls import DETAIL
from mainstay.doors.field_hints import add_field_hints
from mainstay.doors.mcp.tool_schema import describe_tool
from mainstay.kernel.operation import Operation
from mainstay.kernel.preview import PreviewDiffers
from mainstay.values.fields import NOT_AN_ID
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Access, Permissions
from mainstay.vocabulary.refusal import Conflict, Fault, Forbidden, Invalid, NotFound, Refusal
from mainstay.vocabulary.toolsets import DEFAULT_CHOICE, ToolChoice, choose_toolsets


class ToolResult(NamedTuple):
    """The answer of a tool: texts for the model, and the same as data."""

    texts: tuple[str, ...]
    data: bytes | None
    is_error: bool = False

    def to_wire(self) -> dict[str, Any]:
        """Return the result in the shape of the protocol."""
        result: dict[str, Any] = {
            "content": [{"type": "text", "text": text} for text in self.texts],
            "isError": self.is_error,
        }
        if self.data is not None:
            result["structuredContent"] = orjson.Fragment(self.data)
        return result


class ToolOffer(NamedTuple):
    """What decides which tools are offered: the actor's permissions and access, and the chosen toolsets."""

    permissions: Permissions
    access: Access
    choice: ToolChoice

    def includes(self, operation: Operation) -> bool:
        """Return whether it includes the tool of an operation."""
        return (
            operation.permission in self.permissions
            and (self.access is Access.WRITE or not operation.changes)
            and operation.is_in(self.choice)
        )


DECLINED = ToolResult(("Declined. Nothing happened.",), b'{"status":"declined"}')


class Tools:
    """All tools, and which of them an actor may use."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = {operation.name: operation for operation in operations if Door.AGENT in operation.doors}
        # The tools that list records and those that get one, by the noun of the record; a list shows fewer fields.
        # Refusals name only tools that are offered by default.
        default_tools = [operation for operation in self._operations.values() if operation.is_in(DEFAULT_CHOICE)]
        self._list_tool_by_noun = {
            operation.output.noun: operation.name for operation in default_tools if operation.returns_page
        }
        self._get_tool_by_noun = {
            operation.output.noun: operation.name
            for operation in default_tools
            if operation.on and not operation.changes
        }
        # The tool that lists each kind of record, for refusals. A record that was not found may be of another kind than
        # the tool's own, such as the customer of a job.
        self._list_tool_by_kind = {
            operation.on.label: self._list_tool_by_noun.get(operation.on.output.noun)
            for operation in operations
            if operation.on and not operation.changes
        }
        self._searchable_kinds = {
            operation.on.label for operation in operations if operation.on and operation.on.search_fields
        }

    def find_operation(self, name: str) -> Operation | None:
        """Find the operation of a tool."""
        return self._operations.get(name)

    def hint_after(self, operation: Operation, refusal: Refusal, actor: Actor) -> str:
        """Return a hint for a refused agent: which tool it may call next, or no text if there is none."""
        permitted = self._names_for(actor)
        if isinstance(refusal, Forbidden):
            return _hint_at_tool(permitted, "get_me", "shows what you may do")
        if isinstance(refusal, NotFound):
            name = self._list_tool_by_kind.get(refusal.label) or "search"
            return _hint_at_tool(permitted, name, "finds records" if name == "search" else "lists them")
        if isinstance(refusal, Invalid):
            return self._hint_at_finders(refusal, permitted)
        return self._hint_after_conflict(operation, refusal, permitted) if isinstance(refusal, Conflict) else ""

    def build_result(self, operation: Operation, answer: Answer, actor: Actor) -> ToolResult:
        """Return the result of a tool whose operation was performed or previewed."""
        if answer.is_preview:
            return self._build_preview_result(operation, answer, actor)
        if answer.awaits_confirmation:
            data = b'{"status":"confirmation","confirmation":' + answer.body + b"}"
            return ToolResult((_confirmation_text(orjson.loads(answer.body), actor), data.decode()), data)
        undo = (_UNDO_HINT.format(answer.undoable_change),) if answer.undoable_change else ()
        if not operation.is_irreversible:
            return ToolResult((answer.body.decode(), *undo), answer.body)
        data = b'{"status":"done","result":' + answer.body + b"}"
        return ToolResult((data.decode(), *undo), data)

    def build_refusal(self, operation: Operation, refusal: Refusal, actor: Actor) -> ToolResult:
        """Return the result of a tool whose operation was refused; with the new preview if the former one differs."""
        if isinstance(refusal, PreviewDiffers):
            preview = self._build_preview_result(operation, refusal.preview, actor)
            return preview._replace(texts=(refusal.text, *preview.texts), is_error=True)
        text = _hint_at_fields(operation, refusal).text if isinstance(refusal, Invalid) else refusal.text
        return ToolResult((text + self.hint_after(operation, refusal, actor),), None, is_error=True)

    def list_tools(self, offer: ToolOffer) -> orjson.Fragment:
        """Return the descriptions of the tools on offer."""
        return _build_tool_list(self, offer)

    def list_default_tools(self, permissions: Permissions, access: Access) -> orjson.Fragment:
        """Return the descriptions of the tools that are offered if no toolsets are chosen."""
        return self.list_tools(ToolOffer(permissions, access, DEFAULT_CHOICE))

    def tool_names(self, permissions: Permissions, access: Access, choice: ToolChoice = DEFAULT_CHOICE) -> list[str]:
        """Return the names of the tools that an actor with these permissions, this access and this choice may use."""
        return [operation.name for operation in self.find_offered(ToolOffer(permissions, access, choice))]

    def find_offered(self, offer: ToolOffer) -> list[Operation]:
        """Return the operations of the tools on offer."""
        return [operation for operation in self._operations.values() if offer.includes(operation)]

    def _names_for(self, actor: Actor) -> list[str]:
        return self.tool_names(actor.permissions, actor.access, choose_toolsets(None, actor.toolsets))

    def _build_preview_result(self, operation: Operation, answer: Answer, actor: Actor) -> ToolResult:
        first_hint = _hint_at_actions(answer.unblocking_actions, self._names_for(actor))
        data = b'{"status":"preview","preview":' + answer.body + b"}"
        return ToolResult((_preview_text(operation, orjson.loads(answer.body), first_hint), data.decode()), data)

    def _hint_after_conflict(self, operation: Operation, refusal: Conflict, permitted: list[str]) -> str:
        """Return a hint at the tools that resolve a conflict or, if none do, at the one that shows the record."""
        if hint := _hint_at_actions(refusal.unblocking_actions, permitted):
            return f" {hint}"
        noun = _noun_of(operation)
        if operation.on and (get_tool := self._get_tool_by_noun.get(noun)):
            return _hint_at_tool(permitted, get_tool, "shows its current state")
        list_tool = self._list_tool_by_noun.get(noun)
        # The refusal may already name this tool, with its arguments.
        return "" if list_tool and list_tool in refusal.text else _hint_at_tool(permitted, list_tool, "lists them")

    def _hint_at_finders(self, refusal: Invalid, permitted: list[str]) -> str:
        """Return a hint at the tools that find ids, for fields that need an id and were sent something else."""
        ids_by_tool: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for fault in refusal.faults:
            kind = _missed_kind_of(fault)
            if kind and (name := self._finder_of(kind)) in permitted:
                ids_by_tool[name][f"the id of {kind}"] = None
        return "".join(f". {name} finds {' and '.join(ids)}" for name, ids in ids_by_tool.items()) + (
            "." if ids_by_tool else ""
        )

    def _finder_of(self, kind: str) -> str:
        label = kind.removeprefix("a ")
        return "search" if label in self._searchable_kinds else self._list_tool_by_kind.get(label) or ""


# Only a few of all possible offers are in use.
@lru_cache(32)
def _build_tool_list(tools: Tools, offer: ToolOffer) -> orjson.Fragment:
    return orjson.Fragment(b"[" + b",".join(map(_describe_as_json, tools.find_offered(offer))) + b"]")


_UNDO_HINT = 'To undo this, call undo_change with changeIds ["{}"].'


@cache
def _describe_as_json(operation: Operation) -> bytes:
    """Return the description of a tool as JSON, built once for all actors."""
    return orjson.dumps(describe_tool(operation))


def _hint_at_fields(operation: Operation, refusal: Invalid) -> Invalid:
    return add_field_hints(refusal.faults, operation.input, more_fields=[DETAIL] if operation.returns_page else [])


def _missed_kind_of(fault: Fault) -> str | None:
    """Return the kind of record, such as `a customer`, if the field needs its id and was sent something else."""
    message = fault.message
    return str(message.values["record"]) if isinstance(message, Message) and message.template == NOT_AN_ID else None


def _noun_of(operation: Operation) -> str:
    """Return the noun of the records that an operation is about."""
    return (operation.on.output if operation.on else operation.output).noun


def _hint_at_tool(permitted: Sequence[str], name: str | None, shows: str) -> str:
    return f" {name} {shows}." if name in permitted else ""


def _hint_at_actions(actions: Sequence[tuple[str, str | None, bool]], permitted: Sequence[str]) -> str:
    """Return a hint at the tools that help, of those that this actor may use: to call first, or instead."""
    alternatives, first_calls = (
        [
            f"{name} for {record_id}" if record_id else name
            for name, record_id, is_alternative in actions
            if name in permitted and is_alternative is wanted
        ]
        for wanted in (True, False)
    )
    if not alternatives:
        return f"First: call {' or '.join(first_calls)}." if first_calls else ""
    instead = f"Instead: call {' or '.join(alternatives)}."
    return f"{instead} Or first: call {' or '.join(first_calls)}." if first_calls else instead


def describe_preview(preview: dict[str, Any], first_hint: str = "") -> str:
    """Return a preview as text: what would happen, or why it cannot be done and what helps."""
    lines = ["Nothing has happened yet. This is what would happen:", preview["summary"]]
    lines += [f"- {effect}" for effect in preview["effects"]]
    lines += [f"Warning: {warning}" for warning in preview["warnings"]]
    if preview["blockers"]:
        lines += ["It cannot be done now:", *(f"- {blocker}" for blocker in preview["blockers"])]
        lines += [first_hint] if first_hint else []
    return "\n".join(lines)


def _preview_text(operation: Operation, preview: dict[str, Any], first_hint: str) -> str:
    text = describe_preview(preview, first_hint)
    if preview["blockers"]:
        return text
    if not operation.is_irreversible:
        return f"{text}\nTo do it, call {operation.name} again without dryRun."
    warning = "" if operation.undone_by else "It cannot be undone. "
    return f"{text}\n{warning}Show this to the person. If they agree, call {operation.name} again with confirmed: true."


def _confirmation_text(confirmation: dict[str, Any], actor: Actor) -> str:
    person = actor.person.name if actor.person else "the person"
    text = "Nothing has happened yet. {person} has to confirm it on the website by {until}: {url}"
    return text.format(person=person, until=confirmation["expiresAt"], url=confirmation["url"])
