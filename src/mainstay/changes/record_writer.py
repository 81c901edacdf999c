"""Write records: with a stamp, a version and hashes, in the same way for every table."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from mainstay.infrastructure.database import DatabaseHandle, Row, Value
from mainstay.infrastructure.row_hashes import HASHED_TABLES, REMOVED, hashed_columns_of, name_row, read_rows

# The hashed columns of a row that was removed.
_REMOVED_ROW: Row = ()


@dataclass(frozen=True, slots=True)
class RecordWriter:
    """Writes the records of one operation, with its time and actor.

    Table and column names come from stores and from the fields of Inputs; values are always bound.
    """

    db: DatabaseHandle
    now_text: str
    stamp: str
    # The ids of the written records, for the audit trail: a dictionary keeps each once and in order.
    touched: dict[str, None] = field(default_factory=dict)
    # The fields that changed, by the id of their record.
    changed_fields: dict[str, dict[str, None]] = field(default_factory=dict)
    # The written rows of hashed tables, by table and key: their hashed columns, empty for a removed row, or None if
    # they must be read first.
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
        read_from_database = {
            table: read_rows(self.db, table, hashed_columns_of(self.db, table), keys) for table, keys in unread.items()
        }
        hashes = {}
        for (table, key), row in self._written.items():
            stored = read_from_database[table].get(key, _REMOVED_ROW) if row is None else row
            hashes[name_row(table, key)] = hashed_columns_of(self.db, table).hash_row(stored) if stored else REMOVED
        return hashes

    def mark_written(self, table: str, *keys: str) -> None:
        """Note that other statements wrote these rows, so that they are read and hashed too."""
        self._written.update(dict.fromkeys((table, key) for key in keys))

    def touch(self, *record_ids: str) -> None:
        """Note in the audit trail records that were written by other means."""
        self.touched.update(dict.fromkeys(record_ids))

    def note_changed_fields(self, record_id: str, fields: Iterable[str]) -> None:
        """Note in the audit trail which fields of a record changed."""
        self.changed_fields.setdefault(record_id, {}).update(dict.fromkeys(fields))

    def bump_version(
        self, table: str, record_id: str, fields: Iterable[str], tenant_column: str = "organisation_id"
    ) -> None:
        """Give a record a new version, once in an operation, because data shown with it was changed in other tables."""
        if record_id not in self.touched:
            self.mark_written(table, record_id)
            stamped = "updated_at = :at, updated_by = :by, version = version + 1"
            sql = f"UPDATE {table} SET {stamped} WHERE {tenant_column} = :organisation AND id = :id"
            self.db.run(sql, id=record_id, at=self.now_text, by=self.stamp)
            self.touch(record_id)
        self.note_changed_fields(record_id, fields)

    def insert(self, table: str, record_id: str, columns: Mapping[str, Value], returning: str) -> Row:
        """Insert a record in its first version; return these columns of it."""
        self.touch(record_id)
        statement = _insert_sql(table, tuple(columns), self._add_hashed_columns(table, returning))
        row = self.db.one(statement, id=record_id, at=self.now_text, by=self.stamp, **columns) or ()
        return self._split_hashed_columns(table, record_id, row)

    def save(
        self,
        table: str,
        record_id: str,
        columns: Mapping[str, Value],
        returning: str,
        tenant_column: str = "organisation_id",
    ) -> Row | None:
        """Change a record and return these columns of it; None, without a new version, if nothing is different."""
        if not columns:
            return None
        statement = _update_sql(table, tuple(columns), self._add_hashed_columns(table, returning), tenant_column)
        row = self.db.one(statement, id=record_id, at=self.now_text, by=self.stamp, **columns)
        if row is None:
            return None
        self.touch(record_id)
        return self._split_hashed_columns(table, record_id, row)

    def remove(self, table: str, record_id: str, tenant_column: str = "organisation_id") -> None:
        """Delete a record. Its history stays in the audit trail."""
        self.db.run(f"DELETE FROM {table} WHERE {tenant_column} = :organisation AND id = :id", id=record_id)
        self.touch(record_id)
        if table in HASHED_TABLES:
            self._written[table, record_id] = _REMOVED_ROW

    def _add_hashed_columns(self, table: str, returning: str) -> str:
        """Add the hashed columns to those that a statement returns, so that the row need not be read again."""
        if table not in HASHED_TABLES:
            return returning
        return _add_columns(table, returning, hashed_columns_of(self.db, table).names)

    def _split_hashed_columns(self, table: str, record_id: str, row: Row) -> Row:
        """Store the hashed columns of a returned row, and return the rest of it."""
        if table not in HASHED_TABLES:
            return row
        count = len(hashed_columns_of(self.db, table).names)
        self._written[table, record_id] = row[-count:]
        return row[:-count]


@lru_cache(512)
def _add_columns(table: str, returning: str, names: tuple[str, ...]) -> str:
    return ", ".join([returning, *(f"{table}.{name}" for name in names)])


# The same forms write the same columns again and again.
@lru_cache(512)
def _insert_sql(table: str, columns: tuple[str, ...], returning: str) -> str:
    names, values = ", ".join(columns), ", ".join(f":{name}" for name in columns)
    return (
        f"INSERT INTO {table} (organisation_id, id, created_at, created_by, updated_at, updated_by, version, {names})"
        f" VALUES (:organisation, :id, :at, :by, :at, :by, 1, {values}) RETURNING {returning}"
    )


@lru_cache(512)
def _update_sql(table: str, columns: tuple[str, ...], returning: str, tenant_column: str) -> str:
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    differs = " OR ".join(f"{name} IS DISTINCT FROM :{name}" for name in columns)
    return (
        f"UPDATE {table} SET {assignments}, updated_at = :at, updated_by = :by, version = version + 1"
        f" WHERE {tenant_column} = :organisation AND id = :id AND ({differs}) RETURNING {returning}"
    )
