"""Sums over jobs: one SQL statement for hours, one for materials, and one for planned visits."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from mainstay.business.hours import store as hours
from mainstay.business.hours.store import BILLED_AMOUNT, BILLED_JOB_COLUMNS, HOURS_COST, UnbilledFilter, minor_unit_of
from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.infrastructure.database import Row
from mainstay.kernel.context import Context
from mainstay.values.moments import Period, parse_moment


class HoursSum(NamedTuple):
    """The hours of a job in one status; `value` and `unbilled` are in prices as the organisation states them."""

    status: str
    entries: int
    minutes: int
    cost: int
    value: int
    unbilled: int
    without_rate: int
    # Of the entries without a cost per hour: how many are not billable, how many are unbilled, and their value.
    uncosted_unbillable: int
    uncosted_unbilled: int
    uncosted_value: int

    @property
    def tax_rate_id(self) -> None:
        """None, because hours are taxed at the default rate."""


def sum_hours(ctx: Context, settings: OrganisationSettings, jobs: Collection[str]) -> dict[str, list[HoursSum]]:
    """Sum up the hours of each of these jobs by status, without running timers."""
    sums_by_job: dict[str, list[HoursSum]] = {}
    rows = select_batched(ctx.db, _HOURS, jobs, rounding=settings.hours_rounding_minutes, unit=minor_unit_of(settings))
    for job, status, *numbers in sorted(rows, key=lambda row: (str(row[0]), str(row[1]))):
        sums_by_job.setdefault(str(job), []).append(HoursSum(str(status), *(int(number or 0) for number in numbers)))
    return sums_by_job


_STILL_TO_BILL = "AND status = 'approved' AND billed = 0"
_BILLABLE_AMOUNT = f"CASE WHEN billable = 1 {{}} THEN {BILLED_AMOUNT} END"
_WITHOUT_COST = "sum(CASE WHEN cost_rate IS NULL AND {} THEN {} END)"
_HOURS = (
    "SELECT job_id, status, count(*), CAST(sum(minutes) AS bigint),"
    f" CAST(coalesce(sum({HOURS_COST}), 0) AS bigint),"
    f" CAST(coalesce(sum({_BILLABLE_AMOUNT.format('')}), 0) AS bigint),"
    f" CAST(coalesce(sum({_BILLABLE_AMOUNT.format(_STILL_TO_BILL)}), 0) AS bigint),"
    " count(*) - count(cost_rate),"
    f" CAST({_WITHOUT_COST.format('billable = 0', '1')} AS bigint),"
    f" CAST({_WITHOUT_COST.format('billable = 1 AND billed = 0', '1')} AS bigint),"
    f" CAST({_WITHOUT_COST.format('billable = 1 AND billed = 0', BILLED_AMOUNT)} AS bigint)"
    " FROM time_entry WHERE organisation_id = :organisation AND status <> 'running'"
    f" AND job_id IN {BATCH_VALUES} GROUP BY job_id, status"
)


class MaterialsSum(NamedTuple):
    """The materials of a job at one tax rate; `value` and `unbilled` are in prices as the organisation states them."""

    # None for the default rate.
    tax_rate_id: str | None
    lines: int
    cost: int
    value: int
    unbilled: int


# The parts of a job that have a cost and a value.
CostedPart = HoursSum | MaterialsSum


def sum_materials(ctx: Context, jobs: Collection[str]) -> dict[str, list[MaterialsSum]]:
    """Sum up the materials of each of these jobs by tax rate."""
    sums_by_job: dict[str, list[MaterialsSum]] = {}
    for job, rate, *numbers in sorted(
        select_batched(ctx.db, _MATERIALS, jobs), key=lambda row: (str(row[0]), str(row[1]))
    ):
        materials = MaterialsSum(None if rate is None else str(rate), *(int(number or 0) for number in numbers))
        sums_by_job.setdefault(str(job), []).append(materials)
    return sums_by_job


_MATERIALS = (
    "SELECT job_id, (SELECT price_item.tax_rate_id FROM price_item"
    " WHERE price_item.organisation_id = :organisation AND price_item.id = material.item_id) AS taxed_at,"
    " count(*), CAST(coalesce(sum(cost), 0) AS bigint),"
    " CAST(coalesce(sum(CASE WHEN billable = 1 THEN value END), 0) AS bigint),"
    " CAST(coalesce(sum(CASE WHEN billable = 1 AND billed = 0 THEN value END), 0) AS bigint)"
    f" FROM material WHERE organisation_id = :organisation AND job_id IN {BATCH_VALUES} GROUP BY job_id, taxed_at"
)


class DocumentSums(NamedTuple):
    """The invoices and credit notes of a job before tax, in minor units."""

    invoiced: int = 0
    credited: int = 0
    drafted: int = 0
    # Of invoices that are not credited in full: how many lines have no known cost, their net, and the known costs of
    # lines that bill neither recorded hours nor materials.
    uncosted_lines: int = 0
    uncosted_net: int = 0
    other_cost: int = 0


def sum_documents(ctx: Context, jobs: Collection[str]) -> dict[str, DocumentSums]:
    """Sum up the invoices and credit notes of each of these jobs, without void invoices."""
    credited = {str(job): int(net or 0) for job, net in select_batched(ctx.db, _CREDITED, jobs)}
    sums_by_job: dict[str, DocumentSums] = {}
    for job, *numbers in select_batched(ctx.db, _INVOICED, jobs):
        invoiced, drafted, lines, net, cost = (int(number or 0) for number in numbers)
        sums_by_job[str(job)] = DocumentSums(invoiced, credited.get(str(job), 0), drafted, lines, net, cost)
    return sums_by_job


_INVOICED = (
    "SELECT job_id, CAST(sum(CASE WHEN status = 'issued' THEN net END) AS bigint),"
    " CAST(sum(CASE WHEN status = 'draft' THEN net END) AS bigint),"
    + ",".join(
        f" CAST(sum(CASE WHEN standing <> 'credited' THEN {column} END) AS bigint)"
        for column in ("uncosted_lines", "uncosted_net", "other_cost")
    )
    + " FROM invoice WHERE organisation_id = :organisation AND status <> 'void'"
    f" AND job_id IN {BATCH_VALUES} GROUP BY job_id"
)
_CREDITED = (
    "SELECT job_id, CAST(sum(net) AS bigint) FROM credit_note WHERE organisation_id = :organisation"
    f" AND job_id IN {BATCH_VALUES} GROUP BY job_id"
)


def find_unbilled(ctx: Context, filters: UnbilledFilter, limit: int) -> list[Row]:
    """Return what is to be billed of each job, the newest jobs first.

    Hours and materials are each read up to `limit` jobs. Together these contain every job of the page.
    """
    hours_by_job = {row[0]: row for row in hours.sum_unbilled_hours(ctx, settings_of(ctx), filters, limit)}
    materials_by_job = {row[0]: row for row in _sum_unbilled_materials(ctx, filters, limit)}
    jobs = sorted({*hours_by_job, *materials_by_job}, key=str, reverse=True)[:limit]
    return [_join_parts(hours_by_job.get(job), materials_by_job.get(job)) for job in jobs]


_NO_HOURS: Row = (0, 0, 0, 0, 0)
_JOB_COLUMN_COUNT = 5


def _join_parts(hours_row: Row | None, materials_row: Row | None) -> Row:
    """Join a job's hours and materials into one row: the job, both parts, their sum, and the first and last day."""
    *minutes, amount, without_rate = (
        hours_row[_JOB_COLUMN_COUNT : _JOB_COLUMN_COUNT + len(_NO_HOURS)] if hours_row else _NO_HOURS
    )
    lines, value = materials_row[_JOB_COLUMN_COUNT : _JOB_COLUMN_COUNT + 2] if materials_row else (0, 0)
    days = [str(day) for row in (hours_row, materials_row) if row for day in row[-2:]]
    total = int(amount or 0) + int(value or 0)
    job_columns = (hours_row or materials_row or ())[:_JOB_COLUMN_COUNT]
    return (*job_columns, *minutes, amount, without_rate, lines, value, total, min(days), max(days))


_UNBILLED_MATERIALS = (
    f"SELECT {BILLED_JOB_COLUMNS}, count(*), CAST(sum(material.value) AS bigint), min(material.on_date),"
    " max(material.on_date)"
    " FROM {source} WHERE material.organisation_id = :organisation AND material.billable = 1 AND material.billed = 0"
    " {narrowed} GROUP BY {by} ORDER BY {by} DESC LIMIT :limit"
)
# A customer has few jobs, so start from the jobs and look up their materials. Both engines keep to this join order.
_CUSTOMER_CONDITION = (
    "AND job.organisation_id = :organisation AND job.customer_id = :customer AND material.job_id = job.id"
)


def _sum_unbilled_materials(ctx: Context, filters: UnbilledFilter, limit: int) -> Sequence[Row]:
    by = "job.id" if filters.customer else "material.job_id"
    conditions = {
        _CUSTOMER_CONDITION: filters.customer,
        f"AND {by} = :job": filters.job,
        f"AND {by} < :after": filters.after,
    }
    sql = _UNBILLED_MATERIALS.format(
        source="job CROSS JOIN material" if filters.customer else "material",
        narrowed=" ".join(condition for condition, value in conditions.items() if value),
        by=by,
    )
    return ctx.db.all(sql, limit=limit, **filters._asdict())


def sum_planned_minutes(ctx: Context, job_id: str) -> int:
    """Return the total length in minutes of a job's visits, without cancelled ones."""
    rows = ctx.db.all(
        "SELECT starts_at, ends_at FROM visit WHERE organisation_id = :organisation AND job_id = :job"
        " AND starts_at IS NOT NULL AND status <> 'cancelled'",
        job=job_id,
    )
    return sum(Period(parse_moment(str(starts)), parse_moment(str(ends))).minutes for starts, ends in rows)
