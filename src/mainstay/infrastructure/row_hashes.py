"""Hashes of stored rows, which reveal changes made outside the product.

Each audit entry stores, in its chain, a hash of every row that its operation wrote. `audit_record` stores the same hash
with the record's id, so that it can be found by record. A hash covers the columns that differ from their defaults,
sorted by name. So it is the same on both engines, and a column that a later migration adds changes no hash.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

import orjson

from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.infrastructure.database import DatabaseHandle, Row, ScanHandle, Value
from mainstay.infrastructure.schema import read_columns

# Stored instead of a hash when the row was deleted.
REMOVED = ""
# 128 bits: enough that nobody finds another row with the same hash.
_HASH_DIGITS = 32
_BATCH_SIZE = 1000


class HashedTable(NamedTuple):
    """A table whose rows are hashed: its key within an organisation, and the columns that are not hashed."""

    # The prefix of its ids; None if its key is not an id.
    prefix: str | None
    excluded: frozenset[str] = frozenset()
    key: str = "id"
    tenant: str = "organisation_id"


_FILE_COLUMNS = frozenset({"pdf_sha256", "void_pdf_sha256", "ubl_sha256"})
_COUNTER_COLUMNS = frozenset({"event_sequence", "events_forgotten", "storage_bytes", "day_begins_at"})
_DELIVERY_COLUMNS = frozenset({"due_at", "served_at", "trusted", "failing_since"})

# Columns that change without an operation of their own, or that `check` recomputes, are not hashed.
_OTHER_FACTS: Mapping[str, HashedTable] = {
    "organisation": HashedTable("org", _COUNTER_COLUMNS, tenant="id"),
    "time_off": HashedTable("leave"),
    "time_entry": HashedTable("entry", frozenset({"billed"})),
    "price_item": HashedTable("item"),
    "tax_rate": HashedTable("tax"),
    "quote": HashedTable("quote", _FILE_COLUMNS),
    "invoice": HashedTable("invoice", _FILE_COLUMNS),
    "credit_note": HashedTable("credit", _FILE_COLUMNS),
    "account_statement": HashedTable("statement", _FILE_COLUMNS),
    "purchase_order": HashedTable("po", _FILE_COLUMNS),
    "webhook": HashedTable("webhook", _DELIVERY_COLUMNS),
    # Tables without stamps.
    "material": HashedTable("material", frozenset({"billable", "billed"})),
    "api_key": HashedTable("key", frozenset({"last_used_at"})),
    "connection": HashedTable("connection", frozenset({"last_used_at"})),
    "calendar_link": HashedTable(None, key="person_id"),
    "number_series": HashedTable(None, frozenset({"next"}), key="kind"),
}
_NEW_TABLE = re.compile(r"^CREATE TABLE (\w+) \((.*?)^\)", re.MULTILINE | re.DOTALL)


def _find_stamped_tables() -> list[str]:
    """Return the tables of records, in which each row has a stamp, as the migrations create them."""
    scripts = sorted((Path(__file__).parent / "migrations").glob("*.sql"))
    return [
        name
        for script in scripts
        for name, columns in _NEW_TABLE.findall(script.read_text("utf-8"))
        if " updated_by " in columns
    ]


# Usually the prefix of the ids is the name of the table.
HASHED_TABLES: Mapping[str, HashedTable] = {
    **{table: HashedTable(table) for table in _find_stamped_tables()},
    **_OTHER_FACTS,
}
_TABLE_BY_PREFIX = {hashed.prefix: table for table, hashed in HASHED_TABLES.items() if hashed.prefix}


def name_row(table: str, key: str) -> str:
    """Return the name under which a row is hashed: its id, or its table and key if the key is not an id."""
    return key if HASHED_TABLES[table].prefix else f"{table} {key}"


def find_row(name: str) -> tuple[str, str] | None:
    """Return the table and the key of a row by its name; None if no such row is hashed."""
    table, _, key = name.partition(" ")
    if key:
        return table, key
    found = _TABLE_BY_PREFIX.get(name.partition("_")[0])
    return (found, name) if found else None


class HashedColumns(NamedTuple):
    """The hashed columns of a table, sorted by name, with their defaults."""

    names: tuple[str, ...]
    defaults: Row

    def content_of(self, row: Row) -> bytes:
        """Return the content of a row that is hashed, from the values of these columns."""
        content: list[Value] = []
        for name, value, default in zip(self.names, row, self.defaults, strict=True):
            if value != default:
                content += name, value
        return orjson.dumps(content)

    def hash_row(self, row: Row) -> str:
        """Return the hash of a row, from the values of these columns."""
        return hash_content(self.content_of(row))


def hash_content(content: bytes) -> str:
    """Return the hash of a row's content."""
    return hashlib.sha256(content).hexdigest()[:_HASH_DIGITS]


def hashed_columns_of(db: DatabaseHandle, table: str) -> HashedColumns:
    """Return the hashed columns of a table, cached: each process asks the database only once."""
    known = _COLUMNS_CACHE.get((db.engine, table))
    if known is None:
        known = _COLUMNS_CACHE[db.engine, table] = read_hashed_columns(db, table)
    return known


_COLUMNS_CACHE: dict[tuple[str, str], HashedColumns] = {}


def forget_columns() -> None:
    """Forget the cached columns, because the schema has changed while this process runs."""
    _COLUMNS_CACHE.clear()


def read_hashed_columns(db: DatabaseHandle, table: str) -> HashedColumns:
    """Read the hashed columns of a table from the database, while its schema may be changing."""
    hashed = HASHED_TABLES[table]
    excluded = hashed.excluded | {hashed.tenant}
    found = {name: default for name, default in read_columns(db, table).items() if name not in excluded}
    names = tuple(sorted(found))
    return HashedColumns(names, tuple(_parse_default(found[name]) for name in names))


def read_rows(db: DatabaseHandle, table: str, columns: HashedColumns, keys: Iterable[str]) -> dict[str, Row]:
    """Return the hashed columns of rows as they are stored now, by their keys."""
    _, _, key, tenant = HASHED_TABLES[table]
    selected = ", ".join((key, *columns.names))
    sql = f"SELECT {selected} FROM {table} WHERE {tenant} = :organisation AND {key} IN {BATCH_VALUES}"
    return {str(row[0]): row[1:] for row in select_batched(db, sql, keys)}


class HashDifference(NamedTuple):
    """A row that differs from its newest hash."""

    name: str
    # The label that people read: the kind of record with its number, or else its id.
    label: str
    # The newest stored hash, and the hash of the row as it is. The first is None if there is no hash, the second is
    # REMOVED if there is no row.
    expected: str | None
    actual: str


def find_differences(db: ScanHandle, tables: Iterable[str] = HASHED_TABLES) -> Iterator[HashDifference]:
    """Find the rows of an organisation that differ from their newest hashes, a few at a time."""
    wanted = set(tables)
    newest = _find_newest_hashes(db)
    while batch := dict(islice(newest, _BATCH_SIZE)):
        yield from _compare(db, batch, wanted)
    for table in wanted:
        yield from _find_unhashed(db, table)


def _find_newest_hashes(db: ScanHandle) -> Iterator[tuple[str, str]]:
    history = db.stream(
        "SELECT record_id, hash FROM audit_record WHERE organisation_id = :organisation AND hash IS NOT NULL"
        " ORDER BY record_id, sequence"
    )
    for name, hashes in groupby(history, key=lambda row: row[0]):
        *_, (_, newest) = hashes
        yield str(name), str(newest)


def _compare(db: DatabaseHandle, expected: Mapping[str, str], wanted: Iterable[str]) -> Iterator[HashDifference]:
    by_table = defaultdict[str, dict[str, str]](dict)
    for name, hash_ in expected.items():
        table, key = find_row(name) or ("", "")
        by_table[table][key] = hash_
    for table in by_table.keys() & wanted:
        columns = read_hashed_columns(db, table)
        stored = read_rows(db, table, columns, by_table[table])
        for key, hash_ in by_table[table].items():
            row = stored.get(key)
            found = columns.hash_row(row) if row else REMOVED
            if found != hash_:
                yield HashDifference(name_row(table, key), _label_row(table, columns, key, row), hash_, found)


def _find_unhashed(db: ScanHandle, table: str) -> Iterator[HashDifference]:
    """Find the rows that have no hash in the audit trail."""
    prefix, _, key, tenant = HASHED_TABLES[table]
    columns = read_hashed_columns(db, table)
    name = f"{table}.{key}" if prefix else f"'{table} ' || {table}.{key}"
    selected = ", ".join(f"{table}.{column}" for column in (key, *columns.names))
    unknown = db.stream(
        f"SELECT {selected} FROM {table} WHERE {table}.{tenant} = :organisation AND NOT EXISTS (SELECT 1"
        f" FROM audit_record WHERE audit_record.organisation_id = :organisation AND audit_record.record_id = {name}"
        " AND audit_record.hash IS NOT NULL)"
    )
    for record_id, *row in unknown:
        found = columns.hash_row(tuple(row))
        yield HashDifference(
            name_row(table, str(record_id)), _label_row(table, columns, str(record_id), tuple(row)), None, found
        )


def _label_row(table: str, columns: HashedColumns, key: str, row: Row | None) -> str:
    number = row[columns.names.index("number")] if row and "number" in columns.names else None
    return f"{table.replace('_', ' ')} {number or key}"


_TEXT = re.compile(r"'(?P<content>.*)'(::(?P<type>[\w ]+))?", re.DOTALL)


def _parse_default(default: str | None) -> Value:
    """Parse the default of a column as an engine writes it: `0`, `'en'`, `'en'::text`, `'-1'::bigint`."""
    text = _TEXT.fullmatch(default or "")
    if text:
        content = text["content"].replace("''", "'")
        return int(content) if "int" in (text["type"] or "") else content
    return None if default is None or default.upper().startswith("NULL") else int(default)
