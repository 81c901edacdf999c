"""The chain of the audit trail: each entry carries a hash over itself and the hash of the entry before.

Migrations add entries too, in the middle of an upgrade: this names no column that is younger than step 0060.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import orjson

from mainstay.backing.among import insert_pairs
from mainstay.backing.database import Handle, Value

# What the first entry follows.
START = "0" * 64


class ChainedEntry(NamedTuple):
    """The columns of an audit entry that its hash covers, in the order in which they came into the schema."""

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


COLUMNS = ", ".join(("sequence", *ChainedEntry._fields))


def append(rows: Handle, entry: ChainedEntry, named: Mapping[str, str | None], **doer: Value) -> None:
    """Add an entry to the trail, and to the history of these records, each with the hash of its row if it was written.

    `doer` are the columns by which the entry is found by who acted: `person_id`, `client_id` and `acted_by`.
    """
    last = rows.one(
        "SELECT sequence, hash FROM audit WHERE organisation_id = :organisation ORDER BY sequence DESC LIMIT 1"
    )
    sequence, previous = (int(last[0] or 0) + 1, str(last[1])) if last else (1, START)
    rows.run(_APPENDING, sequence=sequence, hash=link(previous, (sequence, *entry)), **entry._asdict(), **doer)
    insert_pairs(
        rows,
        "INSERT INTO audit_record (organisation_id, record_id, sequence, hash)",
        "(:organisation, {first}, :sequence, {second})",
        named.items(),
        sequence=sequence,
    )


def link(previous: str, entry: Iterable[Value]) -> str:
    """Return the hash of an entry: of its number and its columns, after the hash of the entry before.

    Empty columns at the end are left out, so that entries from before those columns existed keep their hashes.
    """
    hashed = list(entry)
    while hashed[-1] is None:
        hashed.pop()
    return hashlib.sha256(orjson.dumps([previous, *hashed])).hexdigest()


_NAMES = ("sequence", *ChainedEntry._fields, "hash", "person_id", "client_id", "acted_by")
_APPENDING = (
    f"INSERT INTO audit (organisation_id, {', '.join(_NAMES)})"
    f" VALUES (:organisation, {', '.join(f':{name}' for name in _NAMES)})"
)
