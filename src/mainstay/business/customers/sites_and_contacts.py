"""Operations on sites, where work is done, and on contacts, the people at a customer."""

from typing import Annotated, Any

from pydantic import Field

from mainstay.business.customers.model import (
    Contact,
    ContactOut,
    Receives,
    Site,
    SiteOut,
    choose_site_name,
)
from mainstay.business.customers.store import CONTACTS, CUSTOMERS, REFRESH_CUSTOMER_SEARCH, SITES, check_external_ref
from mainstay.business.records.model import ArchivableStatus
from mainstay.changes.outbox import OutboxTask
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.address import Address
from mainstay.values.fields import (
    STARTING_AFTER,
    DefaultValue,
    Email,
    Paragraph,
    Phone,
    TextLine,
    TimeZone,
    make_id_validator,
    omittable_field,
)
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.actor import API_AND_OFFICE
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input, ListInput, PageResult

_OptionalCustomerId = Annotated[str | None, make_id_validator("customer")]
_CustomerId = Annotated[str, make_id_validator("customer")]
_Status = Annotated[ArchivableStatus, DefaultValue("active")]


class ListSites(ListInput):
    """Which sites to list."""

    starting_after: Annotated[str | None, make_id_validator("site")] = STARTING_AFTER
    customer_id: _OptionalCustomerId = Field(None, title="Customer", description="Only the sites of this customer.")
    status: ArchivableStatus | None = Field(None, description="Only these. Without it, those in use.")
    text: SearchText | None = Field(None, title="Search", description="Words of name, address or customer.")


class GetSite(Input):
    """Which site."""

    site_id: str = Field(description="The site's id.")


class SaveSite(Input):
    """A new site of a customer or, with its id, what to change of one; null clears."""

    site_id: Annotated[str | None, make_id_validator("site")] = Field(
        None, description="To change a site. Without it, a new one."
    )
    customer_id: _CustomerId = omittable_field(title="Customer", description="Whose site it is. A new one needs it.")
    name: TextLine | None = Field(None, description="What people call it. Without it, the beginning of its address.")
    address: Address = omittable_field(description="Where it is. A new one needs it.")
    time_zone: TimeZone | None = Field(None, description="Where its clocks are, if not as the organisation's.")
    access_notes: Paragraph | None = Field(None, title="Access", description="How one gets in. The field reads it.")
    contact_id: Annotated[str | None, make_id_validator("contact")] = Field(
        None, title="Contact", description="Whom one meets there: a contact of the same customer."
    )
    status: _Status = omittable_field(description="`archived` takes it out of the lists.")
    external_ref: TextLine | None = Field(
        None, title="Reference elsewhere", description="What another system calls it."
    )


class ListContacts(ListInput):
    """Which contacts to list."""

    starting_after: Annotated[str | None, make_id_validator("contact")] = STARTING_AFTER
    customer_id: _OptionalCustomerId = Field(None, title="Customer", description="Only the contacts of this customer.")
    status: ArchivableStatus | None = Field(None, description="Only these. Without it, those in use.")
    text: SearchText | None = Field(None, title="Search", description="Words of name or customer, e-mail, phone.")


class GetContact(Input):
    """Which contact."""

    contact_id: str = Field(description="The contact's id.")


class SaveContact(Input):
    """A new contact of a customer or, with its id, what to change of one; null clears."""

    contact_id: Annotated[str | None, make_id_validator("contact")] = Field(
        None, description="To change a contact. Without it, a new one."
    )
    customer_id: _CustomerId = omittable_field(title="Customer", description="Whose contact it is. A new one needs it.")
    name: TextLine = omittable_field(description="Their name. A new one needs it.")
    role: TextLine | None = Field(None, description="What they are there, such as caretaker.")
    email: Email | None = Field(None, title="E-mail address", description="Where mail to them goes.")
    phone: Phone | None = Field(None, description="Such as +44 1422 555 0142.")
    receives: Receives = omittable_field(description="What is mailed to them.")
    status: _Status = omittable_field(description="`archived` takes them out of the lists.")
    external_ref: TextLine | None = Field(
        None, title="Reference elsewhere", description="What another system calls them."
    )


@operation(permission=Permission.SITES_READ, effect=Effect.READ, api_path="GET /sites")
def list_sites(ctx: Context, given: ListSites) -> PageResult[SiteOut]:
    """List sites.

    Members see those of the customers they work for, subcontractors those of their own jobs.
    """
    return SITES.page(ctx, given)


@operation(
    permission=Permission.SITES_READ,
    effect=Effect.READ,
    api_path="GET /sites/{site_id}",
    single_statement=True,
    on=SITES,
    doors=API_AND_OFFICE,
)
def get_site(_ctx: Context, _given: GetSite, site: Site) -> Site:
    """Get a site.

    Where it is, how one gets in, and whom one meets there.
    """
    return site


@operation(
    permission=Permission.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /sites",
    on=SITES,
    creates_without_id=True,
    done_message="The site is saved.",
)
def save_site(ctx: Context, given: SaveSite, site: Site | None) -> Site:
    """Save a site.

    Without siteId it adds one to a customer, with it it changes one: only what is sent.
    """
    values = given.sent_fields("site_id")
    check_external_ref(ctx, SITES, given.external_ref, site)
    if site is None:
        given.require("customer_id", "address")
        raise_if_blocked(CUSTOMERS.fetch(ctx, given.customer_id).not_usable())
        values["name"] = choose_site_name(given.name, given.address)
        _check_contact(ctx, given.contact_id, given.customer_id)
        return SITES.insert(ctx, {"status": "active"} | values)
    _check_same_customer(ctx, site.customer_id, values, "site")
    named_after_address = not given.name if "name" in values else site.is_named_after_address
    if named_after_address:
        values["name"] = choose_site_name(None, given.address or site.parsed_address)
    _check_contact(ctx, given.contact_id, site.customer_id)
    updated = SITES.save(ctx, site, values)
    if (updated.name, updated.address) != (site.name, site.address):
        # Jobs are found by their site. There may be many, so a task updates their search words.
        ctx.add_task(OutboxTask(REFRESH_CUSTOMER_SEARCH, {"customer": site.customer_id}))
    return updated


@operation(permission=Permission.SITES_READ, effect=Effect.READ, api_path="GET /contacts")
def list_contacts(ctx: Context, given: ListContacts) -> PageResult[ContactOut]:
    """List contacts.

    Members see those of the customers they work for, subcontractors those they meet at their own jobs.
    """
    return CONTACTS.page(ctx, given)


@operation(
    permission=Permission.SITES_READ,
    effect=Effect.READ,
    api_path="GET /contacts/{contact_id}",
    single_statement=True,
    on=CONTACTS,
    doors=API_AND_OFFICE,
)
def get_contact(_ctx: Context, _given: GetContact, contact: Contact) -> Contact:
    """Get a contact.

    Who they are at which customer's, and how to reach them.
    """
    return contact


@operation(
    permission=Permission.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /contacts",
    on=CONTACTS,
    creates_without_id=True,
    done_message="The contact is saved.",
)
def save_contact(ctx: Context, given: SaveContact, contact: Contact | None) -> Contact:
    """Save a contact.

    Without contactId it adds one to a customer, with it it changes one: only what is sent.
    """
    values = given.sent_fields("contact_id")
    check_external_ref(ctx, CONTACTS, given.external_ref, contact)
    if contact is None:
        given.require("customer_id", "name")
        raise_if_blocked(CUSTOMERS.fetch(ctx, given.customer_id).not_usable())
        return CONTACTS.insert(ctx, {"status": "active", "receives": Receives()} | values)
    _check_same_customer(ctx, contact.customer_id, values, "contact")
    return CONTACTS.save(ctx, contact, values)


OPERATIONS = (list_sites, get_site, save_site, list_contacts, get_contact, save_contact)


def _check_same_customer(ctx: Context, customer_id: str, values: dict[str, Any], noun: str) -> None:
    """Refuse to move a site or contact to another customer: jobs and documents name it together with its customer.

    If the wanted customer was merged into another one, the refusal says that instead.
    """
    wanted_id = values.pop("customer_id", customer_id)
    if wanted_id != customer_id:
        raise_if_blocked(CUSTOMERS.fetch(ctx, wanted_id).reasons_if_merged())
        raise Conflict(f"A {noun} stays with its customer. Add one to the other customer, or merge the two customers.")


def _check_contact(ctx: Context, contact_id: str | None, customer_id: str) -> None:
    if contact_id and CONTACTS.fetch(ctx, contact_id).customer_id != customer_id:
        raise Invalid([Fault("contactId", "is a contact of another customer; list_contacts tells this one's")])
