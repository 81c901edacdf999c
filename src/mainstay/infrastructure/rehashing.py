"""Rehash the rows that a migration changes.

A row that was wrong before the migration stays wrong: `check` still reports it afterwards.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

import orjson

from mainstay.infrastructure.audit_chain import ChainedEntry, append_entry
from mainstay.infrastructure.database import ScanHandle, SchemaHandle
from mainstay.infrastructure.row_hashes import HASHED_TABLES, HashDifference, find_differences
from mainstay.infrastructure.schema import read_tables
from mainstay.values.moments import moment_text, system_clock

# The operation and the actor in the audit trail: Mainstay itself.
HASH_ROWS = "hash_rows"
_ACTOR = orjson.dumps({"kind": "house", "person": None, "via": {"door": "house", "client": None}}).decode()
# The most hashes in one audit entry, because an entry is read as a whole.
_BATCH_SIZE = 1000


@contextmanager
def rehash_changed_rows(db: SchemaHandle, step: str, tables: Iterable[str]) -> Iterator[None]:
    """Rehash the rows that the enclosed code changes in these tables; rows that were wrong before stay wrong."""
    existing = _existing_tables(db, tables)
    wrong = {
        (owner, difference.name)
        for owner in _list_organisations(db)
        for difference in find_differences(db.for_organisation(owner), existing)
    }
    yield
    hash_rows(db, step, tables, wrong)


def hash_rows(
    db: SchemaHandle, step: str, tables: Iterable[str] = HASHED_TABLES, skipped: Collection[tuple[str, str]] = ()
) -> None:
    """Update the hashes of changed rows, except for those in `skipped`: pairs of an organisation id and a row name."""
    existing = _existing_tables(db, tables)
    for owner in _list_organisations(db):
        own = db.for_organisation(owner)
        changed = (
            difference for difference in find_differences(own, existing) if (owner, difference.name) not in skipped
        )
        while batch := list(islice(changed, _BATCH_SIZE)):
            _write_entry(own, step, batch)


def _existing_tables(db: ScanHandle, tables: Iterable[str]) -> set[str]:
    """Return the tables that exist already: a later migration may create the others."""
    return {table.name for table in read_tables(db, db.engine)}.intersection(tables)


def _list_organisations(db: ScanHandle) -> list[str]:
    return [str(owner) for (owner,) in db.all("SELECT id FROM organisation ORDER BY id")]


def _write_entry(db: ScanHandle, step: str, differences: Iterable[HashDifference]) -> None:
    hashes = {difference.name: difference.actual for difference in differences}
    entry = ChainedEntry(
        at=moment_text(system_clock()),
        actor=_ACTOR,
        request_id=step,
        operation=HASH_ROWS,
        given=orjson.dumps({"step": step}).decode(),
        events="[]",
        records="[]",
        changed=None,
        row_hashes=orjson.dumps(hashes).decode(),
    )
    append_entry(db, entry, dict(hashes), person_id=None, client_id=None, acted_by="house")
