"""Who acts, through which door and with which credential."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, Field, model_validator

from mainstay.ledger.replay import HOUSE
from mainstay.terms.rights import HIGHEST, LOWEST, RIGHTS, Access, Right, Rights, Role
from mainstay.values.words import Word


class Door(Word):
    """The ways into the house; also where an operation can be offered."""

    API = "api"
    AGENT = "agent"
    OFFICE = "office"
    CLI = "cli"
    # The page that a customer reaches by a link.
    LINK = "link"
    # What follows by itself comes in by none of them.
    HOUSE = "house"


# Where an operation is offered that is no tool: it gives a file, or what whoever lists such records has seen already.
NO_TOOL = frozenset({Door.API, Door.OFFICE})


class ActorKind(StrEnum):
    """What acts."""

    PERSON = "person"
    CUSTOMER = "customer"
    OPERATOR = "operator"
    HOUSE = "house"


@dataclass(frozen=True, slots=True)
class Named:
    """A person, key or app as it is named beside what it did."""

    id: str
    name: str


class Via(BaseModel):
    """The way an act came in: the door, and the key or connected app that was used, if one was."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    door: Door
    client: Named | None


class Stamp(BaseModel):
    """Who did it."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    kind: ActorKind = Field(
        description="`person`; `customer`, by a link that was sent to them; `operator` of the installation; `house`,"
        " for what Mainstay does by itself."
    )
    person: Named | None = Field(description="The person, where it was one.")
    via: Via

    @model_validator(mode="before")
    @classmethod
    def _as_it_was_meant(cls, kept: Any) -> Any:
        """The trail is never rewritten, and its first stamps do not say what acted: a person, or else the operator."""
        if isinstance(kept, dict) and "kind" not in kept:
            return {"kind": ActorKind.PERSON if kept.get("person") else ActorKind.OPERATOR, **kept}
        return kept


class Actor(NamedTuple):
    """Someone who has come in: rights are those of the role now, narrowed by the credential's access."""

    organisation: str
    person: Named | None
    role: Role
    rights: Rights
    access: Access
    subscribed: bool
    door: Door
    # What standing is read again by, and what idempotency keys belong to.
    credential: str
    client: Named | None = None
    kind: ActorKind = ActorKind.PERSON
    # The one record that someone who comes by a link may see.
    about: str | None = None

    def may(self, right: Right) -> bool:
        """Whether the actor holds this right."""
        return right in self.rights

    @property
    def id(self) -> str | None:
        """The person's id, where it is a person."""
        return self.person.id if self.person else None

    @property
    def effective_rights(self) -> Rights:
        """What can be done now: the rights that the credential's access and the subscription leave."""
        if self.access is Access.WRITE and self.subscribed:
            return self.rights
        return frozenset(right for right in self.rights if right.reads_only)

    @property
    def stamp(self) -> str:
        """How this actor is named on what it changes: a Stamp, as it is kept."""
        via = {"door": self.door, "client": self.client}
        return orjson.dumps({"kind": self.kind, "person": self.person, "via": via}).decode()


def operator(organisation: str, door: Door = Door.CLI) -> Actor:
    """The one who runs the installation: not a person of the organisation, and not bound by its subscription."""
    return _everyone_s_better(organisation, door, OPERATOR, ActorKind.OPERATOR)


def house(organisation: str) -> Actor:
    """Mainstay itself: what follows an event, or is due by the clock."""
    return _everyone_s_better(organisation, Door.HOUSE, HOUSE, ActorKind.HOUSE)


def customer(organisation: str, about: str, rights: Rights, *, subscribed: bool) -> Actor:
    """Someone who comes by the link to a record that was sent to them: their rights are for that one alone."""
    return Actor(
        organisation,
        None,
        # What they may does not come from a role.
        LOWEST,
        rights,
        Access.WRITE,
        subscribed,
        Door.LINK,
        credential=about,
        kind=ActorKind.CUSTOMER,
        about=about,
    )


def _everyone_s_better(organisation: str, door: Door, credential: str, kind: ActorKind) -> Actor:
    return Actor(
        organisation,
        None,
        HIGHEST,
        RIGHTS[HIGHEST],
        Access.WRITE,
        subscribed=True,
        door=door,
        credential=credential,
        kind=kind,
    )


OPERATOR = "operator"
# Credentials of those who are never out of favour.
ALWAYS_STANDING = frozenset({OPERATOR, HOUSE})
