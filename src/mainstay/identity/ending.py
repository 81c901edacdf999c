"""Ends what lets someone in: a key, a connected app."""

from typing import TypeVar

from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.terms.shapes import Kept

K = TypeVar("K", bound=Kept)


def end(ctx: Context, listing: Listing[K], ended_at: str, which: str, **given: str) -> list[K]:
    """End those of a kind that live, for good: as they are then, the oldest first. `ended_at` is the column of it."""
    ended = ctx.rows.all(
        f"UPDATE {listing.table} SET {ended_at} = :at WHERE organisation_id = :organisation AND {which}"
        f" AND {ended_at} IS NULL RETURNING {listing.selected}",
        at=ctx.at,
        **given,
    )
    records = sorted(map(listing.keep, ended), key=lambda one: one.id)
    ctx.pen.touch(*(one.id for one in records))
    ctx.pen.mark_written(listing.table, *(one.id for one in records))
    return records
