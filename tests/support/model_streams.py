"""What model servers send for a scripted turn: the events of each protocol, as the official clients expect them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from mainstay.business.organisation.assistant_settings import ModelDialect

_PIECE = 7
Delivery = Literal["whole", "drip", "stall", "error", "cut"]


class ScriptedCall(NamedTuple):
    """A tool that the scripted model calls."""

    name: str
    # An object, or a text that is sent as it is, such as broken JSON.
    arguments: Mapping[str, Any] | str = MappingProxyType({})
    id: str = ""

    @property
    def arguments_text(self) -> str:
        return (
            self.arguments if isinstance(self.arguments, str) else json.dumps(dict(self.arguments), ensure_ascii=False)
        )


@dataclass(frozen=True)
class ScriptedTurn:
    """One reply of the scripted model, and how it is sent."""

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    # What the model thought, which its server wants back in its own form.
    reasoning: str = ""
    reason: Literal["", "length", "refused"] = ""
    input_tokens: int = 120
    output_tokens: int = 12
    # `drip` sends byte by byte; the others break off after the text: silently, with an error, or with the connection.
    delivery: Delivery = "whole"


class ScriptedError(NamedTuple):
    """A response that is no reply."""

    status: int
    message: str = "Something is wrong."
    kind: str = "invalid_request_error"
    retry_after: str | None = None


def name_calls(turn: ScriptedTurn, number: int) -> list[ScriptedCall]:
    """Return the calls of a reply with ids, which are different in each request of a conversation."""
    return [call._replace(id=call.id or f"call_{number}_{position}") for position, call in enumerate(turn.calls)]


def render_events(dialect: ModelDialect, turn: ScriptedTurn, number: int = 1) -> tuple[list[bytes], list[bytes]]:
    """Return the events of a reply: up to its text, and the rest."""
    render = {
        ModelDialect.MESSAGES: _render_messages,
        ModelDialect.CHAT: _render_chat,
        ModelDialect.RESPONSES: _render_responses,
    }[dialect]
    calls = name_calls(turn, number)
    first, rest = (list(part) for part in render(turn, calls))
    return first, rest


def render_stream(dialect: ModelDialect, turn: ScriptedTurn, number: int = 1) -> bytes:
    """Return all bytes of a reply."""
    first, rest = render_events(dialect, turn, number)
    return b"".join([*first, *rest])


def render_error_event(dialect: ModelDialect) -> bytes:
    """Return the event of an error in the middle of a reply."""
    error = {"type": "overloaded_error", "message": "Overloaded"}
    if dialect is ModelDialect.RESPONSES:
        return _name_event({"type": "error", "code": "server_error", "message": "Overloaded", "sequence_number": 99})
    if dialect is ModelDialect.MESSAGES:
        return _name_event({"type": "error", "error": error})
    return _write_event({"error": error})


def _split(text: str) -> Iterator[str]:
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]


def _write_event(data: Any) -> bytes:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _name_event(data: dict[str, Any]) -> bytes:
    return f"event: {data['type']}\n".encode() + _write_event(data)


# Anthropic's Messages


def _render_messages(turn: ScriptedTurn, calls: list[ScriptedCall]) -> tuple[Iterator[bytes], Iterator[bytes]]:
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if turn.reasoning:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _split(turn.reasoning)]
        signature = {"type": "signature_delta", "signature": "c2lnbmVk"}
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]))
    if turn.text:
        blocks.append(
            ({"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in _split(turn.text)])
        )
    up_to_text = len(blocks)
    for call in calls:
        # The first delta is empty, as it is from Anthropic.
        pieces = ["", *_split(call.arguments_text)]
        blocks.append(
            (
                {"type": "tool_use", "id": call.id, "name": call.name, "input": {}},
                [{"type": "input_json_delta", "partial_json": piece} for piece in pieces],
            )
        )
    return (
        _begin_message(turn, blocks[:up_to_text]),
        _end_message(turn, blocks, up_to_text),
    )


def _begin_message(turn: ScriptedTurn, blocks: list[Any]) -> Iterator[bytes]:
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        # Part of what was read was remembered from an earlier request.
        "usage": {"input_tokens": turn.input_tokens - 20, "cache_read_input_tokens": 20, "output_tokens": 1},
    }
    yield _name_event({"type": "message_start", "message": message})
    yield _name_event({"type": "ping"})
    yield from _write_blocks(blocks, 0)


def _end_message(turn: ScriptedTurn, blocks: list[Any], start: int) -> Iterator[bytes]:
    yield from _write_blocks(blocks[start:], start)
    reason = {"length": "max_tokens", "refused": "refusal"}.get(turn.reason, "tool_use" if turn.calls else "end_turn")
    delta = {"stop_reason": reason, "stop_sequence": None}
    yield _name_event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": turn.output_tokens}})
    yield _name_event({"type": "message_stop"})


def _write_blocks(blocks: list[Any], start: int) -> Iterator[bytes]:
    for index, (block, deltas) in enumerate(blocks, start):
        yield _name_event({"type": "content_block_start", "index": index, "content_block": block})
        for delta in deltas:
            yield _name_event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _name_event({"type": "content_block_stop", "index": index})


# OpenAI's Chat Completions


def _render_chat(turn: ScriptedTurn, calls: list[ScriptedCall]) -> tuple[Iterator[bytes], Iterator[bytes]]:
    return _begin_chat(turn), _end_chat(turn, calls)


def _begin_chat(turn: ScriptedTurn) -> Iterator[bytes]:
    yield b": the server is thinking\n\n"
    yield _write_chunk({"role": "assistant", "content": ""})
    for piece in _split(turn.reasoning):
        yield _write_chunk({"reasoning_content": piece})
    name = "refusal" if turn.reason == "refused" else "content"
    for piece in _split(turn.text):
        yield _write_chunk({name: piece})


def _end_chat(turn: ScriptedTurn, calls: list[ScriptedCall]) -> Iterator[bytes]:
    for index, call in enumerate(calls):
        function = {"name": call.name, "arguments": ""}
        yield _write_chunk({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
        for piece in _split(call.arguments_text):
            yield _write_chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    reason = "length" if turn.reason == "length" else "tool_calls" if calls else "stop"
    yield _write_chunk({}, reason)
    usage = {"prompt_tokens": turn.input_tokens, "completion_tokens": turn.output_tokens}
    usage["total_tokens"] = sum(usage.values())
    yield _write_event(_make_chunk() | {"choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _write_chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    return _write_event(_make_chunk() | {"choices": [choice], "usage": None})


def _make_chunk() -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "scripted"}


# OpenAI's Responses


def _render_responses(turn: ScriptedTurn, calls: list[ScriptedCall]) -> tuple[Iterator[bytes], Iterator[bytes]]:
    events = [*_list_response_events(turn, _make_items(turn, calls))]
    is_rest = [event.get("item", {}).get("type") == "function_call" or event is events[-1] for event in events]
    rest = is_rest.index(True)
    numbered = [_name_event(event | {"sequence_number": number}) for number, event in enumerate(events)]
    return iter(numbered[:rest]), iter(numbered[rest:])


def _make_items(turn: ScriptedTurn, calls: list[ScriptedCall]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if turn.reasoning:
        items.append({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": turn.reasoning})
    if turn.text:
        part: dict[str, Any] = {"type": "output_text", "text": turn.text, "annotations": [], "logprobs": []}
        if turn.reason == "refused":
            part = {"type": "refusal", "refusal": turn.text}
        items.append({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]})
    items += [
        {
            "id": f"fc_{position}",
            "type": "function_call",
            "status": "completed",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments_text,
        }
        for position, call in enumerate(calls)
    ]
    return items


def _list_response_events(turn: ScriptedTurn, items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    response: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": "scripted",
        "status": "in_progress",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None,
    }
    yield {"type": "response.created", "response": response}
    yield {"type": "response.in_progress", "response": response}
    for index, item in enumerate(items):
        yield from _list_item_events(item, index)
    usage = {
        "input_tokens": turn.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": turn.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": turn.input_tokens + turn.output_tokens,
    }
    is_cut = turn.reason == "length"
    status = "incomplete" if is_cut else "completed"
    ended = {"status": status, "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None}
    yield {"type": f"response.{status}", "response": response | ended | {"output": items, "usage": usage}}


def _list_item_events(item: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    where = {"output_index": index, "item_id": item["id"]}
    empty: dict[str, Any] = {"content": [], "arguments": ""}
    started = item | {name: value for name, value in empty.items() if name in item} | {"status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": index, "item": started}
    if item["type"] == "message":
        [part] = item["content"]
        name = "refusal" if part["type"] == "refusal" else "text"
        kind = "refusal" if part["type"] == "refusal" else "output_text"
        part_where = where | {"content_index": 0}
        yield {"type": "response.content_part.added", **part_where, "part": part | {name: ""}}
        for piece in _split(part[name]):
            yield {"type": f"response.{kind}.delta", **part_where, "delta": piece, "logprobs": []}
        yield {"type": f"response.{kind}.done", **part_where, name: part[name], "logprobs": []}
        yield {"type": "response.content_part.done", **part_where, "part": part}
    if item["type"] == "function_call":
        for piece in _split(item["arguments"]):
            yield {"type": "response.function_call_arguments.delta", **where, "delta": piece}
        done = {"arguments": item["arguments"], "name": item["name"]}
        yield {"type": "response.function_call_arguments.done", **where, **done}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}
