"""What follows for an invoice from what is paid and credited of it, and for its job.

A job is invoiced when something of it was issued, no hours and materials are left to bill, and all that was agreed is
on invoices. That is reckoned here alone; elsewhere, what adds something to bill only says that it is not any more.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from mainstay.business.invoices import sources, store
from mainstay.business.invoices.agreed import is_price_invoiced
from mainstay.business.invoices.billing import are_quotes_invoiced
from mainstay.business.invoices.model import PARTS, Invoice, standing_of
from mainstay.business.invoices.store import INVOICES
from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import tell_of_change
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.quotes import store as quoted
from mainstay.kernel.context import Context


def settle(ctx: Context, invoice: Invoice, *, paid: int = 0, credited: int = 0) -> Invoice:
    """The invoice with so much more paid and credited, and the state that follows; its job is told by `hand_down`."""
    paid, credited = invoice.paid + paid, invoice.credited + credited
    due = invoice.total - paid - credited
    return INVOICES.save(
        ctx,
        invoice,
        {
            "paid": paid,
            "credited": credited,
            "due": due,
            "standing": standing_of(invoice.total, paid, credited),
            "owing": due > 0,
        },
    )


def hand_down_all(ctx: Context, invoices: Iterable[Invoice]) -> None:
    """Let the jobs of these invoices know, each once."""
    for job in sorted({one.job_id for one in invoices if one.job_id}):
        hand_down(ctx, job)


def hand_down(ctx: Context, job: str | None) -> None:
    """Let a job know whether it is invoiced and what is owed.

    Once all of it is paid, work that is done is closed; where something is owed again, it is only done again.
    """
    if job is None:
        return
    known = JOBS.find(ctx, "job.id = :id", id=job)
    if known is None:
        return
    invoices = store.of_job(ctx, job)
    issued = [one for one in invoices if one.is_issued and one.status != "credited"]
    billed = any(one.kind not in PARTS for one in issued)
    owed = sum(one.due for one in issued if one.due > 0)
    invoiced = bool(issued) and not _has_work_left(ctx, job, invoices) and _has_all_agreed(ctx, known, issued)
    changes: dict[str, Any] = {"invoiced": invoiced, "owed": owed}
    closes = known.status == "done" and invoiced and not owed
    opens = known.status == "closed" and billed and bool(owed)
    if closes or opens:
        changes["status"] = "closed" if closes else "done"
    after = jobs.save(ctx, known, changes)
    if closes or opens:
        why = "is closed: all of it is invoiced and paid" if closes else "is not closed any more: it is not paid"
        ctx.effects.append(f"{known.called} {why}.")
    tell_of_change(ctx, after, known)


def _has_work_left(ctx: Context, job: str, invoices: Sequence[Invoice]) -> bool:
    """Whether hours or materials are on no invoice, or only on one that was not sent."""
    if any(one.status == "draft" and sources.bills_work(one) for one in invoices):
        return True
    of_job = "WHERE organisation_id = :organisation AND job_id = :job AND billable = 1 AND billed = 0"
    hours = ctx.rows.one(f"SELECT 1 FROM time_entry {of_job} AND status = 'approved' LIMIT 1", job=job)
    return hours is not None or ctx.rows.one(f"SELECT 1 FROM material {of_job} LIMIT 1", job=job) is not None


def _has_all_agreed(ctx: Context, job: Job, issued: Sequence[Invoice]) -> bool:
    quotes = quoted.accepted_for(ctx, job.id) if job.billing == "fixed" else []
    return are_quotes_invoiced(ctx, quotes, issued) if quotes else is_price_invoiced(ctx, job, issued)
