"""What is summed up of jobs: one statement for hours, one for materials, one for what is planned."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from mainstay.backing.among import THESE, among
from mainstay.backing.database import Row
from mainstay.business.hours import store as hours
from mainstay.business.hours.store import AMOUNT, COST, TOLD_OF_JOB, Narrowed, minor_unit
from mainstay.business.organisation.house import House, house_of
from mainstay.kernel.context import Context
from mainstay.values.moments import Period, parse_moment


class Sum(NamedTuple):
    """The hours of a job in one state; value, and what of it is unbilled, as prices are told."""

    status: str
    entries: int
    minutes: int
    cost: int
    value: int
    unbilled: int
    without_rate: int
    # Of those without a cost per hour: how many are not billable, how many are to be billed, and at what.
    uncosted_unbillable: int
    uncosted_unbilled: int
    uncosted_value: int

    @property
    def tax_rate_id(self) -> None:
        """Hours are taxed at the usual rate."""


def hours_of(ctx: Context, house: House, jobs: Collection[str]) -> dict[str, list[Sum]]:
    """The hours of each of these jobs by state, without timers that run."""
    found: dict[str, list[Sum]] = {}
    rows = among(ctx.rows, _HOURS, jobs, rounding=house.hours_rounding_minutes, unit=minor_unit(house))
    for job, status, *numbers in sorted(rows, key=lambda row: (str(row[0]), str(row[1]))):
        found.setdefault(str(job), []).append(Sum(str(status), *(int(number or 0) for number in numbers)))
    return found


_OPEN = "AND status = 'approved' AND billed = 0"
_BILLABLE = f"CASE WHEN billable = 1 {{}} THEN {AMOUNT} END"
_UNCOSTED = "sum(CASE WHEN cost_rate IS NULL AND {} THEN {} END)"
_HOURS = (
    "SELECT job_id, status, count(*), CAST(sum(minutes) AS bigint),"
    f" CAST(coalesce(sum({COST}), 0) AS bigint),"
    f" CAST(coalesce(sum({_BILLABLE.format('')}), 0) AS bigint),"
    f" CAST(coalesce(sum({_BILLABLE.format(_OPEN)}), 0) AS bigint),"
    " count(*) - count(cost_rate),"
    f" CAST({_UNCOSTED.format('billable = 0', '1')} AS bigint),"
    f" CAST({_UNCOSTED.format('billable = 1 AND billed = 0', '1')} AS bigint),"
    f" CAST({_UNCOSTED.format('billable = 1 AND billed = 0', AMOUNT)} AS bigint)"
    " FROM time_entry WHERE organisation_id = :organisation AND status <> 'running'"
    f" AND job_id IN {THESE} GROUP BY job_id, status"
)


class Materials(NamedTuple):
    """What was bought for a job and is taxed at one rate; value, and what of it is unbilled, as prices are told."""

    # None for the usual one.
    tax_rate_id: str | None
    lines: int
    cost: int
    value: int
    unbilled: int


# What of a job costs something, and may be billed.
Taken = Sum | Materials


def materials_of(ctx: Context, jobs: Collection[str]) -> dict[str, list[Materials]]:
    """What was bought for each of these jobs, and what of it is billable, by the rate of tax."""
    found: dict[str, list[Materials]] = {}
    for job, rate, *numbers in sorted(among(ctx.rows, _MATERIALS, jobs), key=lambda row: (str(row[0]), str(row[1]))):
        materials = Materials(None if rate is None else str(rate), *(int(number or 0) for number in numbers))
        found.setdefault(str(job), []).append(materials)
    return found


_MATERIALS = (
    "SELECT job_id, (SELECT price_item.tax_rate_id FROM price_item"
    " WHERE price_item.organisation_id = :organisation AND price_item.id = material.item_id) AS taxed_at,"
    " count(*), CAST(coalesce(sum(cost), 0) AS bigint),"
    " CAST(coalesce(sum(CASE WHEN billable = 1 THEN value END), 0) AS bigint),"
    " CAST(coalesce(sum(CASE WHEN billable = 1 AND billed = 0 THEN value END), 0) AS bigint)"
    f" FROM material WHERE organisation_id = :organisation AND job_id IN {THESE} GROUP BY job_id, taxed_at"
)


class Documents(NamedTuple):
    """The invoices and credit notes of a job before tax, in minor units."""

    invoiced: int = 0
    credited: int = 0
    drafted: int = 0
    # Of those that are not credited in full: lines without a known cost, what they come to, and the known costs of
    # lines that bill neither recorded hours nor materials.
    uncosted_lines: int = 0
    uncosted_net: int = 0
    other_cost: int = 0


def documents_of(ctx: Context, jobs: Collection[str]) -> dict[str, Documents]:
    """The sums of the invoices and credit notes of each of these jobs, without invoices that are void."""
    credited = {str(job): int(net or 0) for job, net in among(ctx.rows, _CREDITED, jobs)}
    found: dict[str, Documents] = {}
    for job, *numbers in among(ctx.rows, _INVOICED, jobs):
        invoiced, drafted, lines, net, cost = (int(number or 0) for number in numbers)
        found[str(job)] = Documents(invoiced, credited.get(str(job), 0), drafted, lines, net, cost)
    return found


_INVOICED = (
    "SELECT job_id, CAST(sum(CASE WHEN status = 'issued' THEN net END) AS bigint),"
    " CAST(sum(CASE WHEN status = 'draft' THEN net END) AS bigint),"
    + ",".join(
        f" CAST(sum(CASE WHEN standing <> 'credited' THEN {column} END) AS bigint)"
        for column in ("uncosted_lines", "uncosted_net", "other_cost")
    )
    + " FROM invoice WHERE organisation_id = :organisation AND status <> 'void'"
    f" AND job_id IN {THESE} GROUP BY job_id"
)
_CREDITED = (
    "SELECT job_id, CAST(sum(net) AS bigint) FROM credit_note WHERE organisation_id = :organisation"
    f" AND job_id IN {THESE} GROUP BY job_id"
)


def unbilled(ctx: Context, to: Narrowed, limit: int) -> list[Row]:
    """What is to be billed of each job, the newest jobs first.

    Hours and materials are each read as far as a page goes: no job of the page lies behind that in either.
    """
    worked = {row[0]: row for row in hours.unbilled(ctx, house_of(ctx), to, limit)}
    bought = {row[0]: row for row in _unbilled_materials(ctx, to, limit)}
    jobs = sorted({*worked, *bought}, key=str, reverse=True)[:limit]
    return [_together(worked.get(job), bought.get(job)) for job in jobs]


_NO_HOURS: Row = (0, 0, 0, 0, 0)
_OF_JOB = 5


def _together(worked: Row | None, bought: Row | None) -> Row:
    """The columns of what is shown: of the job, its hours, its materials, both, and when they were."""
    *minutes, amount, without_rate = worked[_OF_JOB : _OF_JOB + len(_NO_HOURS)] if worked else _NO_HOURS
    lines, value = bought[_OF_JOB : _OF_JOB + 2] if bought else (0, 0)
    days = [str(day) for row in (worked, bought) if row for day in row[-2:]]
    both = int(amount or 0) + int(value or 0)
    of_job = (worked or bought or ())[:_OF_JOB]
    return (*of_job, *minutes, amount, without_rate, lines, value, both, min(days), max(days))


_UNBILLED_MATERIALS = (
    f"SELECT {TOLD_OF_JOB}, count(*), CAST(sum(material.value) AS bigint), min(material.on_date), max(material.on_date)"
    " FROM {source} WHERE material.organisation_id = :organisation AND material.billable = 1 AND material.billed = 0"
    " {narrowed} GROUP BY {by} ORDER BY {by} DESC LIMIT :limit"
)
# Of one customer, their few jobs say which materials are looked at: each engine keeps to this order.
_OF_CUSTOMER = "AND job.organisation_id = :organisation AND job.customer_id = :customer AND material.job_id = job.id"


def _unbilled_materials(ctx: Context, to: Narrowed, limit: int) -> Sequence[Row]:
    by = "job.id" if to.customer else "material.job_id"
    narrowed = {_OF_CUSTOMER: to.customer, f"AND {by} = :job": to.job, f"AND {by} < :after": to.after}
    sql = _UNBILLED_MATERIALS.format(
        source="job CROSS JOIN material" if to.customer else "material",
        narrowed=" ".join(condition for condition, value in narrowed.items() if value),
        by=by,
    )
    return ctx.rows.all(sql, limit=limit, **to._asdict())


def planned_minutes(ctx: Context, job: str) -> int:
    """How long the visits of a job are that are not cancelled, all together."""
    rows = ctx.rows.all(
        "SELECT starts_at, ends_at FROM visit WHERE organisation_id = :organisation AND job_id = :job"
        " AND starts_at IS NOT NULL AND status <> 'cancelled'",
        job=job,
    )
    return sum(Period(parse_moment(str(starts)), parse_moment(str(ends))).minutes for starts, ends in rows)
