"""What can be brought over: the kinds of records, and the columns that each takes."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from mainstay.business.customers.operations import create_customer, get_customer, update_customer
from mainstay.business.customers.places import get_contact, get_site, save_contact, save_site
from mainstay.business.jobs.operations import create_job, get_job, remove_job, update_job
from mainstay.business.pricelist.operations import get_price_item, save_price_item
from mainstay.business.pricelist.suppliers import get_supplier, save_supplier
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Operation
from mainstay.terms.shapes import Kept
from mainstay.values.words import folded

KindName = Literal["customers", "sites", "contacts", "jobs", "suppliers", "price items"]
# The column of what another system calls a record, and those that name another record.
REFERENCE, CUSTOMER, SITE, SUPPLIER, TAX_RATE = "externalRef", "customerId", "siteId", "supplierId", "taxRateId"
NAMES_ANOTHER = frozenset({CUSTOMER, SITE, SUPPLIER, TAX_RATE})
# How the references begin that are made here, where a file has none.
OWN_REFERENCE = "import "
# The column of a short name that no two records share.
CODE = "code"


class Column(NamedTuple):
    """A field that a column of a file may hold, and what others call it, folded."""

    field: str
    label: str
    known_as: tuple[str, ...] = ()
    required: bool = False


def address_columns(within: str) -> tuple[Column, ...]:
    """Those of the parts of an address, which is in this field."""
    return (
        Column(
            f"{within}.line1",
            "Address, line 1",
            _of_address("address", "street", "street address", "address 1", "address1", "address line 1", "line 1"),
        ),
        Column(
            f"{within}.line2",
            "Address, line 2",
            _of_address("address 2", "address2", "address line 2", "line 2", "street 2"),
        ),
        Column(f"{within}.city", "Town or city", _of_address("city", "town", "place", "suburb")),
        Column(f"{within}.region", "County or state", _of_address("county", "state", "region", "province")),
        Column(
            f"{within}.postalCode",
            "Postcode",
            _of_address("postcode", "post code", "postal code", "zip", "zip code"),
        ),
        Column(f"{within}.country", "Country", _of_address("country", "country code")),
    )


def _of_address(*names: str) -> tuple[str, ...]:
    """Return what a part of an address is called, alone and behind a word for the address."""
    return (*names, *(f"{word} {name}" for word in ("billing", "site", "property", "postal") for name in names))


def _reference(*known_as: str) -> Column:
    usual = ("reference", "ref", "id", "external ref", "external reference", "external id")
    return Column(REFERENCE, "Reference elsewhere", (*usual, *known_as))


_EMAIL = Column(
    "email", "E-mail address", ("email", "e mail", "mail", "email address", "primary email", "contact email")
)
_PHONE = Column(
    "phone",
    "Phone",
    ("telephone", "phone number", "tel", "mobile", "mobile number", "mobile phone", "cell phone", "contact number"),
)
# What others call a customer.
_CALLED_CUSTOMER = ("customer name", "client", "client name", "account name")
_CUSTOMER = Column(CUSTOMER, "Customer", (*_CALLED_CUSTOMER, "customer reference", "customer id"), required=True)


@dataclass(frozen=True)
class Kind:
    """One kind of record that can be brought over."""

    name: KindName
    # What one is called, and the table in which they are.
    what: str
    table: str
    columns: tuple[Column, ...]
    gets: Operation
    makes: Operation
    changes: Operation
    id_field: str
    # What tells one from the others where a file has no references; a row's whole content where nothing does. Where a
    # row has a code, that does alone.
    told_apart_by: tuple[str, ...]
    # The same in words, of several rows.
    told_apart: str
    # Whether one is known by its name alone, among all there are.
    by_name: bool = False
    # What is said of each new one, whatever the file says.
    of_new: Mapping[str, object] = field(default_factory=dict)
    # What only a new one takes.
    only_new: frozenset[str] = field(default_factory=frozenset)
    # Removes one that nothing refers to, where that takes more than removing its row.
    removes: Callable[[Context, Any], object] | None = None

    def guess(self, headings: Sequence[str]) -> dict[str, int]:
        """Which column of a file is which field, as far as its headings tell."""
        plain = [_plain(heading) for heading in headings]
        found: dict[str, int] = {}
        for exact in (True, False):
            for column in self.columns:
                names = [_plain(column.label)] if exact else [*column.known_as, _plain(column.field)]
                free = [at for at, name in enumerate(plain) if name in names and at not in found.values()]
                if free and column.field not in found:
                    found[column.field] = free[0]
        return found

    @property
    def listing(self) -> Listing[Any]:
        """How they are stored."""
        if self.gets.on is None:
            raise TypeError(f"{self.gets.name} is done to no record")
        return self.gets.on

    def remove(self, ctx: Context, record: Kept) -> None:
        """Remove one that nothing refers to."""
        (self.removes or self.listing.remove)(ctx, record)

    @property
    def path(self) -> str:
        """Where their list is in the office."""
        return (self.gets.output.place or "").removesuffix("/{id}")

    def missing(self, mapping: Mapping[str, int]) -> list[Column]:
        """What must be in a file and has no column."""
        return [column for column in self.columns if column.required and column.field not in mapping]


def _plain(heading: str) -> str:
    return " ".join(re.split(r"[\s_.:*-]+", folded(heading))).strip()


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "customers",
            "customer",
            "customer",
            (
                Column(
                    "name",
                    "Name",
                    ("customer", *_CALLED_CUSTOMER, "company", "company name", "business name", "full name"),
                    required=True,
                ),
                Column("kind", "Company or individual", ("kind", "type", "customer type", "client type")),
                _EMAIL,
                _PHONE,
                *address_columns("billingAddress"),
                Column("taxNumber", "Tax number", ("vat number", "vat", "vat no", "tax id", "vat id")),
                Column("registrationNumber", "Registration number", ("company number", "registration")),
                Column("paymentTermsDays", "Days to pay", ("payment terms", "terms", "payment days")),
                Column("notes", "Notes", ("note", "comment", "comments", "remarks")),
                _reference(
                    *("customer id", "customer no", "customer number", "customer reference", "account number"),
                    *("client id", "client no", "client number", "client reference"),
                ),
                # Behind that, which takes the heading "Reference" where nothing else is one.
                Column("reference", "Reference on invoices", ("invoice reference", "po number")),
            ),
            get_customer,
            create_customer,
            update_customer,
            "customerId",
            ("name",),
            "their name",
            by_name=True,
            # Sites have a file of their own, and an undone import leaves nothing behind.
            of_new={"makeSite": False},
        ),
        Kind(
            "sites",
            "site",
            "site",
            (
                _CUSTOMER,
                Column("name", "Name", ("site", "site name", "property")),
                *address_columns("address"),
                Column("accessNotes", "Access", ("access notes", "access information", "notes")),
                _reference("site id", "site no", "site reference"),
            ),
            get_site,
            save_site,
            save_site,
            "siteId",
            (CUSTOMER, "name", "address.line1", "address.postalCode"),
            "their customer, name and address",
        ),
        Kind(
            "contacts",
            "contact",
            "contact",
            (
                _CUSTOMER,
                Column("name", "Name", ("contact", "contact name", "full name"), required=True),
                Column("role", "Role", ("position", "job title", "title", "function")),
                _EMAIL,
                _PHONE,
                _reference("contact id", "contact reference"),
            ),
            get_contact,
            save_contact,
            save_contact,
            "contactId",
            (CUSTOMER, "name"),
            "their customer and name",
        ),
        Kind(
            "jobs",
            "job",
            "job",
            (
                _CUSTOMER,
                Column("title", "Title", ("job", "job title", "name", "summary", "subject"), required=True),
                Column(SITE, "Site", ("site name", "site reference", "property")),
                Column("description", "Description", ("details", "notes", "scope")),
                Column("status", "Enquiry or open", ("status", "state")),
                Column("priority", "Priority", ("urgency",)),
                Column("billing", "Billing", ("billing type",)),
                Column("customerOrderNumber", "Customer's order number", ("order number", "po number", "po")),
                Column("budget", "Budget", ("amount", "estimate", "price", "value")),
                Column("dueOn", "Due", ("due date", "due on", "deadline")),
                Column("tags", "Tags", ("labels", "keywords")),
                _reference("job id", "job no", "job number", "number", "job reference"),
            ),
            get_job,
            create_job,
            update_job,
            "jobId",
            (),
            "everything that stands in them",
            only_new=frozenset({"status", CUSTOMER}),
            removes=remove_job,
        ),
        Kind(
            "suppliers",
            "supplier",
            "supplier",
            (
                Column(
                    "name", "Name", ("supplier", "supplier name", "company", "vendor", "vendor name"), required=True
                ),
                _EMAIL,
                _PHONE,
                *address_columns("address"),
                Column("taxNumber", "Tax number", ("vat number", "vat", "vat no", "tax id", "vat id")),
                Column("accountNumber", "Our number there", ("account number", "account", "our account")),
                Column("paymentTermsDays", "Days to pay", ("payment terms", "terms", "payment days")),
                Column("notes", "Notes", ("note", "comment", "comments", "remarks")),
                _reference("supplier id", "supplier no", "supplier number", "supplier reference", "vendor id"),
            ),
            get_supplier,
            save_supplier,
            save_supplier,
            "supplierId",
            ("name",),
            "their name",
            by_name=True,
        ),
        Kind(
            "price items",
            "price item",
            "price_item",
            (
                Column(CODE, "Code", ("item code", "sku", "article", "article number", "part number", "item no")),
                Column("name", "Name", ("item", "item name", "title", "product", "product name"), required=True),
                Column("description", "Description", ("details", "notes", "text")),
                Column("kind", "Kind", ("type", "item type")),
                Column("unit", "Unit", ("uom", "unit of measure", "per")),
                Column("sellPrice", "Price", ("sell price", "sales price", "selling price", "unit price", "rate")),
                Column("costPrice", "Cost", ("cost price", "buy price", "purchase price", "buying price", "buy")),
                Column(TAX_RATE, "Tax rate", ("tax", "vat", "vat rate", "tax code")),
                Column(SUPPLIER, "Supplier", ("supplier name", "supplier reference", "vendor")),
                _reference("item id", "item reference", "product id"),
            ),
            get_price_item,
            save_price_item,
            save_price_item,
            "itemId",
            ("name",),
            "their code or, without one, their name",
            by_name=True,
        ),
    )
}
