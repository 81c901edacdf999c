"""Connected apps. A connection is one approval: one app, one person, one organisation and one access level."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Literal

import orjson
from pydantic import Field

from mainstay.identity.connection_emails import build_owner_emails
from mainstay.identity.credential_limits import ConfirmsInOffice, LimitsInput, Toolsets, encode_toolsets, save_limits
from mainstay.identity.keys import PEOPLE_DOORS
from mainstay.identity.revocation import end_access
from mainstay.identity.secrets import OAUTH_CODE, hash_secret, new_secret
from mainstay.infrastructure.database import Value
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import restore_values
from mainstay.kernel.kind import Kind
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get, declare_list
from mainstay.values.descriptions import describe
from mainstay.values.ids import new_id
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.list_queries import Visibility
from mainstay.vocabulary.permissions import Access, Permission, Role, sql_roles_with
from mainstay.vocabulary.record_json import PriceText
from mainstay.vocabulary.refusal import Forbidden, Reason
from mainstay.vocabulary.roles import RefersTo
from mainstay.vocabulary.schemas import Input, Output, StoredRecord, make_states
from mainstay.vocabulary.toolsets import Toolset

CODE_LIFETIME = timedelta(minutes=10)

# SQL for what a connection may do now: if the person's role no longer allows writing, it can only read.
EFFECTIVE_ACCESS = (
    f"CASE WHEN person.role IN {sql_roles_with(Permission.CONNECTIONS_WRITE)} THEN connection.access ELSE 'read' END"
)
# SQL for whether a connection is valid: it was not ended, its last day is not over, and its person is active and may
# connect apps.
CONNECTION_IS_VALID = (
    "connection.ended_at IS NULL AND (connection.expires_at IS NULL OR connection.expires_at > :now)"
    " AND person.status = 'active' AND person.role IN"
    f" {sql_roles_with(Permission.CONNECTIONS_READ)}"
)


class ConnectionOut(Output):
    """A connected app."""

    noun = "connection"
    office_path = "/settings/developer/mcp/{id}"
    states = make_states(active="good", expired="over", ended="over")

    id: str
    client_name: str = Field(description="The app's own name for itself.")
    person_id: Annotated[str, RefersTo("person")] = Field(
        description="The person who approved it. It has their permissions."
    )
    person_name: str = Field(title="Approved by")
    person_role: Role = Field(title="Role of the approver")
    access: Access = Field(title="Approved access", description="The access that was approved.")
    effective_access: Access = Field(title="Access", description="What it may do now, with the person's current role.")
    confirms_in_office: ConfirmsInOffice
    toolsets: list[Toolset] | None = Field(title="Areas", description="The areas it may use; null for all.")
    amount_limit: PriceText | None = Field(
        title="Confirm amounts above", description="What commits you to more waits for a confirmation on the website."
    )
    expires_on: str | None = Field(title="Works until", description="The last day on which it works.")
    created_at: str
    last_used_at: str | None = Field(description="Accurate to about a minute.")
    ended_at: str | None
    status: Literal["active", "expired", "ended"]


class ApprovalOut(Output):
    """An approval, with the code that the app exchanges for its tokens."""

    noun = "approval"

    id: str
    code: str


class ApproveConnection(Input):
    """The app and its access, and how it will prove that it made the request."""

    client_id: str = Field(description="The app's registered ID.")
    client_name: str = Field(description="The app's own name for itself, not verified.")
    access: Access = Field(description=describe("[[`read` or `write`, within the person's permissions.]]"))
    toolsets: Toolsets = None
    redirect_uri: str = Field(description="Where the code is sent.")
    challenge: str = Field(description="The hash of the secret that the app will show when it exchanges the code.")


class UpdateConnection(LimitsInput):
    """Which connection, and what to change; null removes a limit."""

    connection_id: str = Field(description="The connection's ID.")


class EndConnection(Input):
    """Which connection ends, and why."""

    connection_id: str = Field(description="The connection's ID.")
    reason: str = Field(description="The reason.")


@dataclass(frozen=True, slots=True)
class Connection(StoredRecord):
    """A connected app with the fields that its rules need."""

    output = ConnectionOut

    client_name: str
    ended_at: str | None
    toolsets: str | None
    amount_limit: int | None
    expires_on: str | None
    limited_by_owner: int

    @property
    def display_name(self) -> str:
        """The name that the app gave itself."""
        return self.client_name

    def not_revocable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why its access cannot be ended."""
        return [Reason(Message("{app} is already disconnected.", app=self.client_name))] if self.ended_at else []


_SELECT_FROM_PERSON = (
    "(SELECT {} FROM person WHERE person.organisation_id = :organisation AND person.id = connection.person_id)"
)
CONNECTIONS = Kind(
    Connection,
    source="connection",
    heading="Connected apps",
    area="Settings",
    columns={
        "person_name": _SELECT_FROM_PERSON.format("person.name"),
        "person_role": _SELECT_FROM_PERSON.format("person.role"),
        "effective_access": _SELECT_FROM_PERSON.format(EFFECTIVE_ACCESS),
        "status": "CASE WHEN connection.ended_at IS NOT NULL THEN 'ended'"
        " WHEN connection.expires_at <= :now THEN 'expired' ELSE 'active' END",
    },
    list_condition="connection.started_at IS NOT NULL AND connection.ended_at IS NULL",
    visibility=Visibility("connection.person_id", unrestricted_with=Permission.CONNECTIONS_MANAGE),
)


@operation(
    permission=Permission.CONNECTIONS_READ,
    effect=Effect.CHANGE,
    doors=frozenset({Door.OFFICE}),
    open_when_lapsed=True,
    not_undone=Message("Disconnect the app instead."),
    past_text="App connected",
)
def approve_connection(ctx: Context, given: ApproveConnection) -> ApprovalOut:
    """Connect app.

    It acts as the person who approves it, within their permissions.
    """
    if given.access is Access.WRITE and not ctx.actor.can(Permission.CONNECTIONS_WRITE):
        raise Forbidden(Message("You can connect apps with read access only. Ask an owner or admin."))
    if ctx.actor.person is None:
        raise Forbidden(Message("Only someone in the organisation can connect an app."))
    record_id, code = new_id("connection"), new_secret(OAUTH_CODE)
    ctx.db.run(
        "INSERT INTO connection (organisation_id, id, client_id, client_name, person_id, access, created_at, toolsets,"
        " amount_limit, expires_on, expires_at, limited_by_owner) VALUES (:organisation, :id, :client, :name, :me,"
        " :access, :at, :toolsets, :amount_limit, :expires_on, :expires_at, :limited_by_owner)",
        id=record_id,
        client=given.client_id,
        name=given.client_name,
        access=given.access,
        at=ctx.now_text,
        **_find_limits(ctx, given),
    )
    ctx.db.run(
        "INSERT INTO oauth_code"
        " (hash, organisation_id, connection_id, client_id, redirect_uri, challenge, expires_at)"
        " VALUES (:hash, :organisation, :connection, :client, :redirect, :challenge, :expires)",
        hash=hash_secret(code),
        connection=record_id,
        client=given.client_id,
        redirect=given.redirect_uri,
        challenge=given.challenge,
        expires=moment_text(ctx.now + CODE_LIFETIME),
    )
    ctx.db.run(
        "UPDATE oauth_client SET approved_at = :at WHERE id = :client AND approved_at IS NULL",
        client=given.client_id,
        at=ctx.now_text,
    )
    ctx.writer.touch(record_id)
    ctx.writer.mark_written(CONNECTIONS.table, record_id)
    return ApprovalOut(object=ApprovalOut.noun, id=record_id, code=code)


@operation(
    permission=Permission.CONNECTIONS_MANAGE,
    effect=Effect.CHANGE,
    doors=frozenset({Door.SYSTEM}),
    open_when_lapsed=True,
    on=CONNECTIONS,
    not_undone=Message("Disconnect the app instead."),
    past_text="App connected for the first time",
)
def start_connection(ctx: Context, _given: Input, connection: Connection) -> Connection:
    """Activate connection.

    The app has exchanged its code for its first tokens. It is listed from now on, and the owners get an email.
    """
    ctx.db.run(
        "UPDATE connection SET started_at = :at"
        " WHERE organisation_id = :organisation AND id = :id AND started_at IS NULL",
        id=connection.id,
        at=ctx.now_text,
    )
    ctx.writer.touch(connection.id)
    ctx.writer.mark_written(CONNECTIONS.table, connection.id)
    for task in build_owner_emails(ctx.db, connection.id, ctx.base_url, ctx.languages):
        ctx.add_task(task)
    return connection


list_connections = declare_list(
    CONNECTIONS,
    "List connected apps. Newest first. Owners and admins see everyone's, others their own.",
    Permission.CONNECTIONS_READ,
    {},
    doors=PEOPLE_DOORS,
)


get_connection = declare_get(
    CONNECTIONS,
    "Get connected app. Who approved it, what it may do and when it was last used.",
    Permission.CONNECTIONS_READ,
    doors=PEOPLE_DOORS,
)


@operation(
    permission=Permission.CONNECTIONS_READ,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    on=CONNECTIONS,
    blocked_by=Connection.not_revocable,
    done_message="Connected app saved.",
    undone_by=restore_values,
    past_text="App settings changed",
)
def update_connection(ctx: Context, given: UpdateConnection, connection: Connection) -> Connection:
    """Edit connected app.

    Choose whether the person has to confirm on the website what can't be undone or lets someone in. Owners and
    admins can change any app, others their own; and only they limit it to some areas, to amounts or to a last day.
    """
    return save_limits(ctx, CONNECTIONS, connection, given)


@operation(
    permission=Permission.CONNECTIONS_READ,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    open_when_lapsed=True,
    on=CONNECTIONS,
    blocked_by=Connection.not_revocable,
    asks_again=True,
    done_message="App disconnected.",
    not_undone=Message("Connect the app again."),
    past_text="App disconnected",
)
def revoke_connection(ctx: Context, _given: Input, connection: Connection) -> Connection:
    """Disconnect app.

    The app's access stops at once. To use it again, someone has to approve it again. Owners and admins can disconnect
    any app, others their own.
    """
    return _disconnect_app(ctx, connection)


@operation(
    permission=Permission.CONNECTIONS_MANAGE,
    effect=Effect.CHANGE,
    doors=frozenset({Door.SYSTEM}),
    open_when_lapsed=True,
    on=CONNECTIONS,
    blocked_by=Connection.not_revocable,
    not_undone=Message("Connect the app again."),
    past_text="App disconnected automatically",
)
def end_connection(ctx: Context, _given: EndConnection, connection: Connection) -> Connection:
    """Disconnect app automatically.

    The app gave it back, or one of its codes or tokens was used twice.
    """
    return _disconnect_app(ctx, connection)


OPERATIONS = (
    approve_connection,
    start_connection,
    list_connections,
    get_connection,
    update_connection,
    revoke_connection,
    end_connection,
)


def end_connections_of_person(ctx: Context, person_id: str) -> list[str]:
    """End the connections of a person who leaves or may no longer connect apps, and return the names of the apps."""
    return [
        connection.client_name
        for connection in end_access(ctx, CONNECTIONS, "ended_at", "person_id = :person", person=person_id)
    ]


def _find_limits(ctx: Context, given: ApproveConnection) -> dict[str, Value]:
    """Return the limits of a new connection: those that an owner set for this app before, and the chosen areas.

    Without the earlier limits, its person could get rid of them by connecting the app again. An app that registers each
    time has another ID, so its name counts too.
    """
    row = ctx.db.one(
        "SELECT toolsets, amount_limit, expires_on, expires_at, limited_by_owner FROM connection"
        " WHERE organisation_id = :organisation AND person_id = :me AND (client_id = :client OR client_name = :name)"
        " AND limited_by_owner = 1 ORDER BY id DESC LIMIT 1",
        client=given.client_id,
        name=given.client_name,
    )
    toolsets, *other_limits = row or (None, None, None, None, 0)
    chosen = given.toolsets
    if toolsets is not None:
        allowed = {*orjson.loads(str(toolsets))}
        chosen = [toolset for toolset in Toolset if toolset in allowed and (chosen is None or toolset in chosen)]
    names = ("amount_limit", "expires_on", "expires_at", "limited_by_owner")
    return {"toolsets": encode_toolsets(chosen), **dict(zip(names, other_limits, strict=True))}


def _disconnect_app(ctx: Context, connection: Connection) -> Connection:
    """End a connection and return it. Its tokens and codes no longer work."""
    (ended,) = end_access(ctx, CONNECTIONS, "ended_at", "id = :id", id=connection.id)
    return ended
