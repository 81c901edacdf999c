"""End the access of a key or a connected app."""

from typing import TypeVar

from mainstay.kernel.context import Context
from mainstay.kernel.record_store import RecordStore
from mainstay.vocabulary.schemas import StoredRecord

K = TypeVar("K", bound=StoredRecord)


def end_access(ctx: Context, store: RecordStore[K], ended_column: str, condition: str, **parameters: str) -> list[K]:
    """End the active records that match a condition, and return them as they are then, oldest first.

    `ended_column` is the column that holds the time of the end.
    """
    ended = ctx.db.all(
        f"UPDATE {store.table} SET {ended_column} = :at WHERE organisation_id = :organisation AND {condition}"
        f" AND {ended_column} IS NULL RETURNING {store.selected_columns}",
        at=ctx.now_text,
        **parameters,
    )
    records = sorted(map(store.from_row, ended), key=lambda record: record.id)
    ctx.writer.touch(*(record.id for record in records))
    ctx.writer.mark_written(store.table, *(record.id for record in records))
    return records
