"""Read the tables from the database itself, so that no list of them can be out of date."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import groupby
from typing import NamedTuple

from mainstay.infrastructure.database import DatabaseHandle, Row


class ForeignKey(NamedTuple):
    """A foreign key: these columns refer to those columns of another table."""

    columns: tuple[str, ...]
    table: str
    referenced_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SchemaTable:
    """A table with its primary key and its foreign keys."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    foreign_keys: tuple[ForeignKey, ...]


def read_tables(db: DatabaseHandle, engine: str) -> list[SchemaTable]:
    """Return every table, ordered so that referenced tables come first."""
    queries = _CATALOGUE_QUERIES[engine]
    columns, keys = (_columns_by_table(db.all(sql)) for sql in (queries.columns, queries.keys))
    references = {
        name: tuple(_parse_foreign_keys(found)) for name, found in _group_by_table(db.all(queries.references))
    }
    tables = {
        name: SchemaTable(name, table_columns, keys.get(name, ()), references.get(name, ()))
        for name, table_columns in columns.items()
    }
    dependencies = {
        table.name: {reference.table for reference in table.foreign_keys} - {table.name} for table in tables.values()
    }
    return [tables[name] for name in TopologicalSorter(dependencies).static_order()]


def read_columns(db: DatabaseHandle, table: str) -> dict[str, str | None]:
    """Return the columns of a table, each with its default as the engine writes it, or None."""
    return {
        str(name): None if default is None else str(default)
        for name, default in db.all(_COLUMN_QUERIES[db.engine], table=table)
    }


_COLUMN_QUERIES = {
    "sqlite": "SELECT name, dflt_value FROM pragma_table_info(:table)",
    "postgresql": "SELECT CAST(a.attname AS text), pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute AS a"
    " LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum"
    " WHERE a.attrelid = CAST(CAST(:table AS text) AS regclass) AND a.attnum > 0 AND NOT a.attisdropped",
}


class _CatalogueQueries(NamedTuple):
    """The statements that read an engine's catalogue: columns, primary keys and foreign keys.

    The first two return a table and a column. The last returns a table, the foreign key, its column, and the table and
    column that it refers to.
    """

    columns: str
    keys: str
    references: str


_TABLES = "FROM sqlite_master AS t JOIN"
_OWN_TABLES = "WHERE t.type = 'table' AND substr(t.name, 1, 7) <> 'sqlite_' ORDER BY t.name"
_FROM_CONSTRAINTS = (
    "FROM pg_constraint AS k CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS part (own, other, place)"
    " JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = part.own"
)
_IN_SCHEMA = "k.connamespace = current_schema()::regnamespace"

_CATALOGUE_QUERIES = {
    "sqlite": _CatalogueQueries(
        f"SELECT t.name, c.name {_TABLES} pragma_table_info(t.name) AS c {_OWN_TABLES}, c.cid",
        f"SELECT t.name, c.name {_TABLES} pragma_table_info(t.name) AS c ON c.pk > 0 {_OWN_TABLES}, c.pk",
        f'SELECT t.name, k.id, k."from", k."table", k."to" {_TABLES} pragma_foreign_key_list(t.name) AS k'
        f" {_OWN_TABLES}, k.id, k.seq",
    ),
    "postgresql": _CatalogueQueries(
        "SELECT CAST(c.relname AS text), CAST(a.attname AS text) FROM pg_class AS c"
        " JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
        " WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname, a.attnum",
        f"SELECT CAST(k.conrelid::regclass AS text), CAST(a.attname AS text) {_FROM_CONSTRAINTS}"
        f" WHERE k.contype = 'p' AND {_IN_SCHEMA} ORDER BY k.conrelid, part.place",
        "SELECT CAST(k.conrelid::regclass AS text), CAST(k.conname AS text), CAST(a.attname AS text),"
        f" CAST(k.confrelid::regclass AS text), CAST(b.attname AS text) {_FROM_CONSTRAINTS}"
        " JOIN pg_attribute AS b ON b.attrelid = k.confrelid AND b.attnum = part.other"
        f" WHERE k.contype = 'f' AND {_IN_SCHEMA} ORDER BY k.conrelid, k.conname, part.place",
    ),
}


def _group_by_table(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Yield each table with its rows."""
    for name, found in groupby(rows, key=lambda row: row[0]):
        yield str(name), list(found)


def _columns_by_table(rows: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(str(column) for _, column in found) for name, found in _group_by_table(rows)}


def _parse_foreign_keys(rows: Iterable[Row]) -> Iterator[ForeignKey]:
    """Yield the foreign keys of one table."""
    for _, parts in groupby(rows, key=lambda row: row[1]):
        own, other, referenced = zip(*((str(row[2]), str(row[3]), str(row[4])) for row in parts), strict=True)
        yield ForeignKey(own, other[0], referenced)
