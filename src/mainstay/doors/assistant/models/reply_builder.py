"""Collects a reply from its pieces, within limits."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from mainstay.doors.assistant.models.conversation import (
    Finished,
    FinishReason,
    ModelCall,
    ModelReply,
    ModelRequest,
)
from mainstay.doors.assistant.models.loose_json import read_text
from mainstay.doors.assistant.models.model_problem import ModelProblem, make_unclear_problem
from mainstay.doors.assistant.models.token_estimate import (
    count_reply_characters,
    estimate_request_tokens,
    estimate_text_tokens,
)
from mainstay.values.json_object import JsonObject
from mainstay.values.message import Message

MAX_CALLS = 16
# Of the text, of the arguments of all calls, and of what is only sent back to the server.
MAX_TEXT, MAX_ARGUMENTS, MAX_RAW = 40_000, 100_000, 200_000
_MAX_ID, _MAX_NAME = 1_000, 200


@dataclass(slots=True)
class CallBuilder:
    """A call whose pieces are still arriving."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class ReplyBuilder:
    """A reply that is still arriving."""

    def __init__(self, request: ModelRequest) -> None:
        self._request = request
        self._text: list[str] = []
        self._text_size = 0
        self._arguments_size = 0
        self._raw_size = 0
        self.calls: list[CallBuilder] = []
        self.input_tokens = 0
        self.output_tokens = 0
        self.reason: FinishReason | None = None

    @property
    def has_text(self) -> bool:
        """Whether any text has arrived."""
        return bool(self._text_size)

    def add_text(self, piece: str) -> str:
        """Add the next piece of the text, and return it."""
        self._text.append(piece)
        self._text_size += len(piece)
        if self._text_size > MAX_TEXT:
            raise _make_size_problem()
        return piece

    def add_call(self, call_id: str = "", name: str = "") -> CallBuilder:
        """Begin a call."""
        if len(self.calls) == MAX_CALLS:
            raise ModelProblem(
                Message("The model asked for more than {limit} tools at once.", limit=MAX_CALLS), is_temporary=True
            )
        call = CallBuilder(call_id[:_MAX_ID], name[:_MAX_NAME])
        self.calls.append(call)
        return call

    def add_arguments(self, call: CallBuilder, piece: str) -> None:
        """Add the next piece of a call's arguments."""
        call.arguments.append(piece)
        self._arguments_size += len(piece)
        if self._arguments_size > MAX_ARGUMENTS:
            raise _make_size_problem()

    def count_raw(self, size: int) -> None:
        """Count what is only sent back to the server."""
        self._raw_size += size
        if self._raw_size > MAX_RAW:
            raise _make_size_problem()

    def build_calls(self) -> tuple[ModelCall, ...]:
        """Return the calls. Each has an id of its own, also if the server gave none or the same to several."""
        earlier = [
            call.id for message in self._request.messages if isinstance(message, ModelReply) for call in message.calls
        ]
        taken = set(earlier)
        calls: list[ModelCall] = []
        for number, call in enumerate(self.calls, len(earlier) + 1):
            call_id = call.id if call.id and call.id not in taken else _find_free_id(number, taken)
            taken.add(call_id)
            calls.append(ModelCall(call_id, call.name, "".join(call.arguments).strip() or "{}"))
        return tuple(calls)

    def finish(self, calls: tuple[ModelCall, ...], raw: JsonObject | None = None) -> Finished:
        """Return the whole reply."""
        write_json([[[[[[[[raw]]]]]]]])  # refuses what is nested too deeply to be stored or sent back
        reply = ModelReply("".join(self._text), calls, raw)
        reason = self.reason or "end"
        if reason in {"end", "tools"}:
            reason = "tools" if calls else "end"
        # A server that counts anything counts both, but a reply of no text and no calls has perhaps no tokens.
        is_estimated = not self.input_tokens
        if is_estimated:
            self.input_tokens = estimate_request_tokens(self._request)
            self.output_tokens = estimate_text_tokens(count_reply_characters(reply) + self._raw_size)
        return Finished(reply, self.input_tokens, self.output_tokens, reason, is_estimated)


def write_json(value: Any) -> str:
    """Return something that a server sent as JSON text again."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:  # it is nested too deeply
        raise make_unclear_problem() from None


def write_arguments(arguments: Any) -> str:
    """Return arguments as JSON text, also if a server sends them as an object."""
    if isinstance(arguments, str):
        return read_text(arguments)
    return write_json(arguments) if arguments else ""


def parse_arguments(arguments: str) -> JsonObject:
    """Return arguments as an object, which servers insist on; what is none is wrapped into one."""
    try:
        parsed = orjson.loads(arguments)
        orjson.dumps(parsed)  # refuses what is nested too deeply to be sent
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        parsed = None
    return parsed if isinstance(parsed, dict) else {"unreadable": arguments}


def clean_arguments(arguments: str) -> str:
    """Return arguments as the text of an object, unchanged if possible."""
    parsed = parse_arguments(arguments)
    return write_json(parsed) if "unreadable" in parsed else arguments


def _find_free_id(number: int, taken: set[str]) -> str:
    while f"call_{number}" in taken:
        number += 1
    return f"call_{number}"


def _make_size_problem() -> ModelProblem:
    return ModelProblem(Message("The model's reply is longer than the assistant can use."), is_temporary=True)
