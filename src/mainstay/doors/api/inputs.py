"""The input of an operation out of path, query, headers and body."""

import re
from collections.abc import Collection, Iterable, Mapping
from urllib.parse import unquote_to_bytes

from mainstay.doors.http import Interrupted, Request
from mainstay.doors.json import NotJson, decode, encode, is_json
from mainstay.doors.known import naming_known
from mainstay.kernel.context import Envelope
from mainstay.ledger.replay import NO_REPLAY_KEY, is_replay_key
from mainstay.terms.faults import UNKNOWN, Raw, accept
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.shapes import Input

BODY_LIMIT = 16_384

_VERSION = re.compile(r' *"([1-9][0-9]{0,14})" *')


def query_input(request: Request, path_values: Mapping[str, str], model: type[Input]) -> dict[str, str]:
    """The words of a read: its query, each parameter at most once, and what stands in the path."""
    words, faults = _query(request, path_values)
    if faults:
        raise _all_faults([], faults, path_values, model, words)
    return words


def no_parameters(request: Request) -> None:
    """Refuse a query where there is nothing to ask for."""
    if strangers := _strangers(request):
        raise Invalid(strangers)


async def body_input(
    request: Request, path_values: Mapping[str, str], model: type[Input], elsewhere: Collection[str]
) -> tuple[bytes, Envelope]:
    """The JSON of a write, with what stands in the path put into it; and what its headers ask for.

    What stands elsewhere than in a body is not known there.
    """
    if not is_json(request.headers.get("content-type", "")):
        raise Interrupted(415, "Send the header Content-Type: application/json.")
    body = await request.body(BODY_LIMIT)
    if not body:
        raise Interrupted(400, "The body is empty. Send a JSON object, {} at least.")
    try:
        given = decode(body)
    except NotJson as fault:
        raise Interrupted(400, f"The body is not valid JSON: {fault}.") from None
    faults = _strangers(request)
    key = request.headers.get("idempotency-key")
    if key is not None and not is_replay_key(key):
        faults.append(Fault("Idempotency-Key", NO_REPLAY_KEY))
    if not isinstance(given, dict):
        raise Invalid([Fault("body", "is not an object"), *faults])
    misplaced = [Fault(name, UNKNOWN) for name in elsewhere if name in given]
    raw = encode({**given, **path_values})
    if faults or misplaced:
        raise _all_faults(faults, misplaced, elsewhere, model, raw)
    return raw, Envelope(request.id, _versions(request), key)


def _versions(request: Request) -> frozenset[int] | None:
    expected = request.headers.get("if-match", "*")
    if expected.strip() == "*":
        return None
    # What is not a version of ours matches no record.
    return frozenset(int(match[1]) for match in map(_VERSION.fullmatch, expected.split(",")) if match)


def _query(request: Request, path_values: Mapping[str, str]) -> tuple[dict[str, str], list[Fault]]:
    words, faults = dict(path_values), []
    for part in request.query.split(b"&") if request.query else ():
        name, _, value = (_text(piece) for piece in part.replace(b"+", b" ").partition(b"="))
        if name is None or value is None:
            faults.append(Fault(name or "query", "is not valid text"))
        elif not name:
            faults.append(Fault("query", "has a parameter without a name"))
        elif name in path_values:
            faults.append(Fault(name, UNKNOWN))
        elif name in words:
            faults.append(Fault(name, "is given twice"))
        else:
            words[name] = value
    return words, faults


def _strangers(request: Request) -> list[Fault]:
    """Every parameter of a query, where none is known."""
    words, faults = _query(request, {})
    return _with_others(faults, [Fault(name, UNKNOWN) for name in words])


def _all_faults(
    around: list[Fault], faults: list[Fault], elsewhere: Collection[str], model: type[Input], raw: Raw
) -> Invalid:
    """What is wrong around the input and with it, and what the operation itself would find wrong."""
    others: tuple[Fault, ...] = ()
    try:
        accept(model, raw)
    except Invalid as invalid:
        others = invalid.faults
    named = naming_known(_with_others(faults, others), model, elsewhere)
    return Invalid(_with_others(around, named.faults))


def _with_others(faults: list[Fault], others: Iterable[Fault]) -> list[Fault]:
    """Each field once."""
    told = {fault.field for fault in faults}
    return [*faults, *(fault for fault in others if fault.field not in told)]


def _text(piece: bytes) -> str | None:
    try:
        text = (unquote_to_bytes(piece) if b"%" in piece else piece).decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
