"""Where hours are kept, and who sees which."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from mainstay.backing.among import THESE, among
from mainstay.backing.database import Row, Taken
from mainstay.business.hours.full_days import check_days
from mainstay.business.hours.model import LONGEST, TimeEntry
from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import tell_of_change
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.books import CLOSED_UNTIL
from mainstay.business.organisation.house import House, house_of
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.terms.listed import NEWEST, ListOrder, Own
from mainstay.terms.refusal import Conflict, NotFound, Reason, refuse
from mainstay.terms.rights import Right
from mainstay.values.moments import moment_text, parse_moment
from mainstay.values.money import in_parts
from mainstay.values.totals import rounded
from mainstay.values.wall_times import wall_text

_OF_JOB = "(SELECT job.{} FROM job WHERE job.organisation_id = :organisation AND job.id = time_entry.job_id)"

ENTRIES = Listing(
    TimeEntry,
    source="time_entry",
    what="time entry",
    prefix="entry",
    id_field="time_entry_id",
    columns={
        "on": "time_entry.on_date",
        "person_name": "(SELECT person.name FROM person WHERE person.organisation_id = :organisation"
        " AND person.id = time_entry.person_id)",
        "job_number": _OF_JOB.format("number"),
        "job_title": _OF_JOB.format("title"),
    },
    facts={"closed_until": CLOSED_UNTIL},
    own=Own("time_entry.person_id", unless=Right.ALL_HOURS_READ),
    filters={
        "person_id": "time_entry.person_id = :person_id",
        "status": "time_entry.status = :status",
        "from_": "time_entry.on_date >= :from_",
        "until": "time_entry.on_date <= :until",
    },
    orders={NEWEST: ListOrder("on_date", descending=True), "oldest": ListOrder("on_date")},
)


class Rates(NamedTuple):
    """What an hour of someone costs and is billed at."""

    cost_rate: int | None
    bill_rate: int | None


def rates_of(ctx: Context, person: str) -> Rates:
    """Someone's rates as they are now."""
    row = ctx.rows.one(
        "SELECT cost_rate, bill_rate FROM person WHERE organisation_id = :organisation AND id = :person", person=person
    )
    if row is None:
        raise NotFound("person")
    cost, bill = (None if rate is None else int(rate) for rate in row)
    return Rates(cost, bill)


def insert(ctx: Context, values: Mapping[str, Any]) -> TimeEntry:
    """A new entry, unless it overlaps another of the same person."""
    check_free(ctx, values["person_id"], values.get("started_at"), values.get("ended_at"))
    check_days(ctx, values["person_id"], values)
    return insert_free(ctx, values)


def insert_free(ctx: Context, values: Mapping[str, Any]) -> TimeEntry:
    """A new entry of someone who is known to be free then."""
    try:
        return ENTRIES.insert(ctx, values)
    except Taken:
        raise Conflict(_OVERLAPS) from None


def save(ctx: Context, entry: TimeEntry, changes: Mapping[str, Any]) -> TimeEntry:
    """Write what changes, unless it overlaps another of the same person then."""
    if changes.get("started_at") and changes.get("ended_at"):
        check_free(ctx, entry.person_id, changes["started_at"], changes["ended_at"], but=entry)
    check_days(ctx, entry.person_id, changes, but=entry.id)
    try:
        return ENTRIES.save(ctx, entry, changes)
    except Taken:
        raise Conflict(_OVERLAPS) from None


_OVERLAPS = "These hours overlap others of the same person. Change the times (list_hours shows those there are)."


def find_running(ctx: Context, person: str) -> TimeEntry | None:
    """The timer that runs for someone."""
    return ENTRIES.find(ctx, "time_entry.person_id = :person AND time_entry.status = 'running'", person=person)


def check_free(
    ctx: Context, person: str, started_at: str | None, ended_at: str | None, but: TimeEntry | None = None
) -> None:
    """Refuse time in which someone worked on something else; a timer that runs takes all time from its beginning."""
    if started_at is None:
        return
    clash = find_within(ctx, person, started_at, ended_at, but.id if but else None)
    # One timer runs at a time: where it is the entry itself, there is no other.
    if clash is None and ended_at is not None and not (but and but.status == "running"):
        running = find_running(ctx, person)
        clash = running if running and (running.started_at or "") < ended_at else None
    if clash:
        refuse_clash(ctx, clash)


def refuse_clash(ctx: Context, clash: TimeEntry) -> None:
    """Refuse time in which someone worked on this."""
    text = f"{_told(clash, house_of(ctx).time_zone)}: one person's hours cannot overlap. Change the times."
    # Whoever plans around another's hours asks that person, or takes other times.
    if clash.person_id != ctx.actor.id:
        refuse([Reason(text, "list_hours")])
    refuse([Reason(text, "update_hours", at=clash.id) if clash.ended_at else Reason(text, "stop_timer")])


def _told(entry: TimeEntry, zone: str) -> str:
    began = wall_text(entry.started_at or "", zone)
    until = f"until {wall_text(entry.ended_at, zone)}" if entry.ended_at else "on, and the timer still runs"
    return f"{entry.person_name} worked on {entry.work} from {began} {until}"


def find_within(
    ctx: Context, person: str, started_at: str, ended_at: str | None, but: str | None = None
) -> TimeEntry | None:
    """An entry that has time in common with this; without an end, with the moment it begins."""
    # No entry is longer, so none that began earlier reaches it: the index is searched in a day, not in all time.
    floor = moment_text(parse_moment(started_at) - LONGEST)
    before = "< :ended_at" if ended_at else "<= :started_at"
    return ENTRIES.find(
        ctx,
        f"time_entry.person_id = :person AND time_entry.started_at IS NOT NULL AND time_entry.started_at {before}"
        " AND time_entry.started_at > :floor AND time_entry.ended_at > :started_at AND time_entry.id <> :but",
        person=person,
        started_at=started_at,
        floor=floor,
        but=but or "",
        **({"ended_at": ended_at} if ended_at else {}),
    )


def fetch_all(ctx: Context, identities: Sequence[str]) -> list[TimeEntry]:
    """The entries of these ids, in their order, if the one who asks may see every one."""
    own = ENTRIES.own.for_those_who(ctx.actor.may) if ENTRIES.own else None
    mine = f" AND {own.holds(ENTRIES.table)}" if own else ""
    rows = among(ctx.rows, f"{ENTRIES.everything}{mine} AND time_entry.id IN {THESE}", identities)
    found = {entry.id: entry for entry in map(ENTRIES.keep, rows)}
    wanted = list(dict.fromkeys(identities))
    if len(found) < len(wanted):
        raise NotFound(ENTRIES.what)
    return [found[identity] for identity in wanted]


def count_timers(ctx: Context, job: Job | None, change: int) -> None:
    """Let a job know of one timer more or less that runs on it."""
    if job:
        jobs.save(ctx, job, {"running_timers": job.running_timers + change})


def job_of(ctx: Context, entry: TimeEntry) -> Job | None:
    """The job that was worked on, whoever asks."""
    return JOBS.find(ctx, "job.id = :id", id=entry.job_id) if entry.job_id else None


def drafts(ctx: Context, person: str, first: str, last: str, most: int) -> list[TimeEntry]:
    """The drafts of someone between two dates, the earliest first."""
    rows = ctx.rows.all(
        f"{ENTRIES.everything} AND time_entry.person_id = :person AND time_entry.status = 'draft'"
        " AND time_entry.on_date >= :first AND time_entry.on_date <= :last"
        " ORDER BY time_entry.on_date, time_entry.id LIMIT :most",
        person=person,
        first=first,
        last=last,
        most=most,
    )
    return [ENTRIES.keep(row) for row in rows]


# What is billed of an entry, in minutes: each begun unit of what the organisation rounds to.
_TO_BILL = "coalesce(billable_minutes, minutes)"
ROUNDED = f"CASE WHEN :rounding = 0 THEN {_TO_BILL} ELSE ({_TO_BILL} + :rounding - 1) / :rounding * :rounding END"
# In ten-thousandths of an hour, as it stands on an invoice; and what its minutes come to in ten-thousandths, but
# rounded to the minor unit of the currency, as there.
_HOURS = f"(({ROUNDED}) * 10000 + 30) / 60"
AMOUNT = f"(bill_rate * ({ROUNDED}) + 30 * :unit) / (60 * :unit) * :unit"
# What an entry costs whoever employs the person, likewise.
COST = "(cost_rate * minutes + 30 * :unit) / (60 * :unit) * :unit"
_JOB_S = "(SELECT worked.{} FROM job AS worked WHERE worked.organisation_id = :organisation AND worked.id = {{by}})"
_CUSTOMER_S_NAME = (
    "(SELECT customer.name FROM job AS worked JOIN customer ON customer.organisation_id = :organisation"
    " AND customer.id = worked.customer_id WHERE worked.organisation_id = :organisation AND worked.id = {by})"
)
# What is told of the job that something is billed on, whose id is `by`.
TOLD_OF_JOB = (
    f"{{by}}, {_JOB_S.format('number')}, {_JOB_S.format('title')}, {_JOB_S.format('customer_id')}, {_CUSTOMER_S_NAME}"
)
_UNBILLED = (
    f"SELECT {TOLD_OF_JOB}, count(*), CAST(sum(minutes) AS bigint), CAST(sum({ROUNDED}) AS bigint),"
    f" CAST(coalesce(sum({AMOUNT}), 0) AS bigint), count(*) - count(bill_rate), min(on_date), max(on_date)"
    " FROM {source} WHERE time_entry.organisation_id = :organisation AND time_entry.status = 'approved'"
    " AND billable = 1 AND billed = 0 {narrowed} GROUP BY {by} ORDER BY {by} DESC LIMIT :limit"
)
# Of one customer, their few jobs say which entries are looked at: each engine keeps to this order.
_OF_CUSTOMER = "AND job.organisation_id = :organisation AND job.customer_id = :customer AND time_entry.job_id = job.id"


class Narrowed(NamedTuple):
    """Of what it is told what is to be billed: of one job, of one customer's jobs, of those behind a job."""

    job: str | None
    customer: str | None
    after: str | None


def unbilled(ctx: Context, house: House, to: Narrowed, limit: int) -> Sequence[Row]:
    """What is to be billed of each job, the newest jobs first."""
    by = "job.id" if to.customer else "time_entry.job_id"
    narrowed = {_OF_CUSTOMER: to.customer, f"AND {by} = :job": to.job, f"AND {by} < :after": to.after}
    sql = _UNBILLED.format(
        source="job CROSS JOIN time_entry" if to.customer else "time_entry",
        narrowed=" ".join(condition for condition, value in narrowed.items() if value),
        by=by,
    )
    return ctx.rows.all(sql, rounding=house.hours_rounding_minutes, unit=minor_unit(house), limit=limit, **to._asdict())


class ToBill(NamedTuple):
    """An entry that is to be billed."""

    id: str
    on: str
    person_name: str
    note: str | None
    # In ten-thousandths of an hour.
    quantity: int
    bill_rate: int | None
    cost_rate: int | None
    # In minutes: as they were worked, and as they are billed.
    worked: int
    billed: int

    @property
    def cost(self) -> int | None:
        """What one hour that is billed costs: all that was worked, spread over what is billed of it."""
        if self.cost_rate is None or not self.billed:
            return None
        return rounded(self.cost_rate * self.worked, self.billed)


def to_bill(ctx: Context, house: House, job: str, until: str | None) -> list[ToBill]:
    """The hours of a job that are approved, billable and on no invoice, oldest first."""
    rows = ctx.rows.all(
        f"SELECT time_entry.id, on_date, person.name, note, {_HOURS}, time_entry.bill_rate, time_entry.cost_rate,"
        f" minutes, {ROUNDED}"
        " FROM time_entry JOIN person ON person.organisation_id = :organisation AND person.id = time_entry.person_id"
        " WHERE time_entry.organisation_id = :organisation AND job_id = :job AND time_entry.status = 'approved'"
        " AND billable = 1 AND billed = 0 AND on_date <= :until ORDER BY on_date, time_entry.id",
        job=job,
        until=until or "9999-12-31",
        rounding=house.hours_rounding_minutes,
    )
    return [ToBill(*cast("tuple[Any, ...]", row)) for row in rows]


def reopen_billing(ctx: Context, entries: Iterable[TimeEntry]) -> None:
    """Let jobs know that there is something more to bill, by hours that are approved now."""
    for job in sorted({entry.job_id for entry in entries if entry.job_id and entry.billable}):
        known = JOBS.find(ctx, "job.id = :id", id=job)
        if known and known.invoiced:
            tell_of_change(ctx, jobs.save(ctx, known, {"invoiced": False}), known)


def mark_billed(ctx: Context, identities: Collection[str], *, billed: bool) -> None:
    """Let hours be on an invoice, or on none again."""
    among(
        ctx.rows,
        f"UPDATE time_entry SET billed = :billed WHERE organisation_id = :organisation AND id IN {THESE} RETURNING id",
        identities,
        billed=int(billed),
    )
    ctx.pen.touch(*identities)


def minor_unit(house: House) -> int:
    """The smallest coin of the organisation's currency, in the ten-thousandths in which prices are kept."""
    return in_parts(1, house.currency)
