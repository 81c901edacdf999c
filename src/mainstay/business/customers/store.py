"""Where customers, contacts and sites are kept."""

from collections.abc import Collection, Mapping
from typing import Any

import orjson

from mainstay.business.customers import duplicate_keys
from mainstay.business.customers.model import Contact, Customer, Site, site_name
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.ledger.search import with_any
from mainstay.terms.listed import NEWEST, FoundBy, ListOrder, Own
from mainstay.terms.refusal import Conflict, Fault, Invalid
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Kept
from mainstay.values.address import Address
from mainstay.values.search import kept_words, words_of_address, words_of_phone, words_of_postal_address, words_of_text
from mainstay.values.words import folded

# The chore that lets everything of a customer be found by its words again.
REWORD = "reword_records_of_customer"

# Whoever does not see every customer sees those of the jobs they see, with their contacts and sites; a subcontractor
# sees only the sites of their jobs, and whom one meets there.
_MINE = "mine.organisation_id = :organisation AND mine.person_id = :me"
_FROM_MINE = f"FROM own_job AS mine WHERE {_MINE}"
_MY_CUSTOMERS = f"SELECT mine.id FROM own_customer AS mine WHERE {_MINE}"
_MY_SITES = f"SELECT mine.site_id {_FROM_MINE} AND mine.site_id IS NOT NULL"
_IS_MY_SITE = f"EXISTS (SELECT 1 {_FROM_MINE} AND mine.site_id = site.id)"
_MET_THERE = (
    "SELECT met.contact_id FROM own_job AS mine JOIN site AS met ON met.organisation_id = mine.organisation_id"
    f" AND met.id = mine.site_id WHERE {_MINE} AND met.contact_id IS NOT NULL"
)
_IS_MET_THERE = (
    "EXISTS (SELECT 1 FROM site AS met JOIN own_job AS mine ON mine.organisation_id = met.organisation_id"
    " AND mine.site_id = met.id WHERE met.organisation_id = :organisation AND met.contact_id = contact.id"
    f" AND {_MINE})"
)


def _known_by_customer(table: str) -> str:
    return (
        f"SELECT known.id FROM own_customer AS mine JOIN {table} AS known"
        f" ON known.organisation_id = mine.organisation_id AND known.customer_id = mine.id WHERE {_MINE}"
    )


def _is_of_my_customer(table: str) -> str:
    return f"EXISTS (SELECT 1 FROM own_customer AS mine WHERE {_MINE} AND mine.id = {table}.customer_id)"


def _named(values: dict[str, Any]) -> dict[str, Any]:
    return values | ({"name_folded": folded(values["name"])} if "name" in values else {})


def _words_of_customer(
    name: str, email: str | None, phone: str | None, billing_address: str | None, reference: str | None
) -> frozenset[str]:
    plain = words_of_text(f"{name} {reference or ''}")
    return kept_words(plain, words_of_address(email), words_of_phone(phone), _words_of_place(billing_address))


def _words_of_contact(name: str, customer_name: str, email: str | None, phone: str | None) -> frozenset[str]:
    return kept_words(words_of_text(f"{name} {customer_name}"), words_of_address(email), words_of_phone(phone))


def _words_of_site(name: str, customer_name: str, address: str) -> frozenset[str]:
    return kept_words(words_of_text(f"{name} {customer_name}"), _words_of_place(address))


def _words_of_place(address: str | None) -> set[str]:
    return words_of_postal_address(orjson.loads(address) if address else {})


class CustomerListing(Listing[Customer]):
    """Customers, each written with the keys by which those who may be there twice are found."""

    def insert(self, ctx: Context, values: Mapping[str, Any], identity: str | None = None) -> Customer:
        """Add a customer with their keys."""
        customer = super().insert(ctx, values, identity)
        duplicate_keys.add(ctx.rows, customer.id, customer.duplicate_keys)
        return customer

    def save(self, ctx: Context, record: Customer, changes: Mapping[str, Any]) -> Customer:
        """Write the changed fields, and the keys that follow from them."""
        after = super().save(ctx, record, changes)
        if after.duplicate_keys != record.duplicate_keys:
            duplicate_keys.remove(ctx.rows, after.id, record.duplicate_keys - after.duplicate_keys)
            duplicate_keys.add(ctx.rows, after.id, after.duplicate_keys - record.duplicate_keys)
        return after

    def remove(self, ctx: Context, record: Customer) -> Customer:
        """Remove a customer with their keys."""
        duplicate_keys.remove(ctx.rows, record.id, record.duplicate_keys)
        return super().remove(ctx, record)


CUSTOMERS = CustomerListing(
    Customer,
    source="customer",
    what="customer",
    prefix="customer",
    id_field="customer_id",
    facts={
        "busy": "CASE WHEN EXISTS (SELECT 1 FROM job WHERE job.organisation_id = :organisation"
        " AND job.customer_id = customer.id AND job.status NOT IN ('closed', 'cancelled', 'done')) THEN 1 ELSE 0 END",
        "survivor": "(SELECT one.name || ' (' || one.id || ')' FROM customer AS one"
        " WHERE one.organisation_id = :organisation AND one.id = customer.merged_into_id)",
    },
    own=Own(granted="own_customer", copies=("status", "name_folded"), unless=Right.ALL_CUSTOMERS_READ),
    filters={"status": "customer.status = :status"},
    otherwise={"status": "customer.status = 'active'"},
    orders={NEWEST: ListOrder("id", descending=True), "name": ListOrder("name_folded")},
    found_by=(FoundBy(("name", "email", "phone", "billing_address", "reference"), _words_of_customer),),
    derived=_named,
)

_CUSTOMER_S_NAME = (
    "(SELECT customer.name FROM customer WHERE customer.organisation_id = :organisation"
    " AND customer.id = {}.customer_id)"
)
_CONTACT_S = (
    "(SELECT contact.{} FROM contact WHERE contact.organisation_id = :organisation AND contact.id = site.contact_id)"
)

CONTACTS = Listing(
    Contact,
    source="contact",
    what="contact",
    prefix="contact",
    id_field="contact_id",
    columns={"customer_name": _CUSTOMER_S_NAME.format("contact")},
    own=Own(
        within=_known_by_customer("contact"),
        through=_MY_CUSTOMERS,
        each=_is_of_my_customer("contact"),
        unless=Right.ALL_CUSTOMERS_READ,
        narrower=Own(within=_MET_THERE, each=_IS_MET_THERE, through=_MY_SITES, unless=Right.CUSTOMERS_READ),
    ),
    filters={"customer_id": "contact.customer_id = :customer_id", "status": "contact.status = :status"},
    otherwise={"status": "contact.status = 'active'"},
    found_by=(FoundBy(("name", "customer_name", "email", "phone"), _words_of_contact),),
)

SITES = Listing(
    Site,
    source="site",
    what="site",
    prefix="site",
    id_field="site_id",
    columns={
        "customer_name": _CUSTOMER_S_NAME.format("site"),
        "contact_name": _CONTACT_S.format("name"),
        "contact_phone": _CONTACT_S.format("phone"),
    },
    own=Own(
        within=_known_by_customer("site"),
        through=_MY_CUSTOMERS,
        each=_is_of_my_customer("site"),
        unless=Right.ALL_CUSTOMERS_READ,
        narrower=Own(within=_MY_SITES, each=_IS_MY_SITE, unless=Right.CUSTOMERS_READ),
    ),
    filters={"customer_id": "site.customer_id = :customer_id", "status": "site.status = :status"},
    otherwise={"status": "site.status = 'active'"},
    found_by=(FoundBy(("name", "customer_name", "address"), _words_of_site),),
)


def insert_site(ctx: Context, customer: str, address: Address) -> Site:
    """Add a site that is called by its address."""
    values = {"customer_id": customer, "name": site_name(None, address), "address": address, "status": "active"}
    return SITES.insert(ctx, values)


def find_sites(ctx: Context, customer: str) -> list[Site]:
    """Return the newest sites in use of a customer: one or two of them tell whether it is the only one."""
    return SITES.find_newest(ctx, _ENOUGH_SITES, customer_id=customer, status="active")


# So many show whether there are several.
_ENOUGH_SITES = 2


def check_site(ctx: Context, site: str | None, customer: str) -> None:
    """Refuse a site that is another customer's."""
    if site and SITES.fetch(ctx, site).customer_id != customer:
        raise Invalid([Fault("siteId", "is a site of another customer; list_sites tells this one's")])


def check_reference(ctx: Context, listing: Listing[Any], reference: str | None, but: Kept | None = None) -> None:
    """Refuse what another system calls a record, where it calls another one so."""
    called_so = f"{listing.table}.external_ref = :reference"
    known: Kept | None = listing.find(ctx, called_so, reference=reference) if reference else None
    if known and (but is None or known.id != but.id):
        merged = known.if_merged() if isinstance(known, Customer) else []
        what = merged[0].text if merged else f"Change that {listing.what}, or use another."
        raise Conflict(f"{known.called} has the reference {reference} already. {what}")


def twice(ctx: Context, name: str, email: str | None, phone: str | None) -> list[str]:
    """Who may be the customer that is about to be added, in words: nothing forbids two that are alike."""
    named = CUSTOMERS.find(ctx, "customer.name_folded = :name AND customer.merged_into_id IS NULL", name=folded(name))
    address = {word for word in words_of_address(email) if word[0] == "@" != word[1]}
    number = {word for word in words_of_phone(phone) if word[0] == "+"}
    same: dict[str, tuple[Customer, str]] = {}
    found = {"name": [named] if named else [], "e-mail address": _with(ctx, address)}
    for what, customers in (found | {"phone number": _with(ctx, number)}).items():
        same |= {one.id: (one, what) for one in customers if one.id not in same and not one.merged_into_id}
    return [
        f"{one.called} has the same {what}. If they are one, merge the two (merge_customers with {one.id})."
        for one, what in same.values()
    ]


def _with(ctx: Context, words: Collection[str]) -> list[Customer]:
    """One or two customers that are found by one of these words, just so."""
    found = with_any(ctx.rows, CUSTOMERS.prefix, words) if words else []
    customers = (CUSTOMERS.find(ctx, "customer.id = :id", id=identity) for identity in found)
    return [customer for customer in customers if customer]
