"""Refreshes the search words of records after a customer's name or a site's address has changed."""

from collections.abc import Iterator
from typing import Any

from mainstay.business.customers.customer_changed import make_moved_handler
from mainstay.business.customers.store import CONTACTS, CUSTOMERS, SITES
from mainstay.business.jobs.events import JobUpdated
from mainstay.business.jobs.store import JOBS
from mainstay.kernel.context import Context
from mainstay.kernel.record_store import RecordStore

_BATCH_SIZE = 500


def refresh_customer_search(ctx: Context, customer_id: str) -> None:
    """Refresh the search words of a customer and of their contacts, sites and jobs."""
    CUSTOMERS.refresh_search(ctx, customer_id)
    for store in (CONTACTS, SITES, JOBS):
        for record_id in find_referring_ids(ctx, store, customer_id):
            store.refresh_search(ctx, record_id)


def find_referring_ids(ctx: Context, store: RecordStore[Any], of: str, column: str = "customer_id") -> Iterator[str]:
    """Yield the ids of records of one kind that refer to another record in a column."""
    after = ""
    sql = (
        f"SELECT id FROM {store.table} WHERE organisation_id = :organisation AND {column} = :of"
        f" AND id > :after ORDER BY id LIMIT {_BATCH_SIZE}"
    )
    while found := ctx.db.all(sql, of=of, after=after):
        yield from (str(record_id) for (record_id,) in found)
        after = str(found[-1][0])


TASK_KINDS = (make_moved_handler(JOBS, JobUpdated, "Job moved to another customer"),)
