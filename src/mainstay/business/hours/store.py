"""Storage of hours, and who may see which."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from mainstay.business.hours.daily_limit import check_daily_limit
from mainstay.business.hours.model import MAX_ENTRY_LENGTH, TimeEntry
from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import emit_job_updated
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.closed_books import CLOSED_UNTIL_SQL
from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.infrastructure.database import OverlapViolation, Row
from mainstay.kernel.context import Context
from mainstay.kernel.kind import Kind
from mainstay.kernel.record_store import select_related
from mainstay.values.message import LocalMoment, LocalPeriod, Message
from mainstay.values.moments import moment_text, parse_moment
from mainstay.values.money import minor_to_price
from mainstay.values.totals import round_fraction
from mainstay.vocabulary.list_queries import NEWEST, ListOrder, Visibility
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, NotFound, Reason, raise_if_blocked

TIME_ENTRIES = Kind(
    TimeEntry,
    source="time_entry",
    plural="hours",
    area="Hours",
    prefix="entry",
    columns={
        "on": "time_entry.on_date",
        "person_name": select_related("person.name", "time_entry.person_id"),
        "job_number": select_related("job.number", "time_entry.job_id"),
        "job_title": select_related("job.title", "time_entry.job_id"),
        "closed_until": CLOSED_UNTIL_SQL,
    },
    visibility=Visibility("time_entry.person_id", unrestricted_with=Permission.ALL_HOURS_READ),
    equal_filters=("person_id", "status"),
    dates_column="on_date",
    orders={NEWEST: ListOrder("on_date", descending=True), "oldest": ListOrder("on_date")},
)


class HourlyRates(NamedTuple):
    """What an hour of a person costs, and what it is billed at."""

    cost_rate: int | None
    bill_rate: int | None


def hourly_rates_of(ctx: Context, person_id: str) -> HourlyRates:
    """Return a person's current rates."""
    row = ctx.db.one(
        "SELECT cost_rate, bill_rate FROM person WHERE organisation_id = :organisation AND id = :person",
        person=person_id,
    )
    if row is None:
        raise NotFound("person")
    cost, bill = (None if rate is None else int(rate) for rate in row)
    return HourlyRates(cost, bill)


def insert(ctx: Context, values: Mapping[str, Any]) -> TimeEntry:
    """Insert an entry, and refuse it if it overlaps another one of the same person."""
    check_no_overlap(ctx, values["person_id"], values.get("started_at"), values.get("ended_at"))
    check_daily_limit(ctx, values["person_id"], values)
    return insert_unchecked(ctx, values)


def insert_unchecked(ctx: Context, values: Mapping[str, Any]) -> TimeEntry:
    """Insert an entry of a person who is known to be free then."""
    try:
        return TIME_ENTRIES.insert(ctx, values)
    except OverlapViolation:
        raise Conflict(_OVERLAP_ERROR) from None


def save(ctx: Context, entry: TimeEntry, changes: Mapping[str, Any]) -> TimeEntry:
    """Write changes of an entry, and refuse them if it would overlap another one of the same person."""
    if changes.get("started_at") and changes.get("ended_at"):
        check_no_overlap(ctx, entry.person_id, changes["started_at"], changes["ended_at"], except_entry=entry)
    check_daily_limit(ctx, entry.person_id, changes, except_id=entry.id)
    try:
        return TIME_ENTRIES.save(ctx, entry, changes)
    except OverlapViolation:
        raise Conflict(_OVERLAP_ERROR) from None


_OVERLAP_ERROR = Message(
    "These hours overlap other hours of the same person. Change the times.",
    for_programs=Message("list_hours shows them."),
)


def find_running(ctx: Context, person_id: str) -> TimeEntry | None:
    """Return a person's running timer."""
    return TIME_ENTRIES.find(ctx, "time_entry.person_id = :person AND time_entry.status = 'running'", person=person_id)


def check_no_overlap(
    ctx: Context, person_id: str, started_at: str | None, ended_at: str | None, except_entry: TimeEntry | None = None
) -> None:
    """Refuse time that overlaps other hours of the person. A running timer takes all time from its start."""
    if started_at is None:
        return
    clash = find_overlapping(ctx, person_id, started_at, ended_at, except_entry.id if except_entry else None)
    # A person has at most one running timer. If it is the entry itself, there is no other.
    if clash is None and ended_at is not None and not (except_entry and except_entry.status == "running"):
        running = find_running(ctx, person_id)
        clash = running if running and (running.started_at or "") < ended_at else None
    if clash:
        refuse_clash(ctx, clash)


def refuse_clash(ctx: Context, clash: TimeEntry) -> None:
    """Refuse time that overlaps this entry."""
    message = _make_clash_message(clash, settings_of(ctx).time_zone)
    # Only the person whose hours they are is told to change or stop the other entry.
    if clash.person_id != ctx.actor.id:
        raise_if_blocked([Reason(message, "list_hours")])
    raise_if_blocked(
        [
            Reason(message, "update_hours", unblocking_record_id=clash.id)
            if clash.ended_at
            else Reason(message, "stop_timer")
        ]
    )


def _make_clash_message(entry: TimeEntry, zone: str) -> Message:
    person, job, started_at = entry.person_name, entry.job_name, entry.started_at or ""
    if entry.ended_at:
        period = LocalPeriod(started_at, entry.ended_at, zone)
        if entry.job_id:
            return Message(
                "{person} already logged {period} on {job}. Choose times that do not overlap.",
                person=person,
                period=period,
                job=job,
            )
        return Message(
            "{person} already logged {period}. Choose times that do not overlap.", person=person, period=period
        )
    start = LocalMoment(started_at, zone)
    if entry.job_id:
        return Message(
            "{person}'s timer on {job} has been running since {start}. Stop it, or choose times before that.",
            person=person,
            job=job,
            start=start,
        )
    return Message(
        "{person}'s timer has been running since {start}. Stop it, or choose times before that.",
        person=person,
        start=start,
    )


def find_overlapping(
    ctx: Context, person_id: str, started_at: str, ended_at: str | None, except_id: str | None = None
) -> TimeEntry | None:
    """Return an entry that overlaps this time. Without an end, only the moment of the start is checked."""
    # No entry is longer than this, so one that began earlier cannot overlap. It limits the index scan to a day.
    earliest = moment_text(parse_moment(started_at) - MAX_ENTRY_LENGTH)
    end_condition = "< :ended_at" if ended_at else "<= :started_at"
    return TIME_ENTRIES.find(
        ctx,
        "time_entry.person_id = :person AND time_entry.started_at IS NOT NULL AND time_entry.started_at"
        f" {end_condition}"
        " AND time_entry.started_at > :floor AND time_entry.ended_at > :started_at AND time_entry.id <> :but",
        person=person_id,
        started_at=started_at,
        floor=earliest,
        but=except_id or "",
        **({"ended_at": ended_at} if ended_at else {}),
    )


def fetch_all(ctx: Context, ids: Sequence[str]) -> list[TimeEntry]:
    """Return the entries with these ids in their order, if the actor may see all of them, each as they saw it."""
    visibility = TIME_ENTRIES.visibility.restrict_for(ctx.actor.can) if TIME_ENTRIES.visibility else None
    visibility_condition = f" AND {visibility.condition_for(TIME_ENTRIES.table)}" if visibility else ""
    rows = select_batched(
        ctx.db, f"{TIME_ENTRIES.select_all}{visibility_condition} AND time_entry.id IN {BATCH_VALUES}", ids
    )
    entries = {entry.id: entry for entry in map(TIME_ENTRIES.from_row, rows)}
    ctx.check_versions({entry.id: entry.version for entry in entries.values()})
    unique_ids = list(dict.fromkeys(ids))
    if len(entries) < len(unique_ids):
        raise NotFound(TIME_ENTRIES.label)
    return [entries[record_id] for record_id in unique_ids]


def change_timer_count(ctx: Context, job: Job | None, change: int) -> None:
    """Change a job's number of running timers."""
    if job:
        jobs.save(ctx, job, {"running_timers": job.running_timers + change})


def job_of_entry(ctx: Context, entry: TimeEntry) -> Job | None:
    """Return the job of an entry, regardless of the actor."""
    return JOBS.find(ctx, "job.id = :id", id=entry.job_id) if entry.job_id else None


def find_drafts(ctx: Context, person_id: str, first: str, last: str, limit: int) -> list[TimeEntry]:
    """Return a person's drafts between two dates, earliest first."""
    rows = ctx.db.all(
        f"{TIME_ENTRIES.select_all} AND time_entry.person_id = :person AND time_entry.status = 'draft'"
        " AND time_entry.on_date >= :first AND time_entry.on_date <= :last"
        " ORDER BY time_entry.on_date, time_entry.id LIMIT :most",
        person=person_id,
        first=first,
        last=last,
        most=limit,
    )
    return [TIME_ENTRIES.from_row(row) for row in rows]


# The billed minutes of an entry, rounded up to the organisation's rounding unit.
_MINUTES_TO_BILL = "coalesce(billable_minutes, minutes)"
BILLED_MINUTES = (
    f"CASE WHEN :rounding = 0 THEN {_MINUTES_TO_BILL} ELSE ({_MINUTES_TO_BILL} + :rounding -"
    " 1) / :rounding * :rounding END"
)
# The billed time in ten-thousandths of an hour, as on an invoice; and the billed amount in ten-thousandths, rounded to
# the minor unit of the currency, as on an invoice.
_BILLED_HOURS = f"(({BILLED_MINUTES}) * 10000 + 30) / 60"
BILLED_AMOUNT = f"(bill_rate * ({BILLED_MINUTES}) + 30 * :unit) / (60 * :unit) * :unit"
# What an entry costs the organisation, rounded in the same way.
HOURS_COST = "(cost_rate * minutes + 30 * :unit) / (60 * :unit) * :unit"
_BILLED_JOB_COLUMN = (
    "(SELECT worked.{} FROM job AS worked WHERE worked.organisation_id = :organisation AND worked.id = {{by}})"
)
_BILLED_CUSTOMER_NAME = (
    "(SELECT customer.name FROM job AS worked JOIN customer ON customer.organisation_id = :organisation"
    " AND customer.id = worked.customer_id WHERE worked.organisation_id = :organisation AND worked.id = {by})"
)
# The columns of the job that is billed. `by` is an expression for its id.
BILLED_JOB_COLUMNS = (
    f"{{by}}, {_BILLED_JOB_COLUMN.format('number')},"
    f" {_BILLED_JOB_COLUMN.format('title')}, {_BILLED_JOB_COLUMN.format('customer_id')}, {_BILLED_CUSTOMER_NAME}"
)
_UNBILLED = (
    f"SELECT {BILLED_JOB_COLUMNS}, count(*), CAST(sum(minutes) AS bigint), CAST(sum({BILLED_MINUTES}) AS bigint),"
    f" CAST(coalesce(sum({BILLED_AMOUNT}), 0) AS bigint), count(*) - count(bill_rate), min(on_date), max(on_date)"
    " FROM {source} WHERE time_entry.organisation_id = :organisation AND time_entry.status = 'approved'"
    " AND billable = 1 AND billed = 0 {narrowed} GROUP BY {by} ORDER BY {by} DESC LIMIT :limit"
)
# For one customer, the query starts from their few jobs. CROSS JOIN keeps both databases to this order.
_CUSTOMER_CONDITION = (
    "AND job.organisation_id = :organisation AND job.customer_id = :customer AND time_entry.job_id = job.id"
)


class UnbilledFilter(NamedTuple):
    """A filter for unbilled hours: one job, one customer's jobs, or the jobs after one in the list."""

    job: str | None
    customer: str | None
    after: str | None


def sum_unbilled_hours(
    ctx: Context, settings: OrganisationSettings, filters: UnbilledFilter, limit: int
) -> Sequence[Row]:
    """Return the totals of unbilled hours by job, newest jobs first."""
    by = "job.id" if filters.customer else "time_entry.job_id"
    conditions = {
        _CUSTOMER_CONDITION: filters.customer,
        f"AND {by} = :job": filters.job,
        f"AND {by} < :after": filters.after,
    }
    sql = _UNBILLED.format(
        source="job CROSS JOIN time_entry" if filters.customer else "time_entry",
        narrowed=" ".join(condition for condition, value in conditions.items() if value),
        by=by,
    )
    return ctx.db.all(
        sql, rounding=settings.hours_rounding_minutes, unit=minor_unit_of(settings), limit=limit, **filters._asdict()
    )


class BillableEntry(NamedTuple):
    """An entry that is to be billed."""

    id: str
    on: str
    person_name: str
    note: str | None
    # In ten-thousandths of an hour.
    quantity: int
    bill_rate: int | None
    cost_rate: int | None
    # The worked minutes and the billed minutes.
    worked_minutes: int
    billed_minutes: int

    @property
    def cost_per_billed_hour(self) -> int | None:
        """The cost of one billed hour: the cost of all worked time, spread over the billed time."""
        if self.cost_rate is None or not self.billed_minutes:
            return None
        return round_fraction(self.cost_rate * self.worked_minutes, self.billed_minutes)


def find_billable_entries(
    ctx: Context, settings: OrganisationSettings, job_id: str, until: str | None
) -> list[BillableEntry]:
    """Return the hours of a job that are approved, billable and on no invoice, oldest first."""
    rows = ctx.db.all(
        f"SELECT time_entry.id, on_date, person.name, note, {_BILLED_HOURS}, time_entry.bill_rate,"
        " time_entry.cost_rate,"
        f" minutes, {BILLED_MINUTES}"
        " FROM time_entry JOIN person ON person.organisation_id = :organisation AND person.id = time_entry.person_id"
        " WHERE time_entry.organisation_id = :organisation AND job_id = :job AND time_entry.status = 'approved'"
        " AND billable = 1 AND billed = 0 AND on_date <= :until ORDER BY on_date, time_entry.id",
        job=job_id,
        until=until or "9999-12-31",
        rounding=settings.hours_rounding_minutes,
    )
    return [BillableEntry(*cast("tuple[Any, ...]", row)) for row in rows]


def reopen_billing(ctx: Context, entries: Iterable[TimeEntry]) -> None:
    """Mark jobs as not fully invoiced if hours approved now are to be billed on them."""
    for job in sorted({entry.job_id for entry in entries if entry.job_id and entry.billable}):
        current = JOBS.find(ctx, "job.id = :id", id=job)
        if current and current.invoiced:
            emit_job_updated(ctx, jobs.save(ctx, current, {"invoiced": False}), current)


def mark_billed(ctx: Context, ids: Collection[str], *, billed: bool) -> None:
    """Mark hours as being on an invoice, or on none again."""
    select_batched(
        ctx.db,
        (
            "UPDATE time_entry SET billed = :billed WHERE organisation_id = :organisation AND id IN"
            f" {BATCH_VALUES} RETURNING id"
        ),
        ids,
        billed=int(billed),
    )
    ctx.writer.touch(*ids)


def minor_unit_of(settings: OrganisationSettings) -> int:
    """Return the smallest unit of the organisation's currency in ten-thousandths, in which prices are stored."""
    return minor_to_price(1, settings.currency)
