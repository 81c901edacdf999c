"""Why a model did not answer, in the words of people."""

import unicodedata
from http import HTTPStatus
from typing import Any

import orjson

from mainstay.values.message import Message

_MAX_REASON = 300
_MAX_WAIT_SECONDS = 3600
_MAX_DIGITS = 6
# What servers call a conversation that is longer than the model can read.
_TOO_LONG = (
    "context length",
    "context_length",
    "context size",
    "context window",
    "prompt is too long",
    "too many tokens",
)
# Sent with 429 when waiting does not help.
_UNPAID = ("insufficient_quota", "billing", "credit balance")
_TEMPORARY_ERRORS = ("overloaded", "rate_limit", "api_error", "server_error", "timeout", "unavailable")


class ModelProblem(Exception):
    """The model did not answer. If the problem is temporary, the same request may succeed later."""

    def __init__(self, message: Message, *, is_temporary: bool, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.is_temporary = is_temporary
        # How many seconds the server wants to be left alone.
        self.retry_after = retry_after


def make_status_problem(status: int, retry_after: str | None, body: bytes, key: str | None) -> ModelProblem:
    """Return the problem of a response with a status that is not a success."""
    reason = find_error_text(_decode_body(body))
    message = _choose_status_message(status, reason)
    is_unpaid = _contains(reason, _UNPAID)
    is_temporary = (
        status in {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}
        or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    ) and not is_unpaid
    return ModelProblem(
        _add_reason(message, reason, key),
        is_temporary=is_temporary,
        retry_after=_parse_seconds(retry_after) if is_temporary else None,
    )


def make_error_problem(error: Any, key: str | None) -> ModelProblem:
    """Return the problem of an error that arrived in the middle of a reply."""
    reason = find_error_text(error)
    if _contains(reason, _TOO_LONG):
        return ModelProblem(_add_reason(_TOO_LONG_MESSAGE, reason, key), is_temporary=False)
    message = Message("The model's server stopped with an error.")
    return ModelProblem(_add_reason(message, reason, key), is_temporary=_contains(reason, _TEMPORARY_ERRORS))


def make_unclear_problem() -> ModelProblem:
    """Return the problem of a response that does not follow its protocol."""
    return ModelProblem(
        Message("The answer of the model's server was not understood. Check its address and protocol."),
        is_temporary=False,
    )


def find_error_text(error: Any) -> str:
    """Return what a server says about an error, with its type, in whichever form: empty if it says nothing."""
    for name in ("response", "error", "error"):
        if isinstance(error, dict) and error.get(name):
            error = error[name]
    if isinstance(error, dict):
        parts = [error.get(name) for name in ("type", "code", "message", "detail")]
        return ": ".join(dict.fromkeys(part for part in parts if isinstance(part, str) and part != "error"))
    return error if isinstance(error, str) else ""


def _choose_status_message(status: int, reason: str) -> Message:
    if _contains(reason, _TOO_LONG):
        return _TOO_LONG_MESSAGE
    if "encrypted content" in reason.lower():
        return Message("This model can't be used with Responses. Choose Chat Completions.")
    if _contains(reason, _UNPAID):
        return _STATUS_MESSAGES[HTTPStatus.PAYMENT_REQUIRED]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Message("The model's server is overloaded or has a fault. Try again in a moment.")
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return Message("The model's server redirects to another address. Enter that address instead.")
    return _STATUS_MESSAGES.get(status, Message("The model's server refused the request."))


_TOO_LONG_MESSAGE = Message("The conversation is longer than the model can read. Start a new one.")
_KEY_MESSAGE = Message("The model's server refused the key. Check the key.")
_NOT_FOUND_MESSAGE = Message("The model was not found. Check the address, the protocol and the name of the model.")
_STATUS_MESSAGES: dict[int, Message] = {
    HTTPStatus.UNAUTHORIZED: _KEY_MESSAGE,
    HTTPStatus.FORBIDDEN: _KEY_MESSAGE,
    HTTPStatus.NOT_FOUND: _NOT_FOUND_MESSAGE,
    HTTPStatus.METHOD_NOT_ALLOWED: _NOT_FOUND_MESSAGE,
    HTTPStatus.PAYMENT_REQUIRED: Message(
        "Your account with the model's provider has no credit left or has reached a limit. Check it there."
    ),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: _TOO_LONG_MESSAGE,
    HTTPStatus.TOO_MANY_REQUESTS: Message("The model's server gets too many requests. Try again in a moment."),
}


def _add_reason(message: Message, reason: str, key: str | None) -> Message:
    """Add what the server says, without the key and on one short line."""
    if key:
        reason = reason.replace(key, "[hidden]")
    words = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in reason).split()
    text = " ".join(words)
    if not text:
        return message
    shortened = text if len(text) <= _MAX_REASON else f"{text[:_MAX_REASON]}…"
    return Message("{problem} It says: {reason}", problem=message, reason=shortened)


def _contains(reason: str, words: tuple[str, ...]) -> bool:
    lower = reason.lower()
    return any(word in lower for word in words)


def _decode_body(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None  # a page of some proxy


def _parse_seconds(retry_after: str | None) -> int | None:
    """Return how long to wait; None for a date, which model servers do not send, and for anything else."""
    digits = (retry_after or "").strip().partition(".")[0]
    is_number = digits.isascii() and digits.isdecimal()
    return min(int(digits[:_MAX_DIGITS]), _MAX_WAIT_SECONDS) if is_number else None
