"""What bears a customer's name, or the address of a site, is found by it again when it has changed."""

from collections.abc import Iterator
from typing import Any

from mainstay.business.customers.store import CONTACTS, CUSTOMERS, SITES
from mainstay.business.jobs.store import JOBS
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing

_BATCH = 500


def reword_works_of_customer(ctx: Context, customer: str) -> None:
    """Write the words of a customer anew, and of their contacts, sites and jobs."""
    CUSTOMERS.reword(ctx, customer)
    for listing in (CONTACTS, SITES, JOBS):
        for identity in ids_of(ctx, listing, customer):
            listing.reword(ctx, identity)


def ids_of(ctx: Context, listing: Listing[Any], of: str, column: str = "customer_id") -> Iterator[str]:
    """The ids of the records of one kind that are a customer's, or that name another record in a column."""
    after = ""
    sql = (
        f"SELECT id FROM {listing.table} WHERE organisation_id = :organisation AND {column} = :of"
        f" AND id > :after ORDER BY id LIMIT {_BATCH}"
    )
    while found := ctx.rows.all(sql, of=of, after=after):
        yield from (str(identity) for (identity,) in found)
        after = str(found[-1][0])
