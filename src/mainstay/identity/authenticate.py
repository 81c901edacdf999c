"""A credential into an Actor, and an Actor's standing read again inside a change.

Nothing is remembered between requests: a revocation, a departure or a lost role counts from the next request on.
"""

from mainstay.backing.database import Handle, Row
from mainstay.identity.secrets import API_KEY, secret_hash
from mainstay.kernel.actor import OPERATOR, Actor, Door, Named
from mainstay.kernel.refusal import NotFound, Unauthenticated
from mainstay.kernel.rights import Access, Role

# `svc_sk_` and 32 bytes in base64; anything else was never one of ours.
_KEY_LENGTH = len(API_KEY) + 43

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

_PERSON = """
SELECT p.id, p.name, p.role, o.subscription
FROM person p JOIN organisation o ON o.id = p.organisation_id
WHERE p.organisation_id = :organisation AND p.id = :id AND p.status = 'active'
"""


def actor_of_key(rows: Handle, secret: str, door: Door) -> Actor:
    """Who comes in with an API key. The handle looks across organisations: the key says which it is."""
    if len(secret) != _KEY_LENGTH or not secret.startswith(API_KEY):
        raise NoSuchKey
    return _of_key(rows.one(_KEY_BY_HASH, hash=secret_hash(secret)), door)


def actor_of_person(rows: Handle, person: str, door: Door) -> Actor:
    """A person of the handle's organisation who acts by themselves, with no key or app between."""
    row = rows.one(_PERSON, id=person)
    if row is None:
        raise NotFound("person")
    identity, name, role, subscription = map(str, row)
    return Actor(
        rows.organisation,
        Named(id=identity, name=name),
        Role(role),
        Access.WRITE,
        subscribed=subscription == "active",
        door=door,
        credential=identity,
    )


def standing(rows: Handle, actor: Actor) -> Actor:
    """The actor as it stands now, read inside the transaction of a change."""
    if actor.credential == OPERATOR:
        return actor
    if actor.client is None:
        return actor_of_person(rows, actor.credential, actor.door)
    return _of_key(rows.one(_KEY_BY_ID, id=actor.credential), actor.door)


class NoSuchKey(Unauthenticated):
    """The key was never made, was revoked, or died with its maker's role; the three are not told apart."""

    def __init__(self) -> None:
        super().__init__("This API key is not valid. It may have been revoked.")


def _of_key(row: Row | None, door: Door) -> Actor:
    if row is None:
        raise NoSuchKey
    organisation, key, key_name, access, person, name, role, subscription = map(str, row)
    return Actor(
        organisation,
        Named(id=person, name=name),
        Role(role),
        Access(access),
        subscribed=subscription == "active",
        door=door,
        credential=key,
        client=Named(id=key, name=key_name),
    )
