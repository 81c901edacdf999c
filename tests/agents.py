"""Speaking to the tool server as a program would, one JSON-RPC call at a time."""

from collections.abc import Mapping
from typing import Any

import httpx2

from running import RunningServer

MODERN = "2026-07-28"
_META = "io.modelcontextprotocol/"


def legacy(method: str, params: Any = None, id_: Any = 1) -> dict[str, Any]:
    """A call of the legacy era."""
    call = {"jsonrpc": "2.0", "id": id_, "method": method}
    return call if params is None else {**call, "params": params}


def modern(method: str, params: Mapping[str, Any] | None = None, version: str = MODERN) -> dict[str, Any]:
    """A call of the modern era: every one carries what it needs."""
    meta = {f"{_META}protocolVersion": version, f"{_META}clientCapabilities": {}}
    return legacy(method, {**(params or {}), "_meta": meta})


def modern_headers(call: Mapping[str, Any], **others: str) -> dict[str, str]:
    """The headers that repeat what a modern call says."""
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": str(call["method"])}
    if name := call["params"].get("name"):
        headers["Mcp-Name"] = name
    return headers | {name.replace("_", "-"): value for name, value in others.items()}


def post(
    server: RunningServer, token: str | None, call: Any, headers: Mapping[str, str] | None = None, path: str = "/mcp"
) -> httpx2.Response:
    """Post a body to the tool server."""
    return server.request("POST", path, token, json=call, headers=headers)


def ask(server: RunningServer, token: str, method: str, params: Any = None) -> Any:
    """The result of a legacy call."""
    answer = post(server, token, legacy(method, params))
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


def call_tool(server: RunningServer, token: str, tool: str, /, **arguments: Any) -> Any:
    """The result of a tool."""
    return ask(server, token, "tools/call", {"name": tool, "arguments": arguments})


def ask_modern(server: RunningServer, token: str, method: str, params: Mapping[str, Any] | None = None) -> Any:
    """The result of a modern call."""
    call = modern(method, params)
    answer = post(server, token, call, modern_headers(call))
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]
