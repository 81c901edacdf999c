"""Writing a record: the same stamp, the same version, the same way for every table, and the row as it is then."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mainstay.backing.database import Handle, Row, Value


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

    def touch(self, *identities: str) -> None:
        """Let the trail name these records too, which were written by other means."""
        self.touched.update(dict.fromkeys(identities))

    def insert(self, table: str, identity: str, columns: Mapping[str, Value], returning: str) -> Row:
        """A new record of the organisation, in its first version; these columns of it."""
        self.touch(identity)
        names = ", ".join(columns)
        values = ", ".join(f":{name}" for name in columns)
        row = self.rows.one(
            f"INSERT INTO {table}"
            f" (organisation_id, id, created_at, created_by, updated_at, updated_by, version, {names})"
            f" VALUES (:organisation, :id, :at, :by, :at, :by, 1, {values}) RETURNING {returning}",
            id=identity,
            at=self.at,
            by=self.by,
            **columns,
        )
        return row or ()

    def save(
        self, table: str, identity: str, columns: Mapping[str, Value], returning: str, tenant: str = "organisation_id"
    ) -> Row | None:
        """Change a record; these columns of it, or None, and no new version, when it is as wished already."""
        if not columns:
            return None
        assignments = ", ".join(f"{name} = :{name}" for name in columns)
        differs = " OR ".join(f"{name} IS DISTINCT FROM :{name}" for name in columns)
        row = self.rows.one(
            f"UPDATE {table} SET {assignments}, updated_at = :at, updated_by = :by, version = version + 1"
            f" WHERE {tenant} = :organisation AND id = :id AND ({differs}) RETURNING {returning}",
            id=identity,
            at=self.at,
            by=self.by,
            **columns,
        )
        if row is not None:
            self.touch(identity)
        return row
