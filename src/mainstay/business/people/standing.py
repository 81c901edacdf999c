"""What a person is in the organisation: another role, an owner, or no longer in it."""

from pydantic import Field

from mainstay.business.people.events import PersonLeft, PersonUpdated
from mainstay.business.people.leaving import listed, tell_of_open_work
from mainstay.business.people.model import Person, check_rank
from mainstay.business.people.store import PEOPLE
from mainstay.identity import sessions
from mainstay.identity.calendars import end_calendar_of
from mainstay.identity.connections import end_connections_of
from mainstay.identity.keys import end_keys_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Door
from mainstay.terms.rights import HIGHEST, AssignableRole, Right, Role, holds
from mainstay.terms.shapes import Input, Irrevocable


class ChangeRole(Irrevocable):
    """Whose role, and what it becomes."""

    person_id: str = Field(description="The person's id.")
    role: AssignableRole = Field(description="What they may do from now on. Owners are named by owners, in the office.")


class NameOwner(Input):
    """Who becomes an owner."""

    person_id: str = Field(description="The person's id.")


class RemovePerson(Irrevocable):
    """Who leaves."""

    person_id: str = Field(description="The person's id.")


@operation(
    right=Right.PEOPLE_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /people/{person_id}/role",
    on=PEOPLE,
    unless=Person.not_given_a_role,
    done="The person has another role now.",
)
def change_role(ctx: Context, given: ChangeRole, person: Person) -> Person:
    """Give a person another role.

    API keys and connected apps that the new role may not have end for good; the preview names them.
    """
    role = Role(given.role)
    check_rank(ctx.actor, role)
    ctx.summary = f"{person.name} becomes {role} instead of {person.role}."
    if role is person.role:
        ctx.effects.append(f"Nothing: {person.name} has this role already.")
        return person
    if person.loses_keys(role):
        _end_keys(ctx, person)
    if not holds(role, Right.CONNECTIONS_READ):
        _end_apps(ctx, person)
    elif holds(person.role, Right.CONNECTIONS_WRITE) and not holds(role, Right.CONNECTIONS_WRITE):
        ctx.warnings.append(f"Apps that {person.name} has connected can only read, as long as the role is {role}.")
    if ctx.actor.id == person.id:
        ctx.warnings.append("This is you: what you may do changes, also with the key or app you use now.")
    after = PEOPLE.save(ctx, person, {"role": role})
    ctx.record(PersonUpdated(after, person))
    return after


@operation(
    right=Right.OWNERS_NAME,
    effect=Effect.CHANGE,
    offered=frozenset({Door.OFFICE}),
    on=PEOPLE,
    unless=Person.not_nameable,
    grave=True,
    done="The person is an owner now.",
)
def name_owner(ctx: Context, _given: NameOwner, person: Person) -> Person:
    """Make a person an owner.

    An owner may do everything: also change and remove other owners, and name more of them. Only do this for someone
    you trust with the whole organisation.
    """
    after = PEOPLE.save(ctx, person, {"role": HIGHEST})
    ctx.record(PersonUpdated(after, person))
    return after


@operation(
    right=Right.PEOPLE_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /people/{person_id}/remove",
    on=PEOPLE,
    unless=Person.not_removable,
    done="The person has left the organisation. Their access has ended.",
)
def remove_person(ctx: Context, _given: RemovePerson, person: Person) -> Person:
    """Remove a person from the organisation.

    Their access ends at once (sign-ins, API keys, connected apps); what they did stays on record. They can be invited
    again, but nothing of the old access comes back.
    """
    ctx.summary = f"{person.name} ({person.role}) leaves the organisation."
    ctx.effects.append(f"{person.name} can no longer sign in to this organisation.")
    sessions.end_of_person(ctx.rows, person.id)
    _end_keys(ctx, person)
    _end_apps(ctx, person)
    if end_calendar_of(ctx, person.id):
        ctx.effects.append(f"The link to {person.name}'s calendar stops working for good.")
    if ctx.actor.id == person.id:
        ctx.warnings.append("This is you: your own access ends too.")
    tell_of_open_work(ctx, person)
    after = PEOPLE.save(ctx, person, {"status": "left"})
    ctx.record(PersonLeft(after))
    return after


OPERATIONS = (change_role, name_owner, remove_person)


def _end_keys(ctx: Context, person: Person) -> None:
    _tell_of(ctx, f"API keys made by {person.name} that stop working for good", end_keys_of(ctx, person.id))


def _end_apps(ctx: Context, person: Person) -> None:
    _tell_of(ctx, f"Apps connected by {person.name} that stop working for good", end_connections_of(ctx, person.id))


def _tell_of(ctx: Context, what: str, names: list[str]) -> None:
    if names:
        ctx.effects.append(f"{what}: {listed(names, len(names))}.")
