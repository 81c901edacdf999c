"""What bears the name of a supplier or the title of a job is found by it again when that has changed."""

from collections.abc import Iterator, Mapping
from typing import Any

from mainstay.business.jobs.store import RETITLED
from mainstay.business.pricelist.store import RENAMED
from mainstay.business.purchasing.store import BILLS, ORDERS
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.reaction import Chore

_BATCH = 500


def reword_purchases_of_supplier(ctx: Context, told: Mapping[str, str]) -> None:
    """Write the words of what was bought from a supplier anew."""
    for listing in (ORDERS, BILLS):
        for identity in _ids(ctx, listing, "supplier_id", told["supplier"]):
            listing.reword(ctx, identity)


def reword_purchases_of_job(ctx: Context, told: Mapping[str, str]) -> None:
    """Write the words of what was ordered for a job anew."""
    for identity in _ids(ctx, ORDERS, "job_id", told["job"]):
        ORDERS.reword(ctx, identity)


CHORES = (Chore(RENAMED, reword_purchases_of_supplier), Chore(RETITLED, reword_purchases_of_job))


def _ids(ctx: Context, listing: Listing[Any], column: str, of: str) -> Iterator[str]:
    after = ""
    sql = (
        f"SELECT id FROM {listing.table} WHERE organisation_id = :organisation AND {column} = :of"
        f" AND id > :after ORDER BY id LIMIT {_BATCH}"
    )
    while found := ctx.rows.all(sql, of=of, after=after):
        yield from (str(identity) for (identity,) in found)
        after = str(found[-1][0])
