"""Settings → Developer: API keys and connected apps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.doors.http import Response
from mainstay.doors.office.kit.navigation import DEVELOPER_AREAS
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.record_panels import PANELS_WITHOUT_FILES
from mainstay.doors.office.kit.reference_fields import AnyRecord
from mainstay.doors.office.settings.activity import client_activity_variables
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.doors.pages.rendering import redirect
from mainstay.identity.connections import CONNECTIONS
from mainstay.identity.keys import KEYS, NewKeyOut, SecretDeriver, create_key
from mainstay.kernel.operation import Operation
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import ROLE_PERMISSIONS, Access, Permissions, Role
from mainstay.vocabulary.refusal import Forbidden
from mainstay.vocabulary.toolsets import ToolChoice, Toolset, choose_toolsets

# Returns the names of the tools that an app of a person with these permissions can use, within this choice.
ToolNames = Callable[[Permissions, Access, ToolChoice], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Snippet:
    """The text to type or paste into a client."""

    client: str
    how: str
    text: str


_LIMIT_FIELDS = ("toolsets", "amountLimit", "expiresOn")
_TOOLSET_CHOICES = {"toolsets": [(toolset.value, toolset.label) for toolset in Toolset]}
KEYS_LAYOUT = RecordLayout(
    kind=KEYS,
    lead="A key gives a program the access of the person who created it.",
    base_template="developer.html",
    create_operation=create_key,
    title_of=lambda key: str(key.name),
    subtitle_of=lambda key: f"{current_language().translate(Access(key.access).label)} · … {key.last_four}",
    columns=("status", "personName", "expiresOn", "amountLimit", "lastUsedAt"),
    facts=(
        "access",
        "confirmsInOffice",
        *_LIMIT_FIELDS,
        "personName",
        "createdAt",
        "lastUsedAt",
        "revokedAt",
    ),
    choices=_TOOLSET_CHOICES,
    panels=PANELS_WITHOUT_FILES,
    page_body="activity_link.html",
    empty_text="No API keys yet. Create one for each program, so that you can revoke each separately.",
)
CONNECTIONS_LAYOUT = RecordLayout(
    kind=CONNECTIONS,
    lead="Connect AI apps such as Claude or Cursor.",
    base_template="developer.html",
    title_of=lambda app: str(app.client_name),
    subtitle_of=lambda app: translate_text(
        "{access} · approved by {person}",
        access=current_language().translate(Access(app.effective_access).label),
        person=app.person_name,
    ),
    columns=("status", "expiresOn", "amountLimit", "lastUsedAt"),
    facts=(
        "personName",
        "personRole",
        "access",
        "effectiveAccess",
        "confirmsInOffice",
        *_LIMIT_FIELDS,
        "createdAt",
        "lastUsedAt",
        "endedAt",
    ),
    choices=_TOOLSET_CHOICES,
    list_header="mcp.html",
    page_body="connection.html",
    panels=PANELS_WITHOUT_FILES,
    empty_text="No connected apps yet. Add the address above to an app to connect it.",
)


@dataclass(frozen=True, slots=True)
class DeveloperPages:
    """The pages for keys and connected apps."""

    office: OfficePages
    tool_names: ToolNames
    key_maker: SecretDeriver

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            Route("GET", "/settings/developer", self.office.require_sign_in(self.redirect_to_first)),
            *RecordPages(
                self.office,
                KEYS_LAYOUT,
                add_variables=client_activity_variables,
                add_input=self._add_secret,
                reveal_secret=self._reveal_secret,
            ).routes(),
            *RecordPages(self.office, CONNECTIONS_LAYOUT, add_variables=self._connection_variables).routes(),
        ]

    async def redirect_to_first(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Redirect to the first page that the person can use."""
        areas = request.usable_areas(DEVELOPER_AREAS)
        if not areas:
            raise Forbidden(Message("You don't have access to developer settings. Ask an owner or admin."))
        return redirect(areas[0].path)

    def _add_secret(
        self, request: OfficeRequest, operation: Operation, _fields: Mapping[str, str]
    ) -> dict[str, object]:
        if operation is not create_key or request.once_token is None:
            return {}
        return {"key": self.key_maker.derive_key(request.actor, request.once_token)}

    def _reveal_secret(self, request: OfficeRequest, operation: Operation, key: NewKeyOut) -> AnyRecord | None:
        if operation is not create_key:
            return None
        secret = self.key_maker.derive_key(request.actor, request.once_token) if request.once_token else key.key
        return {"title": translate_text("Your new API key"), "secret": secret}

    async def _connection_variables(self, request: OfficeRequest, record: AnyRecord | None) -> dict[str, Any]:
        if record is None:
            address = f"{self.office.visitors.base_url}/mcp"
            return {"address": address, "snippets": _client_snippets(address)}
        rights, access = ROLE_PERMISSIONS[Role(record.person_role)], Access(record.effective_access)
        allowed = None if record.toolsets is None else frozenset(map(Toolset, record.toolsets))
        tools = self.tool_names(rights, access, choose_toolsets(None, allowed))
        return {"tools": tools, **await client_activity_variables(request, record)}


def _client_snippets(address: str) -> list[Snippet]:
    """Return texts to paste into the usual clients."""
    call = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    return [
        Snippet("Claude Code", "In a terminal:", f"claude mcp add --transport http mainstay {address}"),
        Snippet(
            "Claude Desktop and claude.ai", "Settings → Connectors → Add custom connector. Paste the address:", address
        ),
        Snippet("Cursor", "In .cursor/mcp.json:", _format_json({"mcpServers": {"mainstay": {"url": address}}})),
        Snippet(
            "VS Code", "In .vscode/mcp.json:", _format_json({"servers": {"mainstay": {"type": "http", "url": address}}})
        ),
        Snippet(
            "Other clients, with an API key",
            "For apps that can't sign in, use an API key:",
            _format_json(
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
            "Check that the server responds:",
            f"curl {address} \\\n  -H 'Authorization: Bearer YOUR_API_KEY' \\\n"
            f"  -H 'Content-Type: application/json' \\\n  -d '{call}'",
        ),
    ]


def _format_json(data: dict[str, Any]) -> str:
    return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode()
