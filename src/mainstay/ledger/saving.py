"""Writing a record: the same stamp, the same version, the same way for every table, and the row as it is then."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from mainstay.backing.database import Handle, Row, Value
from mainstay.backing.row_hashes import HASHED, REMOVED, columns_of, name_row, read_rows

# What is hashed of a row that was removed.
_GONE: Row = ()


@dataclass(frozen=True, slots=True)
class Pen:
    """Writes records at one moment, by one hand.

    Table and column names come from stores and from the fields of Inputs; values are always bound.
    """

    rows: Handle
    at: str
    by: str
    # The ids of the records that were written, for the trail; a name in a dictionary comes once and keeps its place.
    touched: dict[str, None] = field(default_factory=dict)
    # The fields that are different since, by the id of their record.
    changed: dict[str, dict[str, None]] = field(default_factory=dict)
    # The rows of hashed tables that were written, by table and key: their hashed columns, none of a row that
    # was removed; None if they must be read.
    _written: dict[tuple[str, str], Row | None] = field(default_factory=dict)

    @property
    def has_written(self) -> bool:
        """Whether a row was written, or a record touched."""
        return bool(self.touched or self._written)

    def hash_rows(self) -> dict[str, str]:
        """Return the hashes of the rows that were written, by the names of the rows."""
        unread = defaultdict[str, list[str]](list)
        for (table, key), row in self._written.items():
            if row is None:
                unread[table].append(key)
        read = {
            table: read_rows(self.rows, table, columns_of(self.rows, table), keys) for table, keys in unread.items()
        }
        hashes = {}
        for (table, key), row in self._written.items():
            stored = read[table].get(key, _GONE) if row is None else row
            hashes[name_row(table, key)] = columns_of(self.rows, table).hash_row(stored) if stored else REMOVED
        return hashes

    def mark_written(self, table: str, *keys: str) -> None:
        """Note that rows were written by other statements than those here, so that they are hashed as they are then."""
        self._written.update(dict.fromkeys((table, key) for key in keys))

    def touch(self, *identities: str) -> None:
        """Let the trail name these records too, which were written by other means."""
        self.touched.update(dict.fromkeys(identities))

    def note(self, identity: str, fields: Iterable[str]) -> None:
        """Let the trail say which fields of a record are different now."""
        self.changed.setdefault(identity, {}).update(dict.fromkeys(fields))

    def restamp(self, table: str, identity: str, fields: Iterable[str], tenant: str = "organisation_id") -> None:
        """Let a record be another version, once in an act, because of what is told of it and stands elsewhere."""
        if identity not in self.touched:
            self.mark_written(table, identity)
            stamped = "updated_at = :at, updated_by = :by, version = version + 1"
            sql = f"UPDATE {table} SET {stamped} WHERE {tenant} = :organisation AND id = :id"
            self.rows.run(sql, id=identity, at=self.at, by=self.by)
            self.touch(identity)
        self.note(identity, fields)

    def insert(self, table: str, identity: str, columns: Mapping[str, Value], returning: str) -> Row:
        """A new record of the organisation, in its first version; these columns of it."""
        self.touch(identity)
        statement = _inserting(table, tuple(columns), self._with_hashed(table, returning))
        row = self.rows.one(statement, id=identity, at=self.at, by=self.by, **columns) or ()
        return self._keep_hashed(table, identity, row)

    def save(
        self, table: str, identity: str, columns: Mapping[str, Value], returning: str, tenant: str = "organisation_id"
    ) -> Row | None:
        """Change a record; these columns of it, or None, and no new version, when it is as wished already."""
        if not columns:
            return None
        statement = _saving(table, tuple(columns), self._with_hashed(table, returning), tenant)
        row = self.rows.one(statement, id=identity, at=self.at, by=self.by, **columns)
        if row is None:
            return None
        self.touch(identity)
        return self._keep_hashed(table, identity, row)

    def remove(self, table: str, identity: str, tenant: str = "organisation_id") -> None:
        """Remove a record; what happened to it stays in the trail."""
        self.rows.run(f"DELETE FROM {table} WHERE {tenant} = :organisation AND id = :id", id=identity)
        self.touch(identity)
        if table in HASHED:
            self._written[table, identity] = _GONE

    def _with_hashed(self, table: str, returning: str) -> str:
        """What a statement is to return so that the row need not be read once more to be hashed."""
        if table not in HASHED:
            return returning
        return _add_columns(table, returning, columns_of(self.rows, table).names)

    def _keep_hashed(self, table: str, identity: str, row: Row) -> Row:
        """Keep what is hashed of a row that a statement returned; the rest of it."""
        if table not in HASHED:
            return row
        count = len(columns_of(self.rows, table).names)
        self._written[table, identity] = row[-count:]
        return row[:-count]


@lru_cache(512)
def _add_columns(table: str, returning: str, names: tuple[str, ...]) -> str:
    return ", ".join([returning, *(f"{table}.{name}" for name in names)])


# The same few forms fill in the same few columns again and again.
@lru_cache(512)
def _inserting(table: str, columns: tuple[str, ...], returning: str) -> str:
    names, values = ", ".join(columns), ", ".join(f":{name}" for name in columns)
    return (
        f"INSERT INTO {table} (organisation_id, id, created_at, created_by, updated_at, updated_by, version, {names})"
        f" VALUES (:organisation, :id, :at, :by, :at, :by, 1, {values}) RETURNING {returning}"
    )


@lru_cache(512)
def _saving(table: str, columns: tuple[str, ...], returning: str, tenant: str) -> str:
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    differs = " OR ".join(f"{name} IS DISTINCT FROM :{name}" for name in columns)
    return (
        f"UPDATE {table} SET {assignments}, updated_at = :at, updated_by = :by, version = version + 1"
        f" WHERE {tenant} = :organisation AND id = :id AND ({differs}) RETURNING {returning}"
    )
