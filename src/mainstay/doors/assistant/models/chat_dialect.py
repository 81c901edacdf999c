"""OpenAI's Chat Completions, which nearly every server of models speaks."""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from mainstay.doors.assistant.models.conversation import (
    CallResults,
    ConversationMessage,
    Finished,
    FinishReason,
    ModelReply,
    ModelRequest,
    UserText,
)
from mainstay.doors.assistant.models.dialect import HttpRequest, clean_tool_name, encode_body, find_raw, mark_raw
from mainstay.doors.assistant.models.loose_json import read_count, read_list, read_object, read_text
from mainstay.doors.assistant.models.model_problem import make_error_problem
from mainstay.doors.assistant.models.model_settings import ModelSettings, find_endpoint
from mainstay.doors.assistant.models.reply_builder import (
    CallBuilder,
    ReplyBuilder,
    clean_arguments,
    write_arguments,
    write_json,
)
from mainstay.values.json_object import JsonObject

_REASONS: dict[str, FinishReason] = {"length": "length", "content_filter": "refused"}
# The servers that want the newer name of the limit. Many others only know the older one.
_NEWER_HOSTS = ("openai.com", "openai.azure.com")


class ChatDialect:
    """OpenAI's Chat Completions."""

    def build_request(self, settings: ModelSettings, request: ModelRequest) -> HttpRequest:
        """Return the request that gets the next reply."""
        url = find_endpoint(settings.url, "chat/completions", is_versioned_later=False)
        limit = "max_completion_tokens" if (urlsplit(url).hostname or "").endswith(_NEWER_HOSTS) else "max_tokens"
        messages = [*_build_messages(settings, request.messages)]
        if request.instructions:
            messages.insert(0, {"role": "system", "content": request.instructions})
        body: JsonObject = {
            "model": settings.model,
            limit: request.max_output_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            "messages": messages,
        }
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.input_schema,
                    },
                }
                for tool in request.tools
            ]
        return HttpRequest(url, build_bearer_headers(settings), encode_body(body))

    def open_reader(self, settings: ModelSettings, request: ModelRequest) -> "_ChatReader":
        """Return what reads that reply."""
        return _ChatReader(settings, request)


def build_bearer_headers(settings: ModelSettings) -> dict[str, str]:
    """Return the headers of requests to servers of OpenAI's protocols."""
    headers = {"content-type": "application/json"}
    if settings.key:
        headers["authorization"] = f"Bearer {settings.key}"
    return headers


def merge_texts(messages: Sequence[ConversationMessage]) -> list[ConversationMessage]:
    """Return the messages with neighbouring texts of the person as one, because some models want roles to alternate."""
    merged: list[ConversationMessage] = []
    for message in messages:
        last = merged[-1] if merged else None
        if isinstance(message, UserText) and isinstance(last, UserText):
            merged[-1] = UserText(f"{last.text}\n\n{message.text}")
        else:
            merged.append(message)
    return merged


def _build_messages(settings: ModelSettings, messages: Sequence[ConversationMessage]) -> Iterator[JsonObject]:
    for message in merge_texts(messages):
        if isinstance(message, UserText):
            yield {"role": "user", "content": message.text}
        elif isinstance(message, ModelReply):
            yield _build_reply(settings, message)
        else:
            yield from _build_results(message)


def _build_reply(settings: ModelSettings, reply: ModelReply) -> JsonObject:
    built: JsonObject = {"role": "assistant", "content": reply.text}
    raw = read_object(find_raw(settings, reply))
    if reply.calls:
        extras = read_object(raw.get("calls"))
        built["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": clean_tool_name(call.name),
                    "arguments": clean_arguments(call.arguments),
                },
                **({"extra_content": extras[call.id]} if call.id in extras else {}),
            }
            for call in reply.calls
        ]
    if reasoning := raw.get("reasoning"):
        built["reasoning_content"] = reasoning
    return built


def _build_results(results: CallResults) -> Iterator[JsonObject]:
    for result in results.results:
        text = f"Error: {result.text}" if result.is_error else result.text
        yield {"role": "tool", "tool_call_id": result.call_id, "content": text}


class _ChatReader:
    def __init__(self, settings: ModelSettings, request: ModelRequest) -> None:
        self._settings = settings
        self._builder = ReplyBuilder(request)
        # The index that the server gave to each call.
        self._indexes: list[Any] = []
        self._reasoning: list[str] = []
        # What Gemini wants back with a call, by the call's position.
        self._extras: dict[int, Any] = {}

    is_complete = False  # the stream ends with an event of its own, or with the connection

    @property
    def can_end(self) -> bool:
        """Whether the reply is whole if nothing more arrives."""
        return self._builder.reason is not None

    def read_event(self, event: JsonObject) -> str:
        """Read an event, and return the text that it adds."""
        if event.get("error"):
            raise make_error_problem(event, self._settings.key)
        if usage := read_object(event.get("usage")):
            self._builder.input_tokens = read_count(usage.get("prompt_tokens")) or self._builder.input_tokens
            self._builder.output_tokens = read_count(usage.get("completion_tokens")) or self._builder.output_tokens
        choice = next((read_object(choice) for choice in read_list(event.get("choices"))), {})
        piece = self._read_delta(read_object(choice.get("delta")))
        if reason := read_text(choice.get("finish_reason")):
            already_refused = self._builder.reason == "refused"
            self._builder.reason = "refused" if already_refused else _REASONS.get(reason, "end")
        return piece

    def finish(self) -> Finished:
        """Return the whole reply."""
        calls = self._builder.build_calls()
        raw: JsonObject = {}
        if self._extras:
            raw["calls"] = {calls[position].id: extra for position, extra in self._extras.items()}
        # Servers that want it back want it for the calls, and others refuse it elsewhere.
        if self._reasoning and calls:
            raw["reasoning"] = "".join(self._reasoning)
        return self._builder.finish(calls, mark_raw(self._settings, raw) if raw else None)

    def _read_delta(self, delta: JsonObject) -> str:
        for call in read_list(delta.get("tool_calls")):
            self._read_call(read_object(call))
        if reasoning := read_text(delta.get("reasoning_content")):
            self._builder.count_raw(len(reasoning))
            self._reasoning.append(reasoning)
        text = self._builder.add_text(_read_content(delta.get("content")))
        if refusal := read_text(delta.get("refusal")):
            self._builder.reason = "refused"
            text += self._builder.add_text(refusal)
        return text

    def _read_call(self, piece: JsonObject) -> None:
        function = read_object(piece.get("function"))
        call = self._find_call(piece, read_text(function.get("name")))
        self._builder.add_arguments(call, write_arguments(function.get("arguments")))
        if extra := piece.get("extra_content"):
            self._builder.count_raw(len(write_json(extra)))
            self._extras[self._builder.calls.index(call)] = extra

    def _find_call(self, piece: JsonObject, name: str) -> CallBuilder:
        """Return the call that a piece belongs to. Some servers give only an index, only an id, or neither."""
        index, call_id = piece.get("index"), read_text(piece.get("id"))
        for position in reversed(range(len(self._indexes))):
            call = self._builder.calls[position]
            if call_id:
                is_same = call.id == call_id or (not call.id and self._indexes[position] == index is not None)
            else:
                # A name begins a new call, unless the server repeats it before there are any arguments.
                is_same = self._indexes[position] == index and not (name and call.arguments)
            if is_same:
                call.id, call.name = call.id or call_id, call.name or name
                return call
        self._indexes.append(index)
        return self._builder.add_call(call_id, name)


def _read_content(content: Any) -> str:
    """Return the text of a delta; some servers send it in parts."""
    if isinstance(content, list):
        return "".join(read_text(read_object(part).get("text")) for part in content)
    return read_text(content)
