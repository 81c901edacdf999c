"""Connected apps: one approval is one connection of one app, for one person, in one organisation, with one access."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from mainstay.identity.connection_news import news_for_owners
from mainstay.identity.ending import end
from mainstay.identity.keys import FOR_PEOPLE
from mainstay.identity.secrets import CODE, new_secret, secret_hash
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Actor, Door
from mainstay.terms.listed import Own
from mainstay.terms.refusal import Forbidden, Reason
from mainstay.terms.rights import Access, Right, Role, holders
from mainstay.terms.shapes import Input, Kept, ListInput, Page, Shown, states
from mainstay.values.fields import LAST_SEEN, id_of
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text

CODE_LIFETIME = timedelta(minutes=10)

# What a connection may do now: an access that its person's role no longer carries is read only, while that lasts.
EFFECTIVE_ACCESS = f"CASE WHEN person.role IN {holders(Right.CONNECTIONS_WRITE)} THEN connection.access ELSE 'read' END"
# And whether it lives: it was not ended, and its person is here and may connect apps.
LIVES = f"connection.ended_at IS NULL AND person.status = 'active' AND person.role IN {holders(Right.CONNECTIONS_READ)}"


class ConnectionOut(Shown):
    """A connected app."""

    noun = "connection"
    place = "/settings/developer/mcp/{id}"
    states = states(active="good", ended="over")

    id: str
    client_name: str = Field(description="What the app calls itself.")
    person_id: str = Field(description="Who approved it and whose rights it has.")
    person_name: str = Field(title="Approved by")
    person_role: Role = Field(title="Their role")
    access: Access = Field(title="Approved access", description="What was approved.")
    effective_access: Access = Field(title="Access", description="What it may do with the person's role now.")
    created_at: str
    last_used_at: str | None = Field(description="Right within a minute.")
    ended_at: str | None
    status: Literal["active", "ended"]


class ApprovedOut(Shown):
    """An approval, with the code that the app exchanges for its tokens."""

    noun = "approval"

    id: str
    code: str


class ApproveConnection(Input):
    """What is approved, and how the app will prove that it was it who asked."""

    client_id: str = Field(description="The id under which the app registered itself.")
    client_name: str = Field(description="What the app calls itself; nobody has verified it.")
    access: Access = Field(description="`read` or `write`; never more than the person may do.")
    redirect_uri: str = Field(description="Where the code is sent.")
    challenge: str = Field(description="The hash of what the app will show when it exchanges the code.")


class ListConnections(ListInput):
    """Which connections to list."""

    starting_after: Annotated[str | None, id_of("connection")] = LAST_SEEN


class GetConnection(Input):
    """Which connection."""

    connection_id: str = Field(description="The connection's id.")


class StartConnection(Input):
    """Which connection an app begins to use."""

    connection_id: str = Field(description="The connection's id.")


class RevokeConnection(Input):
    """Which connection to end."""

    connection_id: str = Field(description="The connection's id.")


class EndConnection(Input):
    """Which connection ends by itself, and why."""

    connection_id: str = Field(description="The connection's id.")
    reason: str = Field(description="What led to it.")


@dataclass(frozen=True, slots=True)
class Connection(Kept):
    """A connected app as its rules see it."""

    shown = ConnectionOut

    client_name: str
    ended_at: str | None

    @property
    def called(self) -> str:
        """What the app calls itself."""
        return self.client_name

    def not_revocable(self, _by: Actor) -> list[Reason]:
        """Why its access cannot be ended."""
        return [Reason(f"The access of {self.client_name} has ended already.")] if self.ended_at else []


_OF_PERSON = "(SELECT {} FROM person WHERE person.organisation_id = :organisation AND person.id = connection.person_id)"
CONNECTIONS = Listing(
    Connection,
    source="connection",
    what="connection",
    prefix="connection",
    id_field="connection_id",
    columns={
        "person_name": _OF_PERSON.format("person.name"),
        "person_role": _OF_PERSON.format("person.role"),
        "effective_access": _OF_PERSON.format(EFFECTIVE_ACCESS),
        "status": "CASE WHEN connection.ended_at IS NULL THEN 'active' ELSE 'ended' END",
    },
    listed="connection.started_at IS NOT NULL AND connection.ended_at IS NULL",
    own=Own("connection.person_id", unless=Right.CONNECTIONS_MANAGE),
)


@operation(right=Right.CONNECTIONS_READ, effect=Effect.CHANGE, offered=frozenset({Door.OFFICE}), open_when_lapsed=True)
def approve_connection(ctx: Context, given: ApproveConnection) -> ApprovedOut:
    """Connect an app.

    It then acts as the person who approves it, never with more rights than they have.
    """
    if given.access is Access.WRITE and not ctx.actor.may(Right.CONNECTIONS_WRITE):
        raise Forbidden(f"The role {ctx.actor.role} may connect an app for reading only.")
    if ctx.actor.person is None:
        raise Forbidden("An app is connected by a person of the organisation.")
    identity, code = new_id("connection"), new_secret(CODE)
    ctx.rows.run(
        "INSERT INTO connection (organisation_id, id, client_id, client_name, person_id, access, created_at)"
        " VALUES (:organisation, :id, :client, :name, :me, :access, :at)",
        id=identity,
        client=given.client_id,
        name=given.client_name,
        access=given.access,
        at=ctx.at,
    )
    ctx.rows.run(
        "INSERT INTO oauth_code"
        " (hash, organisation_id, connection_id, client_id, redirect_uri, challenge, expires_at)"
        " VALUES (:hash, :organisation, :connection, :client, :redirect, :challenge, :expires)",
        hash=secret_hash(code),
        connection=identity,
        client=given.client_id,
        redirect=given.redirect_uri,
        challenge=given.challenge,
        expires=moment_text(ctx.now + CODE_LIFETIME),
    )
    ctx.rows.run(
        "UPDATE oauth_client SET approved_at = :at WHERE id = :client AND approved_at IS NULL",
        client=given.client_id,
        at=ctx.at,
    )
    ctx.pen.touch(identity)
    ctx.pen.mark_written(CONNECTIONS.table, identity)
    return ApprovedOut(object=ApprovedOut.noun, id=identity, code=code)


@operation(
    right=Right.CONNECTIONS_MANAGE,
    effect=Effect.CHANGE,
    offered=frozenset({Door.HOUSE}),
    open_when_lapsed=True,
    on=CONNECTIONS,
)
def start_connection(ctx: Context, _given: StartConnection, connection: Connection) -> Connection:
    """List a connected app from now on, and tell the owners of it.

    It has exchanged its code for its first tokens.
    """
    ctx.rows.run(
        "UPDATE connection SET started_at = :at"
        " WHERE organisation_id = :organisation AND id = :id AND started_at IS NULL",
        id=connection.id,
        at=ctx.at,
    )
    ctx.pen.touch(connection.id)
    ctx.pen.mark_written(CONNECTIONS.table, connection.id)
    for letter in news_for_owners(ctx.rows, connection.id, ctx.base_url):
        ctx.post(letter)
    return connection


@operation(right=Right.CONNECTIONS_READ, effect=Effect.READ, offered=FOR_PEOPLE)
def list_connections(ctx: Context, given: ListConnections) -> Page[ConnectionOut]:
    """List the connected apps, newest first.

    Owners and admins see everyone's, others their own.
    """
    return CONNECTIONS.page(ctx, given)


@operation(right=Right.CONNECTIONS_READ, effect=Effect.READ, offered=FOR_PEOPLE, on=CONNECTIONS)
def get_connection(_ctx: Context, _given: GetConnection, connection: Connection) -> Connection:
    """Get one connected app.

    Who approved it, what it may do, and when it was last used.
    """
    return connection


@operation(
    right=Right.CONNECTIONS_READ,
    effect=Effect.CHANGE,
    offered=FOR_PEOPLE,
    open_when_lapsed=True,
    on=CONNECTIONS,
    unless=Connection.not_revocable,
    grave=True,
    done="The app's access is revoked. Its next request is refused.",
)
def revoke_connection(ctx: Context, _given: RevokeConnection, connection: Connection) -> Connection:
    """End a connected app's access.

    Its next request is refused; to use it again, someone has to approve it anew. Owners and admins may end any, others
    their own.
    """
    return _ended(ctx, connection)


@operation(
    right=Right.CONNECTIONS_MANAGE,
    effect=Effect.CHANGE,
    offered=frozenset({Door.HOUSE}),
    open_when_lapsed=True,
    on=CONNECTIONS,
    unless=Connection.not_revocable,
)
def end_connection(ctx: Context, _given: EndConnection, connection: Connection) -> Connection:
    """End a connected app's access by itself.

    The app gave it back, or someone used a code or token of it a second time.
    """
    return _ended(ctx, connection)


OPERATIONS = (approve_connection, start_connection, list_connections, get_connection, revoke_connection, end_connection)


def _ended(ctx: Context, connection: Connection) -> Connection:
    """The connection when it has ended: its tokens and codes open nothing any more."""
    (ended,) = end(ctx, CONNECTIONS, "ended_at", "id = :id", id=connection.id)
    return ended


def end_connections_of(ctx: Context, person: str) -> list[str]:
    """End the connections of a person who leaves or may no longer connect apps; what the apps call themselves."""
    return [one.client_name for one in end(ctx, CONNECTIONS, "ended_at", "person_id = :person", person=person)]
