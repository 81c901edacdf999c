"""Hashes of stored rows, by which a change behind the product's back is found.

Each audit entry keeps, under its chain, a hash of every row that its act wrote, and `audit_record` keeps the same hash
beside the record, where it is found by the record. A hash covers the columns that differ from their defaults, sorted by
name: it is the same on both engines, and a column that a later migration adds changes none.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import NamedTuple

import orjson

from mainstay.backing.among import THESE, among
from mainstay.backing.database import Handle, Row, Survey, Value
from mainstay.backing.schema import read_columns

# What stands in the place of the hash once a row is removed.
REMOVED = ""
# 128 bits: enough that nobody finds another row with the same hash.
_DIGITS = 32
_BATCH = 1000


class HashedTable(NamedTuple):
    """A table whose rows are hashed: its key within an organisation, and the columns that no hash covers."""

    # The prefix of its ids; None if its key is no id.
    prefix: str | None
    left_out: frozenset[str] = frozenset()
    key: str = "id"
    tenant: str = "organisation_id"


_FILES = frozenset({"pdf_sha256", "void_pdf_sha256", "ubl_sha256"})
_COUNTED = frozenset({"event_sequence", "events_forgotten", "storage_bytes", "day_begins_at"})
_DELIVERING = frozenset({"due_at", "served_at", "trusted", "failing_since"})

# Left out is what changes without an act of its own, and what `check` recomputes.
HASHED: Mapping[str, HashedTable] = {
    "organisation": HashedTable("org", _COUNTED, tenant="id"),
    "person": HashedTable("person"),
    "customer": HashedTable("customer"),
    "contact": HashedTable("contact"),
    "site": HashedTable("site"),
    "job": HashedTable("job"),
    "visit": HashedTable("visit"),
    "time_off": HashedTable("leave"),
    "time_entry": HashedTable("entry", frozenset({"billed"})),
    "note": HashedTable("note"),
    "document": HashedTable("document"),
    "price_item": HashedTable("item"),
    "tax_rate": HashedTable("tax"),
    "supplier": HashedTable("supplier"),
    "quote": HashedTable("quote", _FILES),
    "invoice": HashedTable("invoice", _FILES),
    "credit_note": HashedTable("credit", _FILES),
    "payment": HashedTable("payment"),
    "account_statement": HashedTable("statement", _FILES),
    "purchase_order": HashedTable("po", _FILES),
    "bill": HashedTable("bill"),
    "material": HashedTable("material", frozenset({"billable", "billed"})),
    "api_key": HashedTable("key", frozenset({"last_used_at"})),
    "connection": HashedTable("connection", frozenset({"last_used_at"})),
    "webhook": HashedTable("webhook", _DELIVERING),
    "calendar_link": HashedTable(None, key="person_id"),
    "number_series": HashedTable(None, frozenset({"next"}), key="kind"),
}
_BY_PREFIX = {hashed.prefix: table for table, hashed in HASHED.items() if hashed.prefix}


def name_row(table: str, key: str) -> str:
    """Return the name under which a row is hashed: its id, or else its table and its key."""
    return key if HASHED[table].prefix else f"{table} {key}"


def find_row(name: str) -> tuple[str, str] | None:
    """Return the table and the key of a row by its name; None if no such row is hashed."""
    table, _, key = name.partition(" ")
    if key:
        return table, key
    of_id = _BY_PREFIX.get(name.partition("_")[0])
    return (of_id, name) if of_id else None


class Columns(NamedTuple):
    """The hashed columns of a table, sorted by name, and their defaults."""

    names: tuple[str, ...]
    defaults: Row

    def content_of(self, row: Row) -> bytes:
        """Return what is hashed of a row, given the values of these columns."""
        content: list[Value] = []
        for name, value, default in zip(self.names, row, self.defaults, strict=True):
            if value != default:
                content += name, value
        return orjson.dumps(content)

    def hash_row(self, row: Row) -> str:
        """Return the hash of a row, given the values of these columns."""
        return hash_content(self.content_of(row))


def hash_content(content: bytes) -> str:
    """Return the hash of a row by what is hashed of it."""
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def columns_of(rows: Handle, table: str) -> Columns:
    """Return the hashed columns of a table; the database is asked once in a process."""
    known = _KNOWN.get((rows.engine, table))
    if known is None:
        known = _KNOWN[rows.engine, table] = find_columns(rows, table)
    return known


_KNOWN: dict[tuple[str, str], Columns] = {}


def find_columns(rows: Handle, table: str) -> Columns:
    """Ask the database for the hashed columns of a table, whose schema may change meanwhile."""
    hashed = HASHED[table]
    left_out = hashed.left_out | {hashed.tenant}
    found = {name: default for name, default in read_columns(rows, table).items() if name not in left_out}
    names = tuple(sorted(found))
    return Columns(names, tuple(_parse_default(found[name]) for name in names))


def read_rows(rows: Handle, table: str, columns: Columns, keys: Iterable[str]) -> dict[str, Row]:
    """Return the hashed columns of rows as they are stored now, by their keys."""
    _, _, key, tenant = HASHED[table]
    selected = ", ".join((key, *columns.names))
    sql = f"SELECT {selected} FROM {table} WHERE {tenant} = :organisation AND {key} IN {THESE}"
    return {str(row[0]): row[1:] for row in among(rows, sql, keys)}


class Difference(NamedTuple):
    """A row that is not what its newest hash says."""

    name: str
    # What people call it: its kind with its number, or else its id.
    called: str
    # The newest hash, and that of the row as it is; None if there is no hash, REMOVED if there is no row.
    expected: str | None
    found: str


def find_differences(rows: Survey, tables: Iterable[str] = HASHED) -> Iterator[Difference]:
    """Find the rows of an organisation that are not what their newest hashes say, a few at a time."""
    wanted = set(tables)
    newest = _find_newest_hashes(rows)
    while some := dict(islice(newest, _BATCH)):
        yield from _compare(rows, some, wanted)
    for table in wanted:
        yield from _find_unknown(rows, table)


def _find_newest_hashes(rows: Survey) -> Iterator[tuple[str, str]]:
    history = rows.each(
        "SELECT record_id, hash FROM audit_record WHERE organisation_id = :organisation AND hash IS NOT NULL"
        " ORDER BY record_id, sequence"
    )
    for name, hashes in groupby(history, key=lambda row: row[0]):
        *_, (_, newest) = hashes
        yield str(name), str(newest)


def _compare(rows: Handle, expected: Mapping[str, str], wanted: Iterable[str]) -> Iterator[Difference]:
    by_table = defaultdict[str, dict[str, str]](dict)
    for name, hash_ in expected.items():
        table, key = find_row(name) or ("", "")
        by_table[table][key] = hash_
    for table in by_table.keys() & wanted:
        columns = find_columns(rows, table)
        stored = read_rows(rows, table, columns, by_table[table])
        for key, hash_ in by_table[table].items():
            row = stored.get(key)
            found = columns.hash_row(row) if row else REMOVED
            if found != hash_:
                yield Difference(name_row(table, key), _call(table, columns, key, row), hash_, found)


def _find_unknown(rows: Survey, table: str) -> Iterator[Difference]:
    """Find the rows that have no hash in the audit trail."""
    prefix, _, key, tenant = HASHED[table]
    columns = find_columns(rows, table)
    name = f"{table}.{key}" if prefix else f"'{table} ' || {table}.{key}"
    selected = ", ".join(f"{table}.{column}" for column in (key, *columns.names))
    unknown = rows.each(
        f"SELECT {selected} FROM {table} WHERE {table}.{tenant} = :organisation AND NOT EXISTS (SELECT 1"
        f" FROM audit_record WHERE audit_record.organisation_id = :organisation AND audit_record.record_id = {name}"
        " AND audit_record.hash IS NOT NULL)"
    )
    for identity, *row in unknown:
        found = columns.hash_row(tuple(row))
        yield Difference(name_row(table, str(identity)), _call(table, columns, str(identity), tuple(row)), None, found)


def _call(table: str, columns: Columns, key: str, row: Row | None) -> str:
    number = row[columns.names.index("number")] if row and "number" in columns.names else None
    return f"{table.replace('_', ' ')} {number or key}"


_TEXT = re.compile(r"'(?P<content>.*)'(::(?P<type>[\w ]+))?", re.DOTALL)


def _parse_default(written: str | None) -> Value:
    """Read the default of a column as an engine writes it: `0`, `'en'`, `'en'::text`, `'-1'::bigint`."""
    text = _TEXT.fullmatch(written or "")
    if text:
        content = text["content"].replace("''", "'")
        return int(content) if "int" in (text["type"] or "") else content
    return None if written is None or written.upper().startswith("NULL") else int(written)
