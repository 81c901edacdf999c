"""The input of an operation out of path, query, headers and body."""

import re
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes

import orjson

from mainstay.doors.http import Interrupted, Request
from mainstay.doors.json import NotJson, decode
from mainstay.kernel import context
from mainstay.kernel.refusal import Fault, Invalid

BODY_LIMIT = 16_384
LONGEST_KEY = 255

_JSON = re.compile(r'application/json *(; *charset="?utf-8"? *)?', re.IGNORECASE)
_VERSION = re.compile(r' *"(\d{1,15})" *')


def query_input(request: Request, path_values: Mapping[str, str]) -> dict[str, str]:
    """The words of a read: its query, each parameter at most once, and what stands in the path."""
    words = dict(path_values)
    faults = []
    for part in request.query.split(b"&") if request.query else ():
        name, _, value = (_text(piece) for piece in part.replace(b"+", b" ").partition(b"="))
        if name is None or value is None:
            faults.append(Fault(name or "query", "is not valid text"))
        elif name in path_values:
            faults.append(Fault(name, "is not known here"))
        elif name in words:
            faults.append(Fault(name, "is given twice"))
        else:
            words[name] = value
    if faults:
        raise Invalid(faults)
    return words


def no_parameters(request: Request) -> None:
    """Refuse a query where there is nothing to ask for."""
    if strangers := query_input(request, {}):
        raise Invalid([Fault(name, "is not known here") for name in strangers])


async def body_input(request: Request, path_values: Mapping[str, str]) -> bytes:
    """The JSON of a write, with what stands in the path put into it."""
    if not _JSON.fullmatch(request.headers.get("content-type", "")):
        raise Interrupted(415, "Send the header Content-Type: application/json.")
    body = await request.body(BODY_LIMIT)
    if not body:
        raise Interrupted(400, "The body is empty. Send a JSON object, {} at least.")
    try:
        given = decode(body)
    except NotJson as fault:
        raise Interrupted(400, f"The body is not valid JSON: {fault}.") from None
    if not isinstance(given, dict):
        raise Invalid([Fault("body", "is not an object")])
    strangers = [*query_input(request, {}), *(name for name in path_values if name in given)]
    if strangers:
        raise Invalid([Fault(name, "is not known here") for name in strangers])
    return orjson.dumps({**given, **path_values})


def conditions(request: Request) -> context.Request:
    """What the headers of a write ask for beside its input."""
    key = request.headers.get("idempotency-key")
    if key is not None and not (key and len(key) <= LONGEST_KEY and key.isprintable()):
        raise Invalid([Fault("Idempotency-Key", f"is not 1 to {LONGEST_KEY} printable characters")])
    versions = None
    expected = request.headers.get("if-match", "*")
    if expected.strip() != "*":
        # What is not a version of ours matches no record.
        versions = frozenset(int(match[1]) for match in map(_VERSION.fullmatch, expected.split(",")) if match)
    return context.Request(request.id, versions, key)


def _text(piece: bytes) -> str | None:
    try:
        text = (unquote_to_bytes(piece) if b"%" in piece else piece).decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
