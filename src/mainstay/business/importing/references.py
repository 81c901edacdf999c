"""Finds the records that refer to an imported record. A record in use cannot be removed."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mainstay.business.importing import changes
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.kernel.kind import Kind
from mainstay.values.message import Message
from mainstay.vocabulary.roles import RefersTo, find_marks


class ReferenceColumn(NamedTuple):
    """A column that refers to records, and why those that it names remain when an import is undone."""

    table: str
    column: str
    reason: Message


_ANY_RECORD_REFERENCES = (
    ReferenceColumn("note", "record_id", Message("notes were added")),
    ReferenceColumn("document", "record_id", Message("files were added")),
    ReferenceColumn("message", "record_id", Message("emails were sent")),
)
# By the prefix of the ids: references in tables that are not kinds of records. Documents name price items in their
# lines, which are not columns.
_OTHER_REFERENCES = {
    "job": (ReferenceColumn("material", "job_id", Message("materials were added")),),
    "item": (ReferenceColumn("kit_part", "item_id", Message("kits were added")),),
}


def find_references(kinds: Iterable[Kind[Any]], prefix: str) -> list[ReferenceColumn]:
    """Return the columns that refer to records whose ids have this prefix."""
    of_kinds = [
        ReferenceColumn(
            kind.table,
            name,
            Message("other {records} were added", records=kind.plural_noun)
            if kind.prefix == prefix
            else Message("{records} were added", records=kind.plural_noun),
        )
        for kind in kinds
        for name, reference in find_marks(kind.output, RefersTo).items()
        if reference.prefix == prefix and kind.has_column(name)
    ]
    return [*of_kinds, *_OTHER_REFERENCES.get(prefix, ()), *_ANY_RECORD_REFERENCES]


# The tables with document lines, and why the items that they name remain, by the prefix of the documents.
_DOCUMENT_TABLES = {
    "quote": ("quote", Message("quotes were added")),
    "invoice": ("invoice", Message("invoices were added")),
    "credit": ("credit_note", Message("credit notes were added")),
    "po": ("purchase_order", Message("purchase orders were added")),
    "bill": ("bill", Message("bills were added")),
}
_ITEM_ID = re.compile(r"\bitem_\w+")


def find_use(db: DatabaseHandle, references: Iterable[ReferenceColumn], record_id: str) -> Message | None:
    """Return why a record remains that others refer to, or None if it is not in use."""
    for reference in references:
        condition = f"organisation_id = :organisation AND {reference.column} = :id"
        if db.one(f"SELECT 1 FROM {reference.table} WHERE {condition} LIMIT 1", id=record_id):
            return reference.reason
    return None


@dataclass
class ItemUses:
    """Finds the price items that documents name in their lines.

    No index covers them. But only documents that were written after the import can name items that it created, and the
    audit trail lists those documents.
    """

    run: str
    # The number of the last audit entry that was read.
    _last_read: int = 0
    _uses: dict[str, Message] = field(default_factory=dict)

    def read_new(self, db: DatabaseHandle) -> None:
        """Read the documents that were written since the last call."""
        last = changes.find_last_audit_entry(db)
        written = changes.find_records_of_others(
            db, self.run, self._last_read or changes.find_first_audit_entry(db, self.run), last
        )
        for prefix, (table, reason) in _DOCUMENT_TABLES.items():
            document_ids = [record for record in written if record.startswith(f"{prefix}_")]
            sql = f"SELECT lines FROM {table} WHERE organisation_id = :organisation AND id IN {BATCH_VALUES}"
            for (lines,) in select_batched(db, sql, document_ids):
                self._uses.update(dict.fromkeys(_ITEM_ID.findall(str(lines)), reason))
        self._last_read = last

    def find(self, item_id: str) -> Message | None:
        """Return why an item that documents name remains, or None if none does."""
        return self._uses.get(item_id)
