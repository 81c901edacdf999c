"""What each protocol does: build a request, and read the events of its reply."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import orjson

from mainstay.doors.assistant.models.conversation import Finished, ModelEvent, ModelReply, ModelRequest, TextDelta
from mainstay.doors.assistant.models.event_stream import EventStream
from mainstay.doors.assistant.models.model_problem import ModelProblem, make_unclear_problem
from mainstay.doors.assistant.models.model_settings import ModelSettings
from mainstay.values.json_object import JsonObject
from mainstay.values.message import Message

# The event with which servers of OpenAI's protocols end a stream.
_END = "[DONE]"
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_NAME = 64


class HttpRequest(NamedTuple):
    """A request to a model's server."""

    url: str
    headers: dict[str, str]
    body: bytes


class EventReader(Protocol):
    """Reads the events of one reply."""

    @property
    def is_complete(self) -> bool:
        """Whether the last event has been read."""

    @property
    def can_end(self) -> bool:
        """Whether the reply is whole if nothing more arrives."""

    def read_event(self, event: JsonObject) -> str:
        """Read an event, and return the text that it adds."""

    def finish(self) -> Finished:
        """Return the whole reply."""


class Dialect(Protocol):
    """A protocol of model servers."""

    def build_request(self, settings: ModelSettings, request: ModelRequest) -> HttpRequest:
        """Return the request that gets the next reply."""

    def open_reader(self, settings: ModelSettings, request: ModelRequest) -> EventReader:
        """Return what reads that reply."""


class ReplyParser:
    """Turns the bytes of a reply, split anywhere, into its events."""

    def __init__(self, reader: EventReader) -> None:
        self._reader = reader
        self._stream = EventStream()
        self.is_finished = False

    def feed(self, received: bytes) -> Iterator[ModelEvent]:
        """Yield the events that these bytes complete. Bytes after the last one are ignored."""
        for data in self._stream.feed(received):
            if self.is_finished:
                return
            if data.strip() == _END:
                yield self.end()
                return
            piece = self._reader.read_event(_decode_event(data))
            if piece:
                yield TextDelta(piece)
            if self._reader.is_complete:
                yield self.end()

    def end(self) -> Finished:
        """Return the last event because the response has ended; raise ModelProblem if the reply is not whole."""
        if not self._reader.can_end:
            raise ModelProblem(Message("The model's answer broke off."), is_temporary=True)
        self.is_finished = True
        return self._reader.finish()


def encode_body(body: JsonObject) -> bytes:
    """Return the JSON of a request."""
    return orjson.dumps(body)


def clean_tool_name(name: str) -> str:
    """Return a name that servers accept in a conversation, also if the model made one up."""
    return _NOT_IN_NAMES.sub("_", name)[:_MAX_NAME] or "unknown"


def mark_raw(settings: ModelSettings, content: Any) -> JsonObject:
    """Return what a server needs to get back, with the model that it belongs to."""
    return {"from": _name_origin(settings), "content": content}


def find_raw(settings: ModelSettings, reply: ModelReply) -> Any:
    """Return what this model needs to get back of a reply; None if there is nothing, or it is another model's."""
    if reply.raw is None or reply.raw.get("from") != _name_origin(settings):
        return None
    return reply.raw.get("content")


def _name_origin(settings: ModelSettings) -> list[str]:
    return [settings.dialect.value, settings.url, settings.model]


def _decode_event(data: str) -> JsonObject:
    try:
        event = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise make_unclear_problem() from None
    if not isinstance(event, dict):
        raise make_unclear_problem()
    return event
