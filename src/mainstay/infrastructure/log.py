"""The log: one JSON object per line, without secrets."""

import re
import sys
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal, TextIO

import orjson

Level = Literal["info", "warn", "error"]


def log(event: str, /, *, level: Level = "info", stream: TextIO | None = None, **fields: object) -> None:
    """Write one line to the stream, or to standard error.

    It never raises an exception, and never writes a secret.
    """
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    head: dict[str, object] = {"at": at, "level": level, "event": event}
    line = _encode(head | fields | head)
    if _SUSPICIOUS.search(line.lower()):
        line = _hide_secrets(line)
    with suppress(Exception):  # if the stream is gone, nobody can be told
        out = sys.stderr if stream is None else stream
        out.write(line.decode() + "\n")
        out.flush()


def log_error(event: str, error: BaseException, /, *, stream: TextIO | None = None, **fields: object) -> None:
    """Write one line about an error, with its type, message and traceback."""
    error_fields: dict[str, object] = {
        "type": type(error).__name__,
        "message": _to_text(error),
        "traceback": "".join(traceback.format_exception(error)),
    }
    log(event, level="error", stream=stream, **(fields | error_fields))


_HIDDEN = "[hidden]"
_SECRET_NAMES = ("authorization", "cookie", "password", "secret", "token")
# Each pattern below contains one of these, so a line without any of them needs no more checks.
_SUSPICIOUS = re.compile(
    "|".join((*_SECRET_NAMES, "svc_", "whsec_", "lnk_", "quote_", "invoice_", "bearer", "basic", "://")).encode()
)

_NAME = rf"(?:{'|'.join(_SECRET_NAMES)})s?"
_SECRET_NAME = re.compile(rf"{_NAME}$", re.IGNORECASE)
# Secrets within a text: `password=…`, `'token': '…'`, `\"secret\":\"…\"`, `Cookie: …`. A quoted value ends with its
# quote, a header with its line, any other value at the next separator.
_SECRET_IN_TEXT = re.compile(
    rf"""(?P<name>(?P<header>authorization|cookie)s?|{_NAME})(?P<joint>\\*["']?\s*[:=]\s*)"""
    r"""(?:b?(?P<quote>\\*["'])(?:(?!(?P=quote))(?:\\+.|.))*|(?(header)[^\r\n]+|[^\s,;&"'()\[\]{}]+))""",
    re.IGNORECASE | re.DOTALL,
)
# Searched in the finished line, where white space in a text is written `\n` or `\t`.
_CREDENTIALS = (
    (re.compile(r"(bearer|basic)((?:\s|%20|\+|\\+[nrt])+)[^\s\"'\\,;\[]+", re.IGNORECASE), rf"\1\2{_HIDDEN}"),
    (re.compile(r"(svc_[a-z]{2}_)[\w%.~+/=-]+", re.IGNORECASE), rf"\1{_HIDDEN}"),
    (re.compile(r"(whsec_)[\w%.~+/=-]+", re.IGNORECASE), rf"\1{_HIDDEN}"),
    # Customer links: an id, and the token that proves they were sent to the customer. A word is searched only if a
    # token follows: a path of thousands of such prefixes would take seconds otherwise.
    (
        re.compile(r"((?<!\w)(?=\w+(?:\.|%2e)[\w%-])\w*?(?:lnk|quote|invoice)_\w+(?:\.|%2e))[\w%-]+", re.IGNORECASE),
        rf"\1{_HIDDEN}",
    ),
    (re.compile(r"(://[^\s:/?#@\"\\]*:)[^\s/?#@\"\\]+@"), rf"\1{_HIDDEN}@"),
)


def _hide_secrets(line: bytes) -> bytes:
    text = orjson.dumps(_mask_value(orjson.loads(line))).decode()
    for pattern, replacement in _CREDENTIALS:
        text = pattern.sub(replacement, text)
    return text.encode()


def _mask_value(value: object) -> object:
    """Return the same value with everything under a secret name hidden, at any depth and in any text."""
    match value:
        case dict():
            return {
                _mask_text(key): _HIDDEN if _SECRET_NAME.search(key) else _mask_value(item)
                for key, item in value.items()
            }
        case [str() as name, _] if _SECRET_NAME.search(name):  # a header as a pair
            return [_mask_text(name), _HIDDEN]
        case list():
            return [_mask_value(item) for item in value]
        case str():
            return _mask_text(value)
        case _:
            return value


def _mask_text(text: str) -> str:
    return _SECRET_IN_TEXT.sub(rf"\g<name>\g<joint>{_HIDDEN}", text)


def _encode(record: dict[str, object]) -> bytes:
    try:
        return orjson.dumps(record, default=_to_text, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:  # a number beyond 64 bits, a lone surrogate, or a cycle
        return orjson.dumps(_to_json_value(record, depth=0))


def _to_json_value(value: object, depth: int) -> object:
    """Return the same value in types that JSON can surely represent."""
    match value:
        case None | bool() | float():
            return value
        case int() if abs(value) < _LARGEST_NUMBER:
            return value
        case dict() if depth < _MAX_DEPTH:
            return {_to_text(key): _to_json_value(item, depth + 1) for key, item in value.items()}
        case list() | tuple() if depth < _MAX_DEPTH:
            return [_to_json_value(item, depth + 1) for item in value]
        case _:
            return _to_text(value)


_LARGEST_NUMBER = 2**63
_MAX_DEPTH = 8


def _to_text(value: object) -> str:
    with suppress(Exception):
        text = value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
        return text.encode(errors="backslashreplace").decode()
    return f"<{type(value).__name__}>"
