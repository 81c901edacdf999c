"""The kinds of records that can be imported, and the columns of each."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

from pydantic.alias_generators import to_camel

from mainstay.business.customers.operations import create_customer, get_customer, update_customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.jobs.operations import create_job, get_job, remove_job, update_job
from mainstay.business.jobs.store import JOBS
from mainstay.business.pricelist.operations import get_price_item, save_price_item
from mainstay.business.pricelist.store import ITEMS
from mainstay.kernel.catalogue import Catalogue
from mainstay.kernel.context import Context
from mainstay.kernel.kind import Kind
from mainstay.kernel.operation import Operation
from mainstay.values.address import Address
from mainstay.values.choices import fold_text, to_label
from mainstay.values.message import join_with
from mainstay.vocabulary.roles import (
    IMPORTED_CUSTOMER,
    IMPORTED_EMAIL,
    IMPORTED_NOTES,
    IMPORTED_PHONE,
    IMPORTED_TAX_NUMBER,
    IMPORTED_TERMS,
    Imported,
    find_marks,
    imported_reference,
)
from mainstay.vocabulary.schemas import StoredRecord

# The field with the reference of another system, and the fields that name another record.
REFERENCE_FIELD, CUSTOMER_FIELD, SITE_FIELD, SUPPLIER_FIELD, TAX_RATE_FIELD = (
    "externalRef",
    "customerId",
    "siteId",
    "supplierId",
    "taxRateId",
)
_LINKED_PREFIXES = {
    CUSTOMER_FIELD: "customer",
    SITE_FIELD: "site",
    SUPPLIER_FIELD: "supplier",
    TAX_RATE_FIELD: "tax",
}
LINK_FIELDS = _LINKED_PREFIXES.keys()
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
            "Address line 1",
            _address_aliases(
                "address",
                "street",
                "street address",
                "address 1",
                "address1",
                "address line 1",
                "address, line 1",
                "line 1",
            ),
        ),
        ImportColumn(
            f"{field}.line2",
            "Address line 2",
            _address_aliases("address 2", "address2", "address line 2", "address, line 2", "line 2", "street 2"),
        ),
        ImportColumn(f"{field}.city", "Town or city", _address_aliases("city", "town", "place", "suburb")),
        ImportColumn(
            f"{field}.region", "County", _address_aliases("county", "county or state", "state", "region", "province")
        ),
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
    return ImportColumn(REFERENCE_FIELD, "External ID", imported_reference(*aliases).headings)


# Other headings for a customer.
_CUSTOMER_ALIASES = ("customer name", "client", "client name", "account name")
_CUSTOMER = ImportColumn(CUSTOMER_FIELD, "Customer", IMPORTED_CUSTOMER.headings, required=True)


@dataclass(frozen=True)
class ImportKind:
    """One kind of record that can be imported."""

    record_kind: Kind[Any]
    columns: tuple[ImportColumn, ...]
    get_operation: Operation
    create_operation: Operation
    update_operation: Operation
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
                free = [
                    index
                    for index, name in enumerate(plain_headings)
                    if name in names and index not in mapping.values()
                ]
                if free and column.field not in mapping:
                    mapping[column.field] = free[0]
        return mapping

    @property
    def named_kinds(self) -> set[str]:
        """The prefixes of the ids of the records that its rows name."""
        return {_LINKED_PREFIXES[column.field] for column in self.columns if column.field in _LINKED_PREFIXES}

    @property
    def name(self) -> str:
        """What people choose."""
        return self.record_kind.plural

    @property
    def table(self) -> str:
        """The table of the records."""
        return self.record_kind.table

    @property
    def input_names(self) -> set[str]:
        """The names of the input fields of a new record."""
        return {field.alias or name for name, field in self.create_operation.input.model_fields.items()}

    @property
    def id_field(self) -> str:
        """The input field that names one of the records."""
        return self.record_kind.id_alias

    def remove(self, ctx: Context, record: StoredRecord) -> None:
        """Remove a record that nothing refers to."""
        (self.remove_function or self.record_kind.remove)(ctx, record)

    def missing_columns(self, mapping: Mapping[str, int]) -> list[ImportColumn]:
        """Return the required columns that a file does not have."""
        return [column for column in self.columns if column.required and column.field not in mapping]


def _normalise_heading(heading: str) -> str:
    return " ".join(re.split(r"[\s_.:*-]+", fold_text(heading))).strip()


def find_import_kinds(catalogue: Catalogue) -> dict[str, ImportKind]:
    """Return the kinds that can be imported, by name, each after those that its rows name."""
    waiting = {
        kind.prefix: _OWN_RULES.get(kind.plural) or _derive(catalogue, kind)
        for kind in catalogue.kinds.values()
        if kind.plural in _OWN_RULES or find_marks(kind.output, Imported)
    }
    ordered: dict[str, ImportKind] = {}
    while waiting:
        prefix = next(prefix for prefix, kind in waiting.items() if not kind.named_kinds & waiting.keys() - {prefix})
        kind = waiting.pop(prefix)
        ordered[kind.name] = kind
    return ordered


def _derive(catalogue: Catalogue, kind: Kind[Any]) -> ImportKind:
    """Derive how a kind is imported from the roles of its fields."""
    marks = find_marks(kind.output, Imported)
    fields = kind.output.model_fields
    [save] = [one for one in catalogue.operations_on(kind.output) if one.creates_without_id]
    columns: list[ImportColumn] = []
    identity_fields: list[str] = []
    for name, mark in marks.items():
        alias, label = to_camel(name), mark.label or fields[name].title or to_label(name.removesuffix("_id"))
        is_address = Address in (fields[name].annotation, *get_args(fields[name].annotation))
        columns += address_columns(alias) if is_address else [ImportColumn(alias, label, mark.headings, mark.required)]
        if mark.identifies:
            identity_fields += [f"{alias}.line1", f"{alias}.postalCode"] if is_address else [alias]
    identity = [to_label(name.removesuffix("_id")).lower() for name, mark in marks.items() if mark.identifies]
    return ImportKind(
        kind,
        tuple(columns),
        catalogue.get_operations[kind.prefix],
        save,
        save,
        tuple(identity_fields),
        f"their {join_with('and', identity)}",
        is_unique_by_name=identity_fields == ["name"],
    )


_OWN_RULES: Mapping[str, ImportKind] = {
    kind.name: kind
    for kind in (
        ImportKind(
            CUSTOMERS,
            (
                ImportColumn(
                    "name",
                    "Name",
                    ("customer", *_CUSTOMER_ALIASES, "company", "company name", "business name", "full name"),
                    required=True,
                ),
                ImportColumn("kind", "Company or individual", ("kind", "type", "customer type", "client type")),
                ImportColumn("email", "Email", IMPORTED_EMAIL.headings),
                ImportColumn("phone", "Phone", IMPORTED_PHONE.headings),
                *address_columns("billingAddress"),
                ImportColumn("taxNumber", "VAT number", IMPORTED_TAX_NUMBER.headings),
                ImportColumn("registrationNumber", "Registration number", ("company number", "registration")),
                ImportColumn("paymentTermsDays", "Payment terms (days)", IMPORTED_TERMS.headings),
                ImportColumn("notes", "Notes", IMPORTED_NOTES.headings),
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
            ("name",),
            "their name",
            is_unique_by_name=True,
            # Sites are imported from a file of their own, and undoing an import must leave nothing behind.
            create_values={"makeSite": False},
        ),
        ImportKind(
            JOBS,
            (
                _CUSTOMER,
                ImportColumn("title", "Title", ("job", "job title", "name", "summary", "subject"), required=True),
                ImportColumn(SITE_FIELD, "Site", ("work address", "site name", "site reference", "property")),
                ImportColumn("description", "Description", ("details", "notes", "scope")),
                ImportColumn("status", "Enquiry or open", ("status", "state")),
                ImportColumn("priority", "Priority", ("urgency",)),
                ImportColumn("billing", "Billing", ("billing type",)),
                ImportColumn("customerOrderNumber", "Customer's order number", ("order number", "po number", "po")),
                ImportColumn("budget", "Agreed price", ("amount", "estimate", "price", "value")),
                ImportColumn("dueOn", "Due date", ("due", "due on", "deadline")),
                ImportColumn("tags", "Tags", ("labels", "keywords")),
                _reference_column("job id", "job no", "job number", "number", "job reference"),
            ),
            get_job,
            create_job,
            update_job,
            (),
            "all their fields",
            create_only_fields=frozenset({"status", CUSTOMER_FIELD}),
            remove_function=remove_job,
        ),
        ImportKind(
            ITEMS,
            (
                ImportColumn(
                    CODE_FIELD, "Code", ("item code", "sku", "article", "article number", "part number", "item no")
                ),
                ImportColumn("name", "Name", ("item", "item name", "title", "product", "product name"), required=True),
                ImportColumn("description", "Description", ("details", "notes", "text")),
                ImportColumn("kind", "Type", ("item type",)),
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
            ("name",),
            "their code or, without one, their name",
            is_unique_by_name=True,
        ),
    )
}
