"""What time does to invoices: those that were not paid in time are overdue, by the clocks of the organisation."""

from collections.abc import Mapping
from datetime import date

from mainstay.business.invoices.events import InvoiceOverdue
from mainstay.business.invoices.store import INVOICES
from mainstay.business.organisation.house import house_of
from mainstay.business.organisation.store import NEW_DAYS
from mainstay.business.quotes.expiring import reckon_quotes_anew
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Chore, Timer


def became_overdue(ctx: Context, _day: date) -> None:
    """Tell of each invoice that was not paid in time, once."""
    overdue = ctx.rows.all(f"{INVOICES.everything} AND {_OVERDUE} ORDER BY invoice.overdue_at, invoice.id")
    for invoice in map(INVOICES.keep, overdue):
        ctx.record(InvoiceOverdue(INVOICES.save(ctx, invoice, {"told_overdue": 1})))


def reckon_days_anew(ctx: Context, told: Mapping[str, str]) -> None:
    """Let quotes expire and invoices be due at the midnight of the time zone that the organisation is in now."""
    reckon_quotes_anew(ctx, told)
    house = house_of(ctx)
    waiting = ctx.rows.all(
        "SELECT id, due_on FROM invoice WHERE organisation_id = :organisation AND owing = 1 AND told_overdue = 0"
    )
    for identity, due_on in waiting:
        ctx.rows.run(
            "UPDATE invoice SET overdue_at = :ends WHERE organisation_id = :organisation AND id = :id",
            id=identity,
            ends=house.ends_at(str(due_on)),
        )
        ctx.pen.mark_written(INVOICES.table, str(identity))


def has_overdue_invoices(ctx: Context) -> bool:
    """Whether an invoice was not paid in time, and nobody was told."""
    return ctx.rows.one(f"SELECT 1 FROM invoice WHERE {_OVERDUE} LIMIT 1") is not None


_OVERDUE = (
    "invoice.organisation_id = :organisation AND invoice.owing = 1 AND invoice.told_overdue = 0"
    " AND invoice.overdue_at <= :now"
)

TIMERS = (Timer(became_overdue, has_overdue_invoices),)
CHORES = (Chore(NEW_DAYS, reckon_days_anew),)
