"""The audit trail: every change, who made it and through which door, its input, and the records that it touched.

Rows are only ever added. Each has a hash of itself and of the row before, so that a row which is removed or changed
outside the product breaks the chain. Nothing is ever deleted, so every record keeps its whole history.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import orjson

from mainstay.infrastructure.audit_chain import ENTRY_COLUMNS, INITIAL_HASH, ChainedEntry, append_entry, hash_entry
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.infrastructure.rehashing import HASH_ROWS
from mainstay.values.choices import TextEnum

_BATCH_SIZE = 1000
# The prefix of the ids of connected apps.
_APP_PREFIX = "connection_"
_ASSISTANT = "assistant"


class AuditEntry(NamedTuple):
    """One change, for the audit trail."""

    at: str
    actor: str
    request_id: str
    operation: str
    given: str
    # The ids of its events and of the records that it touched; and the fields that it changed, by record id.
    events: Collection[str]
    records: Collection[str]
    changed_fields: Mapping[str, Collection[str]]
    # The hashes of the rows that it wrote, by the names of the rows (`infrastructure/row_hashes.py`).
    row_hashes: dict[str, str]


class ActedBy(TextEnum):
    """By whose hand something is done: a person's own, that of a program in their name, or another's."""

    PERSON = "person"
    ASSISTANT = "assistant"
    APP = "app"
    KEY = "key"
    CUSTOMER = "customer"
    OPERATOR = "operator"
    SYSTEM = "house"

    @property
    def label(self) -> str:
        """The label that people read."""
        return _LABELS[self]


_LABELS = {
    ActedBy.PERSON: "People",
    ActedBy.ASSISTANT: "The assistant",
    ActedBy.APP: "Connected apps",
    ActedBy.KEY: "API keys",
    ActedBy.CUSTOMER: "Customers",
    ActedBy.OPERATOR: "System administrator",
    ActedBy.SYSTEM: "Mainstay (automatic)",
}


class AuditActor(NamedTuple):
    """Who acted, in columns to search by. They are derived from the stamp, and only the stamp is in the hash chain."""

    person_id: str | None
    # The API key, the connected app or the assistant, if one was used.
    client_id: str | None
    acted_by: str


def parse_actor(actor: str) -> AuditActor:
    """Return who acted from a stored stamp."""
    stamp = orjson.loads(actor)
    person, client = (reference["id"] if reference else None for reference in (stamp["person"], stamp["via"]["client"]))
    if client == _ASSISTANT:
        return AuditActor(person, client, ActedBy.ASSISTANT)
    if client:
        return AuditActor(person, client, ActedBy.APP if client.startswith(_APP_PREFIX) else ActedBy.KEY)
    # The oldest stamps have no kind: it was a person, or else the operator.
    return AuditActor(person, None, ActedBy.PERSON if person else ActedBy(stamp.get("kind", ActedBy.OPERATOR)))


def was_changed_since(db: DatabaseHandle, record_id: str, sequence: int, ignored: Collection[int]) -> bool:
    """Return whether a record was changed after the entry with this number, except by ignored ones."""
    rows = db.all(
        "SELECT a.sequence FROM audit_record t"
        " JOIN audit a ON a.organisation_id = t.organisation_id AND a.sequence = t.sequence"
        " WHERE t.organisation_id = :organisation AND t.record_id = :record AND t.sequence > :sequence"
        f" AND a.operation <> '{HASH_ROWS}' LIMIT :limit",
        record=record_id,
        sequence=sequence,
        limit=len(ignored) + 1,
    )
    return any(number not in ignored for (number,) in rows)


def write_entry(db: DatabaseHandle, entry: AuditEntry) -> int:
    """Add a change to the audit trail and to the histories of the records that it touched; return its number."""
    changed_fields = {record: [*fields] for record, fields in entry.changed_fields.items() if fields}
    chained = ChainedEntry(
        entry.at,
        entry.actor,
        entry.request_id,
        entry.operation,
        entry.given,
        events=_to_json([*entry.events]),
        records=_to_json([*entry.records]),
        changed=_to_json(changed_fields) if changed_fields else None,
        row_hashes=_to_json(entry.row_hashes) if entry.row_hashes else None,
    )
    person, client, acted_by = parse_actor(entry.actor)
    records: dict[str, str | None] = {**dict.fromkeys(entry.records), **entry.row_hashes}
    return append_entry(db, chained, records, person_id=person, client_id=client, acted_by=acted_by)


def find_break(db: DatabaseHandle) -> int | None:
    """Return the number of the first row that does not fit the hash chain; None if the chain is unbroken."""
    previous = INITIAL_HASH
    after = 0
    while True:
        batch = db.all(
            f"SELECT {ENTRY_COLUMNS}, hash FROM audit WHERE organisation_id = :organisation AND sequence > :after"
            " ORDER BY sequence LIMIT :batch",
            after=after,
            batch=_BATCH_SIZE,
        )
        for *values, stored_hash in batch:
            after = int(values[0] or 0)
            if stored_hash != hash_entry(previous, values):
                return after
            previous = str(stored_hash)
        if len(batch) < _BATCH_SIZE:
            return None


def _to_json(value: object) -> str:
    return orjson.dumps(value).decode()
