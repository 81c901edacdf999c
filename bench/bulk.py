"""Writes very many records at once into an embedded database, as its stores would have written them one by one."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw
import orjson

from mainstay.kernel.listing import Listing
from mainstay.terms.keeping import stored
from mainstay.values.ids import new_id

_CACHED_KILOBYTES = 500_000


class Bulk:
    """Rows of one organisation, gathered by table and written together."""

    def __init__(self, organisation: str, at: str, by: str) -> None:
        self.organisation = organisation
        self._stamp = {"created_at": at, "created_by": by, "updated_at": at, "updated_by": by, "version": 1}
        self._rows: dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]] = {}

    def record(self, listing: Listing[Any], values: Mapping[str, Any], **known: Any) -> str:
        """A new record; `known` is what it is found by and has from other tables. Its id."""
        identity = new_id(listing.prefix)
        columns = {name: stored(value) for name, value in listing.derived(dict(values)).items()}
        self.row(listing.table, {"id": identity, **self._stamp, **columns})
        found_by = (by.words(*(columns.get(name, known.get(name)) for name in by.columns)) for by in listing.found_by)
        if words := sorted(frozenset[str]().union(*found_by)):
            together = orjson.dumps(words).decode()
            self.row("search_record", {"kind": listing.prefix, "record_id": identity, "words": together})
        for word in words:
            self.row("search_word", {"kind": listing.prefix, "word": word, "record_id": identity})
        return identity

    def row(self, table: str, columns: Mapping[str, Any]) -> None:
        """A row; all rows of a table have the same columns."""
        names, rows = self._rows.setdefault(table, (tuple(columns), []))
        rows.append((self.organisation, *(columns[name] for name in names)))

    def write(self, path: Path) -> None:
        """Write everything. Indexes are made once all rows are there, which takes a tenth of the time."""
        connection = apsw.Connection(str(path))
        connection.execute(f"PRAGMA synchronous = OFF; PRAGMA cache_size = -{_CACHED_KILOBYTES}; BEGIN IMMEDIATE")
        thought = list(connection.execute("SELECT tbl, idx, stat FROM sqlite_stat1"))
        made_later = _taken_away(connection, self._rows)
        for table, (names, rows) in self._rows.items():
            places = ", ".join("?" * (len(names) + 1))
            # What is kept in the order of its words is written in it.
            ordered = sorted(rows) if table == "search_word" else rows
            connection.executemany(
                f"INSERT INTO {table} (organisation_id, {', '.join(names)}) VALUES ({places})", ordered
            )
        for sql in made_later:
            connection.execute(sql)
        # What SQLite is told of its indexes goes with them.
        connection.execute("DELETE FROM sqlite_stat1")
        connection.executemany("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", thought)
        connection.execute("ANALYZE sqlite_schema; COMMIT")
        connection.close()


def _taken_away(connection: apsw.Connection, tables: Collection[str]) -> Sequence[str]:
    """Drop the indexes and triggers of these tables; the statements that make them again."""
    kinds = (
        "SELECT type, name, sql FROM sqlite_master WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql <> ''"
    )
    found = [row for table in tables for row in connection.execute(kinds, (table,))]
    for kind, name, _ in found:
        connection.execute(f"DROP {kind} {name}")
    return [str(sql) for _, _, sql in found]
