"""Writing a record: the same stamp, the same version, the same way for every table."""

from collections.abc import Mapping

from mainstay.backing.database import Value
from mainstay.kernel.context import Context

# Table and column names come from stores and from the fields of Inputs; values are always bound.


def insert(ctx: Context, table: str, identity: str, columns: Mapping[str, Value]) -> None:
    """A new record of the organisation, in its first version."""
    names = ", ".join(columns)
    values = ", ".join(f":{name}" for name in columns)
    ctx.rows.run(
        f"INSERT INTO {table} (organisation_id, id, created_at, created_by, updated_at, updated_by, version, {names})"
        f" VALUES (:organisation, :id, :at, :by, :at, :by, 1, {values})",
        id=identity,
        at=ctx.at,
        by=ctx.stamp,
        **columns,
    )


def save(ctx: Context, table: str, identity: str, columns: Mapping[str, Value]) -> bool:
    """Change a record; False, and no new version, when it is as wished already."""
    return _update(ctx, table, "organisation_id = :organisation AND id = :id", columns, identity)


def save_organisation(ctx: Context, columns: Mapping[str, Value]) -> bool:
    """Change the organisation itself, likewise."""
    return _update(ctx, "organisation", "id = :organisation", columns, ctx.actor.organisation)


def _update(ctx: Context, table: str, where: str, columns: Mapping[str, Value], identity: str) -> bool:
    if not columns:
        return False
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    differs = " OR ".join(f"{name} IS DISTINCT FROM :{name}" for name in columns)
    changed = ctx.rows.run(
        f"UPDATE {table} SET {assignments}, updated_at = :at, updated_by = :by, version = version + 1"
        f" WHERE {where} AND ({differs})",
        id=identity,
        at=ctx.at,
        by=ctx.stamp,
        **columns,
    )
    return changed > 0
