"""What bears a customer's name, or the address of a site, is found by it again when it has changed."""

from collections.abc import Iterator, Mapping
from typing import Any

from mainstay.business.customers.store import CONTACTS, CUSTOMERS, REWORD, SITES
from mainstay.business.jobs.store import JOBS
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.reaction import Chore

_BATCH = 500


def reword_records_of_customer(ctx: Context, told: Mapping[str, str]) -> None:
    """Write the words of a customer anew, and of their contacts, sites and jobs."""
    CUSTOMERS.reword(ctx, told["customer"])
    for listing in (CONTACTS, SITES, JOBS):
        for identity in _of(ctx, listing, told["customer"]):
            listing.reword(ctx, identity)


CHORES = (Chore(REWORD, reword_records_of_customer),)


def _of(ctx: Context, listing: Listing[Any], customer: str) -> Iterator[str]:
    after = ""
    sql = (
        f"SELECT id FROM {listing.table} WHERE organisation_id = :organisation AND customer_id = :customer"
        f" AND id > :after ORDER BY id LIMIT {_BATCH}"
    )
    while found := ctx.rows.all(sql, customer=customer, after=after):
        yield from (str(identity) for (identity,) in found)
        after = str(found[-1][0])
