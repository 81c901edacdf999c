"""Sites, where the work is, and contacts, whom one speaks to."""

from typing import Annotated, Any

from pydantic import Field

from mainstay.business.customers.model import Contact, ContactOut, Receives, Site, SiteOut, Status, site_name
from mainstay.business.customers.store import CONTACTS, CUSTOMERS, REWORD, SITES, check_reference
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.ledger.outbox import Letter
from mainstay.terms.actor import NO_TOOL
from mainstay.terms.refusal import Conflict, Fault, Invalid, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, ListInput, Page
from mainstay.values.address import Address
from mainstay.values.fields import LAST_SEEN, Email, Line, Paragraph, Phone, TimeZone, Usual, id_of, omittable
from mainstay.values.search import SearchText

_CustomerFilter = Annotated[str | None, id_of("customer")]
_CustomerId = Annotated[str, id_of("customer")]
_NewStatus = Annotated[Status, Usual("active")]


class ListSites(ListInput):
    """Which sites to list."""

    starting_after: Annotated[str | None, id_of("site")] = LAST_SEEN
    customer_id: _CustomerFilter = Field(None, title="Customer", description="Only the sites of this customer.")
    status: Status | None = Field(None, description="Only these. Without it, those in use.")
    text: SearchText | None = Field(None, title="Search", description="Words of name, address or customer.")


class GetSite(Input):
    """Which site."""

    site_id: str = Field(description="The site's id.")


class SaveSite(Input):
    """A new site of a customer or, with its id, what to change of one; null clears."""

    site_id: Annotated[str | None, id_of("site")] = Field(None, description="To change a site. Without it, a new one.")
    customer_id: _CustomerId = omittable(title="Customer", description="Whose site it is. A new one needs it.")
    name: Line | None = Field(None, description="What people call it. Without it, the beginning of its address.")
    address: Address = omittable(description="Where it is. A new one needs it.")
    time_zone: TimeZone | None = Field(None, description="Where its clocks are, if not as the organisation's.")
    access_notes: Paragraph | None = Field(None, title="Access", description="How one gets in. The field reads it.")
    contact_id: Annotated[str | None, id_of("contact")] = Field(
        None, title="Contact", description="Whom one meets there: a contact of the same customer."
    )
    status: _NewStatus = omittable(description="`archived` takes it out of the lists.")
    external_ref: Line | None = Field(None, title="Reference elsewhere", description="What another system calls it.")


class ListContacts(ListInput):
    """Which contacts to list."""

    starting_after: Annotated[str | None, id_of("contact")] = LAST_SEEN
    customer_id: _CustomerFilter = Field(None, title="Customer", description="Only the contacts of this customer.")
    status: Status | None = Field(None, description="Only these. Without it, those in use.")
    text: SearchText | None = Field(None, title="Search", description="Words of name or customer, e-mail, phone.")


class GetContact(Input):
    """Which contact."""

    contact_id: str = Field(description="The contact's id.")


class SaveContact(Input):
    """A new contact of a customer or, with its id, what to change of one; null clears."""

    contact_id: Annotated[str | None, id_of("contact")] = Field(
        None, description="To change a contact. Without it, a new one."
    )
    customer_id: _CustomerId = omittable(title="Customer", description="Whose contact it is. A new one needs it.")
    name: Line = omittable(description="Their name. A new one needs it.")
    role: Line | None = Field(None, description="What they are there, such as caretaker.")
    email: Email | None = Field(None, title="E-mail address", description="Where mail to them goes.")
    phone: Phone | None = Field(None, description="Such as +44 1422 555 0142.")
    receives: Receives = omittable(description="What is mailed to them.")
    status: _NewStatus = omittable(description="`archived` takes them out of the lists.")
    external_ref: Line | None = Field(None, title="Reference elsewhere", description="What another system calls them.")


@operation(right=Right.SITES_READ, effect=Effect.READ, rest="GET /sites")
def list_sites(ctx: Context, given: ListSites) -> Page[SiteOut]:
    """List sites.

    Members see those of the customers they work for, subcontractors those of their own jobs.
    """
    return SITES.page(ctx, given)


@operation(
    right=Right.SITES_READ, effect=Effect.READ, rest="GET /sites/{site_id}", glances=True, on=SITES, offered=NO_TOOL
)
def get_site(_ctx: Context, _given: GetSite, site: Site) -> Site:
    """Get a site.

    Where it is, how one gets in, and whom one meets there.
    """
    return site


@operation(
    right=Right.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /sites",
    on=SITES,
    makes=True,
    done="The site is saved.",
)
def save_site(ctx: Context, given: SaveSite, site: Site | None) -> Site:
    """Save a site.

    Without siteId it adds one to a customer, with it it changes one: only what is sent.
    """
    values = given.sent("site_id")
    check_reference(ctx, SITES, given.external_ref, site)
    if site is None:
        given.needs("customer_id", "address")
        refuse(CUSTOMERS.fetch(ctx, given.customer_id).not_usable())
        values["name"] = site_name(given.name, given.address)
        _check_contact(ctx, given.contact_id, given.customer_id)
        return SITES.insert(ctx, {"status": "active"} | values)
    _check_same(ctx, site.customer_id, values, "site")
    nameless = not given.name if "name" in values else site.is_called_by_its_address
    if nameless:
        values["name"] = site_name(None, given.address or site.place)
    _check_contact(ctx, given.contact_id, site.customer_id)
    after = SITES.save(ctx, site, values)
    if (after.name, after.address) != (site.name, site.address):
        # Jobs are found by where they are: many, maybe, so not here.
        ctx.post(Letter(REWORD, {"customer": site.customer_id}))
    return after


@operation(right=Right.SITES_READ, effect=Effect.READ, rest="GET /contacts")
def list_contacts(ctx: Context, given: ListContacts) -> Page[ContactOut]:
    """List contacts.

    Members see those of the customers they work for, subcontractors those they meet at their own jobs.
    """
    return CONTACTS.page(ctx, given)


@operation(
    right=Right.SITES_READ,
    effect=Effect.READ,
    rest="GET /contacts/{contact_id}",
    glances=True,
    on=CONTACTS,
    offered=NO_TOOL,
)
def get_contact(_ctx: Context, _given: GetContact, contact: Contact) -> Contact:
    """Get a contact.

    Who they are at which customer's, and how to reach them.
    """
    return contact


@operation(
    right=Right.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /contacts",
    on=CONTACTS,
    makes=True,
    done="The contact is saved.",
)
def save_contact(ctx: Context, given: SaveContact, contact: Contact | None) -> Contact:
    """Save a contact.

    Without contactId it adds one to a customer, with it it changes one: only what is sent.
    """
    values = given.sent("contact_id")
    check_reference(ctx, CONTACTS, given.external_ref, contact)
    if contact is None:
        given.needs("customer_id", "name")
        refuse(CUSTOMERS.fetch(ctx, given.customer_id).not_usable())
        return CONTACTS.insert(ctx, {"status": "active", "receives": Receives()} | values)
    _check_same(ctx, contact.customer_id, values, "contact")
    return CONTACTS.save(ctx, contact, values)


OPERATIONS = (list_sites, get_site, save_site, list_contacts, get_contact, save_contact)


def _check_same(ctx: Context, customer: str, values: dict[str, Any], what: str) -> None:
    """A record stays with its customer: jobs and documents name both."""
    named = values.pop("customer_id", customer)
    if named != customer:
        refuse(CUSTOMERS.fetch(ctx, named).if_merged())
        raise Conflict(f"A {what} stays with its customer. Add one to the other customer, or merge the two customers.")


def _check_contact(ctx: Context, contact: str | None, customer: str) -> None:
    if contact and CONTACTS.fetch(ctx, contact).customer_id != customer:
        raise Invalid([Fault("contactId", "is a contact of another customer; list_contacts tells this one's")])
