"""API keys: made by an owner or admin for one organisation, shown once, revoked at once."""

from typing import Annotated

from pydantic import Field

from mainstay.identity.secrets import API_KEY, new_secret, secret_hash
from mainstay.kernel.actor import Door
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.refusal import Forbidden, NotFound
from mainstay.kernel.rights import Access, Right
from mainstay.kernel.shapes import Input, ListInput, One, Page, Shown
from mainstay.values.fields import LAST_SEEN, Line, id_of
from mainstay.values.ids import new_id

# Whoever could make keys with a key would never lose access: people only.
FOR_PEOPLE = frozenset({Door.OFFICE, Door.CLI})


class KeyOut(Shown):
    """An API key as it is listed: never the key itself."""

    noun = "apiKey"

    id: str
    name: str
    access: Access = Field(description="`read` is Read only, `write` is Read and write; fixed at creation.")
    person_id: str = Field(description="Who made it and whose rights it has.")
    person_name: str
    last_four: str
    created_at: str
    last_used_at: str | None = Field(description="Right within a minute.")
    revoked_at: str | None


class NewKeyOut(KeyOut):
    """An API key just made."""

    key: str = Field(description="The key. It is shown this once.")


class CreateKey(Input):
    """What a key is made from."""

    name: Line = Field(description="What the key is for.")
    access: Access = Field(description="`read` or `write`; it cannot be changed later.")


class ListKeys(ListInput):
    """Which keys to list."""

    starting_after: Annotated[str | None, id_of("key")] = LAST_SEEN


class RevokeKey(Input):
    """Which key to revoke."""

    key_id: str = Field(description="The key's id.")


@operation(right=Right.KEYS_MANAGE, effect=Effect.CHANGE, offered=FOR_PEOPLE)
def create_key(ctx: Context, given: CreateKey) -> One[NewKeyOut]:
    """Create an API key.

    It acts with the rights of the person who makes it, and stops working when that person leaves or is no longer owner
    or admin.
    """
    if ctx.actor.person is None:
        raise Forbidden("A key is made by a person of the organisation: an owner or admin.")
    identity, secret = new_id("key"), new_secret(API_KEY)
    ctx.rows.run(
        "INSERT INTO api_key (organisation_id, id, person_id, name, access, hash, last_four, created_at)"
        " VALUES (:organisation, :id, :person, :name, :access, :hash, :last_four, :at)",
        id=identity,
        person=ctx.actor.person.id,
        name=given.name,
        access=given.access,
        hash=secret_hash(secret),
        last_four=secret[-4:],
        at=ctx.at,
    )
    row = _fetch(ctx, identity).row
    return One(NewKeyOut, (*row, secret))


@operation(right=Right.KEYS_MANAGE, effect=Effect.READ, offered=FOR_PEOPLE)
def list_keys(ctx: Context, given: ListKeys) -> Page[KeyOut]:
    """List the API keys of the organisation, newest first.

    Revoked ones stay in it. The keys themselves are never shown again.
    """
    after = "AND k.id < :after" if given.starting_after else ""
    rows = ctx.rows.all(
        f"{_SELECT} {after} ORDER BY k.id DESC LIMIT :limit", after=given.starting_after, limit=given.limit + 1
    )
    return Page.cut(KeyOut, rows, given.limit)


@operation(right=Right.KEYS_MANAGE, effect=Effect.CHANGE, offered=FOR_PEOPLE, open_when_lapsed=True)
def revoke_key(ctx: Context, given: RevokeKey) -> One[KeyOut]:
    """Revoke an API key.

    The next request with it is refused. A key that was revoked before stays as it is.
    """
    _fetch(ctx, given.key_id)
    ctx.rows.run(
        "UPDATE api_key SET revoked_at = :at WHERE organisation_id = :organisation AND id = :id AND revoked_at IS NULL",
        id=given.key_id,
        at=ctx.at,
    )
    return _fetch(ctx, given.key_id)


def end_keys_of(ctx: Context, person: str) -> int:
    """End the keys of a person who leaves or is no longer owner or admin, for good; how many there were."""
    return ctx.rows.run(
        "UPDATE api_key SET revoked_at = :at"
        " WHERE organisation_id = :organisation AND person_id = :person AND revoked_at IS NULL",
        person=person,
        at=ctx.at,
    )


_SELECT = """
SELECT k.id, k.name, k.access, k.person_id, p.name, k.last_four, k.created_at, k.last_used_at, k.revoked_at
FROM api_key k JOIN person p ON p.organisation_id = k.organisation_id AND p.id = k.person_id
WHERE k.organisation_id = :organisation
"""


def _fetch(ctx: Context, identity: str) -> One[KeyOut]:
    row = ctx.rows.one(f"{_SELECT} AND k.id = :id", id=identity)
    if row is None:
        raise NotFound("API key")
    return One(KeyOut, row)
