"""People: who they are, and the rules of who may change whom."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.terms.actor import Actor, Named
from mainstay.terms.refusal import Conflict, Forbidden, Reason
from mainstay.terms.rights import Access, Needs, Right, Role, holds
from mainstay.terms.shapes import Kept, Record, Shown, states
from mainstay.terms.wire import PriceText

Status = Literal["invited", "active", "left"]


def is_here(status: Status) -> bool:
    """Whether a person belongs to the organisation, or will as soon as they accept."""
    return status != "left"


class PersonOut(Record):
    """A person of the organisation."""

    noun = "person"
    place = "/people/{id}"
    states = states(invited="waiting", active="good", left="over")

    name: str = Field(examples=["Tom Ashworth"])
    email: str = Field(title="E-mail address", examples=["tom@hartley.example"])
    phone: str | None = Field(examples=["+44 7700 900104"])
    role: Role = Field(examples=["member"])
    status: Status = Field(examples=["active"])
    skills: list[str] = Field(examples=[["gas", "boilers"]])
    colour: str | None = Field(description="The colour on the schedule.", examples=["#9f1853"])
    working_hours: Annotated[WorkingHours | None, Needs(Right.ALL_SCHEDULE_READ)] = Field(
        description="When they work, if not at the usual times. Null for those, and for whoever may not see when others"
        " work.",
        examples=[{"monday": [{"from": "08:00", "until": "13:00"}]}],
    )
    company_name: str | None = Field(title="Company", description="The firm of a subcontractor.", examples=[None])
    cost_rate: Annotated[PriceText | None, Needs(Right.COSTS_READ)] = Field(
        title="Cost per hour",
        description="What an hour costs. Null for those who may not see costs.",
        examples=["24.50"],
    )
    bill_rate: Annotated[PriceText | None, Needs(Right.COSTS_READ)] = Field(
        title="Billed per hour",
        description="What an hour is billed at. Null for those who may not see costs.",
        examples=["62.00"],
    )


class MeOut(Shown):
    """The one who asks, and what they may do."""

    noun = "me"

    person: Named = Field(description="The person whose rights these are.")
    role: Role
    organisation: Named
    access: Access = Field(description="`read` or `write`: what the credential was made for.")
    client: Named | None = Field(description="The key or connected app that was used.")
    rights: list[Right] = Field(
        description="What can be done now, as area:verb: what the role may do, the credential's access lets through and"
        " the subscription leaves open."
    )


@dataclass(frozen=True, slots=True)
class Person(Kept):
    """A person as the rules see them."""

    shown = PersonOut

    name: str
    email: str
    role: Role
    status: Status
    # Whether there is no other active owner.
    only_owner: bool
    # When people of the organisation usually work, as JSON.
    usual_hours: str

    @property
    def called(self) -> str:
        """Their name."""
        return self.name

    @property
    def detail(self) -> str:
        """What they are here."""
        return self.role.words

    def find_usual_part(self, name: str) -> str | None:
        """Return the usual working hours, which are theirs until they have their own."""
        return self.usual_hours if name == "working_hours" else None

    def not_changeable(self, by: Actor) -> list[Reason]:
        """Why their details cannot be changed: everyone may change some of their own, those in charge all of all."""
        if by.id == self.id:
            return self._if_gone()
        if not by.may(Right.PEOPLE_CHANGE):
            return [Reason(f"The role {by.role} may change only its own details. Ask an owner or admin.", forbids=True)]
        return [*self._if_above(by), *self._if_gone()]

    def not_given_a_role(self, by: Actor) -> list[Reason]:
        """Why they cannot be given another role."""
        return [*self._if_above(by), *self._if_gone(), *self._if_last()]

    def not_nameable(self, _by: Actor) -> list[Reason]:
        """Why they cannot become an owner."""
        if self.is_owner:
            return [Reason(f"{self.name} is an owner already.")]
        if self.status != "active":
            return [Reason(f"{self.name} is not in the organisation now. Only someone who is can become an owner.")]
        return []

    def not_removable(self, by: Actor) -> list[Reason]:
        """Why they cannot be removed."""
        gone = [Reason(f"{self.name} has already left the organisation.")] if self.status == "left" else []
        return [*self._if_above(by), *gone, *self._if_last()]

    def not_signing_in(self, _by: Actor) -> list[Reason]:
        """Why they have no password."""
        if self.status != "active":
            return [Reason(f"{self.name} cannot sign in here now, and so has no password.")]
        return []

    def not_waiting(self, by: Actor) -> list[Reason]:
        """Why no invitation can be sent to them again."""
        waiting = self.status == "invited"
        return [*self._if_above(by), *([] if waiting else [Reason(f"{self.name} is not waiting for an invitation.")])]

    def loses_keys(self, role: Role) -> bool:
        """Whether a change to this role ends the keys that the person made."""
        return holds(self.role, Right.KEYS_MANAGE) and not holds(role, Right.KEYS_MANAGE)

    @property
    def is_owner(self) -> bool:
        """Whether they rule over the owners, which owners alone do."""
        return holds(self.role, Right.OWNERS_NAME)

    def _if_above(self, by: Actor) -> list[Reason]:
        if self.is_owner and not by.may(Right.OWNERS_NAME):
            return [Reason("Only an owner may change or remove an owner.", forbids=True)]
        return []

    def _if_gone(self) -> list[Reason]:
        if self.status == "left":
            text = f"{self.name} has left the organisation. Invite them again to bring them back."
            return [Reason(text, unblock="invite_person")]
        return []

    def _if_last(self) -> list[Reason]:
        if self.only_owner:
            text = f"{self.name} is the only owner. Name another owner first, in the office under People."
            return [Reason(text, unblock="name_owner")]
        return []


def check_rank(by: Actor, role: Role) -> None:
    """Nobody gives a role above their own."""
    if role.is_above(by.role):
        raise Forbidden(f"The role {by.role} may not give the role {role}.")


class AlreadyHere(Conflict):
    """The address belongs to someone who is in the organisation, or is on the way in."""

    def __init__(self, known: Person) -> None:
        super().__init__(f"{known.email} is already a person of this organisation: {known.name}.")
