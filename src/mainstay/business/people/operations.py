"""What can be done with people."""

from typing import Annotated, Any

from pydantic import Field

from mainstay.business.organisation import store as organisations
from mainstay.business.people import store
from mainstay.business.people.model import AssignableRole, MeOut, Person, PersonOut, Status, check_rank
from mainstay.identity.connections import end_connections_of
from mainstay.identity.keys import end_keys_of
from mainstay.kernel.actor import Door, Named
from mainstay.kernel.context import Context
from mainstay.kernel.event import Event, differences
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.refusal import Conflict, NotFound
from mainstay.kernel.rights import RIGHTS, Right, Role
from mainstay.kernel.shapes import Input, Irrevocable, ListInput, One, Page
from mainstay.values.fields import LAST_SEEN, Colour, Email, Line, Price, id_of, omittable

# What an invitation tells of a person and a change changes.
_Skills = Annotated[list[Line], Field(max_length=50, description="What the person can do, such as `gas` or `roofing`.")]
_Phone = Annotated[Line | None, Field(description="Where they can be called.")]
_Shade = Annotated[Colour | None, Field(description="The colour on the schedule, such as #3366cc.")]
_Firm = Annotated[Line | None, Field(description="The firm of a subcontractor.")]
_CostRate = Annotated[Price | None, Field(description="What an hour costs, such as 32.50.")]
_BillRate = Annotated[Price | None, Field(description="What an hour is billed at, such as 85.00.")]


class PersonInvited(Event):
    """Someone was asked to join."""

    name = "person.invited"
    about = PersonOut


class PersonUpdated(Event):
    """A person's details or role changed."""

    name = "person.updated"
    about = PersonOut


class PersonLeft(Event):
    """A person left the organisation."""

    name = "person.left"
    about = PersonOut


class GetMe(Input):
    """Nothing: the credential says who asks."""


class ListPeople(ListInput):
    """Which people to list."""

    starting_after: Annotated[str | None, id_of("person")] = LAST_SEEN
    status: Status | None = Field(None, description="Only these. Without it, everyone who has not left.")
    role: Role | None = Field(None, description="Only people of this role.")


class GetPerson(Input):
    """Which person."""

    person_id: str = Field(description="The person's id.")


class InvitePerson(Input):
    """Who is invited, and as what."""

    name: Line = Field(description="The person's full name.")
    email: Email = Field(description="Where the invitation goes, and how they will sign in.")
    role: AssignableRole = Field(description="What they may do. Owners are named in the office only.")
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
    """Which person, and what to change; null clears."""

    person_id: str = Field(description="The person's id.")
    name: Line = omittable(description="The person's full name.")
    email: Email = omittable(description="The person's e-mail address.")
    role: AssignableRole = omittable(description="What they may do. Owners are named in the office only.")
    phone: _Phone = None
    skills: _Skills = omittable()
    colour: _Shade = None
    company_name: _Firm = None
    cost_rate: _CostRate = None
    bill_rate: _BillRate = None


class NameOwner(Input):
    """Who becomes an owner."""

    person_id: str = Field(description="The person's id.")


class RemovePerson(Irrevocable):
    """Who leaves."""

    person_id: str = Field(description="The person's id.")


@operation(right=Right.ME_READ, effect=Effect.READ, rest="GET /me", glances=True)
def get_me(ctx: Context, _given: GetMe) -> MeOut:
    """Get who is asking.

    The person, the organisation, the key or app in use, and what they may do.
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
        rights=sorted(RIGHTS[actor.role]),
    )


@operation(right=Right.PEOPLE_READ, effect=Effect.READ, rest="GET /people", glances=True)
def list_people(ctx: Context, given: ListPeople) -> Page[PersonOut]:
    """List the people of the organisation, newest first.

    Without a status, those who have left are not in it.
    """
    return store.page(ctx, status=given.status, role=given.role, after=given.starting_after, limit=given.limit)


@operation(right=Right.PEOPLE_READ, effect=Effect.READ, rest="GET /people/{person_id}", glances=True)
def get_person(ctx: Context, given: GetPerson) -> One[PersonOut]:
    """Get one person.

    Also one who has left.
    """
    return store.show(ctx, given.person_id)


@operation(right=Right.PEOPLE_CHANGE, effect=Effect.CHANGE, rest="POST /people", mails=True)
def invite_person(ctx: Context, given: InvitePerson) -> One[PersonOut]:
    """Invite someone into the organisation.

    They get a mail with a link to join. Someone who has left can be invited again and keeps their history, but none of
    their old keys or connected apps.
    """
    check_rank(ctx.actor, Role(given.role))
    known = store.find_by_email(ctx, given.email)
    if known is None:
        identity = store.insert(ctx, dict(given) | {"status": "invited"})
    elif known.status == "left":
        identity = known.id
        store.save(ctx, identity, dict(given) | {"status": "invited"})
    else:
        raise Conflict(f"{known.email} is already a person of this organisation: {known.name} ({known.id}).")

    ctx.record(PersonInvited(store.whole(ctx, identity)))
    return store.show(ctx, identity)


@operation(right=Right.PEOPLE_CHANGE, effect=Effect.CHANGE, offered=frozenset({Door.OFFICE}), mails=True)
def invite_again(ctx: Context, given: InviteAgain) -> One[PersonOut]:
    """Send an invitation again.

    The person gets a new mail; the link in the earlier one no longer works.
    """
    person = store.fetch(ctx, given.person_id)
    if person.status != "invited":
        raise Conflict(f"{person.name} is not waiting for an invitation.")
    check_rank(ctx.actor, person.role)
    ctx.record(PersonInvited(store.whole(ctx, person.id)))
    return store.show(ctx, person.id)


@operation(right=Right.PEOPLE_CHANGE, effect=Effect.CHANGE, rest="PATCH /people/{person_id}")
def update_person(ctx: Context, given: UpdatePerson) -> One[PersonOut]:
    """Change a person's details or role.

    Only the fields that are sent change; null clears one. Whoever is no longer owner or admin loses the API keys they
    made.
    """
    person = store.fetch(ctx, given.person_id)
    ctx.expect(person.version)
    changes = given.sent()
    del changes["person_id"]
    role = Role(changes["role"]) if "role" in changes else person.role
    person.check_change(ctx.actor, role, store.other_owners(ctx, person.id))
    if "email" in changes and (known := store.find_by_email(ctx, given.email)) and known.id != person.id:
        raise Conflict(f"{given.email} is the address of {known.name} ({known.id}).")

    if _save(ctx, person, changes):
        if person.loses_keys(role):
            end_keys_of(ctx, person.id)
        if role is Role.SUBCONTRACTOR:
            end_connections_of(ctx, person.id)
    return store.show(ctx, person.id)


@operation(right=Right.OWNERS_NAME, effect=Effect.CHANGE, offered=frozenset({Door.OFFICE}))
def name_owner(ctx: Context, given: NameOwner) -> One[PersonOut]:
    """Make a person an owner.

    An owner may do everything: also change and remove other owners, and name more of them.
    """
    person = store.fetch(ctx, given.person_id)
    ctx.expect(person.version)
    person.check_naming()
    _save(ctx, person, {"role": Role.OWNER})
    return store.show(ctx, person.id)


@operation(right=Right.PEOPLE_CHANGE, effect=Effect.IRREVERSIBLE, rest="POST /people/{person_id}/remove")
def remove_person(ctx: Context, given: RemovePerson) -> One[PersonOut]:
    """Remove a person from the organisation.

    Their access ends at once (sign-ins, API keys, connected apps); what they did stays on record. They can be invited
    again, but nothing of the old access comes back.
    """
    person = store.fetch(ctx, given.person_id)
    ctx.expect(person.version)
    ctx.summary = f"{person.name} ({person.role}) leaves the organisation."
    person.check_leaving(ctx.actor, store.other_owners(ctx, person.id))

    store.save(ctx, person.id, {"status": "left"})
    ctx.effects.append(f"{person.name} can no longer sign in to this organisation.")
    if keys := end_keys_of(ctx, person.id):
        ctx.effects.append(f"API keys made by {person.name} that stop working for good: {keys}.")
    if apps := end_connections_of(ctx, person.id):
        ctx.effects.append(f"Apps connected by {person.name} that stop working for good: {apps}.")
    if ctx.actor.person and ctx.actor.person.id == person.id:
        ctx.warnings.append("This is you: your own access ends too.")

    ctx.record(PersonLeft(store.whole(ctx, person.id)))
    return store.show(ctx, person.id)


def _save(ctx: Context, person: Person, changes: dict[str, Any]) -> bool:
    """Write the changed fields and tell of it; False if nothing is different."""
    before = store.whole(ctx, person.id)
    if not store.save(ctx, person.id, changes):
        return False
    after = store.whole(ctx, person.id)
    ctx.record(PersonUpdated(after, previous=differences(before, after)))
    return True
