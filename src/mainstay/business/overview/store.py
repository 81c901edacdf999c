"""What money comes to at a glance."""

from datetime import date, timedelta
from typing import NamedTuple

from mainstay.business.reporting.books import CREDIT_NOTES, INVOICES, VOIDS
from mainstay.kernel.context import Context

# Of more records than this, nobody waits for the sum: the reports tell it.
_SUMMED = 2_000
_SUMMED_OF_MONTH = 3_000


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


def revenue(ctx: Context, today: date) -> tuple[int, int] | None:
    """What this month and the last brought, as the report of it says; None where that is too much to be summed up."""
    first = today.replace(day=1)
    last_month = _brought(ctx, (first - timedelta(days=1)).replace(day=1), first - timedelta(days=1))
    this_month = _brought(ctx, first, today)
    return None if this_month is None or last_month is None else (this_month, last_month)


def _brought(ctx: Context, first: date, last: date) -> int | None:
    found = 0
    for entries in (INVOICES, VOIDS, CREDIT_NOTES):
        row = ctx.rows.one(
            "SELECT count(*), CAST(coalesce(sum(net), 0) AS bigint) FROM"
            f" (SELECT net FROM {entries.table} WHERE organisation_id = :organisation"
            f" AND {entries.on} >= :first AND {entries.on} <= :last LIMIT {_SUMMED_OF_MONTH + 1}) AS counted",
            first=first.isoformat(),
            last=last.isoformat(),
        )
        count, net = (int(number or 0) for number in row) if row else (0, 0)
        if count > _SUMMED_OF_MONTH:
            return None
        found += entries.sign * net
    return found
