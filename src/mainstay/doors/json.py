"""The one strict JSON decoder, before everything that looks at a body.

What two parsers could read differently is refused: duplicate keys, numbers beyond what a double keeps, lone surrogates,
NUL. Depth is counted first, because the parser itself recurses.
"""

import json
import re
from collections import Counter
from decimal import Decimal
from functools import lru_cache
from itertools import accumulate
from math import isfinite
from typing import Any

import orjson
from pydantic_core import from_json

DEEPEST = 32
LARGEST = 2**53 - 1
_MOST_DIGITS = len(f"-{LARGEST}")
_BLANK = " \t\n\r"

# Strings, with their escapes, are taken out; only brackets outside them nest. A string that never ends is taken to the
# end of the body in one step: looking again from each quote in it would take quadratic time.
_STRING = re.compile(rb'"(?:[^"\\]|\\(?:.|\Z))*+(?:"|\Z)', re.DOTALL)
# Brackets as one level up and one level down.
_LEVELS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[{]}"))


class NotJson(ValueError):
    """The body is not JSON as we take it; the text says why."""


@lru_cache(1024)
def is_json(content_type: str) -> bool:
    """Whether a Content-Type header says JSON. What else it says changes nothing, except another charset."""
    kind, *parameters = (part.strip().lower() for part in content_type.split(";"))
    charsets = {word.replace('"', "") for word in parameters if word.startswith("charset=")}
    return kind == "application/json" and charsets <= {"charset=utf-8"}


def decode(body: bytes) -> Any:
    """The value of a body."""
    value = _at_a_glance(body)
    return _with_care(body) if value is None else value


def _at_a_glance(body: bytes) -> Any | None:
    """The value of a body that is plainly right, as most are; None where it takes a closer look.

    A quick parser is not strict. But a body that is written again byte for byte from what was read has no field twice
    and no number that changed on the way, and the writer refuses whole numbers that are too large. What would pass even
    so, and the blanks of some writers, which would not, are looked for first.
    """
    if b"\\u" in body or b'": ' in body or not _is_shallow(body):
        return None
    try:
        value = from_json(body)
        return value if orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER) == body else None
    except (ValueError, orjson.JSONEncodeError):
        return None


def _with_care(body: bytes) -> Any:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise NotJson("it is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise NotJson("it begins with a byte order mark")
    _check_depth(body)
    try:
        value = _parse(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg.removesuffix(' at').lower()} at line {error.lineno}, column {error.colno}") from None
    # Only an escape can bring these in: the parser refuses control characters, UTF-8 refuses surrogates.
    if b"\\u" in body:
        _check_texts(value)
    return value


def _parse(text: str) -> Any:
    # As the decoder's own `decode`, which looks for blanks by two patterns.
    value, end = _DECODER.raw_decode(text, len(text) - len(text.lstrip(_BLANK)))
    if text[end:].strip(_BLANK):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def _is_shallow(body: bytes) -> bool:
    """Whether there are too few brackets to nest too deeply."""
    return body.count(b"[") + body.count(b"{") <= DEEPEST


def _check_depth(body: bytes) -> None:
    if _is_shallow(body):
        return
    steps = memoryview(_STRING.sub(b"", body).translate(_LEVELS, _NO_BRACKETS)).cast("b")
    if max(accumulate(steps), default=0) > DEEPEST:
        raise NotJson(f"it is nested deeper than {DEEPEST} levels")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise NotJson(f"the field {twice[:50]!r} is there twice")
    return value


def _integer(digits: str) -> int:
    # Length first: turning thousands of digits into a number takes quadratic time.
    if len(digits) <= _MOST_DIGITS and abs(value := int(digits)) <= LARGEST:
        return value
    raise NotJson("a whole number is larger than 2^53 - 1")


def _number(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise NotJson("a number is too large")
    exact = "e" not in digits.lower() and Decimal(digits) == Decimal(repr(value))
    return value if exact else Unclear(value)


class Unclear(float):
    """A number that was written with an exponent, or with more digits than it keeps: no decimal can be read from it."""


def encode(value: Any) -> bytes:
    """What was decoded, for an operation to check; in the place of an unclear number stands what no field takes."""
    return orjson.dumps(value, default=lambda unclear: {"unclear": repr(unclear)})


def _constant(name: str) -> None:
    raise NotJson(f"{name} is not a number in JSON")


def _check_texts(value: Any) -> None:
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise NotJson("a text has a character that is not allowed")
    elif isinstance(value, dict):
        for name, inner in value.items():
            _check_texts(name)
            _check_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_texts(inner)


# Made once: `json.loads` would make one for each body.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_constant
)
