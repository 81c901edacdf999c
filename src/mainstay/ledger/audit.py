"""The audit trail: every change, who made it, through what, with what input, and which records it touched.

Rows are only ever added, and each carries a hash over itself and the one before, so that a row taken out or altered
behind the product's back breaks the chain. It is never purged: a record's history lives as long as the record.
"""

import hashlib
from collections.abc import Collection, Mapping
from typing import NamedTuple

import orjson

from mainstay.backing.among import insert_each
from mainstay.backing.database import Handle, Value
from mainstay.values.words import Word

_START = "0" * 64
_BATCH = 1000
# How the ids of connected apps begin.
_APP = "connection_"


class Entry(NamedTuple):
    """One act, for the trail."""

    at: str
    actor: str
    request_id: str
    operation: str
    given: str
    # The ids of the events it led to, and of the records it touched; and the fields it changed, by the record's id.
    events: Collection[str]
    records: Collection[str]
    changed: Mapping[str, Collection[str]]


class ActedBy(Word):
    """By whose hand something is done: a person's own, that of an app or a key in their name, or another's."""

    PERSON = "person"
    APP = "app"
    KEY = "key"
    CUSTOMER = "customer"
    OPERATOR = "operator"
    HOUSE = "house"

    @property
    def words(self) -> str:
        """What people call all of these."""
        return _CALLED[self]


_CALLED = {
    ActedBy.PERSON: "People themselves",
    ActedBy.APP: "Connected apps",
    ActedBy.KEY: "API keys",
    ActedBy.CUSTOMER: "Customers",
    ActedBy.OPERATOR: "The operator",
    ActedBy.HOUSE: "Mainstay itself",
}


class Doer(NamedTuple):
    """Who acted, as an act is found by it: all of it follows from the stamp, which alone is under the chain."""

    person: str | None
    # The key or the connected app that was used, if one was.
    client: str | None
    acted_by: str


def doer(actor: str) -> Doer:
    """Who acted, out of a stamp as it is kept."""
    stamp = orjson.loads(actor)
    person, client = (named["id"] if named else None for named in (stamp["person"], stamp["via"]["client"]))
    if client:
        return Doer(person, client, ActedBy.APP if client.startswith(_APP) else ActedBy.KEY)
    # The first stamps do not say what acted: a person, or else the operator.
    return Doer(person, None, ActedBy.PERSON if person else ActedBy(stamp.get("kind", ActedBy.OPERATOR)))


def write(rows: Handle, entry: Entry) -> None:
    """Add one act to the trail, and to the history of each record it touched and of whoever acted."""
    last = rows.one(
        "SELECT sequence, hash FROM audit WHERE organisation_id = :organisation ORDER BY sequence DESC LIMIT 1"
    )
    sequence, previous = (int(last[0] or 0) + 1, str(last[1])) if last else (1, _START)
    *told, events, records, changed = entry
    noted = {record: [*fields] for record, fields in changed.items() if fields}
    written = _text([*events]), _text([*records]), _text(noted) if noted else None
    kept: dict[str, Value] = dict(zip(Entry._fields, (*told, *written), strict=True))
    rows.run(
        "INSERT INTO audit (organisation_id, sequence, at, actor, request_id, operation, given, events, records,"
        " changed, hash, person_id, client_id, acted_by) VALUES (:organisation, :sequence, :at, :actor, :request_id,"
        " :operation, :given, :events, :records, :changed, :hash, :person, :client, :acted_by)",
        **doer(entry.actor)._asdict(),
        sequence=sequence,
        hash=_link(previous, (sequence, *kept.values())),
        **kept,
    )
    insert_each(
        rows,
        "INSERT INTO audit_record (organisation_id, record_id, sequence)",
        "(:organisation, {this}, :sequence)",
        entry.records,
        sequence=sequence,
    )


def first_break(rows: Handle) -> int | None:
    """The number of the first row that does not fit the chain; None when the trail is whole."""
    previous = _START
    after = 0
    while True:
        batch = rows.all(
            "SELECT sequence, at, actor, request_id, operation, given, events, records, changed, hash FROM audit"
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


def _text(told: object) -> str:
    return orjson.dumps(told).decode()


def _link(previous: str, kept: tuple[Value, ...]) -> str:
    # What a row does not say at its end, as those from before it was noted, it was hashed without.
    hashed = list(kept)
    while hashed[-1] is None:
        hashed.pop()
    return hashlib.sha256(orjson.dumps([previous, *hashed])).hexdigest()
