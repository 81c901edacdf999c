"""What can be done with people."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from mainstay.business.organisation import store as organisations
from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.business.people.events import PersonInvited, PersonUpdated
from mainstay.business.people.model import AlreadyHere, MeOut, Person, PersonOut, Status, check_rank
from mainstay.business.people.store import PEOPLE, check_signs_in_nowhere_else, find_by_email, find_known
from mainstay.business.people.working_hours import check_some
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Named
from mainstay.terms.refusal import Conflict, NotFound
from mainstay.terms.rights import AssignableRole, Needs, Right, Role
from mainstay.terms.shapes import Input, ListInput, Page
from mainstay.values.fields import EACH_ONCE, LAST_SEEN, Colour, Email, HourlyRate, Line, Phone, id_of, omittable
from mainstay.values.search import SearchText

# What an invitation tells of a person and a change changes.
_Skills = Annotated[
    list[Line], Field(max_length=50, description="What the person can do, such as gas or roofing."), EACH_ONCE
]
_Phone = Annotated[Phone | None, Field(description="Such as +44 1422 555 0142.")]
_Shade = Annotated[
    Colour | None, Field(title="Colour on the schedule", description="Their colour on the schedule, such as #3366cc.")
]
_OwnHours = Annotated[WorkingHours, AfterValidator(check_some)]
_Firm = Annotated[Line | None, Field(title="Company", description="The firm of a subcontractor.")]
_CostRate = Annotated[HourlyRate | None, Field(title="Cost per hour", description="What an hour costs, such as 32.50.")]
_BillRate = Annotated[
    HourlyRate | None, Field(title="Billed per hour", description="What an hour is billed at, such as 85.00.")
]
_IN_CHARGE = Needs(Right.PEOPLE_CHANGE)


class GetMe(Input):
    """Nothing: the credential says who asks."""


class ListPeople(ListInput):
    """Which people to list."""

    starting_after: Annotated[str | None, id_of("person")] = LAST_SEEN
    status: Status | None = Field(None, description="Only these. Without it, everyone who has not left.")
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

    name: Line = Field(description="The person's full name.")
    email: Email = Field(title="E-mail address", description="Where the invitation goes, and how they will sign in.")
    role: AssignableRole = Field(description="What they may do. Owners are named by owners, in the office.")
    phone: _Phone = None
    skills: _Skills = Field(default_factory=list)
    colour: _Shade = None
    company_name: _Firm = None
    cost_rate: _CostRate = None
    bill_rate: _BillRate = None


class InviteAgain(Input):
    """Who gets the mail again."""

    person_id: str = Field(description="The person's id.")


class UpdatePerson(Input):
    """Which person, and what to change; null clears. Everyone may change their own phone and colour."""

    person_id: str = Field(description="The person's id.")
    name: Annotated[Line, _IN_CHARGE] = omittable(description="The person's full name.")
    email: Annotated[Email, _IN_CHARGE] = omittable(
        title="E-mail address",
        description="Where mail to them goes. They sign in with the address they were invited with.",
    )
    phone: _Phone = None
    skills: Annotated[_Skills, _IN_CHARGE] = omittable()
    colour: _Shade = None
    working_hours: Annotated[_OwnHours | None, _IN_CHARGE] = Field(
        None, description="When they work, if not at the usual times. Null for those."
    )
    company_name: Annotated[_Firm, _IN_CHARGE] = None
    cost_rate: Annotated[_CostRate, _IN_CHARGE] = None
    bill_rate: Annotated[_BillRate, _IN_CHARGE] = None


@operation(right=Right.ME_READ, effect=Effect.READ, rest="GET /me", glances=True)
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
        organisation=Named(id=actor.organisation, name=organisations.name(ctx.rows)),
        access=actor.access,
        client=actor.client,
        rights=sorted(actor.effective_rights),
    )


@operation(right=Right.PEOPLE_READ, effect=Effect.READ, rest="GET /people")
def list_people(ctx: Context, given: ListPeople) -> Page[PersonOut]:
    """List the people of the organisation, newest first.

    Without a status, those who have left are not in it.
    """
    return PEOPLE.page(ctx, given)


@operation(right=Right.ME_READ, effect=Effect.READ, rest="GET /people/{person_id}", glances=True, on=PEOPLE)
def get_person(_ctx: Context, _given: GetPerson, person: Person) -> Person:
    """Get one person.

    Also one who has left. Whoever may not see the others gets themselves.
    """
    return person


@operation(
    right=Right.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /people",
    mails=True,
    done="The invitation is on its way by mail.",
)
def invite_person(ctx: Context, given: InvitePerson) -> Person:
    """Invite someone into the organisation.

    They get a mail with a link to join. Someone who has left can be invited again and keeps their history, but none of
    their old keys or connected apps.
    """
    check_rank(ctx.actor, Role(given.role))
    known = find_known(ctx, given.email)
    if known is None:
        person = PEOPLE.insert(ctx, dict(given) | {"status": "invited"})
    elif known.status == "left":
        # What is not said of them now stays as it was: an invitation only adds.
        person = PEOPLE.save(ctx, known, given.sent() | {"status": "invited"})
    else:
        raise AlreadyHere(known)
    _send_invitation(ctx, person)
    return person


@operation(
    right=Right.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /people/{person_id}/invite-again",
    mails=True,
    on=PEOPLE,
    unless=Person.not_waiting,
    done="The invitation is on its way by mail.",
)
def invite_again(ctx: Context, _given: InviteAgain, person: Person) -> Person:
    """Send an invitation again.

    The person gets a new mail; the link in the earlier one no longer works.
    """
    ctx.pen.touch(person.id)
    _send_invitation(ctx, person)
    return person


@operation(
    right=Right.ME_CHANGE,
    effect=Effect.CHANGE,
    rest="PATCH /people/{person_id}",
    mails=True,
    on=PEOPLE,
    unless=Person.not_changeable,
    done="Your changes are saved.",
)
def update_person(ctx: Context, given: UpdatePerson, person: Person) -> Person:
    """Change a person's details.

    Owners and admins change everyone's, others their own phone and colour. A new address gets the mails, also an open
    invitation, and changes nobody's sign-in.
    """
    changes = given.sent("person_id")
    if "email" in changes and (known := find_by_email(ctx, given.email)) and known.id != person.id:
        raise Conflict(f"{given.email} is the address of {known.name}.")
    after = PEOPLE.save(ctx, person, changes)
    if after is not person:
        ctx.record(PersonUpdated(after, person))
    if after.status == "invited" and after.email != person.email:
        _send_invitation(ctx, after)
    return after


OPERATIONS = (get_me, list_people, get_person, invite_person, update_person, invite_again)


def _send_invitation(ctx: Context, person: Person) -> None:
    """Let an invitation go to the address of a person, unless someone else who is here signs in by it."""
    check_signs_in_nowhere_else(ctx, person.email, person.id)
    ctx.record(PersonInvited(person))
