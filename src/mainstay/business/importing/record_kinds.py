"""The kinds of records that can be imported, and the columns of each."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from mainstay.business.customers.operations import create_customer, get_customer, update_customer
from mainstay.business.customers.sites_and_contacts import get_contact, get_site, save_contact, save_site
from mainstay.business.jobs.operations import create_job, get_job, remove_job, update_job
from mainstay.business.pricelist.operations import get_price_item, save_price_item
from mainstay.business.pricelist.suppliers import get_supplier, save_supplier
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Operation
from mainstay.kernel.record_store import RecordStore
from mainstay.values.choices import fold_text
from mainstay.vocabulary.schemas import StoredRecord

KindName = Literal["customers", "sites", "contacts", "jobs", "suppliers", "price items"]
# The field with the reference of another system, and the fields that name another record.
REFERENCE_FIELD, CUSTOMER_FIELD, SITE_FIELD, SUPPLIER_FIELD, TAX_RATE_FIELD = (
    "externalRef",
    "customerId",
    "siteId",
    "supplierId",
    "taxRateId",
)
LINK_FIELDS = frozenset({CUSTOMER_FIELD, SITE_FIELD, SUPPLIER_FIELD, TAX_RATE_FIELD})
# The prefix of references that the import makes itself if a file has none.
OWN_REFERENCE_PREFIX = "import "
# The field of a short unique name.
CODE_FIELD = "code"


class ImportColumn(NamedTuple):
    """A field that a column of a file can contain, and other headings for it, folded."""

    field: str
    label: str
    aliases: tuple[str, ...] = ()
    required: bool = False


def address_columns(field: str) -> tuple[ImportColumn, ...]:
    """Return the columns for the parts of the address in this field."""
    return (
        ImportColumn(
            f"{field}.line1",
            "Address, line 1",
            _address_aliases(
                "address", "street", "street address", "address 1", "address1", "address line 1", "line 1"
            ),
        ),
        ImportColumn(
            f"{field}.line2",
            "Address, line 2",
            _address_aliases("address 2", "address2", "address line 2", "line 2", "street 2"),
        ),
        ImportColumn(f"{field}.city", "Town or city", _address_aliases("city", "town", "place", "suburb")),
        ImportColumn(f"{field}.region", "County or state", _address_aliases("county", "state", "region", "province")),
        ImportColumn(
            f"{field}.postalCode",
            "Postcode",
            _address_aliases("postcode", "post code", "postal code", "zip", "zip code"),
        ),
        ImportColumn(f"{field}.country", "Country", _address_aliases("country", "country code")),
    )


def _address_aliases(*names: str) -> tuple[str, ...]:
    """Return headings for a part of an address, alone and after a word for the address."""
    return (*names, *(f"{word} {name}" for word in ("billing", "site", "property", "postal") for name in names))


def _reference_column(*aliases: str) -> ImportColumn:
    common_aliases = ("reference", "ref", "id", "external ref", "external reference", "reference elsewhere")
    return ImportColumn(REFERENCE_FIELD, "External ID", (*common_aliases, *aliases))


_EMAIL = ImportColumn(
    "email", "Email", ("e mail", "mail", "email address", "e mail address", "primary email", "contact email")
)
_PHONE = ImportColumn(
    "phone",
    "Phone",
    ("telephone", "phone number", "tel", "mobile", "mobile number", "mobile phone", "cell phone", "contact number"),
)
_PAYMENT_TERMS = ImportColumn(
    "paymentTermsDays", "Payment terms (days)", ("payment terms", "terms", "payment days", "days to pay")
)
# Other headings for a customer.
_CUSTOMER_ALIASES = ("customer name", "client", "client name", "account name")
_CUSTOMER = ImportColumn(
    CUSTOMER_FIELD, "Customer", (*_CUSTOMER_ALIASES, "customer reference", "customer id"), required=True
)


@dataclass(frozen=True)
class ImportKind:
    """One kind of record that can be imported."""

    name: KindName
    # The noun for one record, and the table.
    what: str
    table: str
    columns: tuple[ImportColumn, ...]
    get_operation: Operation
    create_operation: Operation
    update_operation: Operation
    id_field: str
    # The fields that identify a record if a file has no references. If there are none, the whole row does. If a row has
    # a code, the code alone does.
    identity_fields: tuple[str, ...]
    # The same in words.
    identity_text: str
    # Whether the name alone identifies a record among all of its kind.
    is_unique_by_name: bool = False
    # Values for every new record, whatever the file contains.
    create_values: Mapping[str, object] = field(default_factory=dict)
    # The fields that can be set only when a record is created.
    create_only_fields: frozenset[str] = field(default_factory=frozenset)
    # Removes a record that nothing refers to, if that is more than removing its row.
    remove_function: Callable[[Context, Any], object] | None = None

    def guess_mapping(self, headings: Sequence[str]) -> dict[str, int]:
        """Guess from the headings of a file which column is which field."""
        plain_headings = [_normalise_heading(heading) for heading in headings]
        mapping: dict[str, int] = {}
        for exact in (True, False):
            for column in self.columns:
                names = (
                    [_normalise_heading(column.label)] if exact else [*column.aliases, _normalise_heading(column.field)]
                )
                free = [at for at, name in enumerate(plain_headings) if name in names and at not in mapping.values()]
                if free and column.field not in mapping:
                    mapping[column.field] = free[0]
        return mapping

    @property
    def record_store(self) -> RecordStore[Any]:
        """The store of these records."""
        if self.get_operation.on is None:
            raise TypeError(f"{self.get_operation.name} is done to no record")
        return self.get_operation.on

    def remove(self, ctx: Context, record: StoredRecord) -> None:
        """Remove a record that nothing refers to."""
        (self.remove_function or self.record_store.remove)(ctx, record)

    @property
    def path(self) -> str:
        """The path of their list in the office."""
        return (self.get_operation.output.office_path or "").removesuffix("/{id}")

    def missing_columns(self, mapping: Mapping[str, int]) -> list[ImportColumn]:
        """Return the required columns that a file does not have."""
        return [column for column in self.columns if column.required and column.field not in mapping]


def _normalise_heading(heading: str) -> str:
    return " ".join(re.split(r"[\s_.:*-]+", fold_text(heading))).strip()


IMPORT_KINDS: Mapping[str, ImportKind] = {
    kind.name: kind
    for kind in (
        ImportKind(
            "customers",
            "customer",
            "customer",
            (
                ImportColumn(
                    "name",
                    "Name",
                    ("customer", *_CUSTOMER_ALIASES, "company", "company name", "business name", "full name"),
                    required=True,
                ),
                ImportColumn("kind", "Company or individual", ("kind", "type", "customer type", "client type")),
                _EMAIL,
                _PHONE,
                *address_columns("billingAddress"),
                ImportColumn("taxNumber", "Tax number", ("vat number", "vat", "vat no", "tax id", "vat id")),
                ImportColumn("registrationNumber", "Registration number", ("company number", "registration")),
                ImportColumn(
                    "paymentTermsDays",
                    "Payment terms (days)",
                    ("payment terms", "terms", "payment days", "days to pay"),
                ),
                ImportColumn("notes", "Notes", ("note", "comment", "comments", "remarks")),
                _reference_column(
                    *("customer id", "customer no", "customer number", "customer reference", "account number"),
                    *("client id", "client no", "client number", "client reference"),
                ),
                # After the column above, which takes the heading "Reference" if no other heading is a reference.
                ImportColumn("reference", "Reference on invoices", ("invoice reference", "po number")),
            ),
            get_customer,
            create_customer,
            update_customer,
            "customerId",
            ("name",),
            "their name",
            is_unique_by_name=True,
            # Sites are imported from a file of their own, and undoing an import must leave nothing behind.
            create_values={"makeSite": False},
        ),
        ImportKind(
            "sites",
            "site",
            "site",
            (
                _CUSTOMER,
                ImportColumn("name", "Name", ("site", "site name", "property")),
                *address_columns("address"),
                ImportColumn("accessNotes", "Access", ("access notes", "access information", "notes")),
                _reference_column("site id", "site no", "site reference"),
            ),
            get_site,
            save_site,
            save_site,
            "siteId",
            (CUSTOMER_FIELD, "name", "address.line1", "address.postalCode"),
            "their customer, name and address",
        ),
        ImportKind(
            "contacts",
            "contact",
            "contact",
            (
                _CUSTOMER,
                ImportColumn("name", "Name", ("contact", "contact name", "full name"), required=True),
                ImportColumn("role", "Role", ("position", "job title", "title", "function")),
                _EMAIL,
                _PHONE,
                _reference_column("contact id", "contact reference"),
            ),
            get_contact,
            save_contact,
            save_contact,
            "contactId",
            (CUSTOMER_FIELD, "name"),
            "their customer and name",
        ),
        ImportKind(
            "jobs",
            "job",
            "job",
            (
                _CUSTOMER,
                ImportColumn("title", "Title", ("job", "job title", "name", "summary", "subject"), required=True),
                ImportColumn(SITE_FIELD, "Work address", ("site", "site name", "site reference", "property")),
                ImportColumn("description", "Description", ("details", "notes", "scope")),
                ImportColumn("status", "Enquiry or open", ("status", "state")),
                ImportColumn("priority", "Priority", ("urgency",)),
                ImportColumn("billing", "Billing", ("billing type",)),
                ImportColumn("customerOrderNumber", "Customer's order number", ("order number", "po number", "po")),
                ImportColumn("budget", "Budget", ("amount", "estimate", "price", "value")),
                ImportColumn("dueOn", "Due date", ("due", "due on", "deadline")),
                ImportColumn("tags", "Tags", ("labels", "keywords")),
                _reference_column("job id", "job no", "job number", "number", "job reference"),
            ),
            get_job,
            create_job,
            update_job,
            "jobId",
            (),
            "all their fields",
            create_only_fields=frozenset({"status", CUSTOMER_FIELD}),
            remove_function=remove_job,
        ),
        ImportKind(
            "suppliers",
            "supplier",
            "supplier",
            (
                ImportColumn(
                    "name", "Name", ("supplier", "supplier name", "company", "vendor", "vendor name"), required=True
                ),
                _EMAIL,
                _PHONE,
                *address_columns("address"),
                ImportColumn("taxNumber", "Tax number", ("vat number", "vat", "vat no", "tax id", "vat id")),
                ImportColumn(
                    "accountNumber",
                    "Your account number",
                    ("account number", "account", "our account", "our number there"),
                ),
                ImportColumn(
                    "paymentTermsDays",
                    "Payment terms (days)",
                    ("payment terms", "terms", "payment days", "days to pay"),
                ),
                ImportColumn("notes", "Notes", ("note", "comment", "comments", "remarks")),
                _reference_column("supplier id", "supplier no", "supplier number", "supplier reference", "vendor id"),
            ),
            get_supplier,
            save_supplier,
            save_supplier,
            "supplierId",
            ("name",),
            "their name",
            is_unique_by_name=True,
        ),
        ImportKind(
            "price items",
            "price item",
            "price_item",
            (
                ImportColumn(
                    CODE_FIELD, "Code", ("item code", "sku", "article", "article number", "part number", "item no")
                ),
                ImportColumn("name", "Name", ("item", "item name", "title", "product", "product name"), required=True),
                ImportColumn("description", "Description", ("details", "notes", "text")),
                ImportColumn("kind", "Kind", ("type", "item type")),
                ImportColumn("unit", "Unit", ("uom", "unit of measure", "per")),
                ImportColumn(
                    "sellPrice", "Price", ("sell price", "sales price", "selling price", "unit price", "rate")
                ),
                ImportColumn("costPrice", "Cost", ("cost price", "buy price", "purchase price", "buying price", "buy")),
                ImportColumn(TAX_RATE_FIELD, "Tax rate", ("tax", "vat", "vat rate", "tax code")),
                ImportColumn(SUPPLIER_FIELD, "Supplier", ("supplier name", "supplier reference", "vendor")),
                _reference_column("item id", "item reference", "product id"),
            ),
            get_price_item,
            save_price_item,
            save_price_item,
            "itemId",
            ("name",),
            "their code or, without one, their name",
            is_unique_by_name=True,
        ),
    )
}
