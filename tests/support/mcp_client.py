"""A client of the tool server, one JSON-RPC call at a time."""

import re
from collections.abc import Mapping
from typing import Any

import httpx2

from mainstay.values.moments import moment_text, parse_moment
from support.servers import RunningServer

MODERN_VERSION = "2026-07-28"
_META = "io.modelcontextprotocol/"


def make_legacy_call(method: str, params: Any = None, id_: Any = 1) -> dict[str, Any]:
    """Make a call of the legacy protocol."""
    call = {"jsonrpc": "2.0", "id": id_, "method": method}
    return call if params is None else {**call, "params": params}


def make_modern_call(
    method: str, params: Mapping[str, Any] | None = None, version: str = MODERN_VERSION
) -> dict[str, Any]:
    """Make a call of the modern protocol, which carries its own metadata."""
    meta = {f"{_META}protocolVersion": version, f"{_META}clientCapabilities": {}}
    return make_legacy_call(method, {**(params or {}), "_meta": meta})


def make_modern_headers(call: Mapping[str, Any], **others: str) -> dict[str, str]:
    """The headers that repeat what a modern call says."""
    headers = {"MCP-Protocol-Version": MODERN_VERSION, "Mcp-Method": str(call["method"])}
    if name := call["params"].get("name"):
        headers["Mcp-Name"] = name
    return headers | {name.replace("_", "-"): value for name, value in others.items()}


def post_call(
    server: RunningServer, token: str | None, call: Any, headers: Mapping[str, str] | None = None, path: str = "/mcp"
) -> httpx2.Response:
    """Post a body to the tool server."""
    return server.request("POST", path, token, json=call, headers=headers)


def call_legacy(server: RunningServer, token: str, method: str, params: Any = None) -> Any:
    """Make a legacy call and return its result."""
    answer = post_call(server, token, make_legacy_call(method, params))
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


def call_tool(server: RunningServer, token: str, tool: str, /, **arguments: Any) -> Any:
    """Call a tool and return its result."""
    return call_legacy(server, token, "tools/call", {"name": tool, "arguments": arguments})


def call_modern(server: RunningServer, token: str, method: str, params: Mapping[str, Any] | None = None) -> Any:
    """Make a modern call and return its result."""
    call = make_modern_call(method, params)
    answer = post_call(server, token, call, make_modern_headers(call))
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


_LOCAL_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+[+-][0-9]{2}:[0-9]{2}")


def to_utc(answer: Any) -> Any:
    """Return the same answer with its local times in UTC, as the API gives them."""
    if isinstance(answer, dict):
        return {name: to_utc(value) for name, value in answer.items()}
    if isinstance(answer, list):
        return [to_utc(value) for value in answer]
    if isinstance(answer, str) and _LOCAL_TIME.fullmatch(answer):
        return moment_text(parse_moment(answer))
    return answer
