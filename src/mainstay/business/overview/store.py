"""What money comes to at a glance."""

from datetime import date, timedelta
from typing import NamedTuple

from mainstay.business.organisation.house import House
from mainstay.business.reporting.asked import Asked
from mainstay.business.reporting.books import CREDIT_NOTES, INVOICES, VOIDS, month_of, sums
from mainstay.kernel.context import Context

# Of more records than this, nobody waits for the sum.
_SUMMED = 10_000


class Summed(NamedTuple):
    """What is summed up: a column of some rows."""

    table: str
    column: str
    which: str


OVERDUE = Summed("invoice", "due", "owing = 1 AND overdue_at <= :now")
UNPAID = Summed("invoice", "due", "owing = 1")
DRAFTS = Summed("invoice", "total", "standing = 'draft'")
ON_ACCOUNT = Summed("payment", "unallocated", "unallocated > 0 AND status = 'recorded'")


def sum_up(ctx: Context, summed: Summed) -> tuple[int, int | None]:
    """How many there are, and what they come to; None where there are too many to be summed up while someone waits."""
    row = ctx.rows.one(
        f"SELECT count(*), CAST(coalesce(sum(amount), 0) AS bigint) FROM (SELECT {summed.column} AS amount"
        f" FROM {summed.table} WHERE organisation_id = :organisation AND {summed.which} LIMIT {_SUMMED + 1}) AS counted"
    )
    count, amount = (int(number or 0) for number in row) if row else (0, 0)
    return count, amount if count <= _SUMMED else None


def revenue(ctx: Context, house: House, today: date) -> tuple[int, int]:
    """What this month and the last brought, as the report of it says."""
    first = (today.replace(day=1) - timedelta(days=1)).replace(day=1)
    asked = Asked(house, today, first, today)
    found = dict.fromkeys(asked.months, 0)
    for entries in (INVOICES, VOIDS, CREDIT_NOTES):
        for month, net in sums(ctx, entries, asked, month_of(entries), "net"):
            found[str(month)] += entries.sign * int(net or 0)
    before, now = found.values()
    return now, before
