"""People: their output models, and the rules of who may change whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.values.descriptions import describe
from mainstay.values.message import Choice, Message
from mainstay.vocabulary.actor import Actor, Named
from mainstay.vocabulary.permissions import Access, AssignableRole, Permission, RequiresPermission, Role, has_permission
from mainstay.vocabulary.record_json import PriceText
from mainstay.vocabulary.refusal import Conflict, Forbidden, Reason
from mainstay.vocabulary.schemas import Output, Record, StoredRecord, make_states

PersonStatus = Literal["invited", "active", "left"]
GivenRole = Annotated[
    AssignableRole,
    Field(
        description=describe(
            "Office: all work and money; admin: also people and settings; field staff and subcontractors: their own"
            " jobs. [[Only an owner can make someone else an owner, on the website.]]"
        )
    ),
]

# A sentence lists at most this many names, and says how many more there are.
MAX_LISTED = 10


def shorten_list(names: Sequence[str | Message], count: int) -> list[str | Message]:
    """Return the first names, and how many more there are; `count` is how many there are in total."""
    more = [Message("{more} more", more=count - MAX_LISTED)] if count > MAX_LISTED else []
    return [*names[:MAX_LISTED], *more]


def has_not_left(status: PersonStatus) -> bool:
    """Return whether a person belongs to the organisation, or will as soon as they accept their invitation."""
    return status != "left"


class PersonOut(Record):
    """A person of the organisation."""

    noun = "person"
    office_path = "/people/{id}"
    states = make_states(invited="waiting", active="good", left="over")

    name: str = Field(examples=["Tom Ashworth"])
    email: str = Field(examples=["tom@hartley.example"])
    phone: str | None = Field(examples=["+44 7700 900104"])
    role: Role = Field(examples=["member"])
    status: PersonStatus = Field(examples=["active"])
    skills: list[str] = Field(examples=[["gas", "boilers"]])
    colour: str | None = Field(description="The colour on the schedule.", examples=["#9f1853"])
    working_hours: Annotated[WorkingHours | None, RequiresPermission(Permission.ALL_SCHEDULE_READ)] = Field(
        description="When they work, if not at the usual times. Null for the usual times, or if you may not see them.",
        examples=[{"monday": [{"from": "08:00", "until": "13:00"}]}],
    )
    company_name: str | None = Field(title="Company", description="A subcontractor's company.", examples=[None])
    cost_rate: Annotated[PriceText | None, RequiresPermission(Permission.COSTS_READ)] = Field(
        title="Cost per hour",
        description="What an hour costs you. Null for people who may not see costs.",
        examples=["24.50"],
    )
    bill_rate: Annotated[PriceText | None, RequiresPermission(Permission.COSTS_READ)] = Field(
        title="Charge-out rate",
        description="What you charge for an hour. Null for people who may not see costs.",
        examples=["62.00"],
    )


class MeOut(Output):
    """Who is signed in, and what they can do."""

    noun = "me"

    person: Named = Field(description="The signed-in person.")
    role: Role
    organisation: Named
    access: Access = Field(description="`read` or `write`: the access of the key or app.")
    client: Named | None = Field(description="The key or connected app that was used.")
    rights: list[Permission] = Field(
        description="What you can do now, as area:verb. Depends on the role, the key or app, and the subscription."
    )


@dataclass(frozen=True, slots=True)
class Person(StoredRecord):
    """A person, as seen by the rules."""

    output = PersonOut

    name: str
    email: str
    role: Role
    status: PersonStatus
    # Whether they are the only active owner.
    only_owner: bool
    # The organisation's usual working hours, as JSON.
    usual_hours: str

    @property
    def detail(self) -> str:
        """The person's role."""
        return self.role.label

    def find_default_part(self, name: str) -> str | None:
        """Return the organisation's working hours, which apply until the person has their own."""
        return self.usual_hours if name == "working_hours" else None

    def not_changeable(self, by: Actor) -> list[Reason]:
        """Return why the actor cannot change their details.

        Everyone may change some of their own details. Owners and admins may change all details of everyone.
        """
        if by.id == self.id:
            return self._reasons_if_left()
        if not by.can(Permission.PEOPLE_CHANGE):
            return [
                Reason(
                    Message("You can only change your own details. Ask an owner or admin."), is_missing_permission=True
                )
            ]
        return [*self._reasons_if_outranked(by), *self._reasons_if_left()]

    def role_not_changeable(self, by: Actor) -> list[Reason]:
        """Return why their role cannot be changed."""
        return [*self._reasons_if_outranked(by), *self._reasons_if_left(), *self._reasons_if_only_owner()]

    def not_nameable(self, _by: Actor) -> list[Reason]:
        """Return why they cannot become an owner."""
        if self.is_owner:
            return [Reason(Message("{person} is already an owner.", person=self.name))]
        if self.status != "active":
            message = Message("{person} is not active. Only active people can become owners.", person=self.name)
            return [Reason(message)]
        return []

    def not_removable(self, by: Actor) -> list[Reason]:
        """Return why they cannot be removed."""
        message = Message("{person} has already left the organisation.", person=self.name)
        left = [Reason(message)] if self.status == "left" else []
        return [*self._reasons_if_outranked(by), *left, *self._reasons_if_only_owner()]

    def not_signed_out(self, by: Actor) -> list[Reason]:
        """Return why they cannot be signed out."""
        if self.id == by.id:
            return [Reason(Message("This is you. Sign out on the page of your account."))]
        message = Message("{person} can't sign in now.", person=self.name)
        return [*self._reasons_if_outranked(by), *([] if self.status == "active" else [Reason(message)])]

    def password_not_resettable(self, _by: Actor) -> list[Reason]:
        """Return why they cannot sign in here, and so have no password."""
        if self.status != "active":
            return [Reason(Message("{person} can't sign in now and has no password.", person=self.name))]
        return []

    def not_reinvitable(self, by: Actor) -> list[Reason]:
        """Return why no invitation can be sent to them again."""
        message = Message("{person} has no pending invitation.", person=self.name)
        not_waiting = [] if self.status == "invited" else [Reason(message)]
        return [*self._reasons_if_outranked(by), *not_waiting]

    def loses_keys(self, role: Role) -> bool:
        """Return whether changing to this role ends the API keys that the person made."""
        return has_permission(self.role, Permission.KEYS_MANAGE) and not has_permission(role, Permission.KEYS_MANAGE)

    @property
    def is_owner(self) -> bool:
        """Whether they are an owner. Only owners may change or remove owners."""
        return has_permission(self.role, Permission.OWNERS_NAME)

    def _reasons_if_outranked(self, by: Actor) -> list[Reason]:
        if self.is_owner and not by.can(Permission.OWNERS_NAME):
            return [Reason(Message("Only an owner can change or remove an owner."), is_missing_permission=True)]
        return []

    def _reasons_if_left(self) -> list[Reason]:
        if self.status == "left":
            message = Message(
                "{person} has left the organisation. Invite them again to bring them back.", person=self.name
            )
            return [Reason(message, first="invite_person")]
        return []

    def _reasons_if_only_owner(self) -> list[Reason]:
        if self.only_owner:
            message = Message(
                "{person} is the only owner. Make someone else an owner first, on the website under People.",
                person=self.name,
            )
            return [Reason(message, first="name_owner")]
        return []


def check_role_rank(by: Actor, role: Role) -> None:
    """Refuse to give a role above one's own."""
    if role.is_above(by.role):
        raise Forbidden(Message("You can't give the role {role}, because it is above your own.", role=Choice(role)))


class PersonExists(Conflict):
    """The email address belongs to a person who is in the organisation or invited to it."""

    def __init__(self, person: Person) -> None:
        super().__init__(
            Message("{email} already belongs to {person} in this organisation.", email=person.email, person=person.name)
        )
