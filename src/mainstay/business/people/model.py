"""People: who they are, and the rules of who may change whom."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from mainstay.kernel.actor import Actor, Named
from mainstay.kernel.refusal import Blocked, Conflict, Forbidden
from mainstay.kernel.rights import Access, Right, Role
from mainstay.kernel.shapes import Record, Shown
from mainstay.kernel.wire import PriceText

Status = Literal["invited", "active", "left"]
# Owners are named in the office and by the operator, never by a key or an agent.
AssignableRole = Literal["admin", "office", "member", "subcontractor"]

_RANKS = {Role.OWNER: 4, Role.ADMIN: 3, Role.OFFICE: 2, Role.MEMBER: 1, Role.SUBCONTRACTOR: 0}
_KEY_MAKERS = {Role.OWNER, Role.ADMIN}


class PersonOut(Record):
    """A person of the organisation."""

    noun = "person"

    name: str = Field(examples=["Tom Ashworth"])
    email: str = Field(examples=["tom@hartley.example"])
    phone: str | None = Field(examples=["+44 7700 900104"])
    role: Role = Field(examples=["member"])
    status: Status = Field(examples=["active"])
    skills: list[str] = Field(examples=[["gas", "boilers"]])
    colour: str | None = Field(description="The colour on the schedule.", examples=["#9f1853"])
    company_name: str | None = Field(description="The firm of a subcontractor.", examples=[None])
    cost_rate: PriceText | None = Field(
        description="What an hour costs. Null for those who may not see costs.", examples=["24.50"]
    )
    bill_rate: PriceText | None = Field(
        description="What an hour is billed at. Null for those who may not see costs.", examples=["62.00"]
    )


class MeOut(Shown):
    """The one who asks, and what they may do."""

    noun = "me"

    person: Named = Field(description="The person whose rights these are.")
    role: Role
    organisation: Named
    access: Access = Field(description="`read` or `write`: what the credential was made for.")
    client: Named | None = Field(description="The key or connected app that was used.")
    rights: list[Right] = Field(description="What the role may do, as area:verb.")


@dataclass(frozen=True, slots=True)
class Person:
    """What the rules need to know of a person."""

    id: str
    name: str
    email: str
    role: Role
    status: Status
    version: int

    def check_change(self, by: Actor, role: Role | None, other_owners: int) -> None:
        """Refuse a change that the actor may not make, or that the organisation could not bear."""
        if self.status == "left":
            raise Conflict(f"{self.name} has left the organisation. Invite them again to bring them back.")
        self._check_actor(by)
        if role is None or role == self.role:
            return
        check_rank(by, role)
        if self.role is Role.OWNER and self.status == "active" and not other_owners:
            raise Conflict(f"{self.name} is the only owner. Name another owner first.")

    def check_naming(self) -> None:
        """Refuse to make someone an owner who is one already, or who is not here."""
        if self.role is Role.OWNER:
            raise Conflict(f"{self.name} is an owner already.")
        if self.status != "active":
            raise Conflict(f"{self.name} is not in the organisation now. Only someone who is can become an owner.")

    def check_leaving(self, by: Actor, other_owners: int) -> None:
        """Refuse a departure, with every reason against it."""
        self._check_actor(by)
        blockers = []
        if self.status == "left":
            blockers.append(f"{self.name} has already left the organisation.")
        if self.role is Role.OWNER and self.status == "active" and not other_owners:
            blockers.append(f"{self.name} is the only owner. Name another owner first.")
        if blockers:
            raise Blocked(blockers)

    def loses_keys(self, role: Role) -> bool:
        """Whether a change to this role ends the keys that the person made."""
        return self.role in _KEY_MAKERS and role not in _KEY_MAKERS

    def _check_actor(self, by: Actor) -> None:
        if not may_change(by, self.role):
            raise Forbidden("Only an owner may change or remove an owner.")


def may_change(by: Actor, role: Role) -> bool:
    """Whether someone who may change people may change one with this role."""
    return role is not Role.OWNER or by.role is Role.OWNER


def check_rank(by: Actor, role: Role) -> None:
    """Nobody gives a role above their own."""
    if _RANKS[role] > _RANKS[by.role]:
        raise Forbidden(f"The role {by.role} may not give the role {role}.")
