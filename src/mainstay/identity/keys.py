"""API keys: an owner or admin makes them for one organisation. A key is shown once and can be revoked at once."""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from mainstay.identity.credential_limits import ConfirmsInOffice, LimitsInput, save_limits
from mainstay.identity.revocation import end_access
from mainstay.identity.secrets import API_KEY, CALENDAR_LINK, hash_secret, is_secret, new_secret
from mainstay.infrastructure.database import DatabaseHandle, UniqueViolation
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import restore_values
from mainstay.kernel.kind import Kind
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get, declare_list
from mainstay.kernel.record_store import select_related
from mainstay.values.fields import NOT_IN_FORMS, TextLine
from mainstay.values.ids import new_id
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Access, Permission
from mainstay.vocabulary.record_json import PriceText, column_names
from mainstay.vocabulary.refusal import Conflict, Forbidden, Reason
from mainstay.vocabulary.roles import RefersTo
from mainstay.vocabulary.schemas import Input, Output, RecordResult, StoredRecord, make_states
from mainstay.vocabulary.toolsets import Toolset

# People only: if a key could make keys, revoking it would not end its owner's access.
PEOPLE_DOORS = frozenset({Door.OFFICE, Door.CLI})


class KeyOut(Output):
    """An API key as it is listed: never the key itself."""

    noun = "apiKey"
    office_path = "/settings/developer/keys/{id}"
    states = make_states(active="good", expired="over", revoked="over")

    id: str
    name: str
    access: Access = Field(description="`read` is read-only, `write` is read and write. Fixed at creation.")
    confirms_in_office: ConfirmsInOffice
    toolsets: list[Toolset] | None = Field(title="Areas", description="The areas it may use; null for all.")
    amount_limit: PriceText | None = Field(
        title="Confirm amounts above", description="What commits you to more waits for a confirmation on the website."
    )
    expires_on: str | None = Field(title="Works until", description="The last day on which it works.")
    person_id: Annotated[str, RefersTo("person")] = Field(
        description="The person who created it. It has their permissions."
    )
    person_name: str = Field(title="Created by")
    last_four: str = Field(title="Ends in")
    created_at: str
    last_used_at: str | None = Field(description="Accurate to about a minute.")
    revoked_at: str | None
    status: Literal["active", "expired", "revoked"]


class NewKeyOut(KeyOut):
    """A new API key."""

    key: str | None = Field(description="The key. It is shown only once; null if you chose it yourself.")


def _check_key_format(key: SecretStr) -> SecretStr:
    if not is_secret(key.get_secret_value(), API_KEY):
        raise ValueError(Message("is not an API key"))
    return key


class CreateKey(Input):
    """A new API key."""

    name: TextLine = Field(description="What the key is for, e.g. Accounting.")
    access: Access = Field(description="What the key may do. It can't be changed later.")
    # The stored answers to forms must not contain a key, so the office passes one that it can derive again.
    key: Annotated[SecretStr, AfterValidator(_check_key_format), NOT_IN_FORMS] | None = Field(
        default=None, description="The key, if it is derived. Default: a new random one."
    )


@dataclass(frozen=True, slots=True)
class SecretDeriver:
    """Derives the secrets that forms create, so that the same form sent twice creates and shows only one."""

    secret: bytes = field(repr=False)

    def derive_key(self, actor: Actor, form_token: str) -> str:
        """Return the API key for this form token and actor. The token itself is not stored."""
        return API_KEY + self._derive("api key", actor, form_token)

    def derive_calendar_secret(self, actor: Actor, form_token: str) -> str:
        """Return the secret of a calendar link for this form token and actor."""
        return CALENDAR_LINK + self._derive("calendar", actor, form_token)

    def _derive(self, purpose: str, actor: Actor, form_token: str) -> str:
        words = f"{purpose} {actor.organisation} {actor.credential} {form_token}"
        digest = hmac.digest(self.secret, words.encode(), hashlib.sha256)
        return urlsafe_b64encode(digest).rstrip(b"=").decode()


class UpdateKey(LimitsInput):
    """Which key, and what to change; null removes a limit."""

    key_id: str = Field(description="The key's ID.")


@dataclass(frozen=True, slots=True)
class Key(StoredRecord):
    """An API key with the fields that its rules need."""

    output = KeyOut

    name: str
    revoked_at: str | None
    toolsets: str | None
    amount_limit: int | None
    expires_on: str | None
    limited_by_owner: int

    def not_revocable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be revoked."""
        return [Reason(Message("The key {key} is already revoked.", key=self.name))] if self.revoked_at else []


KEYS = Kind(
    Key,
    source="api_key",
    label="API key",
    area="Settings",
    prefix="key",
    id_field="key_id",
    columns={
        "person_name": select_related("person.name", "api_key.person_id"),
        "status": "CASE WHEN api_key.revoked_at IS NOT NULL THEN 'revoked'"
        " WHEN api_key.expires_at <= :now THEN 'expired' ELSE 'active' END",
    },
)


@operation(
    permission=Permission.KEYS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    done_message="API key created.",
    not_undone=Message("Revoke the key instead."),
    past_text="API key created",
)
def create_key(ctx: Context, given: CreateKey) -> RecordResult[NewKeyOut]:
    """Create API key.

    The key has your permissions. It stops working if you leave or are no longer an owner or admin.
    """
    if ctx.actor.person is None:
        raise Forbidden(Message("Only an owner or admin of the organisation can create an API key."))
    record_id = new_id("key")
    secret = given.key.get_secret_value() if given.key else new_secret(API_KEY)
    try:
        created = ctx.db.one(
            "INSERT INTO api_key (organisation_id, id, person_id, name, access, hash, last_four, created_at)"
            " VALUES (:organisation, :id, :me, :name, :access, :hash, :last_four, :at) RETURNING"
            f" {KEYS.selected_columns}",
            id=record_id,
            name=given.name,
            access=given.access,
            hash=hash_secret(secret),
            last_four=secret[-4:],
            at=ctx.now_text,
        )
    except UniqueViolation:
        raise Conflict(Message("This key already exists. Create another one.")) from None
    ctx.writer.touch(record_id)
    ctx.writer.mark_written(KEYS.table, record_id)
    shown = (created or ())[: len(column_names(KeyOut))]
    return RecordResult(NewKeyOut, (*shown, None if given.key else secret))


list_keys = declare_list(
    KEYS,
    "List API keys. Newest first, including revoked ones. The keys themselves are never shown again.",
    Permission.KEYS_MANAGE,
    {},
    name="list_keys",
    doors=PEOPLE_DOORS,
)


get_key = declare_get(
    KEYS,
    "Get API key. Its name, access and last use. The key itself is never shown again.",
    Permission.KEYS_MANAGE,
    doors=PEOPLE_DOORS,
)


@operation(
    permission=Permission.KEYS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    on=KEYS,
    blocked_by=Key.not_revocable,
    done_message="API key saved.",
    undone_by=restore_values,
    past_text="API key changed",
)
def update_key(ctx: Context, given: UpdateKey, key: Key) -> Key:
    """Edit API key.

    Limit it to some areas, to amounts or to a last day, and choose whether the person has to confirm on the website
    what can't be undone or lets someone in.
    """
    return save_limits(ctx, KEYS, key, given)


@operation(
    permission=Permission.KEYS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    open_when_lapsed=True,
    on=KEYS,
    blocked_by=Key.not_revocable,
    asks_again=True,
    done_message="API key revoked.",
    not_undone=Message("Create a new key."),
    past_text="API key revoked",
)
def revoke_key(ctx: Context, _given: Input, key: Key) -> Key:
    """Revoke API key.

    The key stops working at once, and this can't be undone. Create a new key for programs that still need access.
    """
    (revoked,) = end_access(ctx, KEYS, "revoked_at", "id = :id", id=key.id)
    return revoked


OPERATIONS = (create_key, list_keys, get_key, update_key, revoke_key)


def end_keys_of_person(ctx: Context, person_id: str) -> list[str]:
    """Revoke the keys of a person who leaves or may no longer make keys, and return the names of the keys."""
    return [key.name for key in end_access(ctx, KEYS, "revoked_at", "person_id = :person", person=person_id)]


def find_organisation(db: DatabaseHandle, key: str) -> list[str]:
    """Return the organisation that a key belongs to, if any. The handle is not bound to one organisation."""
    return [str(found) for (found,) in db.all("SELECT organisation_id FROM api_key WHERE id = :id", id=key)]
