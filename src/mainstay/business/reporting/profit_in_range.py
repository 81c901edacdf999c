"""The report on what each job brought in and cost between two dates only."""

from collections import defaultdict
from dataclasses import dataclass

from mainstay.business.hours.store import HOURS_COST, minor_unit_of
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.reporting.entries import CREDIT_NOTES, INVOICES, VOIDS, sum_entries
from mainstay.business.reporting.inputs import ReportQuery
from mainstay.business.reporting.model import (
    MAX_REPORT_ROWS,
    CellValue,
    ReportTable,
    make_column,
    make_table,
    to_percent,
)
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.kernel.context import Context
from mainstay.values.message import Message
from mainstay.values.totals import round_fraction

_COLUMNS = (
    make_column("jobId", "Job ID", "id"),
    make_column("job", "Job", "text"),
    make_column("customer", "Customer", "text"),
    make_column("invoiced", "Invoiced, net", "money"),
    make_column("credited", "Credited, net", "money"),
    make_column("worked", "Worked", "minutes"),
    make_column("hoursCost", "Cost of hours", "money"),
    make_column("materialsCost", "Cost of materials", "money"),
    make_column("margin", "Difference", "money"),
    make_column("marginPercent", "Difference (%)", "percent"),
)
_NO_JOB: tuple[str, str | None] = ("Without a job", None)


@dataclass(slots=True)
class _JobSums:
    """The sums of one job."""

    invoiced: int = 0
    credited: int = 0
    worked: int = 0
    hours_cost: int = 0
    materials_cost: int = 0

    @property
    def margin(self) -> int:
        return self.invoiced - self.credited - self.hours_cost - self.materials_cost


def report_profit_in_range(ctx: Context, query: ReportQuery) -> ReportTable:
    """Build the report on jobs with invoices, hours or materials between two dates, highest revenue first."""
    jobs: dict[str | None, _JobSums] = defaultdict(_JobSums)
    for entries in (INVOICES, VOIDS, CREDIT_NOTES):
        for job, net in sum_entries(ctx, entries, query, "job_id", "net"):
            job_sums = jobs[None if job is None else str(job)]
            if entries is CREDIT_NOTES:
                job_sums.credited += int(net or 0)
            else:
                job_sums.invoiced += entries.sign * int(net or 0)
    without_rate = _add_hours(ctx, query, jobs)
    _add_materials(ctx, query, jobs)
    # Amounts without a job come last.
    ordered = sorted(jobs.items(), key=lambda job: (job[0] is None, job[1].credited - job[1].invoiced, job[0] or ""))
    names = find_job_names(ctx, [job for job, _ in ordered[: MAX_REPORT_ROWS + 1] if job])
    rows = [_to_row(job, names.get(job or "", _NO_JOB), job_sums) for job, job_sums in ordered]
    revenue = sum(job_sums.invoiced - job_sums.credited for job_sums in jobs.values())
    percent = to_percent(sum(job_sums.margin for job_sums in jobs.values()), revenue)
    rate_notes = [_describe_uncosted_hours(without_rate)] if without_rate else []
    return make_table(_COLUMNS, rows, [*_NOTES, *rate_notes], {"marginPercent": percent})


_NOTES = (
    Message("Invoices, credit notes, hours and materials by their dates, excluding rejected hours."),
    Message("The difference is not the margin of a job: work is often invoiced in another month."),
)


def _describe_uncosted_hours(count: int) -> Message:
    return Message(
        "{count} time entry is not costed, because the person has no cost per hour.",
        plural="{count} time entries are not costed, because the people have no cost per hour.",
        count=count,
    )


def _add_hours(ctx: Context, query: ReportQuery, jobs: dict[str | None, _JobSums]) -> int:
    """Add the hours and their costs. Return how many entries have no cost per hour."""
    unit = minor_unit_of(settings_of(ctx))
    without_rate = 0
    for job, minutes, cost, uncosted in ctx.db.all(
        _HOURS.format(_to_customer_condition(query)), unit=unit, **query.parameters
    ):
        job_sums = jobs[None if job is None else str(job)]
        job_sums.worked += int(minutes or 0)
        job_sums.hours_cost += int(cost or 0) // unit
        without_rate += int(uncosted or 0)
    return without_rate


_HOURS = (
    f"SELECT job_id, CAST(sum(minutes) AS bigint), CAST(coalesce(sum({HOURS_COST}), 0) AS bigint),"
    " count(*) - count(cost_rate) FROM time_entry WHERE organisation_id = :organisation"
    " AND on_date >= :first AND on_date <= :last AND status <> 'running' AND status <> 'rejected'{} GROUP BY job_id"
)


def _add_materials(ctx: Context, query: ReportQuery, jobs: dict[str | None, _JobSums]) -> None:
    """Add the costs of materials."""
    unit = minor_unit_of(settings_of(ctx))
    for job, cost in ctx.db.all(_MATERIALS.format(_to_customer_condition(query)), **query.parameters):
        jobs[str(job)].materials_cost += round_fraction(int(cost or 0), unit)


_MATERIALS = (
    "SELECT job_id, CAST(sum(cost) AS bigint) FROM material WHERE organisation_id = :organisation"
    " AND on_date >= :first AND on_date <= :last{} GROUP BY job_id"
)


def _to_customer_condition(query: ReportQuery) -> str:
    of_customer = "(SELECT job.id FROM job WHERE job.organisation_id = :organisation AND job.customer_id = :customer)"
    return f" AND job_id IN {of_customer}" if query.customer else ""


def find_job_names(ctx: Context, jobs: list[str]) -> dict[str, tuple[str, str | None]]:
    """Return the names of these jobs and of their customers, by job id."""
    name_rows = select_batched(ctx.db, _NAMES, jobs)
    return {str(job): (f"{number} {title}", str(name)) for job, number, title, name in name_rows}


_NAMES = (
    "SELECT job.id, job.number, job.title, customer.name FROM job JOIN customer"
    " ON customer.organisation_id = :organisation AND customer.id = job.customer_id"
    f" WHERE job.organisation_id = :organisation AND job.id IN {BATCH_VALUES}"
)


def _to_row(job: str | None, names: tuple[str, str | None], job_sums: _JobSums) -> list[CellValue]:
    percent = to_percent(job_sums.margin, job_sums.invoiced - job_sums.credited)
    costs = (job_sums.worked, job_sums.hours_cost, job_sums.materials_cost)
    return [job, *names, job_sums.invoiced, job_sums.credited, *costs, job_sums.margin, percent]
