"""FastMCP with one trivial tool: no key, no limit, no database."""

from fastmcp import FastMCP

server: FastMCP[None] = FastMCP("trivial")


@server.tool
def get_organisation() -> str:
    """Answer with nothing much."""
    return "{}"


app = server.http_app(path="/mcp", json_response=True, stateless_http=True)
