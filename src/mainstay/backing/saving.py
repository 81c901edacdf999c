"""Writing a record: the same stamp, the same version, the same way for every table."""

from collections.abc import Mapping
from dataclasses import dataclass

from mainstay.backing.database import Handle, Value


@dataclass(frozen=True, slots=True)
class Pen:
    """Writes records at one moment, by one hand.

    Table and column names come from stores and from the fields of Inputs; values are always bound.
    """

    rows: Handle
    at: str
    by: str

    def insert(self, table: str, identity: str, columns: Mapping[str, Value]) -> None:
        """A new record of the organisation, in its first version."""
        names = ", ".join(columns)
        values = ", ".join(f":{name}" for name in columns)
        self.rows.run(
            f"INSERT INTO {table}"
            f" (organisation_id, id, created_at, created_by, updated_at, updated_by, version, {names})"
            f" VALUES (:organisation, :id, :at, :by, :at, :by, 1, {values})",
            id=identity,
            at=self.at,
            by=self.by,
            **columns,
        )

    def save(self, table: str, identity: str, columns: Mapping[str, Value]) -> bool:
        """Change a record; False, and no new version, when it is as wished already."""
        return self._update(table, "organisation_id = :organisation AND id = :id", columns, id=identity)

    def save_organisation(self, columns: Mapping[str, Value]) -> bool:
        """Change the organisation itself, likewise."""
        return self._update("organisation", "id = :organisation", columns)

    def _update(self, table: str, where: str, columns: Mapping[str, Value], **named: Value) -> bool:
        if not columns:
            return False
        assignments = ", ".join(f"{name} = :{name}" for name in columns)
        differs = " OR ".join(f"{name} IS DISTINCT FROM :{name}" for name in columns)
        changed = self.rows.run(
            f"UPDATE {table} SET {assignments}, updated_at = :at, updated_by = :by, version = version + 1"
            f" WHERE {where} AND ({differs})",
            at=self.at,
            by=self.by,
            **columns,
            **named,
        )
        return changed > 0
