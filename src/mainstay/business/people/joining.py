"""How an organisation begins and how people come into it: by the operator's hand, or by accepting an invitation."""

from pydantic import Field, SecretStr

from mainstay.business.organisation import store as organisations
from mainstay.business.people.events import PersonJoined
from mainstay.business.people.model import AlreadyHere, Person
from mainstay.business.people.store import PEOPLE, check_signs_in_nowhere_else, find_known
from mainstay.identity import accounts, links
from mainstay.identity.links import Kind, Link
from mainstay.identity.passwords import check_new_password, hash_password
from mainstay.identity.signing_in import DeadLink, KnownAddress, NotSignedIn, look_up, prove
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Ahead, Effect, operation
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Conflict, Fault, Invalid
from mainstay.terms.rights import HIGHEST, Right, Role
from mainstay.terms.shapes import Input, Shown
from mainstay.values.fields import Country, Currency, Email, Line, TimeZone

BY_OPERATOR = frozenset({Door.CLI})


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


class CreatePasswordLink(Input):
    """Whose password is to be a new one."""

    person_id: str = Field(description="The person's id.")


class PasswordLinkOut(Shown):
    """A link to a new password, of which only the id is told: what opens it is derived from that."""

    noun = "passwordLink"

    id: str


class AcceptInvitation(Input):
    """What someone who was invited says of themselves; their link says who they are."""

    name: Line = Field(description="Your full name.")
    password: SecretStr = Field(description="A new one, or that of the sign-in you already have.")


def _owner_s_hash(ahead: Ahead, given: CreateOrganisation) -> str:
    return accounts.hash_for_new(ahead, given.owner_email, given.password.get_secret_value())


def _person_s_hash(ahead: Ahead, given: AddPerson) -> str:
    return accounts.hash_for_new(ahead, given.email, given.password.get_secret_value())


@operation(right=Right.OWNERS_NAME, effect=Effect.CHANGE, offered=BY_OPERATOR, ahead=_owner_s_hash)
def create_organisation(ctx: Context, given: CreateOrganisation) -> Person:
    """Create an organisation with its first owner.

    Answers with the owner.
    """
    organisations.insert(
        ctx, name=given.name, country=given.country, currency=given.currency, time_zone=given.time_zone
    )
    return _join(ctx, given.owner_name, given.owner_email, HIGHEST)


@operation(right=Right.OWNERS_NAME, effect=Effect.CHANGE, offered=BY_OPERATOR, ahead=_person_s_hash)
def add_person(ctx: Context, given: AddPerson) -> Person:
    """Add a person who can sign in at once.

    Someone who was invited, or who has left, becomes active with this name and role.
    """
    return _join(ctx, given.name, given.email, given.role)


@operation(
    right=Right.OWNERS_NAME,
    effect=Effect.CHANGE,
    offered=BY_OPERATOR,
    on=PEOPLE,
    unless=Person.not_signing_in,
    only_adds=True,
)
def create_password_link(ctx: Context, _given: CreatePasswordLink, person: Person) -> PasswordLinkOut:
    """Create a link to a new password.

    For someone whom no mail reaches. It works once, within an hour, for their sign-in in every organisation.
    """
    account = accounts.fetch_of_person(ctx, person.id)
    ctx.pen.touch(person.id)
    link = links.make_reset(ctx.rows, account.id, account.email, ctx.now)
    return PasswordLinkOut(object=PasswordLinkOut.noun, id=link)


def _proved(ahead: Ahead, given: AcceptInvitation) -> tuple[KnownAddress, str]:
    """What is known of the address that was invited, once its password is shown to be its own; or a new one's hash."""
    known: KnownAddress = ahead.read(lambda ctx: look_up(ctx.rows, _link(ctx).email))
    password = given.password.get_secret_value()
    if known.account is None:
        check_new_password("password", password)
        return known, hash_password(password)
    try:
        prove(known, password)
    except NotSignedIn:
        raise Invalid([Fault("password", "is not the password of the sign-in you already have")]) from None
    return known, known.password_hash


@operation(
    right=Right.ME_CHANGE, effect=Effect.CHANGE, offered=frozenset({Door.OFFICE}), only_adds=False, ahead=_proved
)
def accept_invitation(ctx: Context, given: AcceptInvitation) -> Person:
    """Accept an invitation.

    Whoever has no sign-in yet gets one with this password; whoever has one shows that it is theirs.
    """
    link = _link(ctx)
    known, password_hash = ctx.ahead
    if look_up(ctx.rows, link.email) != known:
        raise Conflict("The sign-in of this address has just changed. Try again.")
    if not links.use(ctx.rows, link.id):
        raise DeadLink
    invited = PEOPLE.fetch(ctx, link.person)
    check_signs_in_nowhere_else(ctx, link.email, invited.id)
    account = known.account or accounts.insert(ctx, link.email, password_hash)
    person = PEOPLE.save(ctx, invited, {"name": given.name, "status": "active", "account_id": account})
    ctx.record(PersonJoined(person))
    return person


OPERATIONS = (create_organisation, add_person, create_password_link, accept_invitation)


def _link(ctx: Context) -> Link:
    """The invitation that whoever acts came in by."""
    link = links.find(ctx.rows, Kind.INVITATION, ctx.actor.credential, ctx.now)
    if link is None or link.person is None:
        raise DeadLink
    return link


def _join(ctx: Context, name: str, email: str, role: Role) -> Person:
    account = accounts.find(ctx, email) or accounts.insert(ctx, email, ctx.ahead)
    values = {"name": name, "email": email, "role": role, "status": "active", "account_id": account}
    known = find_known(ctx, email)
    check_signs_in_nowhere_else(ctx, email, known.id if known else None)
    if known is None:
        person = PEOPLE.insert(ctx, values | {"skills": []})
    elif known.status == "active":
        raise AlreadyHere(known)
    else:
        person = PEOPLE.save(ctx, known, values)
    ctx.record(PersonJoined(person))
    return person
