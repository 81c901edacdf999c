"""How much of people's time was worked, and how much of that is billed."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from mainstay.business.organisation.working_hours import WorkingHours, organisation_s
from mainstay.business.people.working_hours import own_hours
from mainstay.business.reporting.asked import Asked
from mainstay.business.reporting.model import Cell, Table, column, share, table
from mainstay.kernel.context import Context
from mainstay.values.moments import Period, beginning_of, local_date, moment_text, parse_moment

_COLUMNS = (
    column("personId", "Person's id", "id"),
    column("person", "Person", "text"),
    column("worked", "Worked", "minutes"),
    column("billable", "Billable", "minutes"),
    column("billed", "Billed", "minutes"),
    column("capacity", "Capacity", "minutes"),
    column("utilisation", "Utilisation, %", "percent"),
)


class _Worked(NamedTuple):
    """The minutes of a person."""

    worked: int = 0
    billable: int = 0
    billed: int = 0
    # The first date of them.
    first: str = "9"


def hours(ctx: Context, asked: Asked) -> Table:
    """What each person worked between two dates, and how much of their time was billable, by name."""
    given = asked.bound | ({"person": asked.person} if asked.person else {})
    of_person, of_entries = (" AND id = :person", " AND person_id = :person") if asked.person else ("", "")
    found = {
        str(person): _Worked(int(worked or 0), int(billable or 0), int(billed or 0), str(first))
        for person, first, worked, billable, billed in ctx.rows.all(_WORKED.format(of_entries), **given)
    }
    time = _Time(ctx, asked)
    rows: list[list[Cell]] = []
    for person, name, status, created_at in ctx.rows.all(_PEOPLE.format(of_person), **given):
        own = found.get(str(person), _Worked())
        if status == "active" or str(person) in found:
            # When someone who left did so is not known, and with it not how much time they had.
            capacity = time.of(str(person), str(created_at), own.first) if status == "active" else None
            rows.append([str(person), str(name), *own[:3], capacity, share(own.billable, capacity or 0)])
    known = [row for row in rows if row[5] is not None]
    used = share(sum(int(row[3] or 0) for row in known), sum(int(row[5] or 0) for row in known))
    return table(_COLUMNS, rows, _NOTES, {"utilisation": used})


_NOTES = (
    "Hours that were rejected and timers that run are left out.",
    "Capacity is the time of working hours without approved leave, from the day on which someone joined.",
    "Utilisation is what of that was billable.",
)
_WORKED = (
    "SELECT person_id, min(on_date), CAST(sum(minutes) AS bigint),"
    " CAST(sum(CASE WHEN billable = 1 THEN minutes ELSE 0 END) AS bigint),"
    " CAST(sum(CASE WHEN billed = 1 THEN minutes ELSE 0 END) AS bigint)"
    " FROM time_entry WHERE organisation_id = :organisation AND on_date >= :first AND on_date <= :last"
    " AND status <> 'running' AND status <> 'rejected'{} GROUP BY person_id"
)
_PEOPLE = (
    "SELECT id, name, status, created_at FROM person WHERE organisation_id = :organisation{} ORDER BY name_folded, id"
)


class _Time:
    """How much time people have: those with the same working hours the same, but for their leave."""

    def __init__(self, ctx: Context, asked: Asked) -> None:
        self._asked = asked
        self._usual, self._zone = organisation_s(ctx)
        self._own = own_hours(ctx)
        self._spans: dict[str, list[tuple[date, Period]]] = {}
        self._away: dict[str, list[Period]] = {}
        # A night shift of the last date ends on the day after it.
        begin, end = beginning_of(asked.first, self._zone), beginning_of(asked.last + timedelta(days=2), self._zone)
        leave = ctx.rows.all(_LEAVE, begin=moment_text(begin), end=moment_text(end))
        for person, starts, ends in leave:
            self._away.setdefault(str(person), []).append(_period(starts, ends))

    def of(self, person: str, created_at: str, worked_on: str) -> int:
        """The minutes of someone, from the day they joined on, or from which they have hours."""
        joined = min(local_date(parse_moment(created_at), self._zone).isoformat(), worked_on)
        spans = [span for day, span in self._worked(self._own.get(person, self._usual)) if day.isoformat() >= joined]
        away = self._away.get(person, [])
        return sum(span.minutes for span in spans) - sum(_overlap(span, away) for span in spans if away)

    def _worked(self, hours: WorkingHours) -> list[tuple[date, Period]]:
        """The times at which people with such hours work, each with its date."""
        key = hours.model_dump_json()
        if key not in self._spans:
            self._spans[key] = [(day, span) for day in self._asked.dates for span in hours.on(day, self._zone)]
        return self._spans[key]


_LEAVE = (
    "SELECT person_id, starts_at, ends_at FROM time_off WHERE organisation_id = :organisation AND status = 'approved'"
    " AND starts_at < :end AND ends_at > :begin"
)


def _period(starts: object, ends: object) -> Period:
    return Period(parse_moment(str(starts)), parse_moment(str(ends)))


def _overlap(span: Period, away: Sequence[Period]) -> int:
    """The minutes of a span within leave; nobody is on leave twice at a time."""
    within = [(max(one.starts_at, span.starts_at), min(one.ends_at, span.ends_at)) for one in away]
    return sum(Period(begin, end).minutes for begin, end in within if begin < end)
