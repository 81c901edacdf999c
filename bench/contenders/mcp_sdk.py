"""The official SDK's low-level server with one trivial tool: no key, no limit, no database."""

from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

_TOOL = types.Tool(
    name="get_organisation",
    description="Answer with nothing much.",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
)


async def list_tools(_context: Any, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_TOOL])


async def call_tool(_context: Any, _params: types.CallToolRequestParams) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text="{}")])


app = Server("trivial", on_list_tools=list_tools, on_call_tool=call_tool).streamable_http_app(
    json_response=True,
    stateless_http=True,
    transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
)
