"""What is summed up of a job: one statement for its hours, one for what is planned."""

from typing import NamedTuple

from mainstay.business.hours.store import AMOUNT, House, minor_unit
from mainstay.kernel.context import Context
from mainstay.values.moments import Period, parse_moment


class Sum(NamedTuple):
    """The hours of a job in one state."""

    status: str
    entries: int
    minutes: int
    cost: int
    value: int
    unbilled: int
    without_rate: int


def hours_of(ctx: Context, house: House, job: str) -> list[Sum]:
    """The hours of a job by state, without timers that run."""
    rows = ctx.rows.all(_HOURS, job=job, rounding=house.rounding, unit=minor_unit(house))
    return [Sum(str(status), *(int(number or 0) for number in numbers)) for status, *numbers in rows]


_OPEN = "AND status = 'approved' AND billed = 0"
_BILLABLE = f"CASE WHEN billable = 1 {{}} THEN {AMOUNT} END"
_HOURS = (
    "SELECT status, count(*), CAST(sum(minutes) AS bigint),"
    " CAST(coalesce(sum((cost_rate * minutes + 30 * :unit) / (60 * :unit) * :unit), 0) AS bigint),"
    f" CAST(coalesce(sum({_BILLABLE.format('')}), 0) AS bigint),"
    f" CAST(coalesce(sum({_BILLABLE.format(_OPEN)}), 0) AS bigint),"
    " count(*) - count(cost_rate)"
    " FROM time_entry WHERE organisation_id = :organisation AND job_id = :job AND status <> 'running'"
    " GROUP BY status ORDER BY status"
)


def planned_minutes(ctx: Context, job: str) -> int:
    """How long the visits of a job are that are not cancelled, all together."""
    rows = ctx.rows.all(
        "SELECT starts_at, ends_at FROM visit WHERE organisation_id = :organisation AND job_id = :job"
        " AND starts_at IS NOT NULL AND status <> 'cancelled'",
        job=job,
    )
    return sum(Period(parse_moment(str(starts)), parse_moment(str(ends))).minutes for starts, ends in rows)


def budget_of(ctx: Context, job: str) -> int | None:
    """What was agreed or estimated."""
    row = ctx.rows.one("SELECT budget FROM job WHERE organisation_id = :organisation AND id = :job", job=job)
    return int(row[0]) if row and row[0] is not None else None
