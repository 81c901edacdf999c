"""Operations on sites, where work is done, and on contacts, the people at a customer."""

from typing import Annotated, Any

from pydantic import Field

from mainstay.business.customers.model import (
    Contact,
    Receives,
    Site,
    choose_site_name,
)
from mainstay.business.customers.store import CONTACTS, CUSTOMERS, REFRESH_CUSTOMER_SEARCH, SITES, check_external_ref
from mainstay.business.records.model import ArchivableStatus
from mainstay.changes.outbox import OutboxTask
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import restore_values_or_archive
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get, declare_list
from mainstay.values.address import Address
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    DefaultValue,
    Email,
    ExternalRef,
    Paragraph,
    Phone,
    TextLine,
    TimeZone,
    make_id_validator,
    omittable_field,
)
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input
from mainstay.vocabulary.toolsets import Toolset

_OptionalCustomerId = Annotated[str | None, make_id_validator("customer")]
_CustomerId = Annotated[str, make_id_validator("customer")]
_Status = Annotated[ArchivableStatus, DefaultValue("active")]


class SaveSite(Input):
    """A new site of a customer or, with its id, the fields to change; null clears."""

    site_id: Annotated[str | None, make_id_validator("site")] = Field(
        None, description="The site to change. Without it, a new site."
    )
    customer_id: _CustomerId = omittable_field(title="Customer", description=describe("[[Required for a new site.]]"))
    name: TextLine | None = Field(None, description="Default: the first line of the address.")
    address: Address = omittable_field(description=describe("Where you work. [[Required for a new site.]]"))
    time_zone: TimeZone | None = Field(None, description="If it differs from your organisation's.")
    access_notes: Paragraph | None = Field(None, title="Access", description="How to get in. Visible to field staff.")
    contact_id: Annotated[str | None, make_id_validator("contact")] = Field(
        None, title="Contact", description="The contact on site, of the same customer."
    )
    status: _Status = omittable_field(description=describe("[[`archived` hides it from lists.]]"))
    external_ref: ExternalRef = None


class SaveContact(Input):
    """A new contact of a customer or, with its id, the fields to change; null clears."""

    contact_id: Annotated[str | None, make_id_validator("contact")] = Field(
        None, description="The contact to change. Without it, a new contact."
    )
    customer_id: _CustomerId = omittable_field(
        title="Customer", description=describe("[[Required for a new contact.]]")
    )
    name: TextLine = omittable_field(description=describe("Their name. [[Required for a new contact.]]"))
    role: TextLine | None = Field(None, description="E.g. caretaker.")
    email: Email | None = Field(None, description="Their documents are sent here.")
    phone: Phone | None = Field(None, description="E.g. +44 1422 555 0142.")
    receives: Receives = omittable_field(description="Which documents they get by email.")
    status: _Status = omittable_field(description=describe("[[`archived` hides them from lists.]]"))
    external_ref: ExternalRef = None


list_sites = declare_list(
    SITES,
    "List sites. The addresses where work is done. Members see the sites of customers they work for,"
    " subcontractors those of their own jobs.",
    Permission.SITES_READ,
    {
        "customer_id": "Only the sites of this customer.",
        "status": "Only this status. Default: active.",
        "text": "Words of the name, address or customer.",
    },
    api_path="GET /sites",
)


get_site = declare_get(
    SITES,
    "Show site. Its address, how to get in, and the contact there.",
    Permission.SITES_READ,
    api_path="GET /sites/{site_id}",
    extra_toolset=Toolset.SINGLE_RECORDS,
)


@operation(
    permission=Permission.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /sites",
    on=SITES,
    creates_without_id=True,
    undone_by=restore_values_or_archive,
    past_text="Site saved",
)
def save_site(ctx: Context, given: SaveSite, site: Site | None) -> Site:
    """Save site.

    A site is an address where you work for the customer. [[Adds one, or with `siteId` changes only the fields you
    send.]]
    """
    values = given.sent_fields("site_id")
    check_external_ref(ctx, SITES, given.external_ref, site)
    if site is None:
        given.require("customer_id", "address")
        raise_if_blocked(CUSTOMERS.fetch(ctx, given.customer_id).not_usable())
        values["name"] = choose_site_name(given.name, given.address)
        _check_contact(ctx, given.contact_id, given.customer_id)
        return SITES.insert(ctx, {"status": "active"} | values)
    _check_same_customer(ctx, site.customer_id, values, _SITE_STAYS)
    named_after_address = not given.name if "name" in values else site.is_named_after_address
    if named_after_address:
        values["name"] = choose_site_name(None, given.address or site.parsed_address)
    _check_contact(ctx, given.contact_id, site.customer_id)
    updated = SITES.save(ctx, site, values)
    if (updated.name, updated.address) != (site.name, site.address):
        # Jobs are found by their site. There may be many, so a task updates their search words.
        ctx.add_task(OutboxTask(REFRESH_CUSTOMER_SEARCH, {"customer": site.customer_id}))
    return updated


list_contacts = declare_list(
    CONTACTS,
    "List contacts. The people to speak to. Members see the contacts of customers they work for, subcontractors"
    " those of their own jobs.",
    Permission.SITES_READ,
    {
        "customer_id": "Only the contacts of this customer.",
        "status": "Only this status. Default: active.",
        "text": "Name, customer, email or phone.",
    },
    api_path="GET /contacts",
)


get_contact = declare_get(
    CONTACTS,
    "Show contact. Who they are, their customer, and how to reach them.",
    Permission.SITES_READ,
    api_path="GET /contacts/{contact_id}",
    extra_toolset=Toolset.SINGLE_RECORDS,
)


@operation(
    permission=Permission.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /contacts",
    on=CONTACTS,
    creates_without_id=True,
    undone_by=restore_values_or_archive,
    past_text="Contact saved",
)
def save_contact(ctx: Context, given: SaveContact, contact: Contact | None) -> Contact:
    """Save contact.

    Someone to speak to at the customer. [[Adds a contact, or with `contactId` changes only the fields you send.]]
    """
    values = given.sent_fields("contact_id")
    check_external_ref(ctx, CONTACTS, given.external_ref, contact)
    if contact is None:
        given.require("customer_id", "name")
        raise_if_blocked(CUSTOMERS.fetch(ctx, given.customer_id).not_usable())
        return CONTACTS.insert(ctx, {"status": "active", "receives": Receives()} | values)
    _check_same_customer(ctx, contact.customer_id, values, _CONTACT_STAYS)
    return CONTACTS.save(ctx, contact, values)


OPERATIONS = (list_sites, get_site, save_site, list_contacts, get_contact, save_contact)


_SITE_STAYS = Message(
    "A site can't move to another customer. Create one for the other customer, or merge the two customers."
)
_CONTACT_STAYS = Message(
    "A contact can't move to another customer. Create one for the other customer, or merge the two customers."
)


def _check_same_customer(ctx: Context, customer_id: str, values: dict[str, Any], message: Message) -> None:
    """Refuse to move a site or contact to another customer: jobs and documents name it together with its customer.

    If the wanted customer was merged into another one, the refusal says that instead.
    """
    wanted_id = values.pop("customer_id", customer_id)
    if wanted_id != customer_id:
        raise_if_blocked(CUSTOMERS.fetch(ctx, wanted_id).reasons_if_merged())
        raise Conflict(message)


def _check_contact(ctx: Context, contact_id: str | None, customer_id: str) -> None:
    if contact_id and CONTACTS.fetch(ctx, contact_id).customer_id != customer_id:
        hint = Message("list_contacts shows this customer's contacts")
        raise Invalid([Fault("contactId", Message("belongs to another customer", for_programs=hint))])
