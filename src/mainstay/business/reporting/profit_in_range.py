"""What each job brought and cost between two dates, whatever came before and after."""

from collections import defaultdict
from dataclasses import dataclass

from mainstay.backing.among import THESE, among
from mainstay.business.hours.store import COST, minor_unit
from mainstay.business.organisation.house import house_of
from mainstay.business.reporting.asked import Asked
from mainstay.business.reporting.books import CREDIT_NOTES, INVOICES, VOIDS, sums
from mainstay.business.reporting.model import MOST_ROWS, Cell, Table, column, share, table
from mainstay.kernel.context import Context
from mainstay.values.totals import rounded

_COLUMNS = (
    column("jobId", "Job's id", "id"),
    column("job", "Job", "text"),
    column("customer", "Customer", "text"),
    column("invoiced", "Invoiced, net", "money"),
    column("credited", "Credited, net", "money"),
    column("worked", "Worked", "minutes"),
    column("hoursCost", "Cost of hours", "money"),
    column("materialsCost", "Cost of materials", "money"),
    column("margin", "Difference", "money"),
    column("marginPercent", "Difference, %", "percent"),
)
_NO_JOB: tuple[str, str | None] = ("Without a job", None)


@dataclass(slots=True)
class _Job:
    """What is summed up of one."""

    invoiced: int = 0
    credited: int = 0
    worked: int = 0
    hours_cost: int = 0
    materials_cost: int = 0

    @property
    def margin(self) -> int:
        return self.invoiced - self.credited - self.hours_cost - self.materials_cost


def job_profit_in_range(ctx: Context, asked: Asked) -> Table:
    """The jobs on which something was invoiced or worked between two dates; what brought most first."""
    jobs: dict[str | None, _Job] = defaultdict(_Job)
    for entries in (INVOICES, VOIDS, CREDIT_NOTES):
        for job, net in sums(ctx, entries, asked, "job_id", "net"):
            one = jobs[None if job is None else str(job)]
            if entries is CREDIT_NOTES:
                one.credited += int(net or 0)
            else:
                one.invoiced += entries.sign * int(net or 0)
    without_rate = _work(ctx, asked, jobs)
    _purchases(ctx, asked, jobs)
    # What is for no job comes last.
    first = sorted(jobs.items(), key=lambda job: (job[0] is None, job[1].credited - job[1].invoiced, job[0] or ""))
    names = names_of(ctx, [job for job, _ in first[: MOST_ROWS + 1] if job])
    rows = [_row(job, names.get(job or "", _NO_JOB), one) for job, one in first]
    whole = sum(one.invoiced - one.credited for one in jobs.values())
    left = share(sum(one.margin for one in jobs.values()), whole)
    missing = [_WITHOUT_RATE.format(without_rate)] if without_rate else []
    return table(_COLUMNS, rows, [*_NOTES, *missing], {"marginPercent": left})


_NOTES = (
    "Invoices and credit notes by their dates, hours and materials by theirs, but for hours that were rejected.",
    "The difference is no job's margin: work and its invoice often lie in different months.",
)
_WITHOUT_RATE = "{} entries of hours are of people without a cost per hour: they cost nothing here."


def _work(ctx: Context, asked: Asked, jobs: dict[str | None, _Job]) -> int:
    """Add what was worked, and what it cost; how many entries have no cost per hour."""
    unit = minor_unit(house_of(ctx))
    without_rate = 0
    for job, minutes, cost, unknown in ctx.rows.all(_HOURS.format(_of(asked)), unit=unit, **asked.bound):
        one = jobs[None if job is None else str(job)]
        one.worked += int(minutes or 0)
        one.hours_cost += int(cost or 0) // unit
        without_rate += int(unknown or 0)
    return without_rate


_HOURS = (
    f"SELECT job_id, CAST(sum(minutes) AS bigint), CAST(coalesce(sum({COST}), 0) AS bigint),"
    " count(*) - count(cost_rate) FROM time_entry WHERE organisation_id = :organisation"
    " AND on_date >= :first AND on_date <= :last AND status <> 'running' AND status <> 'rejected'{} GROUP BY job_id"
)


def _purchases(ctx: Context, asked: Asked, jobs: dict[str | None, _Job]) -> None:
    """Add what was bought for them."""
    unit = minor_unit(house_of(ctx))
    for job, cost in ctx.rows.all(_MATERIALS.format(_of(asked)), **asked.bound):
        jobs[str(job)].materials_cost += rounded(int(cost or 0), unit)


_MATERIALS = (
    "SELECT job_id, CAST(sum(cost) AS bigint) FROM material WHERE organisation_id = :organisation"
    " AND on_date >= :first AND on_date <= :last{} GROUP BY job_id"
)


def _of(asked: Asked) -> str:
    of_customer = "(SELECT job.id FROM job WHERE job.organisation_id = :organisation AND job.customer_id = :customer)"
    return f" AND job_id IN {of_customer}" if asked.customer else ""


def names_of(ctx: Context, jobs: list[str]) -> dict[str, tuple[str, str | None]]:
    """What these jobs and their customers are called."""
    found = among(ctx.rows, _NAMES, jobs)
    return {str(job): (f"{number} {title}", str(name)) for job, number, title, name in found}


_NAMES = (
    "SELECT job.id, job.number, job.title, customer.name FROM job JOIN customer"
    " ON customer.organisation_id = :organisation AND customer.id = job.customer_id"
    f" WHERE job.organisation_id = :organisation AND job.id IN {THESE}"
)


def _row(job: str | None, called: tuple[str, str | None], one: _Job) -> list[Cell]:
    percent = share(one.margin, one.invoiced - one.credited)
    costs = (one.worked, one.hours_cost, one.materials_cost)
    return [job, *called, one.invoiced, one.credited, *costs, one.margin, percent]
