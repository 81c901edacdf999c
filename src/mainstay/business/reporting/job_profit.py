"""What is left of the jobs of some time, each over its whole life: which lost money."""

from typing import cast

from mainstay.backing.among import THESE, among
from mainstay.business.costing.margin import Agreed, Costing, costings_of
from mainstay.business.jobs.model import Billing, Status
from mainstay.business.reporting.asked import Asked
from mainstay.business.reporting.model import Cell, Table, column, share, table
from mainstay.business.reporting.profit_in_range import job_profit_in_range, names_of
from mainstay.kernel.context import Context

_COLUMNS = (
    column("jobId", "Job's id", "id"),
    column("job", "Job", "text"),
    column("customer", "Customer", "text"),
    column("invoiced", "Invoiced, net", "money"),
    column("credited", "Credited, net", "money"),
    column("toInvoice", "Still to invoice, net", "money"),
    column("worked", "Worked", "minutes"),
    column("hoursCost", "Cost of hours", "money"),
    column("materialsCost", "Cost of materials", "money"),
    column("otherCost", "Cost of other lines", "money"),
    column("margin", "Margin", "money"),
    column("marginPercent", "Margin, %", "percent"),
    column("uncosted", "Without a cost", "count"),
    column("uncostedRevenue", "Revenue without a cost", "money"),
)
_NOTES = (
    "Each job over its whole life, also what was worked, bought and invoiced before and after these dates.",
    "Still to invoice is what is unbilled: hours, approved or not, materials, drafts; or the rest of a fixed price.",
    "The margin is what is invoiced and still to invoice, less the costs. What has no known cost is left out of it.",
)
_UNKNOWN = "The margin of {} of these jobs is not known: too little is recorded of what they cost."


def job_profit(ctx: Context, asked: Asked) -> Table:
    """The jobs that were worked on in some time, or finished; those that lost most come first."""
    if asked.basis == "range":
        return job_profit_in_range(ctx, asked)
    jobs = _jobs(ctx, asked)
    costings = costings_of(ctx, jobs)
    names = names_of(ctx, [*jobs])
    margins = {job: one.margin.margin for job, one in costings.items()}
    first = sorted(costings.items(), key=lambda one: (margins[one[0]] is None, margins[one[0]] or 0, one[0]))
    rows = [_row(job, names[job], one) for job, one in first]
    known = [one.margin for one in costings.values() if one.margin.margin is not None]
    percent = share(sum(one.margin or 0 for one in known), sum(one.costed_revenue for one in known))
    unknown = len(rows) - len(known)
    notes = [*_NOTES, *([_UNKNOWN.format(unknown)] if unknown else [])]
    return table(_COLUMNS, rows, notes, {"marginPercent": percent})


def _jobs(ctx: Context, asked: Asked) -> dict[str, Agreed]:
    """The jobs that were worked on between the dates; perhaps only those that are done, and not worked on later."""
    first, last = asked.bound["first"], asked.bound["last"]
    begin, end = asked.house.begins_at(first), asked.house.ends_at(last)
    worked = {str(job) for (job,) in ctx.rows.all(_WORKED, first=first, last=last, begin=begin, end=end)}
    if asked.jobs == "finished":
        worked -= {str(job) for (job,) in among(ctx.rows, _WORKED_LATER, worked, last=last, end=end)}
    return {
        str(identity): Agreed(cast("Billing", billing), cast("int | None", budget), cast("Status", status))
        for identity, customer, billing, budget, status in among(ctx.rows, _JOBS, worked)
        if (asked.customer is None or customer == asked.customer)
        and (asked.jobs == "workedOn" or status in {"done", "closed"})
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
_WORKED = (
    f"{_HOURS} >= :first AND on_date <= :last UNION {_MATERIALS} >= :first AND on_date <= :last"
    f" UNION {_VISITS} :begin AND begins_at < :end"
)
_OF_THESE = f"AND job_id IN {THESE}"
_WORKED_LATER = f"{_HOURS} > :last {_OF_THESE} UNION {_MATERIALS} > :last {_OF_THESE} UNION {_VISITS} :end {_OF_THESE}"
_JOBS = (
    f"SELECT id, customer_id, billing, budget, status FROM job WHERE organisation_id = :organisation AND id IN {THESE}"
)


def _row(job: str, called: tuple[str, str | None], one: Costing) -> list[Cell]:
    found = one.margin
    worked = sum(hours.minutes for hours in one.hours if hours.status != "rejected")
    percent = None if found.margin is None else share(found.margin, found.costed_revenue)
    costs = (found.hours_cost, found.materials_cost, found.other_cost)
    return [
        job,
        *called,
        found.invoiced,
        found.credited,
        found.to_invoice,
        worked,
        *costs,
        found.margin,
        percent,
        found.uncosted,
        found.uncosted_net,
    ]
