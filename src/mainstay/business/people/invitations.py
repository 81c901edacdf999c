"""How organisations and people are created: by the operator, or by accepting an invitation."""

from pydantic import Field, SecretStr

from mainstay.business.organisation import store as organisations
from mainstay.business.organisation.store import NewOrganisation
from mainstay.business.people.events import PersonJoined
from mainstay.business.people.model import Person, PersonExists
from mainstay.business.people.store import PEOPLE, check_sign_in_is_free, find_existing_person
from mainstay.identity import accounts, links
from mainstay.identity.links import LinkKind, OneTimeLink
from mainstay.identity.passwords import check_new_password, hash_password
from mainstay.identity.sign_in import InvalidLink, KnownAddress, WrongCredentials, check_password, look_up_address
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, Preparation, operation
from mainstay.values.descriptions import describe
from mainstay.values.fields import Country, Currency, Email, TextLine, TimeZone
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import HIGHEST_ROLE, Permission, Role
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid
from mainstay.vocabulary.schemas import Input, Output

OPERATOR_ONLY = frozenset({Door.CLI})


class CreateOrganisation(Input):
    """The organisation and its first owner."""

    name: TextLine = Field(description="The trading name.")
    country: Country = "GB"
    currency: Currency = "GBP"
    time_zone: TimeZone = "Europe/London"
    owner_name: TextLine = Field(description="The owner's full name.")
    owner_email: Email = Field(description="How the owner signs in.")
    password: SecretStr = Field(description="Only if they have no Mainstay account yet.")
    is_sample: bool = Field(
        default=False, description="A sample firm: it emails nobody but its owner, and can be deleted."
    )


class AddPerson(Input):
    """Who joins, and their role."""

    name: TextLine = Field(description="The person's full name.")
    email: Email = Field(description="How they sign in.")
    role: Role = Field(description="What they can do.")
    password: SecretStr | None = Field(
        None,
        description=describe("Only if they have no Mainstay account yet. [[Null for someone who does not sign in.]]"),
    )


class PasswordLinkOut(Output):
    """A link to set a new password: only its id, from which its secret is derived."""

    noun = "passwordLink"

    id: str


class AcceptInvitation(Input):
    """Details of the invited person; the link identifies them."""

    name: TextLine = Field(description="Your full name.")
    password: SecretStr = Field(description="A new password, or your current one if you already have an account.")


def _hash_owner_password(preparation: Preparation, given: CreateOrganisation) -> str:
    return accounts.hash_new_password(preparation, given.owner_email, given.password.get_secret_value())


def _hash_person_password(preparation: Preparation, given: AddPerson) -> str | None:
    if given.password is None:
        return None
    return accounts.hash_new_password(preparation, given.email, given.password.get_secret_value())


@operation(
    permission=Permission.OWNERS_NAME,
    effect=Effect.CHANGE,
    doors=OPERATOR_ONLY,
    prepare=_hash_owner_password,
    not_undone=Message("Remove the people instead."),
    past_text="Organisation created",
)
def create_organisation(ctx: Context, given: CreateOrganisation) -> Person:
    """Create organisation.

    Creates it with its first owner, and returns the owner.
    """
    new = NewOrganisation(given.name, given.country, given.currency, given.time_zone, given.is_sample)
    organisations.insert(ctx, new)
    return _add_active_person(ctx, given.owner_name, given.owner_email, HIGHEST_ROLE)


@operation(
    permission=Permission.OWNERS_NAME,
    effect=Effect.CHANGE,
    doors=OPERATOR_ONLY,
    prepare=_hash_person_password,
    not_undone=Message("Remove the person instead."),
    past_text="Person added",
)
def add_person(ctx: Context, given: AddPerson) -> Person:
    """Add person.

    They can sign in at once if they have a password. Someone who was invited or has left becomes active with this name
    and role.
    """
    return _add_active_person(ctx, given.name, given.email, given.role)


@operation(
    permission=Permission.OWNERS_NAME,
    effect=Effect.CHANGE,
    doors=OPERATOR_ONLY,
    on=PEOPLE,
    blocked_by=Person.password_not_resettable,
    only_adds=True,
    not_undone=Message("The link expires on its own."),
    past_text="Password reset link created",
)
def create_password_link(ctx: Context, _given: Input, person: Person) -> PasswordLinkOut:
    """Create password link.

    For someone who cannot receive email. The link sets a new password for their sign-in in all organisations, once and
    within an hour.
    """
    account = accounts.fetch_account_of(ctx, person.id)
    ctx.writer.touch(person.id)
    link = links.create_reset_link(ctx.db, account.id, account.email, ctx.now)
    return PasswordLinkOut(object=PasswordLinkOut.noun, id=link)


def _verify_password(preparation: Preparation, given: AcceptInvitation) -> tuple[KnownAddress, str]:
    """Check the password, and return the invited address's account with its password hash.

    For a new account, check that the password is good enough and hash it. For an existing one, verify it.
    """
    known_address: KnownAddress = preparation.read(lambda ctx: look_up_address(ctx.db, _fetch_invitation(ctx).email))
    password = given.password.get_secret_value()
    if known_address.account is None:
        check_new_password("password", password)
        return known_address, hash_password(password)
    try:
        check_password(known_address, password)
    except WrongCredentials:
        raise Invalid([Fault("password", Message("is not the password of your existing account"))]) from None
    return known_address, known_address.password_hash


@operation(
    permission=Permission.ME_CHANGE,
    effect=Effect.CHANGE,
    doors=frozenset({Door.OFFICE}),
    only_adds=False,
    prepare=_verify_password,
    not_undone=Message("The person can be removed instead."),
    past_text="Invitation accepted",
)
def accept_invitation(ctx: Context, given: AcceptInvitation) -> Person:
    """Accept invitation.

    Someone new signs in with this password. If they already have a Mainstay account, it must be that account's
    password.
    """
    link = _fetch_invitation(ctx)
    known_address, password_hash = ctx.prepared
    if look_up_address(ctx.db, link.email) != known_address:
        raise Conflict(Message("The account for this email has just changed. Try again."))
    if not links.use_link(ctx.db, link.id):
        raise InvalidLink
    invited = PEOPLE.fetch(ctx, link.person)
    check_sign_in_is_free(ctx, link.email, invited.id)
    account = known_address.account or accounts.insert(ctx, link.email, password_hash)
    person = PEOPLE.save(ctx, invited, {"name": given.name, "status": "active", "account_id": account})
    ctx.emit(PersonJoined(person))
    return person


OPERATIONS = (create_organisation, add_person, create_password_link, accept_invitation)


def _fetch_invitation(ctx: Context) -> OneTimeLink:
    """Return the invitation with which the person came in."""
    link = links.find(ctx.db, LinkKind.INVITATION, ctx.actor.credential, ctx.now)
    if link is None or link.person is None:
        raise InvalidLink
    return link


def _add_active_person(ctx: Context, name: str, email: str, role: Role) -> Person:
    # Without a password, the person does not sign in.
    account = None if ctx.prepared is None else accounts.find(ctx, email) or accounts.insert(ctx, email, ctx.prepared)
    values = {"name": name, "email": email, "role": role, "status": "active", "account_id": account}
    existing = find_existing_person(ctx, email)
    check_sign_in_is_free(ctx, email, existing.id if existing else None)
    if existing is None:
        person = PEOPLE.insert(ctx, values | {"skills": []})
    elif existing.status == "active":
        raise PersonExists(existing)
    else:
        person = PEOPLE.save(ctx, existing, values)
    ctx.emit(PersonJoined(person))
    return person
