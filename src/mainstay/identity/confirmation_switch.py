"""The switch of a key or a connected app by which what cannot be undone waits for its person in the office."""

from typing import Annotated, TypeVar

from pydantic import Field

from mainstay.kernel.context import Context
from mainstay.kernel.record_store import RecordStore
from mainstay.vocabulary.schemas import StoredRecord

K = TypeVar("K", bound=StoredRecord)
ConfirmsInOffice = Annotated[
    bool,
    Field(
        title="Confirm on the website",
        description="The person has to confirm on the website whatever can't be undone.",
    ),
]


def save_confirmation_switch(ctx: Context, store: RecordStore[K], record: K, *, is_on: bool) -> K:
    """Turn the switch of a key or a connected app on or off, and return the record as it is then."""
    row = ctx.db.one(
        f"UPDATE {store.table} SET confirms_in_office = :is_on WHERE organisation_id = :organisation AND id = :id"
        f" AND confirms_in_office <> :is_on RETURNING {store.selected_columns}",
        id=record.id,
        is_on=int(is_on),
    )
    if row is None:
        return record
    ctx.writer.touch(record.id)
    ctx.writer.mark_written(store.table, record.id)
    return store.from_row(row)
