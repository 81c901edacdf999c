"""Updates the amounts and status of invoices after payments and credits, and then of their jobs.

A job is invoiced when an invoice for it was issued, no hours and materials are left to bill, and all that was agreed is
on invoices. Only this module decides that. Code elsewhere that adds something to bill only resets it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from mainstay.business.invoices import store
from mainstay.business.invoices.drafting import sources
from mainstay.business.invoices.drafting.billable_lines import are_quotes_invoiced
from mainstay.business.invoices.drafting.fixed_price import is_price_invoiced
from mainstay.business.invoices.model import ADVANCE_KINDS, Invoice, payment_status_of
from mainstay.business.invoices.store import INVOICES
from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import emit_job_updated
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.quotes import store as quoted
from mainstay.kernel.context import Context
from mainstay.values.message import Message


def settle_invoice(ctx: Context, invoice: Invoice, *, paid: int = 0, credited: int = 0) -> Invoice:
    """Add to what is paid and credited of an invoice, and update its status; `update_job_billing` updates its job."""
    paid, credited = invoice.paid + paid, invoice.credited + credited
    due = invoice.total - paid - credited
    return INVOICES.save(
        ctx,
        invoice,
        {
            "paid": paid,
            "credited": credited,
            "due": due,
            "standing": payment_status_of(invoice.total, paid, credited),
            "owing": due > 0,
        },
    )


def update_billing_of_jobs(ctx: Context, invoices: Iterable[Invoice]) -> None:
    """Update the jobs of these invoices, each once."""
    for job in sorted({one.job_id for one in invoices if one.job_id}):
        update_job_billing(ctx, job)


def update_job_billing(ctx: Context, job_id: str | None) -> None:
    """Update whether a job is invoiced and what is owed for it.

    A job that is done is closed once all of it is paid. A closed job becomes done again if something is owed again.
    """
    if job_id is None:
        return
    before = JOBS.find(ctx, "job.id = :id", id=job_id)
    if before is None:
        return
    invoices = store.find_invoices_of_job(ctx, job_id)
    issued = [one for one in invoices if one.is_issued and one.status != "credited"]
    has_main_invoice = any(one.kind not in ADVANCE_KINDS for one in issued)
    owed = sum(one.due for one in issued if one.due > 0)
    is_invoiced = bool(issued) and not _has_work_left(ctx, job_id, invoices) and _has_all_agreed(ctx, before, issued)
    changes: dict[str, Any] = {"invoiced": is_invoiced, "owed": owed}
    closes = before.status == "done" and is_invoiced and not owed
    opens = before.status == "closed" and has_main_invoice and bool(owed)
    if closes or opens:
        changes["status"] = "closed" if closes else "done"
    after = jobs.save(ctx, before, changes)
    if closes or opens:
        ctx.effects.append(
            Message("{job} will be closed, because everything is then invoiced and paid.", job=before.display_name)
            if closes
            else Message(
                "{job} will go back to Done, because it will no longer be fully paid.", job=before.display_name
            )
        )
    emit_job_updated(ctx, after, before)


def _has_work_left(ctx: Context, job_id: str, invoices: Sequence[Invoice]) -> bool:
    """Return whether hours or materials are on no invoice, or only on a draft."""
    if any(one.status == "draft" and sources.has_work_lines(one) for one in invoices):
        return True
    where = "WHERE organisation_id = :organisation AND job_id = :job AND billable = 1 AND billed = 0"
    hours = ctx.db.one(f"SELECT 1 FROM time_entry {where} AND status = 'approved' LIMIT 1", job=job_id)
    return hours is not None or ctx.db.one(f"SELECT 1 FROM material {where} LIMIT 1", job=job_id) is not None


def _has_all_agreed(ctx: Context, job: Job, issued: Sequence[Invoice]) -> bool:
    quotes = quoted.find_accepted_quotes(ctx, job.id) if job.billing == "fixed" else []
    return are_quotes_invoiced(ctx, quotes, issued) if quotes else is_price_invoiced(ctx, job, issued)
