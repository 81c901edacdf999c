"""OpenAI's Responses, without anything stored at the server: its encrypted reasoning is sent back with each request."""

from collections.abc import Iterator, Sequence
from typing import Any

from mainstay.doors.assistant.models.chat_dialect import build_bearer_headers, merge_texts
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
from mainstay.doors.assistant.models.model_problem import make_error_problem
from mainstay.doors.assistant.models.model_settings import ModelSettings, find_endpoint
from mainstay.doors.assistant.models.reply_builder import ReplyBuilder, clean_arguments, write_arguments, write_json
from mainstay.values.json_object import JsonObject

_LAST_EVENTS = {"response.completed", "response.incomplete"}
_FAILURES = {"error", "response.failed"}
_REASONS: dict[str, FinishReason] = {"max_output_tokens": "length", "content_filter": "refused"}
# What is sent back; a reasoning only if it is encrypted, because the server has stored nothing else of it.
_SENT_BACK = {"message", "function_call", "reasoning"}


class ResponsesDialect:
    """OpenAI's Responses."""

    def build_request(self, settings: ModelSettings, request: ModelRequest) -> HttpRequest:
        """Return the request that gets the next reply."""
        body: JsonObject = {
            "model": settings.model,
            "max_output_tokens": request.max_output_tokens,
            "stream": True,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "input": [*_build_items(settings, request.messages)],
        }
        if request.instructions:
            body["instructions"] = request.instructions
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                    # Otherwise the server would change the schema.
                    "strict": False,
                }
                for tool in request.tools
            ]
        url = find_endpoint(settings.url, "responses", is_versioned_later=False)
        return HttpRequest(url, build_bearer_headers(settings), encode_body(body))

    def open_reader(self, settings: ModelSettings, request: ModelRequest) -> "_ResponsesReader":
        """Return what reads that reply."""
        return _ResponsesReader(settings, request)


def _build_items(settings: ModelSettings, messages: Sequence[ConversationMessage]) -> Iterator[JsonObject]:
    for message in merge_texts(messages):
        if isinstance(message, CallResults):
            for result in message.results:
                text = f"Error: {result.text}" if result.is_error else result.text
                yield {"type": "function_call_output", "call_id": result.call_id, "output": text}
        elif isinstance(message, ModelReply):
            yield from find_raw(settings, message) or _build_reply(message)
        else:
            yield {"role": "user", "content": message.text}


def _build_reply(reply: ModelReply) -> Iterator[JsonObject]:
    if reply.text:
        # In the long form, because llama.cpp does not understand the short one.
        content = [{"type": "output_text", "text": reply.text}]
        yield {"type": "message", "role": "assistant", "content": content}
    for call in reply.calls:
        yield {
            "type": "function_call",
            "call_id": call.id,
            "name": clean_tool_name(call.name),
            "arguments": clean_arguments(call.arguments),
        }


class _ResponsesReader:
    def __init__(self, settings: ModelSettings, request: ModelRequest) -> None:
        self._settings = settings
        self._builder = ReplyBuilder(request)
        self._items: list[JsonObject] = []
        self.is_complete = False

    @property
    def can_end(self) -> bool:
        """Whether the reply is whole if nothing more arrives."""
        return self.is_complete

    def read_event(self, event: JsonObject) -> str:
        """Read an event, and return the text that it adds."""
        kind = read_text(event.get("type"))
        if kind == "response.output_text.delta":
            return self._builder.add_text(read_text(event.get("delta")))
        if kind == "response.refusal.delta":
            self._builder.reason = "refused"
            return self._builder.add_text(read_text(event.get("delta")))
        if kind == "response.output_item.done":
            return self._read_item(read_object(event.get("item")))
        if kind in _LAST_EVENTS:
            return self._read_last(read_object(event.get("response")))
        if kind in _FAILURES:
            raise make_error_problem(event, self._settings.key)
        return ""

    def finish(self) -> Finished:
        """Return the whole reply."""
        calls = self._builder.build_calls()
        return self._builder.finish(calls, mark_raw(self._settings, self._build_raw()) if self._items else None)

    def _read_item(self, item: JsonObject) -> str:
        """Read a finished item. Its text is only news if the server sent none before."""
        kind = read_text(item.get("type"))
        if kind not in _SENT_BACK:
            return ""
        self._builder.count_raw(len(write_json(item)))
        self._items.append(item)
        if kind == "function_call":
            call = self._builder.add_call(read_text(item.get("call_id")), read_text(item.get("name")))
            self._builder.add_arguments(call, write_arguments(item.get("arguments")))
        if kind == "message" and not self._builder.has_text:
            return self._builder.add_text("".join(map(_read_part, read_list(item.get("content")))))
        return ""

    def _read_last(self, response: JsonObject) -> str:
        usage = read_object(response.get("usage"))
        self._builder.input_tokens = read_count(usage.get("input_tokens"))
        self._builder.output_tokens = read_count(usage.get("output_tokens"))
        reason = read_text(read_object(response.get("incomplete_details")).get("reason"))
        self._builder.reason = _REASONS.get(reason, self._builder.reason or "end")
        self.is_complete = True
        items = () if self._items else read_list(response.get("output"))
        return "".join([self._read_item(read_object(item)) for item in items])

    def _build_raw(self) -> list[JsonObject]:
        """Return what is sent back: unchanged, but for calls with the ids that they have with us."""
        calls = iter(self._builder.build_calls())
        items: list[JsonObject] = []
        for item in self._items:
            if item["type"] == "function_call":
                call = next(calls)
                arguments = clean_arguments(call.arguments)
                given = {"call_id": call.id, "name": clean_tool_name(call.name), "arguments": arguments}
                items.append(item | given)
            elif item["type"] == "message" or item.get("encrypted_content"):
                items.append(item)
        if len(items) < len(self._items):
            # An id refers to the reasoning before it, so it only goes back together with that.
            items = [{name: value for name, value in item.items() if name != "id"} for item in items]
        return items


def _read_part(part: Any) -> str:
    return read_text(read_object(part).get("text")) or read_text(read_object(part).get("refusal"))
