"""What is counted and summed up at a glance."""

from datetime import date, timedelta
from typing import NamedTuple

from mainstay.business.reporting.books import CREDIT_NOTES, INVOICES, VOIDS
from mainstay.kernel.context import Context
from mainstay.terms.listed import COUNTED

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
    """How many there are, as far as lists count, and what they come to; None where so many are not summed up."""
    counted = f"SELECT count(*) FROM (SELECT 1 AS one {_rows(summed)} LIMIT {COUNTED}) AS counted"
    row = ctx.rows.one(f"SELECT ({counted}), ({_sum(summed, _SUMMED)})")
    count, amount = row or (0, 0)
    return int(count or 0), None if amount is None else int(amount)


def revenue(ctx: Context, today: date) -> tuple[int, int] | None:
    """What this month and the last brought, as the report of it says; None where that is too much to be summed up."""
    first = today.replace(day=1)
    last_month = _brought(ctx, (first - timedelta(days=1)).replace(day=1), first - timedelta(days=1))
    this_month = None if last_month is None else _brought(ctx, first, today)
    return None if this_month is None or last_month is None else (this_month, last_month)


def _brought(ctx: Context, first: date, last: date) -> int | None:
    found = 0
    for entries in (INVOICES, VOIDS, CREDIT_NOTES):
        within = Summed(entries.table, "net", f"{entries.on} >= :first AND {entries.on} <= :last")
        row = ctx.rows.one(_sum(within, _SUMMED_OF_MONTH), first=first.isoformat(), last=last.isoformat())
        if row is None or row[0] is None:
            return None
        found += entries.sign * int(row[0])
    return found


def _sum(summed: Summed, most: int) -> str:
    """Null where there are more: to step over so many rows of an index is a third of the work of summing them up."""
    return (
        f"SELECT CASE WHEN EXISTS (SELECT 1 {_rows(summed)} LIMIT 1 OFFSET {most}) THEN NULL"
        f" ELSE (SELECT CAST(coalesce(sum({summed.column}), 0) AS bigint) {_rows(summed)}) END"
    )


def _rows(summed: Summed) -> str:
    return f"FROM {summed.table} WHERE organisation_id = :organisation AND {summed.which}"
