"""The calls of the model: which tool, who performs it, and the result as it is stored."""

from collections.abc import Mapping
from typing import Any

import orjson

from mainstay.business.assistant.model import CallPlace, Conversation
from mainstay.business.records.undo import undo_change
from mainstay.changes.idempotency import Answer
from mainstay.doors.agent_calls import take_agent_format
from mainstay.doors.assistant.assistant_parts import AssistantParts
from mainstay.doors.assistant.prompt import WITHHELD_FIELDS, join_texts
from mainstay.doors.json import InvalidJson, decode_json, encode_json
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.preview import PreviewDiffers
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import Refusal


def find_tool(parts: AssistantParts, actor: Actor, name: str) -> Operation | None:
    """Find the operation of a tool that the actor is offered."""
    tools = parts.tools
    return tools.find_operation(name) if name in tools.tool_names(actor.permissions, actor.access) else None


def decode_arguments(text: str) -> dict[str, Any] | str:
    """Return the arguments of a call, or why they cannot be used."""
    try:
        arguments = decode_json((text or "{}").encode(errors="replace"))
    except InvalidJson as error:
        return f"The arguments are not valid JSON: {error}"
    if not isinstance(arguments, dict):
        return "The arguments are not an object."
    if withheld := WITHHELD_FIELDS & arguments.keys():
        return f"There is no field {', '.join(sorted(withheld))} here. The person confirms on a card."
    return arguments


def needs_person(operation: Operation, arguments: Mapping[str, Any], conversation: Conversation) -> bool:
    """Return whether only a person's click performs a call: what is irreversible, or lets somebody in.

    So does undoing, because it may bring back a role or an address that was taken away. The assistant undoes by itself
    only what it did by itself in the same conversation.
    """
    if operation is undo_change:
        own = {change for turn in conversation.turns for change in turn.unconfirmed_changes}
        given = arguments.get("changeIds")
        return not isinstance(given, list) or not own.issuperset(map(str, given))
    return operation.is_irreversible or operation.gives_access


def name_call(turn_id: str, place: CallPlace) -> str:
    """Return the id of a call as a request, by which the audit trail names it."""
    return f"{turn_id}:{place.said}:{place.call}"


async def perform_read(
    parts: AssistantParts, actor: Actor, operation: Operation, arguments: Mapping[str, Any], details: RequestDetails
) -> dict[str, Any]:
    """Perform a call that reads, and return its result as it is stored."""
    given = dict(arguments)
    try:
        details = details._replace(agent_format=take_agent_format(operation, actor, given))
        answer = await parts.runner.perform(parts.performer, operation, actor, encode_json(given), details)
    except Refusal as refusal:
        return describe_refusal(parts, actor, operation, refusal)
    return _describe_answer(parts, actor, operation, answer)


def perform_change(
    parts: AssistantParts, actor: Actor, operation: Operation, arguments: Mapping[str, Any], details: RequestDetails
) -> dict[str, Any]:
    """Make a change, and return its result as it is stored: the text for the model, and how to undo it.

    The performer of the parts is that of a batch, whose transaction also stores the result. Raise PreviewDiffers if the
    change was confirmed, and something else would happen now.
    """
    try:
        answer = parts.performer.perform(operation, actor, encode_json(arguments), details)
    except PreviewDiffers:
        raise
    except Refusal as refusal:
        return describe_refusal(parts, actor, operation, refusal)
    return _describe_answer(parts, actor, operation, answer)


async def preview_call(
    parts: AssistantParts, actor: Actor, operation: Operation, arguments: dict[str, Any]
) -> dict[str, Any]:
    """Return a call for its person to decide, as it is stored; or its result, if it cannot be done."""
    details = RequestDetails("preview", dry_run=True)
    try:
        answer = await parts.runner.perform(parts.performer, operation, actor, encode_json(arguments), details)
    except Refusal as refusal:
        return describe_refusal(parts, actor, operation, refusal)
    if not is_card_possible(orjson.loads(answer.body)):
        return {"text": join_texts(parts.tools.build_result(operation, answer, actor)), "isError": True}
    return {"operation": operation.name, "arguments": arguments}


def is_card_possible(preview: Mapping[str, Any]) -> bool:
    """Return whether nothing stands against what a preview shows."""
    return not preview["blockers"]


def describe_refusal(parts: AssistantParts, actor: Actor, operation: Operation, refusal: Refusal) -> dict[str, Any]:
    """Return the result of a call that was refused, as it is stored."""
    return {"text": join_texts(parts.tools.build_refusal(operation, refusal, actor)), "isError": True}


def _describe_answer(parts: AssistantParts, actor: Actor, operation: Operation, answer: Answer) -> dict[str, Any]:
    result = {"text": join_texts(parts.tools.build_result(operation, answer, actor)), "isError": False}
    record = orjson.loads(answer.body) if operation.changes else {}
    links = {"record": record["id"]} if isinstance(record.get("id"), str) else {}
    return result | links | ({"change": answer.undoable_change} if answer.undoable_change else {})
