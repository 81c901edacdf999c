"""Anthropic's Messages, which llama.cpp, Ollama and vLLM speak as well."""

from collections.abc import Iterator, Sequence
from typing import Any

from mainstay.doors.assistant.models.conversation import (
    CallResults,
    ConversationMessage,
    Finished,
    FinishReason,
    ModelReply,
    ModelRequest,
)
from mainstay.doors.assistant.models.dialect import HttpRequest, clean_tool_name, encode_body, find_raw, mark_raw
from mainstay.doors.assistant.models.loose_json import read_count, read_list, read_object, read_text
from mainstay.doors.assistant.models.model_problem import make_error_problem, make_unclear_problem
from mainstay.doors.assistant.models.model_settings import ModelSettings, find_endpoint
from mainstay.doors.assistant.models.reply_builder import CallBuilder, ReplyBuilder, parse_arguments, write_arguments
from mainstay.values.json_object import JsonObject

_VERSION = "2023-06-01"
# Asks the server to remember everything up to here: the tools are the same in each request.
_REMEMBER = {"cache_control": {"type": "ephemeral"}}
_REASONS: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
# The kinds of blocks that only the server can read, and the kinds of deltas with the field that each adds to.
_HIDDEN_BLOCKS = {"thinking", "redacted_thinking"}
_HIDDEN_DELTAS = {"thinking_delta": "thinking", "signature_delta": "signature"}


class MessagesDialect:
    """Anthropic's Messages."""

    def build_request(self, settings: ModelSettings, request: ModelRequest) -> HttpRequest:
        """Return the request that gets the next reply."""
        body: JsonObject = {
            "model": settings.model,
            "max_tokens": request.max_output_tokens,
            "stream": True,
            "messages": _mark_last(_merge_roles(settings, request.messages)),
        }
        if request.instructions:
            body["system"] = [{"type": "text", "text": request.instructions, **_REMEMBER}]
        if request.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
                for tool in request.tools
            ]
        headers = {"content-type": "application/json", "anthropic-version": _VERSION}
        if settings.key:
            headers["x-api-key"] = settings.key
        url = find_endpoint(settings.url, "messages", is_versioned_later=True)
        return HttpRequest(url, headers, encode_body(body))

    def open_reader(self, settings: ModelSettings, request: ModelRequest) -> "_MessagesReader":
        """Return what reads that reply."""
        return _MessagesReader(settings, request)


def _merge_roles(settings: ModelSettings, messages: Sequence[ConversationMessage]) -> list[JsonObject]:
    """Return the messages with their blocks. Neighbours of the same role become one, because roles alternate."""
    merged: list[JsonObject] = []
    for message in messages:
        role = "assistant" if isinstance(message, ModelReply) else "user"
        blocks = [*_build_blocks(settings, message)]
        if blocks and merged and merged[-1]["role"] == role:
            merged[-1]["content"] += blocks
        elif blocks:
            merged.append({"role": role, "content": blocks})
    return merged


def _build_blocks(settings: ModelSettings, message: ConversationMessage) -> Iterator[JsonObject]:
    """Yield the blocks of a message. An empty text is left out, because servers refuse it."""
    if isinstance(message, CallResults):
        for result in message.results:
            yield {
                "type": "tool_result",
                "tool_use_id": result.call_id,
                "content": result.text,
                "is_error": result.is_error,
            }
        return
    if isinstance(message, ModelReply) and (raw := find_raw(settings, message)):
        yield from (dict(block) for block in raw)
        return
    if message.text.strip():
        yield {"type": "text", "text": message.text}
    for call in message.calls if isinstance(message, ModelReply) else ():
        arguments = parse_arguments(call.arguments)
        yield {"type": "tool_use", "id": call.id, "name": clean_tool_name(call.name), "input": arguments}


def _mark_last(messages: list[JsonObject]) -> list[JsonObject]:
    if messages and messages[-1]["role"] == "user":
        messages[-1]["content"][-1] |= _REMEMBER
    return messages


class _MessagesReader:
    def __init__(self, settings: ModelSettings, request: ModelRequest) -> None:
        self._settings = settings
        self._builder = ReplyBuilder(request)
        self._blocks: dict[Any, JsonObject] = {}
        self._calls: dict[Any, CallBuilder] = {}
        # What a block of a call said at its beginning, for servers that send its input as a whole.
        self._whole_inputs: dict[Any, Any] = {}
        self.is_complete = False

    @property
    def can_end(self) -> bool:
        """Whether the reply is whole if nothing more arrives."""
        return self.is_complete or self._builder.reason is not None

    def read_event(self, event: JsonObject) -> str:
        """Read an event, and return the text that it adds."""
        index = event.get("index") if type(event.get("index")) is int else len(self._blocks) - 1
        match event.get("type"):
            case "message_start":
                self._read_usage(read_object(read_object(event.get("message")).get("usage")))
            case "content_block_start":
                return self._begin_block(event.get("index"), read_object(event.get("content_block")))
            case "content_block_delta":
                return self._read_delta(index, read_object(event.get("delta")))
            case "message_delta":
                self._read_usage(read_object(event.get("usage")))
                stopped = read_text(read_object(event.get("delta")).get("stop_reason"))
                if stopped:
                    self._builder.reason = _REASONS.get(stopped, "end")
            case "message_stop":
                self.is_complete = True
            case "error":
                raise make_error_problem(event, self._settings.key)
        return ""

    def finish(self) -> Finished:
        """Return the whole reply."""
        for index, whole in self._whole_inputs.items():
            if not self._calls[index].arguments:
                self._builder.add_arguments(self._calls[index], write_arguments(whole))
        calls = self._builder.build_calls()
        return self._builder.finish(calls, self._build_raw(dict(zip(self._calls, calls, strict=True))))

    def _begin_block(self, index: Any, block: JsonObject) -> str:
        index = index if type(index) is int else len(self._blocks)
        if index in self._blocks:
            # Two blocks would share what belongs to one.
            raise make_unclear_problem()
        kind = read_text(block.get("type"))
        self._blocks[index] = {"type": kind}
        if kind == "tool_use":
            self._calls[index] = self._builder.add_call(read_text(block.get("id")), read_text(block.get("name")))
            self._whole_inputs[index] = block.get("input")
        elif kind in _HIDDEN_BLOCKS:
            self._blocks[index] = {
                name: read_text(block[name]) for name in ("type", "thinking", "signature", "data") if name in block
            }
            self._builder.count_raw(sum(map(len, self._blocks[index].values())))
        elif kind == "text":
            return self._add_text(index, read_text(block.get("text")))
        return ""

    def _read_delta(self, index: Any, delta: JsonObject) -> str:
        kind = read_text(delta.get("type"))
        if kind == "text_delta":
            return self._add_text(index, read_text(delta.get("text")))
        if kind == "input_json_delta" and index in self._calls:
            self._builder.add_arguments(self._calls[index], read_text(delta.get("partial_json")))
        elif kind in _HIDDEN_DELTAS and index in self._blocks:
            name = _HIDDEN_DELTAS[kind]
            piece = read_text(delta.get(name))
            self._builder.count_raw(len(piece))
            self._blocks[index][name] = self._blocks[index].get(name, "") + piece
        return ""

    def _add_text(self, index: Any, piece: str) -> str:
        block = self._blocks.setdefault(index, {"type": "text"})
        block.setdefault("pieces", []).append(piece)
        return self._builder.add_text(piece)

    def _read_usage(self, usage: JsonObject) -> None:
        """Read the counts so far. What the server remembered from earlier requests is counted apart by it."""
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        self._builder.input_tokens = sum(read_count(usage.get(name)) for name in names) or self._builder.input_tokens
        self._builder.output_tokens = read_count(usage.get("output_tokens")) or self._builder.output_tokens

    def _build_raw(self, calls: dict[Any, Any]) -> JsonObject | None:
        """Return all blocks if some can only be read by the server: it wants them back as they were."""
        if not any(block["type"] in _HIDDEN_BLOCKS for block in self._blocks.values()):
            return None
        content: list[JsonObject] = []
        for index, block in self._blocks.items():
            if index in calls:
                call = calls[index]
                name, arguments = clean_tool_name(call.name), parse_arguments(call.arguments)
                content.append({"type": "tool_use", "id": call.id, "name": name, "input": arguments})
            elif block["type"] in _HIDDEN_BLOCKS:
                content.append(block)
            elif text := "".join(read_list(block.get("pieces"))).strip():
                content.append({"type": "text", "text": text})
        return mark_raw(self._settings, content)
