"""Who acts, through which door and with which credential."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from mainstay.kernel.rights import RIGHTS, Access, Right, Role


class Door(StrEnum):
    """The ways into the house; also where an operation can be offered."""

    API = "api"
    AGENT = "agent"
    OFFICE = "office"
    CLI = "cli"


@dataclass(frozen=True, slots=True)
class Named:
    """A person, key or app as it is named beside what it did."""

    id: str
    name: str


class Via(BaseModel):
    """The way an act came in: the door, and the key or connected app that was used, if one was."""

    model_config = ConfigDict(frozen=True)

    door: Door
    client: Named | None


class Stamp(BaseModel):
    """Who did it. The person is null for the operator of the installation."""

    model_config = ConfigDict(frozen=True)

    person: Named | None
    via: Via


class Actor(NamedTuple):
    """Someone who has come in: rights are those of the role now, narrowed by the credential's access."""

    organisation: str
    person: Named | None
    role: Role
    access: Access
    subscribed: bool
    door: Door
    # What standing is read again by, and what idempotency keys belong to.
    credential: str
    client: Named | None = None

    def may(self, right: Right) -> bool:
        """Whether the role holds this right."""
        return right in RIGHTS[self.role]

    @property
    def stamp(self) -> Stamp:
        """How this actor is named on what it changes."""
        return Stamp(person=self.person, via=Via(door=self.door, client=self.client))


def operator(organisation: str) -> Actor:
    """The one who runs the installation: not a person of the organisation, and not bound by its subscription."""
    return Actor(organisation, None, Role.OWNER, Access.WRITE, subscribed=True, door=Door.CLI, credential=OPERATOR)


OPERATOR = "operator"
