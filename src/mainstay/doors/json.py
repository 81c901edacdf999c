"""The strict JSON decoder that reads every body.

It refuses what two parsers could read differently: duplicate keys, numbers beyond what a double holds, lone surrogates
and NUL. It counts the depth first, because the parser itself recurses.
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

MAX_DEPTH = 32
MAX_INTEGER = 2**53 - 1
_MAX_DIGITS = len(f"-{MAX_INTEGER}")
_WHITESPACE = " \t\n\r"

# Matches strings with their escapes. They are removed, because only brackets outside strings nest. A string without an
# end matches up to the end of the body: searching again from each quote in it would take quadratic time.
_STRING = re.compile(rb'"(?:[^"\\]|\\(?:.|\Z))*+(?:"|\Z)', re.DOTALL)
# Maps an opening bracket to +1 and a closing one to -1, as signed bytes.
_LEVELS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(b"[{]}"))


class InvalidJson(ValueError):
    """The body is not JSON that this decoder accepts; the text says why."""


@lru_cache(1024)
def is_json(content_type: str) -> bool:
    """Return whether a Content-Type header names JSON in UTF-8; its other parameters are ignored."""
    kind, *parameters = (part.strip().lower() for part in content_type.split(";"))
    charsets = {word.replace('"', "") for word in parameters if word.startswith("charset=")}
    return kind == "application/json" and charsets <= {"charset=utf-8"}


def decode_json(body: bytes) -> Any:
    """Return the value of a JSON body; raise InvalidJson if it is not accepted."""
    value = _decode_fast(body)
    return _decode_strictly(body) if value is None else value


def _decode_fast(body: bytes) -> Any | None:
    """Return the value of a body that is obviously correct, as most are; None if it needs the strict decoder.

    The fast parser is not strict. But if writing its value again gives the same bytes, the body has no duplicate key
    and no number that changed, and the writer refuses whole numbers that are too large. Two cases are excluded first:
    escapes, which could pass this check although they are wrong, and the blanks that some writers add, which fail it.
    """
    if b"\\u" in body or b'": ' in body or not _is_shallow(body):
        return None
    try:
        value = from_json(body)
        return value if orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER) == body else None
    except (ValueError, orjson.JSONEncodeError):
        return None


def _decode_strictly(body: bytes) -> Any:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidJson("it is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise InvalidJson("it begins with a byte order mark")
    _check_depth(body)
    try:
        value = _parse(text)
    except json.JSONDecodeError as error:
        raise InvalidJson(
            f"{error.msg.removesuffix(' at').lower()} at line {error.lineno}, column {error.colno}"
        ) from None
    # Only an escape can contain NUL or a surrogate: the parser refuses control characters, UTF-8 refuses surrogates.
    if b"\\u" in body:
        _check_texts(value)
    return value


def _parse(text: str) -> Any:
    # Does what the decoder's own `decode` does, without its two regular expressions for blanks.
    value, end = _DECODER.raw_decode(text, len(text) - len(text.lstrip(_WHITESPACE)))
    if text[end:].strip(_WHITESPACE):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def _is_shallow(body: bytes) -> bool:
    """Return whether a body has too few brackets to nest too deeply."""
    return body.count(b"[") + body.count(b"{") <= MAX_DEPTH


def _check_depth(body: bytes) -> None:
    if _is_shallow(body):
        return
    steps = memoryview(_STRING.sub(b"", body).translate(_LEVELS, _ALL_BUT_BRACKETS)).cast("b")
    if max(accumulate(steps), default=0) > MAX_DEPTH:
        raise InvalidJson(f"it is nested deeper than {MAX_DEPTH} levels")


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        [(repeated, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise InvalidJson(f"the field {repeated[:50]!r} is there twice")
    return value


def _parse_integer(digits: str) -> int:
    # Check the length first, because converting thousands of digits takes quadratic time.
    if len(digits) <= _MAX_DIGITS and abs(value := int(digits)) <= MAX_INTEGER:
        return value
    raise InvalidJson("a whole number is larger than 2^53 - 1")


def _parse_float(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise InvalidJson("a number is too large")
    exact = "e" not in digits.lower() and Decimal(digits) == Decimal(repr(value))
    return value if exact else InexactFloat(value)


class InexactFloat(float):
    """A number with an exponent, or with more digits than a float holds: no exact decimal can be read from it."""


def encode_json(value: Any) -> bytes:
    """Encode a decoded value for an operation to check; an inexact number becomes an object that no field accepts."""
    return orjson.dumps(value, default=lambda inexact: {"unclear": repr(inexact)})


def _refuse_constant(name: str) -> None:
    raise InvalidJson(f"{name} is not a number in JSON")


def _check_texts(value: Any) -> None:
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
            raise InvalidJson("a text has a character that is not allowed")
    elif isinstance(value, dict):
        for name, inner in value.items():
            _check_texts(name)
            _check_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_texts(inner)


# Created once, because `json.loads` would create one for each body.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_build_object, parse_int=_parse_integer, parse_float=_parse_float, parse_constant=_refuse_constant
)
