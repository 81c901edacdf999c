"""Turn a credential into an Actor, and read the Actor again inside the transaction of a change.

Nothing is cached between requests. If a credential is revoked, a person leaves or a role changes, the next request
already sees it.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, cast

import orjson

from mainstay.identity import links
from mainstay.identity.connections import CONNECTION_IS_VALID, EFFECTIVE_ACCESS
from mainstay.identity.secrets import ACCESS_TOKEN, API_KEY, hash_secret, is_secret
from mainstay.infrastructure.database import DatabaseHandle, Row, Value
from mainstay.values.ids import is_id
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import (
    ASSISTANT_CLIENT,
    PERMANENT_CREDENTIALS,
    Actor,
    ActorKind,
    Door,
    Named,
    customer_actor,
)
from mainstay.vocabulary.permissions import Access, Permission, Role, permissions_of, sql_roles_with
from mainstay.vocabulary.refusal import NotFound, Unauthenticated
from mainstay.vocabulary.toolsets import Toolset

# A key is valid while the person who made it is active and may still make keys, and until its last day is over.
_SELECT_KEY = f"""
SELECT api_key.organisation_id, api_key.id, api_key.name, api_key.access, person.id, person.name, person.role,
       organisation.subscription, organisation.grants, organisation.time_zone, api_key.confirms_in_office,
       api_key.toolsets, api_key.amount_limit, api_key.expires_at
FROM api_key
JOIN person ON person.organisation_id = api_key.organisation_id AND person.id = api_key.person_id
JOIN organisation ON organisation.id = api_key.organisation_id
WHERE api_key.revoked_at IS NULL AND person.status = 'active'
  AND person.role IN {sql_roles_with(Permission.KEYS_MANAGE)}
"""
_KEY_BY_HASH = _SELECT_KEY + "AND api_key.hash = :hash"
_KEY_BY_ID = _SELECT_KEY + "AND api_key.organisation_id = :organisation AND api_key.id = :id"

# A connection is valid until it is ended, and while its person is active and may connect apps.
_SELECT_CONNECTION = f"""
SELECT connection.organisation_id, connection.id, connection.client_name, {EFFECTIVE_ACCESS}, person.id, person.name,
       person.role, organisation.subscription, organisation.grants, organisation.time_zone,
       connection.confirms_in_office, connection.toolsets, connection.amount_limit
FROM connection
JOIN person ON person.organisation_id = connection.organisation_id AND person.id = connection.person_id
JOIN organisation ON organisation.id = connection.organisation_id
"""
_CONNECTION_BY_TOKEN = f"""
{_SELECT_CONNECTION}
JOIN oauth_token ON oauth_token.organisation_id = connection.organisation_id
 AND oauth_token.connection_id = connection.id
WHERE oauth_token.hash = :hash AND oauth_token.kind = 'access' AND oauth_token.expires_at > :now
 AND {CONNECTION_IS_VALID}
"""
_CONNECTION_BY_ID = f"""
{_SELECT_CONNECTION} WHERE connection.organisation_id = :organisation AND connection.id = :id AND {CONNECTION_IS_VALID}
"""

# The assistant acts while the sign-in that asked it lasts, and while its person is active and may connect apps. Its
# access is what was chosen for the conversation, unless the person's role no longer allows writing.
_SELECT_TURN = f"""
SELECT conversation.organisation_id, conversation_turn.id,
       CASE WHEN person.role IN {sql_roles_with(Permission.CONNECTIONS_WRITE)} THEN conversation.access ELSE 'read' END,
       person.id, person.name, person.role, organisation.subscription, organisation.grants, organisation.time_zone
FROM conversation_turn
JOIN conversation ON conversation.organisation_id = conversation_turn.organisation_id
 AND conversation.id = conversation_turn.conversation_id
JOIN person ON person.organisation_id = conversation.organisation_id AND person.id = conversation.person_id
JOIN organisation ON organisation.id = conversation.organisation_id
JOIN session ON session.id = conversation_turn.session_id AND session.account_id = person.account_id
WHERE conversation_turn.organisation_id = :organisation AND conversation_turn.id = :id
  AND person.status = 'active' AND person.role IN {sql_roles_with(Permission.CONNECTIONS_READ)}
"""

_SELECT_PERSON = """
SELECT p.id, p.name, p.role, o.subscription, o.grants
FROM person p JOIN organisation o ON o.id = p.organisation_id
WHERE p.organisation_id = :organisation AND p.id = :id AND p.status = 'active'
"""

# An invited person, by the link that was emailed to the address that they still have.
_SELECT_INVITED_PERSON = """
SELECT p.id, p.name, p.role, o.subscription, o.grants
FROM one_time_link l
JOIN person p ON p.organisation_id = l.organisation_id AND p.id = l.person_id AND p.email_folded = l.email_folded
JOIN organisation o ON o.id = p.organisation_id
WHERE l.organisation_id = :organisation AND l.id = :id AND p.status = 'invited'
"""

# Someone who chooses a new password by an emailed link, in an organisation where they are or were a person.
_SELECT_PERSON_OF_RESET = """
SELECT p.id, p.name, p.role, o.subscription, o.grants
FROM one_time_link l
JOIN person p ON p.account_id = l.account_id AND p.organisation_id = :organisation
JOIN organisation o ON o.id = p.organisation_id
WHERE l.id = :id AND l.kind = 'reset' ORDER BY p.status LIMIT 1
"""

# A record that was sent has a link, whatever its status is now.
_SELECT_LINKED_RECORD = """
SELECT o.subscription FROM {} r JOIN organisation o ON o.id = r.organisation_id
WHERE r.organisation_id = :organisation AND r.id = :id AND r.sent_at IS NOT NULL
"""


def actor_of_key(db: DatabaseHandle, secret: str, door: Door, now: datetime) -> Actor:
    """Return the actor that an API key identifies.

    The handle is not bound to one organisation, because the key says which organisation it belongs to.
    """
    if not is_secret(secret, API_KEY):
        raise InvalidKey
    return _actor_of_valid_key(db.one(_KEY_BY_HASH, hash=hash_secret(secret)), door, now)


def actor_of_bearer(db: DatabaseHandle, secret: str, door: Door, now: datetime) -> Actor:
    """Return the actor that an API key or an access token identifies.

    The handle is not bound to one organisation.
    """
    if not secret:
        raise Unauthenticated(
            Message("No token was sent. Send the header Authorization: Bearer with an API key or a token.")
        )
    if not is_secret(secret, ACCESS_TOKEN):
        return actor_of_key(db, secret, door, now)
    row = db.one(_CONNECTION_BY_TOKEN, hash=hash_secret(secret), now=moment_text(now))
    if row is None:
        raise InvalidToken
    return _actor_through_client(row, door)


def actor_of_person(db: DatabaseHandle, person_id: str, door: Door) -> Actor:
    """Return the actor for a person of the handle's organisation who acts directly, without a key or an app."""
    row = db.one(_SELECT_PERSON, id=person_id)
    if row is None:
        raise NotFound("person")
    return _actor_without_client(db, row, door, person_id)


def actor_of_invitation(db: DatabaseHandle, link_id: str) -> Actor:
    """Return the actor for an invited person who has no account yet and is identified by their link alone."""
    row = db.one(_SELECT_INVITED_PERSON, id=link_id)
    if row is None:
        raise NotFound("invitation")
    return _actor_without_client(db, row, Door.OFFICE, link_id)


def actor_of_reset(db: DatabaseHandle, link_id: str) -> Actor:
    """Return the actor for someone who chooses a new password by a link, and may do nothing else."""
    row = db.one(_SELECT_PERSON_OF_RESET, id=link_id)
    if row is None:
        raise NotFound("link")
    return _actor_without_client(db, row, Door.OFFICE, link_id)._replace(permissions=frozenset({Permission.ME_CHANGE}))


def actor_of_link(db: DatabaseHandle, record_id: str) -> Actor:
    """Return the actor for a customer who opens the link to a record, and may read and answer that record alone."""
    table = record_id.partition("_")[0]
    row = db.one(_SELECT_LINKED_RECORD.format(table), id=record_id)
    if row is None:
        raise NotFound("link")
    return customer_actor(db.organisation, record_id, _CUSTOMER_PERMISSIONS[table], subscribed=row[0] == "active")


# What a customer may do, by the kind of record that they have a link to.
_CUSTOMER_PERMISSIONS = {
    "quote": frozenset({Permission.LINKED_QUOTE_READ, Permission.LINKED_QUOTE_ANSWER}),
    "invoice": frozenset({Permission.LINKED_INVOICE_READ}),
}


def actor_of_turn(db: DatabaseHandle, turn_id: str) -> Actor:
    """Return the actor for the assistant that works on a question of a person, by the id of its turn."""
    row = db.one(_SELECT_TURN, id=turn_id)
    if row is None:
        raise AssistantAccessEnded
    organisation, credential, access, person_id, name, role_name, subscription, grants, time_zone = cast(
        "tuple[str, ...]", row
    )
    role = _ROLES[role_name]
    return Actor(
        organisation,
        Named(person_id, name),
        role,
        permissions_of(role, grants),
        _ACCESSES[access],
        subscription == "active",
        Door.AGENT,
        credential,
        ASSISTANT_CLIENT,
        ActorKind.ASSISTANT,
        time_zone=time_zone,
    )


def reread_actor(db: DatabaseHandle, actor: Actor, now: datetime) -> Actor:
    """Return the actor with their current permissions, read inside the transaction of a change."""
    if actor.credential in PERMANENT_CREDENTIALS:
        return actor
    if actor.linked_record:
        return actor_of_link(db, actor.linked_record)
    if is_id(actor.credential, links.PREFIX):
        # Only an invited person may do more than choose a password.
        read_actor = actor_of_invitation if actor.can(Permission.ME_READ) else actor_of_reset
        return read_actor(db, actor.credential)
    if actor.client is None:
        return _reread_person(db, actor)
    if actor.kind is ActorKind.ASSISTANT:
        return actor_of_turn(db, actor.credential)
    return actor_of_client(db, actor.credential, actor.door, now)


def actor_of_client(db: DatabaseHandle, credential: str, door: Door, now: datetime) -> Actor:
    """Return the actor for an API key or a connected app of the handle's organisation, by its id."""
    if is_id(credential, "key"):
        return _actor_of_valid_key(db.one(_KEY_BY_ID, id=credential), door, now)
    row = db.one(_CONNECTION_BY_ID, id=credential, now=moment_text(now))
    if row is None:
        raise InvalidToken
    return _actor_through_client(row, door)


def actor_of_credential(db: DatabaseHandle, credential: str, door: Door, now: datetime) -> Actor:
    """Return the actor of a link with the permissions of now: a person, their assistant, or a program."""
    if is_id(credential, "person"):
        return actor_of_person(db, credential, door)
    if is_id(credential, "turn"):
        return actor_of_turn(db, credential)
    return actor_of_client(db, credential, door, now)


def _reread_person(db: DatabaseHandle, actor: Actor) -> Actor:
    try:
        return actor_of_person(db, actor.credential, actor.door)
    except NotFound:
        raise Unauthenticated(Message("You no longer belong to this organisation.")) from None


class InvalidKey(Unauthenticated):
    """The key never existed, was revoked, or lost its effect because the person who made it may no longer make keys.

    The message does not say which of the three it is.
    """

    def __init__(self) -> None:
        super().__init__(Message("This API key is not valid. It may have been revoked."))


class InvalidToken(Unauthenticated):
    """The token was never issued, has expired, or its connection has ended."""

    def __init__(self) -> None:
        super().__init__(Message("This token is not valid. It may have expired, or the app was disconnected."))


class AssistantAccessEnded(Unauthenticated):
    """The person of a turn has signed out, left, or may no longer use the assistant."""

    def __init__(self) -> None:
        super().__init__(Message("You signed out, or you may no longer use the assistant."))


def _actor_of_valid_key(row: Row | None, door: Door, now: datetime) -> Actor:
    """Return the actor for a key that was found, unless its last day is over."""
    if row is None:
        raise InvalidKey
    *values, expires_at = row
    # Not part of the statement: few keys have a last day, and writing the moment takes as long as half of the search.
    if expires_at is not None and str(expires_at) <= moment_text(now):
        raise InvalidKey
    return _actor_through_client(values, door)


def _actor_through_client(row: Sequence[Value], door: Door) -> Actor:
    """Return the actor for a person who acts through an API key or a connected app."""
    values = cast("Sequence[Any]", row)
    organisation, client_id, client_name, access, person_id, name, role_name = values[:7]
    subscription, grants, time_zone, confirms_in_office, toolsets, amount_limit = values[7:]
    role = _ROLES[role_name]
    return Actor(
        organisation,
        Named(person_id, name),
        role,
        permissions_of(role, grants),
        _ACCESSES[access],
        subscription == "active",
        door,
        client_id,
        Named(client_id, client_name),
        confirms_in_office=bool(confirms_in_office),
        toolsets=None if toolsets is None else _decode_toolsets(toolsets),
        amount_limit=amount_limit,
        time_zone=time_zone,
    )


@lru_cache(256)
def _decode_toolsets(toolsets: str) -> frozenset[Toolset]:
    return frozenset(map(Toolset, orjson.loads(toolsets)))


def _actor_without_client(db: DatabaseHandle, row: Row, door: Door, credential: str) -> Actor:
    """Return the actor for a person who acts directly, or by a link."""
    person_id, name, role_name, subscription, grants = cast("tuple[str, ...]", row)
    role = _ROLES[role_name]
    return Actor(
        db.organisation,
        Named(person_id, name),
        role,
        permissions_of(role, grants),
        Access.WRITE,
        subscription == "active",
        door,
        credential,
    )


# Every request looks these up. Calling the enum would cost more.
_ROLES = {role.value: role for role in Role}
_ACCESSES = {access.value: access for access in Access}
