"""The audit trail: every change, who made it, through what, with what input, and which records it touched.

Rows are only ever added, and each carries a hash over itself and the one before, so that a row taken out or altered
behind the product's back breaks the chain. It is never purged: a record's history lives as long as the record.
"""

import hashlib
from typing import NamedTuple

import orjson

from mainstay.backing.database import Handle, Value

_START = "0" * 64
_BATCH = 1000


class Entry(NamedTuple):
    """One act, for the trail."""

    at: str
    actor: str
    request_id: str
    operation: str
    given: str
    # The ids of the events it led to, and of the records it touched.
    events: list[str]
    records: list[str]


def write(rows: Handle, entry: Entry, person: str | None = None) -> None:
    """Add one act to the trail, and to the history of each record it touched and of the person who acted."""
    last = rows.one(
        "SELECT sequence, hash FROM audit WHERE organisation_id = :organisation ORDER BY sequence DESC LIMIT 1"
    )
    sequence, previous = (int(last[0] or 0) + 1, str(last[1])) if last else (1, _START)
    *told, events, records = entry
    listed = orjson.dumps(events).decode(), orjson.dumps(records).decode()
    kept: dict[str, Value] = dict(zip(Entry._fields, (*told, *listed), strict=True))
    rows.run(
        "INSERT INTO audit"
        " (organisation_id, sequence, at, actor, request_id, operation, given, events, records, hash, person_id) VALUES"
        " (:organisation, :sequence, :at, :actor, :request_id, :operation, :given, :events, :records, :hash, :person)",
        person=person,
        sequence=sequence,
        hash=_link(previous, (sequence, *kept.values())),
        **kept,
    )
    for record in entry.records:
        rows.run(
            "INSERT INTO audit_record (organisation_id, record_id, sequence)"
            " VALUES (:organisation, :record, :sequence)",
            record=record,
            sequence=sequence,
        )


def first_break(rows: Handle) -> int | None:
    """The number of the first row that does not fit the chain; None when the trail is whole."""
    previous = _START
    after = 0
    while True:
        batch = rows.all(
            "SELECT sequence, at, actor, request_id, operation, given, events, records, hash FROM audit"
            " WHERE organisation_id = :organisation AND sequence > :after ORDER BY sequence LIMIT :batch",
            after=after,
            batch=_BATCH,
        )
        for *kept, link in batch:
            after = int(kept[0] or 0)
            if link != _link(previous, tuple(kept)):
                return after
            previous = str(link)
        if len(batch) < _BATCH:
            return None


def _link(previous: str, kept: tuple[Value, ...]) -> str:
    # A row from before records were named was hashed without them.
    hashed = kept if kept[-1] is not None else kept[:-1]
    return hashlib.sha256(orjson.dumps([previous, *hashed])).hexdigest()
