"""The Model Context Protocol's messages: JSON-RPC over a single POST, in the legacy and the modern versions.

Legacy versions begin with `initialize`. The modern one is stateless: every request carries its version in `_meta`, and
its headers repeat parts of the body, so that proxies can route it.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from mainstay.doors.http import Headers, Response
from mainstay.doors.json import InvalidJson, decode_json

LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN_VERSIONS = ("2026-07-28",)
SUPPORTED_VERSIONS = (*MODERN_VERSIONS, *LEGACY_VERSIONS)

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
# Codes of this server, from the range that the protocol leaves to servers.
UNAUTHENTICATED, OTHER_ORGANISATION, TOO_MANY, HTTP_ERROR = -32009, -32010, -32011, -32012

_META_PREFIX = "io.modelcontextprotocol/"
_VERSION_KEY, _CAPABILITIES_KEY = f"{_META_PREFIX}protocolVersion", f"{_META_PREFIX}clientCapabilities"
SERVER_INFO_KEY = f"{_META_PREFIX}serverInfo"

# The modern protocol answers these codes with their own HTTP status; legacy versions answer with 200.
_MODERN_STATUSES = {METHOD_NOT_FOUND: 404, INVALID_PARAMS: 400}

CallId = str | int | None


class Call(NamedTuple):
    """A JSON-RPC request that expects an answer."""

    id: CallId
    method: str
    params: dict[str, Any]
    is_modern: bool

    @property
    def shows_forms(self) -> bool:
        """Whether the client declares that it shows forms to its person, and sends back what they filled in."""
        capabilities = self.params["_meta"][_CAPABILITIES_KEY] if self.is_modern else None
        modes = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
        # A client that names no mode shows forms.
        return isinstance(modes, dict) and ("form" in modes or not modes)

    def answer(self, result: Mapping[str, Any], *, logged: bool = False) -> Response:
        """Answer with a result; a read that succeeded is not logged."""
        return Response(200, encode_answer(self.id, result), quiet=not logged)

    def refuse(self, code: int, message: str) -> Response:
        """Answer that the call is not valid."""
        return rpc_error_response(_MODERN_STATUSES[code] if self.is_modern else 200, code, message, self.id)


def encode_answer(id_: CallId, result: Mapping[str, Any]) -> bytes:
    """Return the answer to the call with this id."""
    return orjson.dumps({"jsonrpc": "2.0", "id": id_, "result": result})


class NotACall(Exception):
    """Raised when a body is not a call to be performed; holds the response to send."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


def rpc_error_response(
    status: int, code: int, message: str, id_: CallId = None, headers: Headers = (), **data: object
) -> Response:
    """Return a JSON-RPC error."""
    error = {"code": code, "message": message} | ({"data": data} if data else {})
    return Response(status, orjson.dumps({"jsonrpc": "2.0", "id": id_, "error": error}), headers)


def read_call(headers: Mapping[str, str], body: bytes) -> Call:
    """Read the call in a body; raise NotACall if there is none to perform."""
    try:
        message = decode_json(body)
    except InvalidJson as problem:
        raise NotACall(rpc_error_response(400, PARSE_ERROR, f"The body is not valid JSON: {problem}.")) from None
    if not isinstance(message, dict):
        raise NotACall(
            rpc_error_response(400, INVALID_REQUEST, "Send one JSON-RPC request object; batches are not supported.")
        )
    params = message.get("params", {})
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = _header_text(headers, "mcp-protocol-version")
    has_version_in_body = isinstance(meta, dict) and _VERSION_KEY in meta
    is_modern = has_version_in_body or (version is not None and version not in LEGACY_VERSIONS)
    id_ = _check_id(message, is_modern=is_modern)
    if not has_version_in_body and version is not None and version not in SUPPORTED_VERSIONS:
        raise NotACall(_refuse_version(version, id_))
    if "id" not in message:
        raise NotACall(Response(202, b""))
    if not isinstance(params, dict):
        call = Call(id_, "", {}, is_modern)
        raise NotACall(call.refuse(INVALID_PARAMS, "params is not an object."))
    call = Call(id_, message["method"], params, is_modern)
    if is_modern:
        _check_modern_call(call, headers, meta)
    return call


def _check_id(message: dict[str, Any], *, is_modern: bool) -> CallId:
    id_ = message.get("id")
    if "method" not in message and ("result" in message or "error" in message) and not is_modern:
        # Legacy clients may post an answer, although this server never asks anything.
        raise NotACall(Response(202, b""))
    is_proper_id = "id" not in message or (isinstance(id_, (str, int)) and not isinstance(id_, bool))
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str) or not is_proper_id:
        text = 'Send a JSON-RPC request: jsonrpc "2.0", a method, and an id that is text or a whole number.'
        raise NotACall(rpc_error_response(400, INVALID_REQUEST, text, id_ if is_proper_id else None))
    return id_


def _check_modern_call(call: Call, headers: Mapping[str, str], meta: object) -> None:
    """Refuse a modern request without the required `_meta`, or with headers that contradict its body."""
    if not isinstance(meta, dict) or _VERSION_KEY not in meta or _CAPABILITIES_KEY not in meta:
        text = f"params._meta must be an object with {_VERSION_KEY} and {_CAPABILITIES_KEY}."
        raise NotACall(call.refuse(INVALID_PARAMS, text))
    expected = {"mcp-protocol-version": meta[_VERSION_KEY], "mcp-method": call.method}
    if call.method == "tools/call" and call.params.get("name") is not None:
        expected["mcp-name"] = call.params["name"]
    for header, value in expected.items():
        sent = _header_text(headers, header)
        if sent != value:
            text = f"The header {header} {'is missing' if sent is None else 'differs from the body'}."
            raise NotACall(rpc_error_response(400, HEADER_MISMATCH, text, call.id))
    if meta[_VERSION_KEY] not in MODERN_VERSIONS:
        raise NotACall(_refuse_version(meta[_VERSION_KEY], call.id))


def _refuse_version(version: str, id_: CallId) -> Response:
    text = "This protocol version is not supported."
    # A legacy version is supported, but not for a modern request.
    supported = MODERN_VERSIONS if version in LEGACY_VERSIONS else SUPPORTED_VERSIONS
    return rpc_error_response(400, UNSUPPORTED_VERSION, text, id_, supported=supported, requested=version)


_BASE64_VALUE = re.compile(r"=\?base64\?(.*)\?=")


def _header_text(headers: Mapping[str, str], name: str) -> str | None:
    """Return a header's value; text that does not fit a header is sent in base64."""
    text = headers.get(name)
    if text and text.startswith("=?") and (encoded := _BASE64_VALUE.fullmatch(text)):
        try:
            return base64.b64decode(encoded[1], validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return text
