"""Invoices that become overdue, by the organisation's time zone."""

from collections.abc import Mapping
from datetime import date

from mainstay.business.invoices.events import InvoiceOverdue
from mainstay.business.invoices.store import INVOICES
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.organisation.store import RECALCULATE_DAYS
from mainstay.business.quotes.expiry import recompute_quote_expiry
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import DailyTimer, TaskKind


def became_overdue(ctx: Context, _day: date) -> None:
    """Emit an event for each invoice that became overdue, once."""
    overdue = ctx.db.all(f"{INVOICES.select_all} AND {_NEWLY_OVERDUE} ORDER BY invoice.overdue_at, invoice.id")
    for invoice in map(INVOICES.from_row, overdue):
        ctx.emit(InvoiceOverdue(INVOICES.save(ctx, invoice, {"told_overdue": 1})))


def recompute_end_of_days(ctx: Context, payload: Mapping[str, str]) -> None:
    """Recompute when quotes expire and invoices become overdue, after the organisation changed its time zone."""
    recompute_quote_expiry(ctx, payload)
    settings = settings_of(ctx)
    waiting = ctx.db.all(
        "SELECT id, due_on FROM invoice WHERE organisation_id = :organisation AND owing = 1 AND told_overdue = 0"
    )
    for record_id, due_on in waiting:
        ctx.db.run(
            "UPDATE invoice SET overdue_at = :ends WHERE organisation_id = :organisation AND id = :id",
            id=record_id,
            ends=settings.end_of_day(str(due_on)),
        )
        ctx.writer.mark_written(INVOICES.table, str(record_id))


def has_overdue_invoices(ctx: Context) -> bool:
    """Return whether an invoice is overdue without an event for it."""
    return ctx.db.one(f"SELECT 1 FROM invoice WHERE {_NEWLY_OVERDUE} LIMIT 1") is not None


_NEWLY_OVERDUE = (
    "invoice.organisation_id = :organisation AND invoice.owing = 1 AND invoice.told_overdue = 0"
    " AND invoice.overdue_at <= :now"
)

TIMERS = (DailyTimer(became_overdue, "Invoice became overdue", has_overdue_invoices),)
TASK_KINDS = (TaskKind(RECALCULATE_DAYS, recompute_end_of_days, "Dates recalculated for a new time zone"),)
