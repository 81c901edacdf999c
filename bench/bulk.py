"""Writes very many records at once into an embedded database, as its stores would have written them one by one."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw
import orjson

from mainstay.kernel.record_store import RecordStore
from mainstay.values.ids import new_id
from mainstay.vocabulary.rows import to_stored

_CACHE_KILOBYTES = 500_000


class BulkWriter:
    """Rows of one organisation, gathered by table and written together."""

    def __init__(self, organisation: str, at: str, by: str) -> None:
        self.organisation = organisation
        self._stamp = {"created_at": at, "created_by": by, "updated_at": at, "updated_by": by, "version": 1}
        self._rows: dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]] = {}

    def add_record(self, listing: RecordStore[Any], values: Mapping[str, Any], **search_values: Any) -> str:
        """Add a record and return its id; `search_values` are values of other tables that it is found by."""
        record_id = new_id(listing.prefix)
        columns = {name: to_stored(value) for name, value in listing.derive_columns(dict(values)).items()}
        self.add_row(listing.table, {"id": record_id, **self._stamp, **columns})
        found_by = (
            by.extract_words(*(columns.get(name, search_values.get(name)) for name in by.columns))
            for by in listing.search_fields
        )
        if words := sorted(frozenset[str]().union(*found_by)):
            words_json = orjson.dumps(words).decode()
            self.add_row("search_record", {"kind": listing.prefix, "record_id": record_id, "words": words_json})
        for word in words:
            self.add_row("search_word", {"kind": listing.prefix, "word": word, "record_id": record_id})
        return record_id

    def add_row(self, table: str, columns: Mapping[str, Any]) -> None:
        """Add a row; all rows of a table have the same columns."""
        names, rows = self._rows.setdefault(table, (tuple(columns), []))
        rows.append((self.organisation, *(columns[name] for name in names)))

    def write_rows(self, path: Path) -> None:
        """Write everything. Indexes are made once all rows are there, which takes a tenth of the time."""
        connection = apsw.Connection(str(path))
        connection.execute(f"PRAGMA synchronous = OFF; PRAGMA cache_size = -{_CACHE_KILOBYTES}; BEGIN IMMEDIATE")
        statistics = list(connection.execute("SELECT tbl, idx, stat FROM sqlite_stat1"))
        index_sql = _drop_indexes(connection, self._rows)
        for table, (names, rows) in self._rows.items():
            places = ", ".join("?" * (len(names) + 1))
            # What is kept in the order of its words is written in it.
            ordered = sorted(rows) if table == "search_word" else rows
            connection.executemany(
                f"INSERT INTO {table} (organisation_id, {', '.join(names)}) VALUES ({places})", ordered
            )
        for sql in index_sql:
            connection.execute(sql)
        # What SQLite is told of its indexes goes with them.
        connection.execute("DELETE FROM sqlite_stat1")
        connection.executemany("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", statistics)
        connection.execute("ANALYZE sqlite_schema; COMMIT")
        connection.close()


def _drop_indexes(connection: apsw.Connection, tables: Collection[str]) -> Sequence[str]:
    """Drop the indexes and triggers of these tables; return the statements that make them again."""
    kinds = (
        "SELECT type, name, sql FROM sqlite_master WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql <> ''"
    )
    found = [row for table in tables for row in connection.execute(kinds, (table,))]
    for kind, name, _ in found:
        connection.execute(f"DROP {kind} {name}")
    return [str(sql) for _, _, sql in found]
