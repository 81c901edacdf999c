"""Reads JSON of servers that do not follow their protocol: a value of the wrong type counts as missing."""

from typing import Any

from mainstay.values.json_object import JsonObject

_MAX_COUNT = 10**9


def read_object(value: Any) -> JsonObject:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def read_list(value: Any) -> list[Any]:
    """Return a list, or an empty one."""
    return value if isinstance(value, list) else []


def read_text(value: Any) -> str:
    """Return a text, or an empty one. NUL, which no database stores, is removed."""
    return value.replace("\0", "") if isinstance(value, str) else ""


def read_count(value: Any) -> int:
    """Return a count, or zero. A bool is not a count."""
    return value if type(value) is int and 0 <= value <= _MAX_COUNT else 0
