"""A credential into an Actor, and an Actor's standing read again inside a change.

Nothing is remembered between requests: a revocation, a departure or a lost role counts from the next request on.
"""

from datetime import datetime
from typing import cast

from mainstay.backing.database import Handle, Row
from mainstay.identity import links
from mainstay.identity.connections import EFFECTIVE_ACCESS, LIVES
from mainstay.identity.secrets import ACCESS_TOKEN, API_KEY, is_secret, secret_hash
from mainstay.terms.actor import ALWAYS_STANDING, Actor, Door, Named, customer
from mainstay.terms.refusal import NotFound, Unauthenticated
from mainstay.terms.rights import Access, Right, Role, holders, rights_of
from mainstay.values.ids import is_id
from mainstay.values.moments import moment_text

# A key lives while its maker is here and may still make keys.
_KEY = f"""
SELECT api_key.organisation_id, api_key.id, api_key.name, api_key.access, person.id, person.name, person.role,
       organisation.subscription, organisation.grants
FROM api_key
JOIN person ON person.organisation_id = api_key.organisation_id AND person.id = api_key.person_id
JOIN organisation ON organisation.id = api_key.organisation_id
WHERE api_key.revoked_at IS NULL AND person.status = 'active' AND person.role IN {holders(Right.KEYS_MANAGE)}
"""
_KEY_BY_HASH = _KEY + "AND api_key.hash = :hash"
_KEY_BY_ID = _KEY + "AND api_key.organisation_id = :organisation AND api_key.id = :id"

# A connection lives until it is ended, and while its person is here and may connect apps.
_CONNECTION = f"""
SELECT connection.organisation_id, connection.id, connection.client_name, {EFFECTIVE_ACCESS}, person.id, person.name,
       person.role, organisation.subscription, organisation.grants
FROM connection
JOIN person ON person.organisation_id = connection.organisation_id AND person.id = connection.person_id
JOIN organisation ON organisation.id = connection.organisation_id
"""
_CONNECTION_BY_TOKEN = f"""
{_CONNECTION}
JOIN oauth_token ON oauth_token.organisation_id = connection.organisation_id
 AND oauth_token.connection_id = connection.id
WHERE oauth_token.hash = :hash AND oauth_token.kind = 'access' AND oauth_token.expires_at > :now AND {LIVES}
"""
_CONNECTION_BY_ID = f"""
{_CONNECTION} WHERE connection.organisation_id = :organisation AND connection.id = :id AND {LIVES}
"""

_PERSON = """
SELECT p.id, p.name, p.role, o.subscription, o.grants
FROM person p JOIN organisation o ON o.id = p.organisation_id
WHERE p.organisation_id = :organisation AND p.id = :id AND p.status = 'active'
"""

# Someone invited, by the link that was mailed to the address they still have.
_INVITED = """
SELECT p.id, p.name, p.role, o.subscription, o.grants
FROM one_time_link l
JOIN person p ON p.organisation_id = l.organisation_id AND p.id = l.person_id AND p.email_folded = l.email_folded
JOIN organisation o ON o.id = p.organisation_id
WHERE l.organisation_id = :organisation AND l.id = :id AND p.status = 'invited'
"""

# Whoever chooses a new password by a link that was mailed to them, in an organisation that knows them, or knew them.
_RESETTING = """
SELECT p.id, p.name, p.role, o.subscription, o.grants
FROM one_time_link l
JOIN person p ON p.account_id = l.account_id AND p.organisation_id = :organisation
JOIN organisation o ON o.id = p.organisation_id
WHERE l.id = :id AND l.kind = 'reset' ORDER BY p.status LIMIT 1
"""

# What was sent has a link, whatever has become of it since.
_LINKED = """
SELECT o.subscription FROM {} r JOIN organisation o ON o.id = r.organisation_id
WHERE r.organisation_id = :organisation AND r.id = :id AND r.sent_at IS NOT NULL
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


def actor_of_reset(rows: Handle, link: str) -> Actor:
    """Whoever chooses a new password by a link: known by it alone, and able to do that alone."""
    row = rows.one(_RESETTING, id=link)
    if row is None:
        raise NotFound("link")
    return _themselves(rows, row, Door.OFFICE, link)._replace(rights=frozenset({Right.ME_CHANGE}))


def actor_of_link(rows: Handle, record: str) -> Actor:
    """A customer who comes by the link to a record that was sent to them: able to read and answer that one alone."""
    table = record.partition("_")[0]
    row = rows.one(_LINKED.format(table), id=record)
    if row is None:
        raise NotFound("link")
    return customer(rows.organisation, record, _CUSTOMER_S[table], subscribed=row[0] == "active")


# What a customer may, by the record that they have a link to.
_CUSTOMER_S = {
    "quote": frozenset({Right.LINKED_QUOTE_READ, Right.LINKED_QUOTE_ANSWER}),
    "invoice": frozenset({Right.LINKED_INVOICE_READ}),
}


def standing(rows: Handle, actor: Actor) -> Actor:
    """The actor as it stands now, read inside the transaction of a change."""
    if actor.credential in ALWAYS_STANDING:
        return actor
    if actor.about:
        return actor_of_link(rows, actor.about)
    if is_id(actor.credential, links.PREFIX):
        by_link = actor_of_invitation if actor.may(Right.ME_READ) else actor_of_reset
        return by_link(rows, actor.credential)
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
    organisation, client, client_name, access, person, name, role, subscription, grants = cast("tuple[str, ...]", row)
    role_now = _ROLES[role]
    return Actor(
        organisation,
        Named(person, name),
        role_now,
        rights_of(role_now, grants),
        _ACCESSES[access],
        subscription == "active",
        door,
        client,
        Named(client, client_name),
    )


def _themselves(rows: Handle, row: Row, door: Door, credential: str) -> Actor:
    identity, name, role, subscription, grants = cast("tuple[str, ...]", row)
    role_now = _ROLES[role]
    return Actor(
        rows.organisation,
        Named(identity, name),
        role_now,
        rights_of(role_now, grants),
        Access.WRITE,
        subscription == "active",
        door,
        credential,
    )


# Read at every request; calling the enum costs more.
_ROLES = {role.value: role for role in Role}
_ACCESSES = {access.value: access for access in Access}
