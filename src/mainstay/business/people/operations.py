"""Operations on people."""

from typing import Annotated

from pydantic import AfterValidator, Field

from mainstay.business.organisation import store as organisations
from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.business.people.events import PersonInvited, PersonUpdated
from mainstay.business.people.model import GivenRole, MeOut, Person, PersonExists, check_role_rank
from mainstay.business.people.store import PEOPLE, check_sign_in_is_free, find_by_email, find_existing_person
from mainstay.business.people.working_hours import check_not_empty
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import restore_values
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get, declare_list
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    WITHOUT_DUPLICATES,
    Colour,
    Email,
    HourlyRate,
    Phone,
    TextLine,
    omittable_field,
)
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Named
from mainstay.vocabulary.permissions import Permission, RequiresPermission, Role
from mainstay.vocabulary.refusal import Conflict, NotFound
from mainstay.vocabulary.schemas import Input

# Fields shared by invitations and changes.
_Skills = Annotated[
    list[TextLine],
    Field(max_length=50, description="E.g. gas or roofing."),
    WITHOUT_DUPLICATES,
]
_Phone = Annotated[Phone | None, Field(description="E.g. +44 1422 555 0142.")]
_ScheduleColour = Annotated[Colour | None, Field(title="Colour on the schedule", description="E.g. #3366cc.")]
_OwnHours = Annotated[WorkingHours, AfterValidator(check_not_empty)]
_CompanyName = Annotated[TextLine | None, Field(title="Company", description="A subcontractor's company.")]
_CostRate = Annotated[
    HourlyRate | None, Field(title="Cost per hour", description="What an hour costs you, e.g. 32.50.")
]
_BillRate = Annotated[
    HourlyRate | None, Field(title="Charge-out rate", description="What you charge per hour, e.g. 85.00.")
]
_PEOPLE_CHANGE = RequiresPermission(Permission.PEOPLE_CHANGE)


class InvitePerson(Input):
    """Whom to invite, and their role."""

    name: TextLine = Field(description="The person's full name.")
    email: Email = Field(description="The invitation goes here; they will sign in with it.")
    role: GivenRole
    phone: _Phone = None
    skills: _Skills = Field(default_factory=list)
    colour: _ScheduleColour = None
    company_name: _CompanyName = None
    cost_rate: _CostRate = None
    bill_rate: _BillRate = None


class UpdatePerson(Input):
    """Which person, and the fields to change; null clears. Everyone can change their own phone and colour."""

    person_id: str = Field(description=describe("[[The person's ID.]]"))
    name: Annotated[TextLine, _PEOPLE_CHANGE] = omittable_field(description="The person's full name.")
    email: Annotated[Email, _PEOPLE_CHANGE] = omittable_field(
        description="For emails and invitations. They still sign in with the address they were invited with."
    )
    phone: _Phone = None
    skills: Annotated[_Skills, _PEOPLE_CHANGE] = omittable_field()
    colour: _ScheduleColour = None
    working_hours: Annotated[_OwnHours | None, _PEOPLE_CHANGE] = Field(
        None, description=describe("If they differ from the usual hours. [[Null for the usual hours.]]")
    )
    company_name: Annotated[_CompanyName, _PEOPLE_CHANGE] = None
    cost_rate: Annotated[_CostRate, _PEOPLE_CHANGE] = None
    bill_rate: Annotated[_BillRate, _PEOPLE_CHANGE] = None


@operation(
    permission=Permission.ME_READ, effect=Effect.READ, api_path="GET /me", single_statement=True, is_always_offered=True
)
def get_me(ctx: Context, _given: Input) -> MeOut:
    """Show own access.

    Who am I: the person, the organisation, the key or app in use, and what you can do now.
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


list_people = declare_list(
    PEOPLE,
    "List people. The team: staff and subcontractors. [[People who have left are "
    "only included with the status `left`.]]",
    Permission.PEOPLE_READ,
    {
        "status": "Only this status. Default: everyone who has not left.",
        "role": "Only people with this role.",
        "text": "Name, email, skill or company, or the first letters of it, or a phone number.",
        "order": "[[`newest` first, or by `name`.]]",
    },
    api_path="GET /people",
)


get_person = declare_get(
    PEOPLE,
    "Show person. Includes people who have left. People who may not see others can only see themselves.",
    Permission.ME_READ,
    api_path="GET /people/{person_id}",
)


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /people",
    emails_outside=True,
    gives_access=True,
    done_message="Invitation sent.",
    not_undone=Message("The person has been invited by email. Remove them instead."),
    past_text="Person invited",
)
def invite_person(ctx: Context, given: InvitePerson) -> Person:
    """Invite person.

    Add someone to the team: they get an email with a link to join. Someone who has left can be invited again and keeps
    their history, but not their old keys or connected apps.
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
    gives_access=True,
    on=PEOPLE,
    blocked_by=Person.not_reinvitable,
    done_message="Invitation sent.",
    not_undone=Message("The person has been invited by email. Remove them instead."),
    past_text="Invitation resent",
)
def invite_again(ctx: Context, _given: Input, person: Person) -> Person:
    """Resend invitation.

    The person gets a new email; the link in the earlier one no longer works.
    """
    ctx.writer.touch(person.id)
    _send_invitation(ctx, person)
    return person


@operation(
    permission=Permission.ME_CHANGE,
    effect=Effect.CHANGE,
    api_path="PATCH /people/{person_id}",
    emails_outside=True,
    gives_access=True,
    on=PEOPLE,
    blocked_by=Person.not_changeable,
    done_message="Person updated.",
    undone_by=restore_values,
    past_text="Details edited",
)
def update_person(ctx: Context, given: UpdatePerson, person: Person) -> Person:
    """Edit person.

    Owners and admins can change everyone's details, others only their own phone and colour. If the email address
    changes, emails and invitations go to the new one, but the person still signs in with the old one.
    """
    changes = given.sent_fields("person_id")
    if "email" in changes and (other := find_by_email(ctx, given.email)) and other.id != person.id:
        raise Conflict(Message("{email} already belongs to {person}.", email=given.email, person=other.name))
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
