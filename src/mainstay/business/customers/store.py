"""Storage of customers, contacts and sites."""

from collections.abc import Collection, Mapping
from typing import Any

import orjson

from mainstay.business.customers import duplicate_keys
from mainstay.business.customers.model import Contact, Customer, Site, choose_site_name
from mainstay.changes.search import find_with_words
from mainstay.kernel.context import Context
from mainstay.kernel.kind import Kind
from mainstay.kernel.record_store import RecordStore, select_related
from mainstay.values.address import Address
from mainstay.values.choices import fold_text
from mainstay.values.duplicate_keys import SharedDetail
from mainstay.values.message import Message
from mainstay.values.search_words import (
    combine_words,
    words_of_address,
    words_of_phone,
    words_of_postal_address,
    words_of_text,
)
from mainstay.vocabulary.list_queries import NEWEST, ListOrder, SearchFields, Visibility
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, join_messages
from mainstay.vocabulary.schemas import StoredRecord

# The kind of the task that refreshes the search words of a customer and their records.
REFRESH_CUSTOMER_SEARCH = "reword_records_of_customer"

# People who do not see every customer see those of the jobs they see, with their contacts and sites. A subcontractor
# sees only the sites of their jobs, and the contacts of those sites.
IS_MINE = "mine.organisation_id = :organisation AND mine.person_id = :me"
_FROM_MY_JOBS = f"FROM own_job AS mine WHERE {IS_MINE}"
_MY_CUSTOMERS = f"SELECT mine.id FROM own_customer AS mine WHERE {IS_MINE}"
_MY_SITES = f"SELECT mine.site_id {_FROM_MY_JOBS} AND mine.site_id IS NOT NULL"
_IS_MY_SITE = f"EXISTS (SELECT 1 {_FROM_MY_JOBS} AND mine.site_id = site.id)"
_MY_SITE_CONTACTS = (
    "SELECT met.contact_id FROM own_job AS mine JOIN site AS met ON met.organisation_id = mine.organisation_id"
    f" AND met.id = mine.site_id WHERE {IS_MINE} AND met.contact_id IS NOT NULL"
)
_IS_MY_SITE_CONTACT = (
    "EXISTS (SELECT 1 FROM site AS met JOIN own_job AS mine ON mine.organisation_id = met.organisation_id"
    " AND mine.site_id = met.id WHERE met.organisation_id = :organisation AND met.contact_id = contact.id"
    f" AND {IS_MINE})"
)


def _my_records_sql(table: str) -> str:
    return (
        f"SELECT known.id FROM own_customer AS mine JOIN {table} AS known"
        f" ON known.organisation_id = mine.organisation_id AND known.customer_id = mine.id WHERE {IS_MINE}"
    )


def _is_mine_sql(table: str) -> str:
    return f"EXISTS (SELECT 1 FROM own_customer AS mine WHERE {IS_MINE} AND mine.id = {table}.customer_id)"


def make_visibility(of_customers: tuple[str, str], of_sites: tuple[str, str]) -> Visibility:
    """Return which records people see at the customers they work for, and subcontractors at the sites of their jobs.

    Each is a statement for the ids of these records, and the same as a condition on a row.
    """
    customer_ids, is_at_customer = of_customers
    site_ids, is_at_site = of_sites
    return Visibility(
        ids_query=customer_ids,
        row_condition=is_at_customer,
        count_query=_MY_CUSTOMERS,
        unrestricted_with=Permission.ALL_CUSTOMERS_READ,
        narrower=Visibility(
            ids_query=site_ids,
            row_condition=is_at_site,
            count_query=_MY_SITES,
            unrestricted_with=Permission.CUSTOMERS_READ,
        ),
    )


def add_folded_name(values: dict[str, Any]) -> dict[str, Any]:
    """Add the name in the form by which lists are ordered."""
    return values | ({"name_folded": fold_text(values["name"])} if "name" in values else {})


def _words_of_customer(
    name: str, email: str | None, phone: str | None, billing_address: str | None, reference: str | None
) -> frozenset[str]:
    text_words = words_of_text(f"{name} {reference or ''}")
    return combine_words(
        text_words, words_of_address(email), words_of_phone(phone), _words_of_stored_address(billing_address)
    )


def _words_of_contact(name: str, customer_name: str, email: str | None, phone: str | None) -> frozenset[str]:
    return combine_words(words_of_text(f"{name} {customer_name}"), words_of_address(email), words_of_phone(phone))


def _words_of_site(name: str, customer_name: str, address: str) -> frozenset[str]:
    return combine_words(words_of_text(f"{name} {customer_name}"), _words_of_stored_address(address))


def _words_of_stored_address(address: str | None) -> set[str]:
    return words_of_postal_address(orjson.loads(address) if address else {})


class CustomerStore(Kind[Customer]):
    """The store of customers, which also stores their duplicate keys."""

    def insert(self, ctx: Context, values: Mapping[str, Any], record_id: str | None = None) -> Customer:
        """Add a customer with their duplicate keys."""
        customer = super().insert(ctx, values, record_id)
        duplicate_keys.add_keys(ctx.db, customer.id, customer.duplicate_keys)
        return customer

    def save(self, ctx: Context, record: Customer, changes: Mapping[str, Any]) -> Customer:
        """Write the changed fields, and update the duplicate keys."""
        updated = super().save(ctx, record, changes)
        if updated.duplicate_keys != record.duplicate_keys:
            duplicate_keys.remove_keys(ctx.db, updated.id, record.duplicate_keys - updated.duplicate_keys)
            duplicate_keys.add_keys(ctx.db, updated.id, updated.duplicate_keys - record.duplicate_keys)
        return updated

    def remove(self, ctx: Context, record: Customer) -> Customer:
        """Remove a customer with their duplicate keys."""
        duplicate_keys.remove_keys(ctx.db, record.id, record.duplicate_keys)
        return super().remove(ctx, record)


CUSTOMERS = CustomerStore(
    Customer,
    source="customer",
    area="Customers",
    columns={
        "busy": "CASE WHEN EXISTS (SELECT 1 FROM job WHERE job.organisation_id = :organisation"
        " AND job.customer_id = customer.id AND job.status NOT IN ('closed', 'cancelled', 'done')) THEN 1 ELSE 0 END",
        "survivor": "(SELECT one.name FROM customer AS one"
        " WHERE one.organisation_id = :organisation AND one.id = customer.merged_into_id)",
    },
    visibility=Visibility(
        grant_table="own_customer",
        copied_columns=("status", "name_folded"),
        unrestricted_with=Permission.ALL_CUSTOMERS_READ,
    ),
    equal_filters=("status",),
    default_conditions={"status": "customer.status = 'active'"},
    orders={NEWEST: ListOrder("id", descending=True), "name": ListOrder("name_folded")},
    search_fields=(SearchFields(("name", "email", "phone", "billing_address", "reference"), _words_of_customer),),
    derive_columns=add_folded_name,
)

CONTACTS = Kind(
    Contact,
    source="contact",
    area="Customers",
    columns={"customer_name": select_related("customer.name", "contact.customer_id")},
    visibility=make_visibility(
        (_my_records_sql("contact"), _is_mine_sql("contact")), (_MY_SITE_CONTACTS, _IS_MY_SITE_CONTACT)
    ),
    equal_filters=("customer_id", "status"),
    default_conditions={"status": "contact.status = 'active'"},
    search_fields=(SearchFields(("name", "customer_name", "email", "phone"), _words_of_contact),),
)

SITES = Kind(
    Site,
    source="site",
    area="Customers",
    columns={
        "customer_name": select_related("customer.name", "site.customer_id"),
        "contact_name": select_related("contact.name", "site.contact_id"),
        "contact_phone": select_related("contact.phone", "site.contact_id"),
    },
    visibility=make_visibility((_my_records_sql("site"), _is_mine_sql("site")), (_MY_SITES, _IS_MY_SITE)),
    equal_filters=("customer_id", "status"),
    default_conditions={"status": "site.status = 'active'"},
    search_fields=(SearchFields(("name", "customer_name", "address"), _words_of_site),),
)


def insert_site(ctx: Context, customer_id: str, address: Address) -> Site:
    """Add a site that is named after its address."""
    values = {
        "customer_id": customer_id,
        "name": choose_site_name(None, address),
        "address": address,
        "status": "active",
    }
    return SITES.insert(ctx, values)


def find_active_sites(ctx: Context, customer_id: str) -> list[Site]:
    """Return the newest active sites of a customer: two of them, if there are several."""
    return SITES.find_newest(ctx, _MAX_SITES, customer_id=customer_id, status="active")


# Two are enough to tell whether there are several.
_MAX_SITES = 2


def check_site(ctx: Context, site_id: str | None, customer_id: str) -> None:
    """Refuse a site of another customer."""
    if site_id and SITES.fetch(ctx, site_id).customer_id != customer_id:
        hint = Message("list_sites shows this customer's sites")
        raise Invalid([Fault("siteId", Message("belongs to another customer", for_programs=hint))])


def check_external_ref(
    ctx: Context, store: RecordStore[Any], reference: str | None, except_record: StoredRecord | None = None
) -> None:
    """Refuse an external reference that another record of this kind already has."""
    condition = f"{store.table}.external_ref = :reference"
    other: StoredRecord | None = store.find(ctx, condition, reference=reference) if reference else None
    if other and (except_record is None or other.id != except_record.id):
        merged_reasons = other.reasons_if_merged() if isinstance(other, Customer) else []
        message = Message(
            "{record} already has the external ID {reference}.",
            record=other.name_in_messages,
            reference=reference or "",
        )
        advice = merged_reasons[0].message if merged_reasons else Message("Change it there, or use another ID.")
        raise Conflict(join_messages([message, advice]))


def warn_of_duplicates(ctx: Context, name: str, email: str | None, phone: str | None) -> list[Message]:
    """Return warnings about existing customers who may be the one about to be added.

    These are only warnings, because two customers may well share a name or a number.
    """
    same_name = CUSTOMERS.find(
        ctx, "customer.name_folded = :name AND customer.merged_into_id IS NULL", name=fold_text(name)
    )
    email_words = {word for word in words_of_address(email) if word[0] == "@" != word[1]}
    phone_words = {word for word in words_of_phone(phone) if word[0] == "+"}
    found: list[tuple[SharedDetail, Customer]] = [
        *(("name", one) for one in ([same_name] if same_name else [])),
        *(("email", one) for one in _find_by_words(ctx, email_words)),
        *(("phone", one) for one in _find_by_words(ctx, phone_words)),
    ]
    warnings: dict[str, Message] = {}
    for detail, one in found:
        if one.id not in warnings and not one.merged_into_id:
            warnings[one.id] = _make_duplicate_warning(detail, one)
    return [*warnings.values()]


def _make_duplicate_warning(detail: SharedDetail, customer: Customer) -> Message:
    hint = Message("Call merge_customers with {id}.", id=customer.id)
    match detail:
        case "email":
            return Message(
                "{customer} has the same email. If they are the same customer, merge them.",
                for_programs=hint,
                customer=customer.name,
            )
        case "phone":
            return Message(
                "{customer} has the same phone number. If they are the same customer, merge them.",
                for_programs=hint,
                customer=customer.name,
            )
    return Message(
        "{customer} has the same name. If they are the same customer, merge them.",
        for_programs=hint,
        customer=customer.name,
    )


def _find_by_words(ctx: Context, words: Collection[str]) -> list[Customer]:
    """Return one or two customers that have one of these search words exactly."""
    ids = find_with_words(ctx.db, CUSTOMERS.prefix, words) if words else []
    customers = (CUSTOMERS.find(ctx, "customer.id = :id", id=record_id) for record_id in ids)
    return [customer for customer in customers if customer]
