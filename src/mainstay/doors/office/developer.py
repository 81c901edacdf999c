"""Settings → Developer: API keys and connected apps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.doors.http import Request, Response
from mainstay.doors.office.desk import Desk, Guest, notice
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import see_other
from mainstay.identity.connections import list_connections, revoke_connection
from mainstay.identity.keys import create_key, list_keys, revoke_key
from mainstay.kernel.refusal import Refusal
from mainstay.kernel.rights import RIGHTS, Access, Right, Rights, Role

# The names of the tools that an app of such a person is offered.
OfferedTools = Callable[[Rights, Access], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Snippet:
    """What to type or paste into a client."""

    client: str
    how: str
    text: str


@dataclass(frozen=True, slots=True)
class Developer:
    """The pages."""

    desk: Desk
    offered_tools: OfferedTools

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", "/settings/developer", enter(self.show)),
            Route("GET", "/settings/developer/keys", enter(self.show_keys)),
            Route("POST", "/settings/developer/keys", enter(self.create)),
            Route("POST", "/settings/developer/keys/{id}/revoke", enter(self.revoke)),
            Route("GET", "/settings/developer/mcp", enter(self.show_mcp)),
            Route("POST", "/settings/developer/mcp/{id}/revoke", enter(self.disconnect)),
        ]

    async def show(self, _request: Request, guest: Guest, _: str) -> Response:
        """The first of the pages that are of use."""
        return see_other("/settings/developer/keys" if guest.may(list_keys) else "/settings/developer/mcp")

    async def show_keys(self, request: Request, guest: Guest, _: str) -> Response:
        """The keys, and the form for a new one."""
        return await self._keys_page(request, guest, {}, notice=notice(request))

    async def create(self, request: Request, guest: Guest, _: str) -> Response:
        """Make a key. The page that answers is the only one that ever shows it."""
        fields = await self.desk.form(request, guest)
        given = {name: fields.get(name, "") for name in ("name", "access")}
        try:
            made = await self.desk.perform(request, guest, create_key, given)
        except Refusal as refusal:
            return await self._keys_page(request, guest, fields, refusal)
        return await self._keys_page(request, guest, {}, made=made)

    async def revoke(self, request: Request, guest: Guest, key: str) -> Response:
        """Revoke a key."""
        await self.desk.form(request, guest)
        await self.desk.perform(request, guest, revoke_key, {"keyId": key})
        return see_other("/settings/developer/keys?done=revoked")

    async def show_mcp(self, request: Request, guest: Guest, _: str) -> Response:
        """The tool server's address, how to use it, and the apps that do."""
        address = f"{self.desk.visitors.base_url}/mcp"
        connections: dict[str, Any] | None = None
        if guest.may(list_connections):
            words = query_words(request)
            asked = {name: words[name] for name in ("startingAfter",) if words.get(name)}
            connections = await self.desk.perform(request, guest, list_connections, asked)
            for connection in connections["data"]:
                role, access = Role(connection["personRole"]), Access(connection["effectiveAccess"])
                connection["tools"] = self.offered_tools(RIGHTS[role], access)
        return self.desk.page(
            "mcp.html",
            guest,
            area="Settings",
            address=address,
            snippets=_snippets(address),
            connections=connections,
            everyone=guest.actor.may(Right.CONNECTIONS_MANAGE),
            notice=notice(request),
        )

    async def disconnect(self, request: Request, guest: Guest, connection: str) -> Response:
        """End an app's access."""
        await self.desk.form(request, guest)
        await self.desk.perform(request, guest, revoke_connection, {"connectionId": connection})
        return see_other("/settings/developer/mcp?done=disconnected")

    async def _keys_page(
        self,
        request: Request,
        guest: Guest,
        fields: dict[str, str],
        refusal: Refusal | None = None,
        made: dict[str, Any] | None = None,
        **more: Any,
    ) -> Response:
        words = query_words(request)
        asked = {name: words[name] for name in ("startingAfter",) if words.get(name)}
        keys = await self.desk.perform(request, guest, list_keys, asked)
        return self.desk.form_page(
            "keys.html",
            guest,
            fields,
            refusal,
            area="Settings",
            keys=keys,
            made=made,
            create=create_key,
            api_address=f"{self.desk.visitors.base_url}/api/v1",
            **more,
        )


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
