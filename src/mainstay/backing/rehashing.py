"""Hashes rows anew that a migration has changed, and first hashes the rows from before there were hashes.

A row that was wrong before the migration stays wrong: `check` still names it afterwards.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

import orjson

from mainstay.backing.audit_chain import ChainedEntry, append
from mainstay.backing.database import SchemaHandle, Survey
from mainstay.backing.row_hashes import HASHED, Difference, find_differences
from mainstay.backing.schema import read_tables
from mainstay.values.moments import moment_text, system_clock

# What the audit trail calls it, and who does it: Mainstay itself.
HASH_ROWS = "hash_rows"
_ACTOR = orjson.dumps({"kind": "house", "person": None, "via": {"door": "house", "client": None}}).decode()
# An entry of the trail keeps so many hashes at most: it is read as a whole.
_AT_ONCE = 1000


@contextmanager
def hashing_again(rows: SchemaHandle, step: str, tables: Iterable[str]) -> Iterator[None]:
    """Hash what changes meanwhile in these tables; what was wrong before stays as it was."""
    there = _there(rows, tables)
    wrong = {(owner, one.name) for owner in _organisations(rows) for one in find_differences(rows.within(owner), there)}
    yield
    hash_rows(rows, step, tables, wrong)


def hash_rows(
    rows: SchemaHandle, step: str, tables: Iterable[str] = HASHED, but: Collection[tuple[str, str]] = ()
) -> None:
    """Bring the hashes of rows up to date, but of these: the ids of organisations, and the names of rows."""
    there = _there(rows, tables)
    for owner in _organisations(rows):
        own = rows.within(owner)
        changed = (one for one in find_differences(own, there) if (owner, one.name) not in but)
        while some := list(islice(changed, _AT_ONCE)):
            _write_entry(own, step, some)


def _there(rows: Survey, tables: Iterable[str]) -> set[str]:
    """Those of the tables that the migrations so far have made."""
    return {table.name for table in read_tables(rows, rows.engine)}.intersection(tables)


def _organisations(rows: Survey) -> list[str]:
    return [str(owner) for (owner,) in rows.all("SELECT id FROM organisation ORDER BY id")]


def _write_entry(rows: Survey, step: str, differences: Iterable[Difference]) -> None:
    hashes = {one.name: one.found for one in differences}
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
    append(rows, entry, dict(hashes), person_id=None, client_id=None, acted_by="house")
