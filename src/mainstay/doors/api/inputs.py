"""Reads the input of an operation from the path, the query, the headers and the body."""

import re
from collections.abc import Collection, Iterable, Mapping
from urllib.parse import unquote_to_bytes

from mainstay.changes.idempotency import INVALID_KEY, is_idempotency_key
from mainstay.doors.field_hints import add_field_hints
from mainstay.doors.http import HttpError, Request
from mainstay.doors.json import InvalidJson, decode_json, encode_json, is_json
from mainstay.kernel.context import RequestDetails
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input
from mainstay.vocabulary.validation import NOT_AN_OBJECT, UNKNOWN_FIELD, RawInput, parse_input

BODY_LIMIT = 16_384

_DRY_RUN = "dry-run"
_VERSION = re.compile(r' *"([1-9][0-9]{0,14})" *')


def read_query_input(request: Request, path_values: Mapping[str, str], model: type[Input]) -> dict[str, str]:
    """Return the input of a read: the parameters of its query, each at most once, and those of its path."""
    values, faults = _parse_query(request, path_values)
    if faults:
        raise _collect_faults([], faults, path_values, model, values)
    return values


def refuse_parameters(request: Request) -> None:
    """Refuse all query parameters, for an address that takes none."""
    if unknown := _find_unknown_parameters(request):
        raise Invalid(unknown)


async def read_body_input(
    request: Request, path_values: Mapping[str, str], model: type[Input], path_only_fields: Collection[str]
) -> tuple[bytes, RequestDetails]:
    """Return the input of a change, from its JSON body and its path, and the request info from its headers.

    The names in `path_only_fields` belong to the path, so they are refused as unknown in the body.
    """
    if not is_json(request.headers.get("content-type", "")):
        raise HttpError(415, "Send the header Content-Type: application/json.")
    body = await request.read_body(BODY_LIMIT)
    if not body:
        raise HttpError(400, "The body is empty. Send a JSON object, at least {}.")
    try:
        sent = decode_json(body)
    except InvalidJson as error:
        raise HttpError(400, f"The body is not valid JSON: {error}.") from None
    faults = _find_unknown_parameters(request)
    key = request.headers.get("idempotency-key")
    if key is not None and not is_idempotency_key(key):
        faults.append(Fault("Idempotency-Key", INVALID_KEY))
    if not isinstance(sent, dict):
        raise Invalid([Fault("body", Message(NOT_AN_OBJECT)), *faults])
    misplaced = [Fault(name, Message(UNKNOWN_FIELD)) for name in path_only_fields if name in sent]
    raw = encode_json({**sent, **path_values})
    if faults or misplaced:
        raise _collect_faults(faults, misplaced, path_only_fields, model, raw)
    return raw, RequestDetails(request.id, _read_versions(request), key, dry_run=is_dry_run(request))


def is_dry_run(request: Request) -> bool:
    """Return whether the header `Prefer` asks to preview the change instead of making it."""
    preferences = request.headers.get("prefer", "").lower().split(",")
    return any(re.split("[;=]", preference)[0].strip() == _DRY_RUN for preference in preferences)


def _read_versions(request: Request) -> frozenset[int] | None:
    expected = request.headers.get("if-match", "*")
    if expected.strip() == "*":
        return None
    # Values that are not versions of this API are dropped, so they match no record.
    return frozenset(int(match[1]) for match in map(_VERSION.fullmatch, expected.split(",")) if match)


def _parse_query(request: Request, path_values: Mapping[str, str]) -> tuple[dict[str, str], list[Fault]]:
    values, faults = dict(path_values), []
    for part in request.query.split(b"&") if request.query else ():
        name, _, value = (_decode_text(piece) for piece in part.replace(b"+", b" ").partition(b"="))
        if name is None or value is None:
            faults.append(Fault(name or "query", Message("is not valid text")))
        elif not name:
            faults.append(Fault("query", Message("has a parameter without a name")))
        elif name in path_values:
            faults.append(Fault(name, Message(UNKNOWN_FIELD)))
        elif name in values:
            faults.append(Fault(name, Message("is sent twice")))
        else:
            values[name] = value
    return values, faults


def _find_unknown_parameters(request: Request) -> list[Fault]:
    """Return a fault for each parameter of a query, for an address that takes none."""
    values, faults = _parse_query(request, {})
    return _merge_faults(faults, [Fault(name, Message(UNKNOWN_FIELD)) for name in values])


def _collect_faults(
    header_faults: list[Fault],
    faults: list[Fault],
    path_only_fields: Collection[str],
    model: type[Input],
    raw: RawInput,
) -> Invalid:
    """Return all faults in one refusal: of the headers, of the fields, and those that validation finds."""
    others: tuple[Fault, ...] = ()
    try:
        parse_input(model, raw)
    except Invalid as invalid:
        others = invalid.faults
    hinted = add_field_hints(_merge_faults(faults, others), model, path_only_fields)
    return Invalid(_merge_faults(header_faults, hinted.faults))


def _merge_faults(faults: list[Fault], others: Iterable[Fault]) -> list[Fault]:
    """Add the faults of other fields, so that each field has one fault."""
    fields = {fault.field for fault in faults}
    return [*faults, *(fault for fault in others if fault.field not in fields)]


def _decode_text(piece: bytes) -> str | None:
    try:
        text = (unquote_to_bytes(piece) if b"%" in piece else piece).decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
