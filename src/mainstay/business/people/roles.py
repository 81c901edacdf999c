"""Operations that change a person's role, make them an owner or remove them."""

from pydantic import Field

from mainstay.business.people.events import PersonLeft, PersonUpdated
from mainstay.business.people.model import GivenRole, Person, check_role_rank, shorten_list
from mainstay.business.people.store import PEOPLE
from mainstay.identity import sessions
from mainstay.identity.calendar_links import end_calendar_link
from mainstay.identity.connections import end_connections_of_person
from mainstay.identity.keys import end_keys_of_person
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.descriptions import describe
from mainstay.values.message import Choice, Message
from mainstay.vocabulary.actor import API_AND_OFFICE, Door
from mainstay.vocabulary.permissions import HIGHEST_ROLE, Permission, Role, has_permission
from mainstay.vocabulary.schemas import Input, IrreversibleInput


class ChangeRole(IrreversibleInput):
    """Which person, and their new role."""

    person_id: str = Field(description=describe("[[The person's ID.]]"))
    role: GivenRole


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /people/{person_id}/role",
    gives_access=True,
    on=PEOPLE,
    blocked_by=Person.role_not_changeable,
    not_undone=Message("Change the role again."),
    past_text="Role changed",
)
def change_role(ctx: Context, given: ChangeRole, person: Person) -> Person:
    """Change role.

    API keys and connected apps that the new role does not allow stop working for good. You see which before you
    confirm.
    """
    role = Role(given.role)
    check_role_rank(ctx.actor, role)
    ctx.summary = Message(
        "{person}'s role will be {new} instead of {old}.",
        person=person.name,
        old=Choice(person.role),
        new=Choice(role),
    )
    if role is person.role:
        ctx.effects.append(Message("No change: {person} already has this role.", person=person.name))
        return person
    if person.loses_keys(role):
        _end_keys(ctx, person)
    if not has_permission(role, Permission.CONNECTIONS_READ):
        _end_apps(ctx, person)
    elif has_permission(person.role, Permission.CONNECTIONS_WRITE) and not has_permission(
        role, Permission.CONNECTIONS_WRITE
    ):
        ctx.warnings.append(
            Message(
                "Apps connected by {person} will only be able to read with the role {role}.",
                person=person.name,
                role=Choice(role),
            )
        )
    if ctx.actor.id == person.id:
        ctx.warnings.append(Message("This is you: your own access will change, also for the key or app you are using."))
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
    done_message="Owner added.",
    not_undone=Message("Change the role again."),
    past_text="Role changed to owner",
)
def name_owner(ctx: Context, _given: Input, person: Person) -> Person:
    """Make owner.

    Owners can do everything, including changing and removing other owners. Only do this for someone you trust with the
    whole organisation.
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
    done_message="Person removed. Their access has ended.",
    not_undone=Message("Invite the person again."),
    past_text="Person left the organisation",
)
def remove_person(ctx: Context, _given: IrreversibleInput, person: Person) -> Person:
    """Remove person.

    They lose access at once, with their API keys and connected apps; what they recorded stays. You can invite them
    again, but their old keys and apps do not come back.
    """
    ctx.summary = Message(
        "{person} ({role}) will be removed from the organisation.", person=person.name, role=Choice(person.role)
    )
    ctx.effects.append(Message("{person} will no longer be able to sign in to this organisation.", person=person.name))
    sessions.end_sessions_of_person(ctx.db, person.id)
    _end_keys(ctx, person)
    _end_apps(ctx, person)
    if end_calendar_link(ctx, person.id):
        ctx.effects.append(Message("{person}'s calendar link will stop working for good.", person=person.name))
    if ctx.actor.id == person.id:
        ctx.warnings.append(Message("This is you: you will lose your own access."))
    ctx.react_immediately(PersonLeft, person)
    updated = PEOPLE.save(ctx, person, {"status": "left"})
    ctx.emit(PersonLeft(updated))
    return updated


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /people/{person_id}/sign-out",
    doors=API_AND_OFFICE,
    on=PEOPLE,
    blocked_by=Person.not_signed_out,
    not_undone=Message("The person can sign in again."),
    past_text="Person signed out everywhere",
)
def sign_out_person(ctx: Context, _given: Input, person: Person) -> Person:
    """Sign person out.

    Signs them out in all browsers and on all devices, e.g. if a phone is lost. They can sign in again with their
    password.
    """
    sessions.end_sessions_of_person(ctx.db, person.id)
    ctx.writer.touch(person.id)
    return person


OPERATIONS = (change_role, name_owner, remove_person, sign_out_person)


def _end_keys(ctx: Context, person: Person) -> None:
    if names := end_keys_of_person(ctx, person.id):
        message = Message(
            "API keys created by {person} will stop working for good: {keys}.",
            person=person.name,
            keys=shorten_list(names, len(names)),
        )
        ctx.effects.append(message)


def _end_apps(ctx: Context, person: Person) -> None:
    if names := end_connections_of_person(ctx, person.id):
        message = Message(
            "Apps connected by {person} will stop working for good: {apps}.",
            person=person.name,
            apps=shorten_list(names, len(names)),
        )
        ctx.effects.append(message)
