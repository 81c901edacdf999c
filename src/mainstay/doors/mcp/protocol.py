"""The envelope of the Model Context Protocol: JSON-RPC over one POST, in both of its eras.

Legacy versions begin with `initialize`; the modern one is stateless: every request carries its version in `_meta`, and
its headers repeat what the body says, so that what stands between can route it.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from mainstay.doors.http import Headers, RequestHeaders, Response
from mainstay.doors.json import NotJson, decode

LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN = ("2026-07-28",)
SUPPORTED = (*MODERN, *LEGACY)

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
# Ours, from the range that the protocol leaves to servers.
UNAUTHENTICATED, OTHER_ORGANISATION, TOO_MANY, HTTP_FAULT = -32009, -32010, -32011, -32012

_META = "io.modelcontextprotocol/"
_VERSION, _CAPABILITIES = f"{_META}protocolVersion", f"{_META}clientCapabilities"
SERVER_INFO = f"{_META}serverInfo"

# The legacy era answers these with 200, the modern one with a status of their own.
_MODERN_STATUSES = {METHOD_NOT_FOUND: 404, INVALID_PARAMS: 400}

Id = str | int | None


class Call(NamedTuple):
    """A request to be answered."""

    id: Id
    method: str
    params: dict[str, Any]
    modern: bool

    def result(self, result: Mapping[str, Any], *, logged: bool = False) -> Response:
        """The answer; what neither changes anything nor is refused is not worth a line in the log."""
        response = _response(200, {"jsonrpc": "2.0", "id": self.id, "result": result})
        response.quiet = not logged
        return response

    def refuse(self, code: int, message: str) -> Response:
        """The answer to a call that makes no sense."""
        return fault(_MODERN_STATUSES[code] if self.modern else 200, code, message, self.id)


class NoCall(Exception):
    """What was posted is no call; this is the answer to it."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


def fault(status: int, code: int, message: str, id_: Id = None, headers: Headers = (), **data: object) -> Response:
    """A JSON-RPC error."""
    error = {"code": code, "message": message} | ({"data": data} if data else {})
    return _response(status, {"jsonrpc": "2.0", "id": id_, "error": error}, headers)


def read_call(headers: RequestHeaders, body: bytes) -> Call:
    """The call in a body, or the answer to what is none."""
    try:
        message = decode(body)
    except NotJson as problem:
        raise NoCall(fault(400, PARSE_ERROR, f"The body is not valid JSON: {problem}.")) from None
    if not isinstance(message, dict):
        raise NoCall(fault(400, INVALID_REQUEST, "Send one JSON-RPC request object; batches are not supported."))
    params = message.get("params", {})
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = _text(headers, "mcp-protocol-version")
    modern = (version is not None and version not in LEGACY) or (isinstance(meta, dict) and _VERSION in meta)
    id_ = _checked_id(message, modern=modern)
    if version is not None and version not in SUPPORTED and not (isinstance(meta, dict) and _VERSION in meta):
        raise NoCall(_unsupported(version, id_))
    if "id" not in message:
        raise NoCall(Response(202, b""))
    if not isinstance(params, dict):
        call = Call(id_, "", {}, modern)
        raise NoCall(call.refuse(INVALID_PARAMS, "params is not an object."))
    call = Call(id_, message["method"], params, modern)
    if modern:
        _check_envelope(call, headers, meta)
    return call


def _checked_id(message: dict[str, Any], *, modern: bool) -> Id:
    id_ = message.get("id")
    if "method" not in message and ("result" in message or "error" in message) and not modern:
        # An answer to a question we never ask: legacy clients may post one.
        raise NoCall(Response(202, b""))
    proper_id = "id" not in message or (isinstance(id_, (str, int)) and not isinstance(id_, bool))
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str) or not proper_id:
        text = 'Send a JSON-RPC request: jsonrpc "2.0", a method, and an id that is text or a whole number.'
        raise NoCall(fault(400, INVALID_REQUEST, text, id_ if proper_id else None))
    return id_


def _check_envelope(call: Call, headers: RequestHeaders, meta: object) -> None:
    """What a modern request must carry, and that its headers say the same as its body."""
    if not isinstance(meta, dict) or _VERSION not in meta or _CAPABILITIES not in meta:
        text = f"params._meta must be an object with {_VERSION} and {_CAPABILITIES}."
        raise NoCall(call.refuse(INVALID_PARAMS, text))
    expected = {"mcp-protocol-version": meta[_VERSION], "mcp-method": call.method}
    if call.method == "tools/call" and call.params.get("name") is not None:
        expected["mcp-name"] = call.params["name"]
    for header, value in expected.items():
        said = _text(headers, header)
        if said != value:
            text = f"The header {header} {'is missing' if said is None else 'does not say the same as the body'}."
            raise NoCall(fault(400, HEADER_MISMATCH, text, call.id))
    if meta[_VERSION] not in MODERN:
        raise NoCall(_unsupported(meta[_VERSION], call.id))


def _unsupported(version: str, id_: Id) -> Response:
    text = "This protocol version is not supported."
    # One that begins with `initialize` is known, but is not spoken this way.
    supported = MODERN if version in LEGACY else SUPPORTED
    return fault(400, UNSUPPORTED_VERSION, text, id_, supported=supported, requested=version)


_ENCODED = re.compile(r"=\?base64\?(.*)\?=")


def _text(headers: RequestHeaders, name: str) -> str | None:
    """A header's value; what does not fit a header comes in base64."""
    text = headers.get(name)
    if text is None:
        return None
    if encoded := _ENCODED.fullmatch(text):
        try:
            return base64.b64decode(encoded[1], validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return text


def _response(status: int, message: Mapping[str, Any], headers: Headers = ()) -> Response:
    return Response(status, orjson.dumps(message), headers)
