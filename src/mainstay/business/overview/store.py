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
    return _up_to(ctx, _SUMMED, summed)


def revenue(ctx: Context, today: date) -> tuple[int, int] | None:
    """What this month and the last brought, as the report of it says; None where that is too much to be summed up."""
    first = today.replace(day=1)
    last_month = _brought(ctx, (first - timedelta(days=1)).replace(day=1), first - timedelta(days=1))
    this_month = _brought(ctx, first, today)
    return None if this_month is None or last_month is None else (this_month, last_month)


def _brought(ctx: Context, first: date, last: date) -> int | None:
    found = 0
    for entries in (INVOICES, VOIDS, CREDIT_NOTES):
        within = Summed(entries.table, "net", f"{entries.on} >= :first AND {entries.on} <= :last")
        _, net = _up_to(ctx, _SUMMED_OF_MONTH, within, first=first.isoformat(), last=last.isoformat())
        if net is None:
            return None
        found += entries.sign * net
    return found


def _up_to(ctx: Context, most: int, summed: Summed, **bound: str) -> tuple[int, int | None]:
    row = ctx.rows.one(
        f"SELECT count(*), CAST(coalesce(sum(amount), 0) AS bigint) FROM (SELECT {summed.column} AS amount"
        f" FROM {summed.table} WHERE organisation_id = :organisation AND {summed.which} LIMIT {most + 1}) AS counted",
        **bound,
    )
    count, amount = (int(number or 0) for number in row) if row else (0, 0)
    return count, amount if count <= most else None
