"""Actors: who acts, through which door and with which credential."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, Field, model_validator

from mainstay.changes.idempotency import SYSTEM
from mainstay.values.choices import TextEnum
from mainstay.vocabulary.permissions import (
    HIGHEST_ROLE,
    LOWEST_ROLE,
    ROLE_PERMISSIONS,
    Access,
    Permission,
    Permissions,
    Role,
)
from mainstay.vocabulary.toolsets import Toolset


class Door(TextEnum):
    """The ways into the product; also where an operation can be offered."""

    API = "api"
    AGENT = "agent"
    OFFICE = "office"
    CLI = "cli"
    # The page that a customer opens with a secret link.
    LINK = "link"
    # What the system does by itself.
    SYSTEM = "house"


# The doors of an operation that is not a tool: it returns a file, or only what a list of the records shows already.
API_AND_OFFICE = frozenset({Door.API, Door.OFFICE})


class ActorKind(StrEnum):
    """The kind of actor."""

    PERSON = "person"
    ASSISTANT = "assistant"
    CUSTOMER = "customer"
    OPERATOR = "operator"
    SYSTEM = "house"


@dataclass(frozen=True, slots=True)
class Named:
    """A person, key or app as it is named beside what it did."""

    id: str
    name: str


class Via(BaseModel):
    """How it was done: the door, and the key or connected app, if one was used."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    door: Door
    client: Named | None = Field(description="The key, the connected app or the assistant, if one was used.")


# The client of what the built-in assistant does for a person.
ASSISTANT_CLIENT = Named("assistant", "Assistant")


class Stamp(BaseModel):
    """Who did it."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    kind: ActorKind = Field(
        description="`person`; `assistant`, the built-in one, for a person; `customer`, with a link that was sent to"
        " them; `operator` of the installation; `house` for what Mainstay does automatically."
    )
    person: Named | None = Field(description="The person, if it was one, or for whom the assistant did it.")
    via: Via

    @model_validator(mode="before")
    @classmethod
    def _add_missing_kind(cls, stored: Any) -> Any:
        """Add the kind to the oldest stamps, which lack it: a person, or else the operator."""
        if isinstance(stored, dict) and "kind" not in stored:
            return {"kind": ActorKind.PERSON if stored.get("person") else ActorKind.OPERATOR, **stored}
        return stored


class Actor(NamedTuple):
    """Someone who was authenticated. Permissions are those of the role now, limited by the credential."""

    organisation: str
    person: Named | None
    role: Role
    permissions: Permissions
    access: Access
    subscribed: bool
    door: Door
    # By this the permissions are read again in each change; idempotency keys belong to it too.
    credential: str
    client: Named | None = None
    kind: ActorKind = ActorKind.PERSON
    # The only record that someone with a link may see.
    linked_record: str | None = None
    # Whether the person confirms in the office what the program does and cannot be undone.
    confirms_in_office: bool = False
    # The areas that the credential is limited to, with what was chosen beyond the default; None if it is not.
    toolsets: frozenset[Toolset] | None = None
    # The amount, in 1/10,000, above which the person confirms what it commits the organisation to; None for any.
    amount_limit: int | None = None
    # The time zone of the organisation, in which a program reads times.
    time_zone: str = "UTC"

    def can(self, permission: Permission) -> bool:
        """Return whether the actor has this permission."""
        return permission in self.permissions

    def has_area(self, area: Toolset | None) -> bool:
        """Return whether the credential may use an area."""
        return self.toolsets is None or area in self.toolsets

    @property
    def id(self) -> str | None:
        """The id of the person, if it is a person."""
        return self.person.id if self.person else None

    @property
    def effective_permissions(self) -> Permissions:
        """The permissions that the credential and the subscription leave: all, or only those to read."""
        if self.access is Access.WRITE and self.subscribed:
            return self.permissions
        return frozenset(permission for permission in self.permissions if permission.is_read_only)

    @property
    def stamp(self) -> str:
        """The actor as a Stamp in JSON, which is stored with everything that it changes."""
        via = {"door": self.door, "client": self.client}
        return orjson.dumps({"kind": self.kind, "person": self.person, "via": via}).decode()


def operator_actor(organisation: str, door: Door = Door.CLI) -> Actor:
    """Return the operator of the installation, who is outside the organisation and not bound by its subscription."""
    return _unrestricted_actor(organisation, door, OPERATOR, ActorKind.OPERATOR)


def system_actor(organisation: str) -> Actor:
    """Return the actor for what Mainstay does by itself, after an event or at a time."""
    return _unrestricted_actor(organisation, Door.SYSTEM, SYSTEM, ActorKind.SYSTEM)


def customer_actor(organisation: str, record_id: str, permissions: Permissions, *, subscribed: bool) -> Actor:
    """Return the actor for a customer with a secret link to a record. The permissions are for that record only."""
    return Actor(
        organisation,
        None,
        # Their permissions do not come from a role.
        LOWEST_ROLE,
        permissions,
        Access.WRITE,
        subscribed,
        Door.LINK,
        credential=record_id,
        kind=ActorKind.CUSTOMER,
        linked_record=record_id,
    )


def _unrestricted_actor(organisation: str, door: Door, credential: str, kind: ActorKind) -> Actor:
    return Actor(
        organisation,
        None,
        HIGHEST_ROLE,
        ROLE_PERMISSIONS[HIGHEST_ROLE],
        Access.WRITE,
        subscribed=True,
        door=door,
        credential=credential,
        kind=kind,
    )


OPERATOR = "operator"
# The credentials of actors that cannot lose their permissions.
PERMANENT_CREDENTIALS = frozenset({OPERATOR, SYSTEM})
