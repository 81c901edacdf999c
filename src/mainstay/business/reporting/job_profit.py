"""The report on the profit of jobs, each over its whole life."""

from dataclasses import replace
from typing import cast

from mainstay.business.costing.margin import Costing, JobBilling, compute_costings
from mainstay.business.costing.operations import get_job_costing
from mainstay.business.jobs.model import Billing, JobStatus
from mainstay.business.reporting.inputs import ReportQuery
from mainstay.business.reporting.model import (
    CellValue,
    RecordsBehind,
    ReportTable,
    make_column,
    make_table,
    to_percent,
)
from mainstay.business.reporting.profit_in_range import find_job_names, report_profit_in_range
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.kernel.context import Context
from mainstay.values.message import Message

_COLUMNS = (
    make_column("jobId", "Job ID", "id"),
    make_column("job", "Job", "text"),
    make_column("customer", "Customer", "text"),
    make_column("invoiced", "Invoiced, net", "money"),
    make_column("credited", "Credited, net", "money"),
    make_column("toInvoice", "Still to invoice, net", "money"),
    make_column("worked", "Worked", "minutes"),
    make_column("hoursCost", "Cost of hours", "money"),
    make_column("materialsCost", "Cost of materials", "money"),
    make_column("otherCost", "Cost of other lines", "money"),
    make_column("margin", "Margin", "money"),
    make_column("marginPercent", "Margin (%)", "percent"),
    make_column("uncosted", "Lines without cost", "count"),
    make_column("uncostedRevenue", "Revenue of these lines", "money"),
)
_NOTES = (
    Message("Each job from start to finish, including work, purchases and invoices before and after these dates."),
    Message(
        "Still to invoice: hours not invoiced yet (approved or not), materials and drafts, or the rest of a"
        " fixed price."
    ),
    Message("Margin: invoiced plus still to invoice, less costs. Work without a known cost is left out."),
)


def _describe_unknown_margins(count: int) -> Message:
    return Message(
        "The margin of {count} job is unknown, because its costs are incomplete.",
        plural="The margins of {count} jobs are unknown, because their costs are incomplete.",
        count=count,
    )


def report_job_profit(ctx: Context, query: ReportQuery) -> ReportTable:
    """Build the report on jobs that were worked on or finished between the dates, largest losses first."""
    if query.basis == "range":
        return report_profit_in_range(ctx, query)
    jobs = _find_jobs(ctx, query)
    costings = compute_costings(ctx, jobs)
    names = find_job_names(ctx, [*jobs])
    margins = {job: costing.margin.margin for job, costing in costings.items()}
    ordered = sorted(
        costings.items(), key=lambda costing: (margins[costing[0]] is None, margins[costing[0]] or 0, costing[0])
    )
    rows = [_to_row(job, names[job], costing) for job, costing in ordered]
    known_margins = [costing.margin for costing in costings.values() if costing.margin.margin is not None]
    percent = to_percent(
        sum(costing.margin or 0 for costing in known_margins), sum(costing.costed_revenue for costing in known_margins)
    )
    unknown = len(rows) - len(known_margins)
    notes = [*_NOTES, *([_describe_unknown_margins(unknown)] if unknown else [])]
    behind = RecordsBehind(operation=get_job_costing.name, given={}, columns={"jobId": "jobId"})
    return replace(make_table(_COLUMNS, rows, notes, {"marginPercent": percent}), behind=behind)


def _find_jobs(ctx: Context, query: ReportQuery) -> dict[str, JobBilling]:
    """Return the jobs that were worked on between the dates.

    If only finished jobs are wanted, leave out those that are not done or were worked on later.
    """
    first, last = query.parameters["first"], query.parameters["last"]
    begin, end = query.settings.start_of_day(first), query.settings.end_of_day(last)
    job_ids = {str(job) for (job,) in ctx.db.all(_WORKED_ON, first=first, last=last, begin=begin, end=end)}
    if query.jobs == "finished":
        job_ids -= {str(job) for (job,) in select_batched(ctx.db, _WORKED_LATER, job_ids, last=last, end=end)}
    return {
        str(job_id): JobBilling(cast("Billing", billing), cast("int | None", budget), cast("JobStatus", status))
        for job_id, customer, billing, budget, status in select_batched(ctx.db, _JOBS, job_ids)
        if (query.customer is None or customer == query.customer)
        and (query.jobs == "workedOn" or status in {"done", "closed"})
    }


_HOURS = (
    "SELECT job_id FROM time_entry WHERE organisation_id = :organisation AND job_id IS NOT NULL"
    " AND status <> 'running' AND status <> 'rejected' AND on_date"
)
_MATERIALS = "SELECT job_id FROM material WHERE organisation_id = :organisation AND on_date"
_VISITS = (
    "SELECT job_id FROM visit WHERE organisation_id = :organisation AND job_id IS NOT NULL"
    " AND status IN ('started', 'done') AND begins_at >="
)
_WORKED_ON = (
    f"{_HOURS} >= :first AND on_date <= :last UNION {_MATERIALS} >= :first AND on_date <= :last"
    f" UNION {_VISITS} :begin AND begins_at < :end"
)
_JOBS_CONDITION = f"AND job_id IN {BATCH_VALUES}"
_WORKED_LATER = (
    f"{_HOURS} > :last {_JOBS_CONDITION} UNION {_MATERIALS} > :last {_JOBS_CONDITION}"
    f" UNION {_VISITS} :end {_JOBS_CONDITION}"
)
_JOBS = (
    "SELECT id, customer_id, billing, budget, status FROM job WHERE organisation_id = :organisation"
    f" AND id IN {BATCH_VALUES}"
)


def _to_row(job: str, names: tuple[str, str | None], costing: Costing) -> list[CellValue]:
    margin = costing.margin
    worked_minutes = sum(hours.minutes for hours in costing.hours if hours.status != "rejected")
    percent = None if margin.margin is None else to_percent(margin.margin, margin.costed_revenue)
    costs = (margin.hours_cost, margin.materials_cost, margin.other_cost)
    return [
        job,
        *names,
        margin.invoiced,
        margin.credited,
        margin.to_invoice,
        worked_minutes,
        *costs,
        margin.margin,
        percent,
        margin.uncosted,
        margin.uncosted_net,
    ]
