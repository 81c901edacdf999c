"""Settings → Developer: API keys and connected apps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.doors.http import Response
from mainstay.doors.office.activity import acts_through
from mainstay.doors.office.arrangement import Arrangement
from mainstay.doors.office.beside import WITHOUT_FILES
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.frame import DEVELOPER
from mainstay.doors.office.references import AsTold
from mainstay.doors.office.room import Room
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.render import see_other
from mainstay.identity.connections import get_connection, list_connections
from mainstay.identity.keys import KeyMaker, create_key, get_key, list_keys
from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import Forbidden
from mainstay.terms.rights import RIGHTS, Access, Rights, Role

# The names of the tools that an app of such a person is offered.
OfferedTools = Callable[[Rights, Access], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Snippet:
    """What to type or paste into a client."""

    client: str
    how: str
    text: str


KEYS = Arrangement(
    title="API Keys",
    lead="A key lets a program use the HTTP API and the tool server, with the rights of whoever made it.",
    path="/settings/developer/keys",
    area="Settings",
    frame="developer.html",
    gets=get_key,
    lists=list_keys,
    creates=create_key,
    called=lambda key: str(key["name"]),
    below=lambda key: f"{Access(key['access']).words} · … {key['lastFour']}",
    columns=("status", "personName", "lastUsedAt"),
    facts=("access", "personName", "createdAt", "lastUsedAt", "revokedAt"),
    sides=WITHOUT_FILES,
    more="activity_link.html",
    empty="No keys yet. Make one for each program, so that you can revoke it alone.",
)
CONNECTIONS = Arrangement(
    title="MCP",
    lead="The address for agents such as Claude or Cursor, and the apps that people have connected to it.",
    path="/settings/developer/mcp",
    area="Settings",
    frame="developer.html",
    gets=get_connection,
    lists=list_connections,
    called=lambda app: str(app["clientName"]),
    below=lambda app: f"{Access(app['effectiveAccess']).words} · approved by {app['personName']}",
    columns=("status", "lastUsedAt"),
    facts=("personName", "personRole", "access", "effectiveAccess", "createdAt", "lastUsedAt", "endedAt"),
    above="mcp.html",
    more="connection.html",
    sides=WITHOUT_FILES,
    empty="No apps connected. An app appears here once someone has approved it.",
)


@dataclass(frozen=True, slots=True)
class Developer:
    """The pages for keys and connected apps."""

    desk: Desk
    offered_tools: OfferedTools
    key_maker: KeyMaker

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("GET", "/settings/developer", self.desk.signed_in(self.show)),
            *Room(self.desk, KEYS, shows=acts_through, adds=self._add, reveals=self._reveal).routes(),
            *Room(self.desk, CONNECTIONS, shows=self._show_connections).routes(),
        ]

    async def show(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """The first of the pages that are of use."""
        of_use = guest.of_use(DEVELOPER)
        if not of_use:
            raise Forbidden("Your role does not connect apps or programs.")
        return see_other(of_use[0].path)

    def _add(self, guest: Guest, operation: Operation, _fields: Mapping[str, str]) -> dict[str, object]:
        if operation is not create_key or guest.once is None:
            return {}
        return {"key": self.key_maker.key(guest.actor, guest.once)}

    def _reveal(self, guest: Guest, operation: Operation, key: AsTold) -> AsTold | None:
        if operation is not create_key:
            return None
        secret = self.key_maker.key(guest.actor, guest.once) if guest.once else key["key"]
        return {"title": "Your new key", "secret": secret}

    async def _show_connections(self, guest: Guest, record: AsTold | None) -> dict[str, Any]:
        if record is None:
            address = f"{self.desk.visitors.base_url}/mcp"
            return {"address": address, "snippets": _snippets(address)}
        rights, access = RIGHTS[Role(record["personRole"])], Access(record["effectiveAccess"])
        return {"tools": self.offered_tools(rights, access), **await acts_through(guest, record)}


def _snippets(address: str) -> list[Snippet]:
    """Ready to paste, for the clients that most people use."""
    call = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    return [
        Snippet("Claude Code", "In a terminal:", f"claude mcp add --transport http mainstay {address}"),
        Snippet(
            "Claude Desktop and claude.ai", "Settings → Connectors → Add custom connector. Paste the address:", address
        ),
        Snippet("Cursor", "In .cursor/mcp.json:", _json({"mcpServers": {"mainstay": {"url": address}}})),
        Snippet("VS Code", "In .vscode/mcp.json:", _json({"servers": {"mainstay": {"type": "http", "url": address}}})),
        Snippet(
            "Other clients, with an API key",
            "Where apps cannot sign in by themselves, a key does:",
            _json(
                {
                    "mcpServers": {
                        "mainstay": {
                            "type": "http",
                            "url": address,
                            "headers": {"Authorization": "Bearer YOUR_API_KEY"},
                        }
                    }
                }
            ),
        ),
        Snippet(
            "curl, with an API key",
            "To see that it answers:",
            f"curl {address} \\\n  -H 'Authorization: Bearer YOUR_API_KEY' \\\n"
            f"  -H 'Content-Type: application/json' \\\n  -d '{call}'",
        ),
    ]


def _json(data: dict[str, Any]) -> str:
    return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode()
