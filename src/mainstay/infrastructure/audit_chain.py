"""The chain of the audit trail: each entry has a hash of itself and of the hash of the entry before it.

Migrations add entries too, in the middle of an upgrade, so this module uses no column younger than the baseline.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import orjson

from mainstay.infrastructure.batched_select import insert_pairs
from mainstay.infrastructure.database import DatabaseHandle, Value

# The previous hash of the first entry.
INITIAL_HASH = "0" * 64


class ChainedEntry(NamedTuple):
    """The columns of an audit entry that its hash covers, in the order in which the schema got them."""

    at: str
    actor: str
    request_id: str
    operation: str
    given: str
    # JSON: the ids of events, the ids of records, the changed fields by record, the hashes of rows by name.
    events: str
    records: str
    changed: str | None
    row_hashes: str | None


ENTRY_COLUMNS = ", ".join(("sequence", *ChainedEntry._fields))


def append_entry(
    db: DatabaseHandle, entry: ChainedEntry, records: Mapping[str, str | None], **actor_columns: Value
) -> int:
    """Add an entry to the audit trail and to the history of these records, and return its number.

    `records` are their ids, each with the hash of its row if the operation wrote it. `actor_columns` are the columns by
    which the entry is found by who acted: `person_id`, `client_id` and `acted_by`.
    """
    last = db.one(
        "SELECT sequence, hash FROM audit WHERE organisation_id = :organisation ORDER BY sequence DESC LIMIT 1"
    )
    sequence, previous = (int(last[0] or 0) + 1, str(last[1])) if last else (1, INITIAL_HASH)
    db.run(
        _INSERT_ENTRY,
        sequence=sequence,
        hash=hash_entry(previous, (sequence, *entry)),
        **entry._asdict(),
        **actor_columns,
    )
    insert_pairs(
        db,
        "INSERT INTO audit_record (organisation_id, record_id, sequence, hash)",
        "(:organisation, {first}, :sequence, {second})",
        records.items(),
        sequence=sequence,
    )
    return sequence


def hash_entry(previous: str, entry: Iterable[Value]) -> str:
    """Return the hash of an entry: of its number and columns, chained to the hash of the entry before it.

    Empty columns at the end are left out, so that entries from before those columns existed keep their hashes.
    """
    hashed = list(entry)
    while hashed[-1] is None:
        hashed.pop()
    return hashlib.sha256(orjson.dumps([previous, *hashed])).hexdigest()


_INSERTED_COLUMNS = ("sequence", *ChainedEntry._fields, "hash", "person_id", "client_id", "acted_by")
_INSERT_ENTRY = (
    f"INSERT INTO audit (organisation_id, {', '.join(_INSERTED_COLUMNS)})"
    f" VALUES (:organisation, {', '.join(f':{name}' for name in _INSERTED_COLUMNS)})"
)
