"""What is said to a model and what it answers, in values that every protocol translates."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from mainstay.values.json_object import JsonObject


class UserText(NamedTuple):
    """What the person said."""

    text: str


class ModelCall(NamedTuple):
    """A tool that the model wants to be called, with the arguments exactly as it wrote them: perhaps no valid JSON."""

    id: str
    name: str
    arguments: str


class ModelReply(NamedTuple):
    """What the model answered: a text, calls, both or neither."""

    text: str
    calls: tuple[ModelCall, ...] = ()
    # What the model's server needs to get back unchanged, such as its encrypted reasoning. It says which model of which
    # server it is from, and is left out of requests to any other.
    raw: JsonObject | None = None


class CallResult(NamedTuple):
    """What became of a call."""

    call_id: str
    text: str
    is_error: bool = False


class CallResults(NamedTuple):
    """The results of all calls of a reply."""

    results: tuple[CallResult, ...]


ConversationMessage = UserText | ModelReply | CallResults


class ModelTool(NamedTuple):
    """A tool that the model may call."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


class ModelRequest(NamedTuple):
    """Everything that a model is told for its next reply, because its server keeps nothing."""

    instructions: str
    messages: Sequence[ConversationMessage]
    tools: Sequence[ModelTool]
    max_output_tokens: int


class ReplyBegun(NamedTuple):
    """The server has accepted the request. It is the first event of each reply."""


class TextDelta(NamedTuple):
    """The next piece of the reply's text."""

    text: str


# Why a reply ended: it was complete; it waits for results; it was cut, so that its calls may be incomplete; the model
# or its server refused.
FinishReason = Literal["end", "tools", "length", "refused"]


class Finished(NamedTuple):
    """The whole reply, and what it took. It is the last event of each reply."""

    reply: ModelReply
    input_tokens: int
    output_tokens: int
    reason: FinishReason
    # Whether the tokens are estimated from the length of the texts, because the server did not count them.
    is_estimated: bool = False


ModelEvent = ReplyBegun | TextDelta | Finished
