"""Operations on people."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from mainstay.business.organisation import store as organisations
from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.business.people.events import PersonInvited, PersonUpdated
from mainstay.business.people.model import MeOut, Person, PersonExists, PersonOut, PersonStatus, check_role_rank
from mainstay.business.people.store import PEOPLE, check_sign_in_is_free, find_by_email, find_existing_person
from mainstay.business.people.working_hours import check_not_empty
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import (
    STARTING_AFTER,
    WITHOUT_DUPLICATES,
    Colour,
    Email,
    HourlyRate,
    Phone,
    TextLine,
    make_id_validator,
    omittable_field,
)
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.actor import Named
from mainstay.vocabulary.permissions import AssignableRole, Permission, RequiresPermission, Role
from mainstay.vocabulary.refusal import Conflict, NotFound
from mainstay.vocabulary.schemas import Input, ListInput, PageResult

# Fields shared by invitations and changes.
_Skills = Annotated[
    list[TextLine],
    Field(max_length=50, description="What the person can do, such as gas or roofing."),
    WITHOUT_DUPLICATES,
]
_Phone = Annotated[Phone | None, Field(description="Such as +44 1422 555 0142.")]
_ScheduleColour = Annotated[
    Colour | None, Field(title="Colour on the schedule", description="Their colour on the schedule, such as #3366cc.")
]
_OwnHours = Annotated[WorkingHours, AfterValidator(check_not_empty)]
_CompanyName = Annotated[TextLine | None, Field(title="Company", description="The firm of a subcontractor.")]
_CostRate = Annotated[HourlyRate | None, Field(title="Cost per hour", description="What an hour costs, such as 32.50.")]
_BillRate = Annotated[
    HourlyRate | None, Field(title="Billed per hour", description="What an hour is billed at, such as 85.00.")
]
_PEOPLE_CHANGE = RequiresPermission(Permission.PEOPLE_CHANGE)


class GetMe(Input):
    """Nothing: the credential says who asks."""


class ListPeople(ListInput):
    """Which people to list."""

    starting_after: Annotated[str | None, make_id_validator("person")] = STARTING_AFTER
    status: PersonStatus | None = Field(None, description="Only these. Without it, everyone who has not left.")
    role: Role | None = Field(None, description="Only people of this role.")
    text: SearchText | None = Field(
        None,
        title="Search",
        description="Only people found by this: words that begin like those of their name, e-mail address, skills or"
        " company, or a phone number in any spelling. Case and accents do not count.",
    )
    order: Literal["newest", "name"] = Field("newest", description="`newest` first, or by `name`.")


class GetPerson(Input):
    """Which person."""

    person_id: str = Field(description="The person's id.")


class InvitePerson(Input):
    """Who is invited, and as what."""

    name: TextLine = Field(description="The person's full name.")
    email: Email = Field(title="E-mail address", description="Where the invitation goes, and how they will sign in.")
    role: AssignableRole = Field(description="What they may do. Owners are named by owners, in the office.")
    phone: _Phone = None
    skills: _Skills = Field(default_factory=list)
    colour: _ScheduleColour = None
    company_name: _CompanyName = None
    cost_rate: _CostRate = None
    bill_rate: _BillRate = None


class InviteAgain(Input):
    """Who gets the mail again."""

    person_id: str = Field(description="The person's id.")


class UpdatePerson(Input):
    """Which person, and what to change; null clears. Everyone may change their own phone and colour."""

    person_id: str = Field(description="The person's id.")
    name: Annotated[TextLine, _PEOPLE_CHANGE] = omittable_field(description="The person's full name.")
    email: Annotated[Email, _PEOPLE_CHANGE] = omittable_field(
        title="E-mail address",
        description="Where mail to them goes. They sign in with the address they were invited with.",
    )
    phone: _Phone = None
    skills: Annotated[_Skills, _PEOPLE_CHANGE] = omittable_field()
    colour: _ScheduleColour = None
    working_hours: Annotated[_OwnHours | None, _PEOPLE_CHANGE] = Field(
        None, description="When they work, if not at the usual times. Null for those."
    )
    company_name: Annotated[_CompanyName, _PEOPLE_CHANGE] = None
    cost_rate: Annotated[_CostRate, _PEOPLE_CHANGE] = None
    bill_rate: Annotated[_BillRate, _PEOPLE_CHANGE] = None


@operation(permission=Permission.ME_READ, effect=Effect.READ, api_path="GET /me", single_statement=True)
def get_me(ctx: Context, _given: GetMe) -> MeOut:
    """Get who is asking.

    The person, the organisation, the key or app in use, and what they can do now.
    """
    actor = ctx.actor
    if actor.person is None:
        raise NotFound("person")
    return MeOut(
        object=MeOut.noun,
        person=actor.person,
        role=actor.role,
        organisation=Named(id=actor.organisation, name=organisations.organisation_name(ctx.db)),
        access=actor.access,
        client=actor.client,
        rights=sorted(actor.effective_permissions),
    )


@operation(permission=Permission.PEOPLE_READ, effect=Effect.READ, api_path="GET /people")
def list_people(ctx: Context, given: ListPeople) -> PageResult[PersonOut]:
    """List the people of the organisation, newest first.

    Without a status, those who have left are not in it.
    """
    return PEOPLE.page(ctx, given)


@operation(
    permission=Permission.ME_READ,
    effect=Effect.READ,
    api_path="GET /people/{person_id}",
    single_statement=True,
    on=PEOPLE,
)
def get_person(_ctx: Context, _given: GetPerson, person: Person) -> Person:
    """Get one person.

    Also one who has left. Whoever may not see the others gets themselves.
    """
    return person


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /people",
    emails_outside=True,
    done_message="The invitation is on its way by mail.",
)
def invite_person(ctx: Context, given: InvitePerson) -> Person:
    """Invite someone into the organisation.

    They get a mail with a link to join. Someone who has left can be invited again and keeps their history, but none of
    their old keys or connected apps.
    """
    check_role_rank(ctx.actor, Role(given.role))
    existing = find_existing_person(ctx, given.email)
    if existing is None:
        person = PEOPLE.insert(ctx, dict(given) | {"status": "invited"})
    elif existing.status == "left":
        # Fields that were not sent keep their values.
        person = PEOPLE.save(ctx, existing, given.sent_fields() | {"status": "invited"})
    else:
        raise PersonExists(existing)
    _send_invitation(ctx, person)
    return person


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /people/{person_id}/invite-again",
    emails_outside=True,
    on=PEOPLE,
    blocked_by=Person.not_reinvitable,
    done_message="The invitation is on its way by mail.",
)
def invite_again(ctx: Context, _given: InviteAgain, person: Person) -> Person:
    """Send an invitation again.

    The person gets a new mail; the link in the earlier one no longer works.
    """
    ctx.writer.touch(person.id)
    _send_invitation(ctx, person)
    return person


@operation(
    permission=Permission.ME_CHANGE,
    effect=Effect.CHANGE,
    api_path="PATCH /people/{person_id}",
    emails_outside=True,
    on=PEOPLE,
    blocked_by=Person.not_changeable,
    done_message="Your changes are saved.",
)
def update_person(ctx: Context, given: UpdatePerson, person: Person) -> Person:
    """Change a person's details.

    Owners and admins change everyone's, others their own phone and colour. A new address gets the mails, also an open
    invitation, and changes nobody's sign-in.
    """
    changes = given.sent_fields("person_id")
    if "email" in changes and (other := find_by_email(ctx, given.email)) and other.id != person.id:
        raise Conflict(f"{given.email} is the address of {other.name}.")
    updated = PEOPLE.save(ctx, person, changes)
    if updated is not person:
        ctx.emit(PersonUpdated(updated, person))
    if updated.status == "invited" and updated.email != person.email:
        _send_invitation(ctx, updated)
    return updated


OPERATIONS = (get_me, list_people, get_person, invite_person, update_person, invite_again)


def _send_invitation(ctx: Context, person: Person) -> None:
    """Send an invitation to a person's email address, unless another active person signs in with it."""
    check_sign_in_is_free(ctx, person.email, person.id)
    ctx.emit(PersonInvited(person))
