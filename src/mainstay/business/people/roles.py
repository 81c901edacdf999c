"""Operations that change a person's role, make them an owner or remove them."""

from pydantic import Field

from mainstay.business.people.events import PersonLeft, PersonUpdated
from mainstay.business.people.model import Person, check_role_rank, join_names
from mainstay.business.people.store import PEOPLE
from mainstay.identity import sessions
from mainstay.identity.calendar_links import end_calendar_link
from mainstay.identity.connections import end_connections_of
from mainstay.identity.keys import end_keys_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import HIGHEST_ROLE, AssignableRole, Permission, Role, has_permission
from mainstay.vocabulary.schemas import Input, IrreversibleInput


class ChangeRole(IrreversibleInput):
    """Whose role, and what it becomes."""

    person_id: str = Field(description="The person's id.")
    role: AssignableRole = Field(description="What they may do from now on. Owners are named by owners, in the office.")


class NameOwner(Input):
    """Who becomes an owner."""

    person_id: str = Field(description="The person's id.")


class RemovePerson(IrreversibleInput):
    """Who leaves."""

    person_id: str = Field(description="The person's id.")


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /people/{person_id}/role",
    on=PEOPLE,
    blocked_by=Person.role_not_changeable,
    done_message="The person has another role now.",
)
def change_role(ctx: Context, given: ChangeRole, person: Person) -> Person:
    """Give a person another role.

    API keys and connected apps that the new role may not have end for good; the preview names them.
    """
    role = Role(given.role)
    check_role_rank(ctx.actor, role)
    ctx.summary = f"{person.name} becomes {role} instead of {person.role}."
    if role is person.role:
        ctx.effects.append(f"Nothing: {person.name} has this role already.")
        return person
    if person.loses_keys(role):
        _end_keys(ctx, person)
    if not has_permission(role, Permission.CONNECTIONS_READ):
        _end_apps(ctx, person)
    elif has_permission(person.role, Permission.CONNECTIONS_WRITE) and not has_permission(
        role, Permission.CONNECTIONS_WRITE
    ):
        ctx.warnings.append(f"Apps that {person.name} has connected can only read, as long as the role is {role}.")
    if ctx.actor.id == person.id:
        ctx.warnings.append("This is you: what you may do changes, also with the key or app you use now.")
    updated = PEOPLE.save(ctx, person, {"role": role})
    ctx.emit(PersonUpdated(updated, person))
    return updated


@operation(
    permission=Permission.OWNERS_NAME,
    effect=Effect.CHANGE,
    doors=frozenset({Door.OFFICE}),
    on=PEOPLE,
    blocked_by=Person.not_nameable,
    asks_again=True,
    done_message="The person is an owner now.",
)
def name_owner(ctx: Context, _given: NameOwner, person: Person) -> Person:
    """Make a person an owner.

    An owner may do everything: also change and remove other owners, and name more of them. Only do this for someone
    you trust with the whole organisation.
    """
    updated = PEOPLE.save(ctx, person, {"role": HIGHEST_ROLE})
    ctx.emit(PersonUpdated(updated, person))
    return updated


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /people/{person_id}/remove",
    on=PEOPLE,
    blocked_by=Person.not_removable,
    done_message="The person has left the organisation. Their access has ended.",
)
def remove_person(ctx: Context, _given: RemovePerson, person: Person) -> Person:
    """Remove a person from the organisation.

    Their access ends at once (sign-ins, API keys, connected apps); what they did stays on record. They can be invited
    again, but nothing of the old access comes back.
    """
    ctx.summary = f"{person.name} ({person.role}) leaves the organisation."
    ctx.effects.append(f"{person.name} can no longer sign in to this organisation.")
    sessions.end_sessions_of(ctx.db, person.id)
    _end_keys(ctx, person)
    _end_apps(ctx, person)
    if end_calendar_link(ctx, person.id):
        ctx.effects.append(f"The link to {person.name}'s calendar stops working for good.")
    if ctx.actor.id == person.id:
        ctx.warnings.append("This is you: your own access ends too.")
    ctx.react_immediately(PersonLeft, person)
    updated = PEOPLE.save(ctx, person, {"status": "left"})
    ctx.emit(PersonLeft(updated))
    return updated


OPERATIONS = (change_role, name_owner, remove_person)


def _end_keys(ctx: Context, person: Person) -> None:
    _add_effect(ctx, f"API keys made by {person.name} that stop working for good", end_keys_of(ctx, person.id))


def _end_apps(ctx: Context, person: Person) -> None:
    _add_effect(ctx, f"Apps connected by {person.name} that stop working for good", end_connections_of(ctx, person.id))


def _add_effect(ctx: Context, what: str, names: list[str]) -> None:
    if names:
        ctx.effects.append(f"{what}: {join_names(names, len(names))}.")
