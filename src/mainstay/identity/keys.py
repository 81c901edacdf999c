"""API keys: made by an owner or admin for one organisation, shown once, revoked at once."""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from mainstay.backing.database import Clash, Handle
from mainstay.identity.ending import end
from mainstay.identity.secrets import API_KEY, CALENDAR, is_secret, new_secret, secret_hash
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Actor, Door
from mainstay.terms.refusal import Conflict, Forbidden, Reason
from mainstay.terms.rights import Access, Right
from mainstay.terms.shapes import Input, Kept, ListInput, One, Page, Shown, states
from mainstay.values.fields import LAST_SEEN, NOT_ASKED, Line, id_of
from mainstay.values.ids import new_id

# Whoever could make keys with a key would never lose access: people only.
FOR_PEOPLE = frozenset({Door.OFFICE, Door.CLI})


class KeyOut(Shown):
    """An API key as it is listed: never the key itself."""

    noun = "apiKey"
    place = "/settings/developer/keys/{id}"
    states = states(active="good", revoked="over")

    id: str
    name: str
    access: Access = Field(description="`read` is Read only, `write` is Read and write; fixed at creation.")
    person_id: str = Field(description="Who made it and whose rights it has.")
    person_name: str = Field(title="Made by")
    last_four: str = Field(title="Ends in")
    created_at: str
    last_used_at: str | None = Field(description="Right within a minute.")
    revoked_at: str | None
    status: Literal["active", "revoked"]


class NewKeyOut(KeyOut):
    """An API key just made."""

    key: str | None = Field(description="The key. It is shown this once; null to whoever made it up themselves.")


def _could_be_a_key(given: SecretStr) -> SecretStr:
    if not is_secret(given.get_secret_value(), API_KEY):
        raise ValueError("is not a key")
    return given


class CreateKey(Input):
    """What a key is made from."""

    name: Line = Field(description="What the key is for.")
    access: Access = Field(description="What may be done with it; this cannot be changed later.")
    # Kept answers to forms must not hold a key: the office hands in one that it can derive again.
    key: Annotated[SecretStr, AfterValidator(_could_be_a_key), NOT_ASKED] | None = Field(
        default=None, description="The key, where it is derived; without it, a new one is made and answered."
    )


@dataclass(frozen=True, slots=True)
class KeyMaker:
    """Derives the secret that a form makes, so that the same form, sent again, shows the same and makes no other."""

    secret: bytes = field(repr=False)

    def key(self, actor: Actor, once: str) -> str:
        """The key that a form with this token makes for whoever sends it. The token itself is kept nowhere."""
        return API_KEY + self._derived("api key", actor, once)

    def calendar(self, actor: Actor, once: str) -> str:
        """The secret of a calendar's link, likewise."""
        return CALENDAR + self._derived("calendar", actor, once)

    def _derived(self, what: str, actor: Actor, once: str) -> str:
        words = f"{what} {actor.organisation} {actor.credential} {once}"
        digest = hmac.digest(self.secret, words.encode(), hashlib.sha256)
        return urlsafe_b64encode(digest).rstrip(b"=").decode()


class ListKeys(ListInput):
    """Which keys to list."""

    starting_after: Annotated[str | None, id_of("key")] = LAST_SEEN


class GetKey(Input):
    """Which key."""

    key_id: str = Field(description="The key's id.")


class RevokeKey(Input):
    """Which key to revoke."""

    key_id: str = Field(description="The key's id.")


@dataclass(frozen=True, slots=True)
class Key(Kept):
    """An API key as its rules see it."""

    shown = KeyOut

    name: str
    revoked_at: str | None

    @property
    def called(self) -> str:
        """What it is for."""
        return self.name

    def not_revocable(self, _by: Actor) -> list[Reason]:
        """Why it cannot be revoked."""
        return [Reason(f"The key {self.name} is revoked already.")] if self.revoked_at else []


KEYS = Listing(
    Key,
    source="api_key",
    what="API key",
    prefix="key",
    id_field="key_id",
    columns={
        "person_name": "(SELECT person.name FROM person WHERE person.organisation_id = :organisation"
        " AND person.id = api_key.person_id)",
        "status": "CASE WHEN api_key.revoked_at IS NULL THEN 'active' ELSE 'revoked' END",
    },
)


@operation(right=Right.KEYS_MANAGE, effect=Effect.CHANGE, offered=FOR_PEOPLE, done="The key is made.")
def create_key(ctx: Context, given: CreateKey) -> One[NewKeyOut]:
    """Create an API key.

    It acts with the rights of the person who makes it, and stops working when that person leaves or is no longer owner
    or admin.
    """
    if ctx.actor.person is None:
        raise Forbidden("A key is made by a person of the organisation: an owner or admin.")
    identity = new_id("key")
    secret = given.key.get_secret_value() if given.key else new_secret(API_KEY)
    try:
        made = ctx.rows.one(
            "INSERT INTO api_key (organisation_id, id, person_id, name, access, hash, last_four, created_at)"
            f" VALUES (:organisation, :id, :me, :name, :access, :hash, :last_four, :at) RETURNING {KEYS.selected}",
            id=identity,
            name=given.name,
            access=given.access,
            hash=secret_hash(secret),
            last_four=secret[-4:],
            at=ctx.at,
        )
    except Clash:
        raise Conflict("This key was made before. Make another one.") from None
    ctx.pen.touch(identity)
    ctx.pen.mark_written(KEYS.table, identity)
    return One(NewKeyOut, (*(made or ()), None if given.key else secret))


@operation(right=Right.KEYS_MANAGE, effect=Effect.READ, offered=FOR_PEOPLE)
def list_keys(ctx: Context, given: ListKeys) -> Page[KeyOut]:
    """List the API keys of the organisation, newest first.

    Revoked ones stay in it. The keys themselves are never shown again.
    """
    return KEYS.page(ctx, given)


@operation(right=Right.KEYS_MANAGE, effect=Effect.READ, offered=FOR_PEOPLE, on=KEYS)
def get_key(_ctx: Context, _given: GetKey, key: Key) -> Key:
    """Get one API key.

    What is told of it; the key itself is never shown again.
    """
    return key


@operation(
    right=Right.KEYS_MANAGE,
    effect=Effect.CHANGE,
    offered=FOR_PEOPLE,
    open_when_lapsed=True,
    on=KEYS,
    unless=Key.not_revocable,
    grave=True,
    done="The API key is revoked. The next request with it is refused.",
)
def revoke_key(ctx: Context, _given: RevokeKey, key: Key) -> Key:
    """Revoke an API key.

    The next request with it is refused. This cannot be undone: a program that still needs one gets a new key.
    """
    (revoked,) = end(ctx, KEYS, "revoked_at", "id = :id", id=key.id)
    return revoked


OPERATIONS = (create_key, list_keys, get_key, revoke_key)


def end_keys_of(ctx: Context, person: str) -> list[str]:
    """End the keys of a person who leaves or may no longer make any, for good; what they are called."""
    return [key.name for key in end(ctx, KEYS, "revoked_at", "person_id = :person", person=person)]


def find_organisation(rows: Handle, key: str) -> list[str]:
    """The organisation that a key belongs to; the handle looks across them."""
    return [str(found) for (found,) in rows.all("SELECT organisation_id FROM api_key WHERE id = :id", id=key)]
