"""Finds what refers to a record that an import made: a record in use cannot be removed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mainstay.backing.among import THESE, among
from mainstay.backing.database import Handle
from mainstay.business.importing import changes


class ReferenceColumn(NamedTuple):
    """A column that names records, and what people call the records that have it."""

    table: str
    column: str
    called: str


_BESIDE_ANY = (
    ReferenceColumn("note", "record_id", "notes"),
    ReferenceColumn("document", "record_id", "files"),
    ReferenceColumn("message", "record_id", "emails"),
)
# By the table that the records are in. Documents name price items in their lines, which are no columns.
REFERENCES: Mapping[str, Sequence[ReferenceColumn]] = {
    "customer": (
        ReferenceColumn("job", "customer_id", "jobs"),
        ReferenceColumn("site", "customer_id", "sites"),
        ReferenceColumn("contact", "customer_id", "contacts"),
        ReferenceColumn("quote", "customer_id", "quotes"),
        ReferenceColumn("invoice", "customer_id", "invoices"),
        ReferenceColumn("credit_note", "customer_id", "credit notes"),
        ReferenceColumn("payment", "customer_id", "payments"),
        ReferenceColumn("account_statement", "customer_id", "statements of account"),
        ReferenceColumn("customer", "merged_into_id", "other customers"),
    ),
    "site": (
        ReferenceColumn("job", "site_id", "jobs"),
        ReferenceColumn("quote", "site_id", "quotes"),
        ReferenceColumn("invoice", "site_id", "invoices"),
        ReferenceColumn("purchase_order", "site_id", "purchase orders"),
    ),
    "contact": (ReferenceColumn("site", "contact_id", "sites"),),
    "job": (
        ReferenceColumn("visit", "job_id", "visits"),
        ReferenceColumn("time_entry", "job_id", "hours"),
        ReferenceColumn("quote", "job_id", "quotes"),
        ReferenceColumn("invoice", "job_id", "invoices"),
        ReferenceColumn("credit_note", "job_id", "credit notes"),
        ReferenceColumn("purchase_order", "job_id", "purchase orders"),
        ReferenceColumn("bill", "job_id", "bills"),
        ReferenceColumn("material", "job_id", "materials"),
    ),
    "supplier": (
        ReferenceColumn("price_item", "supplier_id", "price items"),
        ReferenceColumn("purchase_order", "supplier_id", "purchase orders"),
        ReferenceColumn("bill", "supplier_id", "bills"),
    ),
    "price_item": (ReferenceColumn("kit_part", "item_id", "kits"),),
}
# Where the lines of documents are, by the prefix of their ids, and what people call the documents.
_DOCUMENTS = {
    "quote": ("quote", "quotes"),
    "invoice": ("invoice", "invoices"),
    "credit": ("credit_note", "credit notes"),
    "po": ("purchase_order", "purchase orders"),
    "bill": ("bill", "bills"),
}
_ITEM = re.compile(r"\bitem_\w+")


def find_uses(rows: Handle, table: str, identity: str) -> str | None:
    """Return what people call the records that refer to this one; None if it is not in use."""
    for reference in (*REFERENCES[table], *_BESIDE_ANY):
        refers = f"organisation_id = :organisation AND {reference.column} = :id"
        if rows.one(f"SELECT 1 FROM {reference.table} WHERE {refers} LIMIT 1", id=identity):
            return reference.called
    return None


@dataclass
class UsedItems:
    """The price items that documents name in their lines.

    No index finds them there. But only a document that was written since the import can name what it made, and the
    audit trail knows which were.
    """

    run: str
    # The last entry of the audit trail that was read.
    _read: int = 0
    _uses: dict[str, str] = field(default_factory=dict)

    def read_on(self, rows: Handle) -> None:
        """Read what was written since this was last called."""
        last = changes.find_last_act(rows)
        written = changes.find_records_of_others(
            rows, self.run, self._read or changes.find_first_act(rows, self.run), last
        )
        for prefix, (table, called) in _DOCUMENTS.items():
            named = [record for record in written if record.startswith(f"{prefix}_")]
            sql = f"SELECT lines FROM {table} WHERE organisation_id = :organisation AND id IN {THESE}"
            for (lines,) in among(rows, sql, named):
                self._uses.update(dict.fromkeys(_ITEM.findall(str(lines)), called))
        self._read = last

    def find(self, item: str) -> str | None:
        """Return what people call the documents that name this item; None if none does."""
        return self._uses.get(item)
