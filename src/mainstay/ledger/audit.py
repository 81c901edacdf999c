"""The audit trail: every change, who made it, through what, with what input, and which records it touched.

Rows are only ever added, and each carries a hash over itself and the one before, so that a row taken out or altered
behind the product's back breaks the chain. It is never purged: a record's history lives as long as the record.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import orjson

from mainstay.backing.audit_chain import COLUMNS, START, ChainedEntry, append, link
from mainstay.backing.database import Handle
from mainstay.values.words import Word

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
    # The hashes of the rows that it wrote, by their names (`backing/row_hashes.py`).
    row_hashes: dict[str, str]


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
    noted = {record: [*fields] for record, fields in entry.changed.items() if fields}
    chained = ChainedEntry(
        entry.at,
        entry.actor,
        entry.request_id,
        entry.operation,
        entry.given,
        events=_text([*entry.events]),
        records=_text([*entry.records]),
        changed=_text(noted) if noted else None,
        row_hashes=_text(entry.row_hashes) if entry.row_hashes else None,
    )
    person, client, acted_by = doer(entry.actor)
    named: dict[str, str | None] = {**dict.fromkeys(entry.records), **entry.row_hashes}
    append(rows, chained, named, person_id=person, client_id=client, acted_by=acted_by)


def first_break(rows: Handle) -> int | None:
    """The number of the first row that does not fit the chain; None when the trail is whole."""
    previous = START
    after = 0
    while True:
        batch = rows.all(
            f"SELECT {COLUMNS}, hash FROM audit WHERE organisation_id = :organisation AND sequence > :after"
            " ORDER BY sequence LIMIT :batch",
            after=after,
            batch=_BATCH,
        )
        for *kept, linked in batch:
            after = int(kept[0] or 0)
            if linked != link(previous, kept):
                return after
            previous = str(linked)
        if len(batch) < _BATCH:
            return None


def _text(told: object) -> str:
    return orjson.dumps(told).decode()
