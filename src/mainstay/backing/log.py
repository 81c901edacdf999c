"""The log: one JSON object a line, without secrets."""

import re
import sys
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal, TextIO

import orjson

Level = Literal["info", "warn", "error"]


def log(event: str, /, *, level: Level = "info", stream: TextIO | None = None, **fields: object) -> None:
    """Write one line to the stream (standard error unless told). Never raises, and never writes a secret."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    head: dict[str, object] = {"at": at, "level": level, "event": event}
    line = _encoded(head | fields | head)
    if _SUSPICIOUS.search(line.lower()):
        line = _scrubbed(line)
    with suppress(Exception):  # when the stream is gone, nobody is left to be told
        out = sys.stderr if stream is None else stream
        out.write(line.decode() + "\n")
        out.flush()


def log_error(event: str, error: BaseException, /, *, stream: TextIO | None = None, **fields: object) -> None:
    """Write one line about a fault, with its type, its message and where it came from."""
    facts: dict[str, object] = {
        "type": type(error).__name__,
        "message": _text(error),
        "traceback": "".join(traceback.format_exception(error)),
    }
    log(event, level="error", stream=stream, **(fields | facts))


_HIDDEN = "[hidden]"
_SECRET_NAMES = ("authorization", "cookie", "password", "secret", "token")
# Each pattern below needs one of these, so a line without any of them is done.
_SUSPICIOUS = re.compile(
    "|".join((*_SECRET_NAMES, "svc_", "whsec_", "lnk_", "quote_", "invoice_", "bearer", "basic", "://")).encode()
)

_NAME = rf"(?:{'|'.join(_SECRET_NAMES)})s?"
_SECRET_NAME = re.compile(rf"{_NAME}$", re.IGNORECASE)
# `password=…`, `'token': '…'`, `\"secret\":\"…\"`, `Cookie: …` within a text. A quoted value ends with its quote, a
# header with its line, any other at the next mark.
_SECRET_IN_TEXT = re.compile(
    rf"""(?P<name>(?P<header>authorization|cookie)s?|{_NAME})(?P<joint>\\*["']?\s*[:=]\s*)"""
    r"""(?:b?(?P<quote>\\*["'])(?:(?!(?P=quote))(?:\\+.|.))*|(?(header)[^\r\n]+|[^\s,;&"'()\[\]{}]+))""",
    re.IGNORECASE | re.DOTALL,
)
# On the finished line, where white space within a text is `\n` or `\t`.
_CREDENTIALS = (
    (re.compile(r"(bearer|basic)((?:\s|%20|\+|\\+[nrt])+)[^\s\"'\\,;\[]+", re.IGNORECASE), rf"\1\2{_HIDDEN}"),
    (re.compile(r"(svc_[a-z]{2}_)[\w%.~+/=-]+", re.IGNORECASE), rf"\1{_HIDDEN}"),
    (re.compile(r"(whsec_)[\w%.~+/=-]+", re.IGNORECASE), rf"\1{_HIDDEN}"),
    (re.compile(r"(lnk_\w+\.)[\w%-]+", re.IGNORECASE), rf"\1{_HIDDEN}"),
    # The links of customers: an id, and what proves that it was sent to them.
    (re.compile(r"((?:quote|invoice)_\w+(?:\.|%2e))[\w%-]+", re.IGNORECASE), rf"\1{_HIDDEN}"),
    (re.compile(r"(://[^\s:/?#@\"\\]*:)[^\s/?#@\"\\]+@"), rf"\1{_HIDDEN}@"),
)


def _scrubbed(line: bytes) -> bytes:
    text = orjson.dumps(_masked(orjson.loads(line))).decode()
    for pattern, replacement in _CREDENTIALS:
        text = pattern.sub(replacement, text)
    return text.encode()


def _masked(value: object) -> object:
    """The same value without what is said under a secret name, at any depth and in any text."""
    match value:
        case dict():
            return {_muted(key): _HIDDEN if _SECRET_NAME.search(key) else _masked(held) for key, held in value.items()}
        case [str() as name, _] if _SECRET_NAME.search(name):  # a header as a pair
            return [_muted(name), _HIDDEN]
        case list():
            return [_masked(held) for held in value]
        case str():
            return _muted(value)
        case _:
            return value


def _muted(text: str) -> str:
    return _SECRET_IN_TEXT.sub(rf"\g<name>\g<joint>{_HIDDEN}", text)


def _encoded(record: dict[str, object]) -> bytes:
    try:
        return orjson.dumps(record, default=_text, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:  # a number beyond 64 bits, a lone surrogate, a circle
        return orjson.dumps(_plain(record, depth=0))


def _plain(value: object, depth: int) -> object:
    """The same value in what JSON surely holds."""
    match value:
        case None | bool() | float():
            return value
        case int() if abs(value) < _LARGEST:
            return value
        case dict() if depth < _DEEPEST:
            return {_text(key): _plain(held, depth + 1) for key, held in value.items()}
        case list() | tuple() if depth < _DEEPEST:
            return [_plain(held, depth + 1) for held in value]
        case _:
            return _text(value)


_LARGEST = 2**63
_DEEPEST = 8


def _text(value: object) -> str:
    with suppress(Exception):
        text = value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
        return text.encode(errors="backslashreplace").decode()
    return f"<{type(value).__name__}>"
