"""What bears the name of a supplier or the title of a job is found by it again when that has changed."""

from collections.abc import Mapping

from mainstay.business.jobs.rewording import ids_of
from mainstay.business.jobs.store import RETITLED
from mainstay.business.pricelist.store import RENAMED
from mainstay.business.purchasing.store import BILLS, ORDERS
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Chore


def reword_purchases_of_supplier(ctx: Context, told: Mapping[str, str]) -> None:
    """Write the words of what was bought from a supplier anew."""
    for listing in (ORDERS, BILLS):
        for identity in ids_of(ctx, listing, told["supplier"], "supplier_id"):
            listing.reword(ctx, identity)


def reword_purchases_of_job(ctx: Context, told: Mapping[str, str]) -> None:
    """Write the words of what was ordered for a job anew."""
    for identity in ids_of(ctx, ORDERS, told["job"], "job_id"):
        ORDERS.reword(ctx, identity)


CHORES = (Chore(RENAMED, reword_purchases_of_supplier), Chore(RETITLED, reword_purchases_of_job))
