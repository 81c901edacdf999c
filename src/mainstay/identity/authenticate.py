"""A credential into an Actor, and an Actor's standing read again inside a change.

Nothing is remembered between requests: a revocation, a departure or a lost role counts from the next request on.
"""

from datetime import datetime
from typing import cast

from mainstay.backing.database import Handle, Row
from mainstay.identity import links
from mainstay.identity.connections import EFFECTIVE_ACCESS
from mainstay.identity.secrets import ACCESS_TOKEN, API_KEY, is_secret, secret_hash
from mainstay.kernel.actor import OPERATOR, Actor, Door, Named
from mainstay.kernel.refusal import NotFound, Unauthenticated
from mainstay.kernel.rights import Access, Role
from mainstay.values.ids import is_id
from mainstay.values.moments import moment_text

# A key lives while its maker is here and may still make keys.
_KEY = """
SELECT k.organisation_id, k.id, k.name, k.access, p.id, p.name, p.role, o.subscription
FROM api_key k
JOIN person p ON p.organisation_id = k.organisation_id AND p.id = k.person_id
JOIN organisation o ON o.id = k.organisation_id
WHERE k.revoked_at IS NULL AND p.status = 'active' AND p.role IN ('owner', 'admin')
"""
_KEY_BY_HASH = _KEY + "AND k.hash = :hash"
_KEY_BY_ID = _KEY + "AND k.organisation_id = :organisation AND k.id = :id"

# A connection lives until it is ended, and while its person is here and may connect apps.
_CONNECTION = f"""
SELECT c.organisation_id, c.id, c.client_name, {EFFECTIVE_ACCESS}, p.id, p.name, p.role, o.subscription
FROM connection c
JOIN person p ON p.organisation_id = c.organisation_id AND p.id = c.person_id
JOIN organisation o ON o.id = c.organisation_id
"""
_CONNECTION_LIVES = "c.ended_at IS NULL AND p.status = 'active' AND p.role <> 'subcontractor'"
_CONNECTION_BY_TOKEN = f"""
{_CONNECTION}
JOIN oauth_token t ON t.organisation_id = c.organisation_id AND t.connection_id = c.id
WHERE t.hash = :hash AND t.kind = 'access' AND t.expires_at > :now AND {_CONNECTION_LIVES}
"""
_CONNECTION_BY_ID = f"{_CONNECTION} WHERE c.organisation_id = :organisation AND c.id = :id AND {_CONNECTION_LIVES}"

_PERSON = """
SELECT p.id, p.name, p.role, o.subscription
FROM person p JOIN organisation o ON o.id = p.organisation_id
WHERE p.organisation_id = :organisation AND p.id = :id AND p.status = 'active'
"""

# Someone invited, by the link that was mailed to the address they still have.
_INVITED = """
SELECT p.id, p.name, p.role, o.subscription
FROM one_time_link l
JOIN person p ON p.organisation_id = l.organisation_id AND p.id = l.person_id AND p.email_folded = l.email
JOIN organisation o ON o.id = p.organisation_id
WHERE l.organisation_id = :organisation AND l.id = :id AND p.status = 'invited'
"""


def actor_of_key(rows: Handle, secret: str, door: Door) -> Actor:
    """Who comes in with an API key. The handle looks across organisations: the key says which it is."""
    if not is_secret(secret, API_KEY):
        raise NoSuchKey
    row = rows.one(_KEY_BY_HASH, hash=secret_hash(secret))
    if row is None:
        raise NoSuchKey
    return _through(row, door)


def actor_of_bearer(rows: Handle, secret: str, door: Door, now: datetime) -> Actor:
    """Who comes in with an API key or an access token, likewise."""
    if not secret:
        raise Unauthenticated("No token was sent. Send the header Authorization: Bearer with an API key or a token.")
    if not is_secret(secret, ACCESS_TOKEN):
        return actor_of_key(rows, secret, door)
    row = rows.one(_CONNECTION_BY_TOKEN, hash=secret_hash(secret), now=moment_text(now))
    if row is None:
        raise NoSuchToken
    return _through(row, door)


def actor_of_person(rows: Handle, person: str, door: Door) -> Actor:
    """A person of the handle's organisation who acts by themselves, with no key or app between."""
    row = rows.one(_PERSON, id=person)
    if row is None:
        raise NotFound("person")
    return _themselves(rows, row, door, person)


def actor_of_invitation(rows: Handle, link: str) -> Actor:
    """Someone invited to the handle's organisation, before they have an account: known by their link alone."""
    row = rows.one(_INVITED, id=link)
    if row is None:
        raise NotFound("invitation")
    return _themselves(rows, row, Door.OFFICE, link)


def standing(rows: Handle, actor: Actor) -> Actor:
    """The actor as it stands now, read inside the transaction of a change."""
    if actor.credential == OPERATOR:
        return actor
    if is_id(actor.credential, links.PREFIX):
        return actor_of_invitation(rows, actor.credential)
    if actor.client is None:
        return _still_here(rows, actor)
    by_id, gone = (_KEY_BY_ID, NoSuchKey) if is_id(actor.credential, "key") else (_CONNECTION_BY_ID, NoSuchToken)
    row = rows.one(by_id, id=actor.credential)
    if row is None:
        raise gone
    return _through(row, actor.door)


def _still_here(rows: Handle, actor: Actor) -> Actor:
    try:
        return actor_of_person(rows, actor.credential, actor.door)
    except NotFound:
        raise Unauthenticated("You are no longer a person of this organisation.") from None


class NoSuchKey(Unauthenticated):
    """The key was never made, was revoked, or died with its maker's role; the three are not told apart."""

    def __init__(self) -> None:
        super().__init__("This API key is not valid. It may have been revoked.")


class NoSuchToken(Unauthenticated):
    """The token was never given out, has expired, or its connection has ended."""

    def __init__(self) -> None:
        super().__init__("This token is not valid. It may have expired, or the connection may have been ended.")


def _through(row: Row, door: Door) -> Actor:
    """A person who acts through a key or a connected app."""
    organisation, client, client_name, access, person, name, role, subscription = cast("tuple[str, ...]", row)
    return Actor(
        organisation,
        Named(person, name),
        _ROLES[role],
        _ACCESSES[access],
        subscription == "active",
        door,
        client,
        Named(client, client_name),
    )


def _themselves(rows: Handle, row: Row, door: Door, credential: str) -> Actor:
    identity, name, role, subscription = cast("tuple[str, ...]", row)
    return Actor(
        rows.organisation,
        Named(identity, name),
        _ROLES[role],
        Access.WRITE,
        subscription == "active",
        door,
        credential,
    )


# Read at every request; calling the enum costs more.
_ROLES = {role.value: role for role in Role}
_ACCESSES = {access.value: access for access in Access}
