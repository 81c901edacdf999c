"""How an organisation begins and how people come into it: by the operator's hand, or by accepting an invitation."""

from pydantic import Field, SecretStr

from mainstay.backing.database import Clash
from mainstay.business.organisation import store as organisations
from mainstay.business.people import store
from mainstay.business.people.model import PersonOut
from mainstay.identity import accounts, links
from mainstay.identity.links import Kind
from mainstay.identity.signing_in import DeadLink, NotSignedIn, check_new_password, look_up, prove
from mainstay.kernel.actor import Door
from mainstay.kernel.context import Context
from mainstay.kernel.event import Event
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.refusal import Conflict, Fault, Invalid
from mainstay.kernel.rights import Right, Role
from mainstay.kernel.shapes import Input, One
from mainstay.values.fields import Country, Currency, Email, Line, TimeZone

BY_OPERATOR = frozenset({Door.CLI})


class PersonJoined(Event):
    """A person became active."""

    name = "person.joined"
    about = PersonOut


class CreateOrganisation(Input):
    """The organisation and its first owner."""

    name: Line = Field(description="The name people know it by.")
    country: Country = "GB"
    currency: Currency = "GBP"
    time_zone: TimeZone = "Europe/London"
    owner_name: Line = Field(description="The owner's full name.")
    owner_email: Email = Field(description="How the owner signs in.")
    password: SecretStr = Field(description="For the owner's sign-in, if they have none yet.")


class AddPerson(Input):
    """Who joins, and as what."""

    name: Line = Field(description="The person's full name.")
    email: Email = Field(description="How they sign in.")
    role: Role = Field(description="What they may do.")
    password: SecretStr = Field(description="For the person's sign-in, if they have none yet.")


class AcceptInvitation(Input):
    """What someone who was invited says of themselves; their link says who they are."""

    name: Line = Field(description="Your full name.")
    password: SecretStr = Field(description="A new one, or that of the sign-in you already have.")


@operation(right=Right.OWNERS_NAME, effect=Effect.CHANGE, offered=BY_OPERATOR)
def create_organisation(ctx: Context, given: CreateOrganisation) -> One[PersonOut]:
    """Create an organisation with its first owner.

    Answers with the owner.
    """
    organisations.insert(
        ctx, name=given.name, country=given.country, currency=given.currency, time_zone=given.time_zone
    )
    return _join(ctx, given.owner_name, given.owner_email, Role.OWNER, given.password)


@operation(right=Right.OWNERS_NAME, effect=Effect.CHANGE, offered=BY_OPERATOR)
def add_person(ctx: Context, given: AddPerson) -> One[PersonOut]:
    """Add a person who can sign in at once.

    Someone who was invited, or who has left, becomes active with this name and role.
    """
    return _join(ctx, given.name, given.email, given.role, given.password)


@operation(right=Right.ME_CHANGE, effect=Effect.CHANGE, offered=frozenset({Door.OFFICE}))
def accept_invitation(ctx: Context, given: AcceptInvitation) -> One[PersonOut]:
    """Accept an invitation.

    Whoever has no sign-in yet gets one with this password; whoever has one shows that it is theirs.
    """
    link = links.find(ctx.rows, Kind.INVITATION, ctx.actor.credential, ctx.now)
    if link is None or link.person is None or not links.use(ctx.rows, link.id):
        raise DeadLink
    account = _own_account(ctx, link.email, given.password.get_secret_value())
    store.save(ctx, link.person, {"name": given.name, "status": "active", "account_id": account})
    ctx.record(PersonJoined(store.whole(ctx, link.person)))
    return store.show(ctx, link.person)


def _own_account(ctx: Context, email: str, password: str) -> str:
    known = look_up(ctx.rows, email)
    if known.account is None:
        check_new_password("password", password)
        try:
            return accounts.insert(ctx, email, password)
        except Clash:
            # At the same moment, by an invitation of another organisation.
            raise Conflict("This address has just got a sign-in. Use its password.") from None
    try:
        return prove(known, password)
    except NotSignedIn:
        raise Invalid([Fault("password", "is not the password of the sign-in you already have")]) from None


def _join(ctx: Context, name: str, email: str, role: Role, password: SecretStr) -> One[PersonOut]:
    account = accounts.find(ctx, email)
    if account is None:
        check_new_password("password", password.get_secret_value())
        account = accounts.insert(ctx, email, password.get_secret_value())
    values = {"name": name, "email": email, "role": role, "status": "active", "account_id": account}
    known = store.find_by_email(ctx, email)
    if known is None:
        identity = store.insert(ctx, values | {"skills": []})
    elif known.status == "active":
        raise Conflict(f"{email} is already a person of this organisation: {known.name} ({known.id}).")
    else:
        identity = known.id
        store.save(ctx, identity, values)
    ctx.record(PersonJoined(store.whole(ctx, identity)))
    return store.show(ctx, identity)
