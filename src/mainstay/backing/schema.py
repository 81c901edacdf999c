"""What tables there are: asked of the database itself, so that no list of them can be out of date."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import groupby
from typing import NamedTuple

from mainstay.backing.database import Handle, Row


class Reference(NamedTuple):
    """A foreign key: these columns name a row of another table by those."""

    columns: tuple[str, ...]
    table: str
    named: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table, what tells its rows apart, and which other rows they name."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    references: tuple[Reference, ...]


def read_tables(rows: Handle, engine: str) -> list[Table]:
    """Every table, those that others name before those others."""
    asked = _ASKED[engine]
    columns, keys = (_by_table(rows.all(sql)) for sql in (asked.columns, asked.keys))
    references = {name: tuple(_references(found)) for name, found in _grouped(rows.all(asked.references))}
    tables = {name: Table(name, of, keys.get(name, ()), references.get(name, ())) for name, of in columns.items()}
    named = {
        table.name: {reference.table for reference in table.references} - {table.name} for table in tables.values()
    }
    return [tables[name] for name in TopologicalSorter(named).static_order()]


def read_columns(rows: Handle, table: str) -> dict[str, str | None]:
    """The columns of a table, each with its default as the engine writes it, if it has one."""
    return {
        str(name): None if default is None else str(default)
        for name, default in rows.all(_COLUMNS[rows.engine], table=table)
    }


_COLUMNS = {
    "sqlite": "SELECT name, dflt_value FROM pragma_table_info(:table)",
    "postgresql": "SELECT CAST(a.attname AS text), pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute AS a"
    " LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum"
    " WHERE a.attrelid = CAST(CAST(:table AS text) AS regclass) AND a.attnum > 0 AND NOT a.attisdropped",
}


class _Asked(NamedTuple):
    """How an engine tells: of each column its table; and of each column of a foreign key the key, and what it names."""

    columns: str
    keys: str
    references: str


_TABLES = "FROM sqlite_master AS t JOIN"
_OURS = "WHERE t.type = 'table' AND substr(t.name, 1, 7) <> 'sqlite_' ORDER BY t.name"
_CONSTRAINED = (
    "FROM pg_constraint AS k CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS part (own, other, place)"
    " JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = part.own"
)
_HERE = "k.connamespace = current_schema()::regnamespace"

_ASKED = {
    "sqlite": _Asked(
        f"SELECT t.name, c.name {_TABLES} pragma_table_info(t.name) AS c {_OURS}, c.cid",
        f"SELECT t.name, c.name {_TABLES} pragma_table_info(t.name) AS c ON c.pk > 0 {_OURS}, c.pk",
        f'SELECT t.name, k.id, k."from", k."table", k."to" {_TABLES} pragma_foreign_key_list(t.name) AS k'
        f" {_OURS}, k.id, k.seq",
    ),
    "postgresql": _Asked(
        "SELECT CAST(c.relname AS text), CAST(a.attname AS text) FROM pg_class AS c"
        " JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
        " WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname, a.attnum",
        f"SELECT CAST(k.conrelid::regclass AS text), CAST(a.attname AS text) {_CONSTRAINED}"
        f" WHERE k.contype = 'p' AND {_HERE} ORDER BY k.conrelid, part.place",
        "SELECT CAST(k.conrelid::regclass AS text), CAST(k.conname AS text), CAST(a.attname AS text),"
        f" CAST(k.confrelid::regclass AS text), CAST(b.attname AS text) {_CONSTRAINED}"
        " JOIN pg_attribute AS b ON b.attrelid = k.confrelid AND b.attnum = part.other"
        f" WHERE k.contype = 'f' AND {_HERE} ORDER BY k.conrelid, k.conname, part.place",
    ),
}


def _grouped(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each table."""
    for name, found in groupby(rows, key=lambda row: row[0]):
        yield str(name), list(found)


def _by_table(rows: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(str(column) for _, column in found) for name, found in _grouped(rows)}


def _references(rows: Iterable[Row]) -> Iterator[Reference]:
    """The foreign keys of one table."""
    for _, parts in groupby(rows, key=lambda row: row[1]):
        own, other, named = zip(*((str(row[2]), str(row[3]), str(row[4])) for row in parts), strict=True)
        yield Reference(own, other[0], named)
