"""How an organisation begins and how people come into it without an invitation: by the operator's hand."""

from pydantic import Field, SecretStr

from mainstay.business.organisation import store as organisations
from mainstay.business.people import store
from mainstay.business.people.model import PersonOut
from mainstay.identity import accounts
from mainstay.kernel.actor import Door
from mainstay.kernel.context import Context
from mainstay.kernel.event import Event
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.refusal import Conflict
from mainstay.kernel.rights import Right, Role
from mainstay.kernel.shapes import Input, One
from mainstay.values.fields import Country, Currency, Email, Line, TimeZone

BY_OPERATOR = frozenset({Door.CLI})


class PersonJoined(Event):
    """A person became active."""

    name = "person.joined"


class CreateOrganisation(Input):
    """The organisation and its first owner."""

    name: Line
    country: Country = "GB"
    currency: Currency = "GBP"
    time_zone: TimeZone = "Europe/London"
    owner_name: Line
    owner_email: Email
    password: SecretStr = Field(description="For the owner's sign-in, if they have none yet.")


class AddPerson(Input):
    """Who joins, and as what."""

    name: Line
    email: Email
    role: Role
    password: SecretStr = Field(description="For the person's sign-in, if they have none yet.")


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


def _join(ctx: Context, name: str, email: str, role: Role, password: SecretStr) -> One[PersonOut]:
    account = accounts.find(ctx, email) or accounts.insert(ctx, email, password.get_secret_value())
    values = {"name": name, "email": email, "role": role, "status": "active", "account_id": account}
    known = store.find_by_email(ctx, email)
    if known is None:
        identity = store.insert(ctx, values | {"skills": []})
    elif known.status == "active":
        raise Conflict(f"{email} is already a person of this organisation: {known.name} ({known.id}).")
    else:
        identity = known.id
        store.save(ctx, identity, values)
    result = store.show(ctx, identity)
    ctx.record(PersonJoined(result))
    return result
