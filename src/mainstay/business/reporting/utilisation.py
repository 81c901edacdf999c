"""The report on how much people worked, and how much of it is billable."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import NamedTuple

from mainstay.business.organisation.working_hours import WorkingHours, default_working_hours
from mainstay.business.people.working_hours import find_own_hours
from mainstay.business.reporting.inputs import ReportQuery
from mainstay.business.reporting.model import (
    REPORT_OPERATION,
    CellValue,
    RecordsBehind,
    ReportTable,
    make_column,
    make_table,
    to_percent,
)
from mainstay.kernel.context import Context
from mainstay.values.message import Message
from mainstay.values.moments import Period, local_date, moment_text, parse_moment, start_of_day

_COLUMNS = (
    make_column("personId", "Person ID", "id"),
    make_column("person", "Person", "text"),
    make_column("worked", "Worked", "minutes"),
    make_column("billable", "Billable", "minutes"),
    make_column("billed", "Invoiced", "minutes"),
    make_column("capacity", "Capacity", "minutes"),
    make_column("utilisation", "Utilisation (%)", "percent"),
)


class _WorkedMinutes(NamedTuple):
    """The minutes that a person worked."""

    worked: int = 0
    billable: int = 0
    billed: int = 0
    # The first date with hours.
    first: str = "9"


def report_hours(ctx: Context, query: ReportQuery) -> ReportTable:
    """Build the report on hours: what each person worked between two dates, and how much was billable."""
    parameters = query.parameters | ({"person": query.person} if query.person else {})
    person_condition, entries_condition = (
        (" AND id = :person", " AND person_id = :person") if query.person else ("", "")
    )
    minutes_by_person = {
        str(person): _WorkedMinutes(int(worked or 0), int(billable or 0), int(billed or 0), str(first))
        for person, first, worked, billable, billed in ctx.db.all(
            _SELECT_WORKED.format(entries_condition), **parameters
        )
    }
    capacity_calculator = _CapacityCalculator(ctx, query)
    rows: list[list[CellValue]] = []
    for person, name, status, created_at in ctx.db.all(_SELECT_PEOPLE.format(person_condition), **parameters):
        own_minutes = minutes_by_person.get(str(person), _WorkedMinutes())
        if status == "active" or str(person) in minutes_by_person:
            # It is not known when people left, so their capacity is not known either.
            capacity = (
                capacity_calculator.minutes_of(str(person), str(created_at), own_minutes.first)
                if status == "active"
                else None
            )
            rows.append(
                [str(person), str(name), *own_minutes[:3], capacity, to_percent(own_minutes.billable, capacity or 0)]
            )
    rows_with_capacity = [row for row in rows if row[5] is not None]
    utilisation = to_percent(
        sum(int(row[3] or 0) for row in rows_with_capacity), sum(int(row[5] or 0) for row in rows_with_capacity)
    )
    entries = query.behind("timeEntries")
    behind = RecordsBehind(operation=REPORT_OPERATION, given=entries, columns={"personId": "personId"})
    columns_behind = {
        column: RecordsBehind(operation=REPORT_OPERATION, given=given, columns={})
        for column, given in (
            ("worked", entries),
            ("billable", {**entries, "time": "billable"}),
            ("billed", {**entries, "time": "billed"}),
        )
    }
    table = make_table(_COLUMNS, rows, _NOTES, {"utilisation": utilisation})
    return replace(table, behind=behind, columns_behind=columns_behind)


_NOTES = (
    Message("Excludes rejected hours and running timers."),
    Message("Capacity: working hours minus approved time off, from the day a person joined."),
    Message("Utilisation: the billable share of capacity."),
)
_SELECT_WORKED = (
    "SELECT person_id, min(on_date), CAST(sum(minutes) AS bigint),"
    " CAST(sum(CASE WHEN billable = 1 THEN minutes ELSE 0 END) AS bigint),"
    " CAST(sum(CASE WHEN billed = 1 THEN minutes ELSE 0 END) AS bigint)"
    " FROM time_entry WHERE organisation_id = :organisation AND on_date >= :first AND on_date <= :last"
    " AND status <> 'running' AND status <> 'rejected'{} GROUP BY person_id"
)
_SELECT_PEOPLE = (
    "SELECT id, name, status, created_at FROM person WHERE organisation_id = :organisation{} ORDER BY name_folded, id"
)


class _CapacityCalculator:
    """Computes the capacity of people. The periods of equal working hours are computed once."""

    def __init__(self, ctx: Context, query: ReportQuery) -> None:
        self._query = query
        self._default_hours, self._zone = default_working_hours(ctx)
        self._own_hours = find_own_hours(ctx)
        self._spans: dict[str, list[tuple[date, Period]]] = {}
        self._leave: dict[str, list[Period]] = {}
        # A night shift of the last date ends on the day after it.
        begin, end = start_of_day(query.first, self._zone), start_of_day(query.last + timedelta(days=2), self._zone)
        leave = ctx.db.all(_LEAVE, begin=moment_text(begin), end=moment_text(end))
        for person, starts, ends in leave:
            self._leave.setdefault(str(person), []).append(_to_period(starts, ends))

    def minutes_of(self, person_id: str, created_at: str, worked_on: str) -> int:
        """Return the capacity of a person in minutes, from the day they joined or first worked."""
        joined = min(local_date(parse_moment(created_at), self._zone).isoformat(), worked_on)
        spans = [
            span
            for day, span in self._find_working_periods(self._own_hours.get(person_id, self._default_hours))
            if day.isoformat() >= joined
        ]
        leave = self._leave.get(person_id, [])
        return sum(span.minutes for span in spans) - sum(_sum_overlap(span, leave) for span in spans if leave)

    def _find_working_periods(self, hours: WorkingHours) -> list[tuple[date, Period]]:
        """Return the periods of these working hours, each with its date."""
        key = hours.model_dump_json()
        if key not in self._spans:
            self._spans[key] = [(day, span) for day in self._query.dates for span in hours.periods_on(day, self._zone)]
        return self._spans[key]


_LEAVE = (
    "SELECT person_id, starts_at, ends_at FROM time_off WHERE organisation_id = :organisation AND status = 'approved'"
    " AND starts_at < :end AND ends_at > :begin"
)


def _to_period(starts: object, ends: object) -> Period:
    return Period(parse_moment(str(starts)), parse_moment(str(ends)))


def _sum_overlap(span: Period, leave: Sequence[Period]) -> int:
    """Return the minutes of a period within leave. Leave never overlaps."""
    within = [(max(period.starts_at, span.starts_at), min(period.ends_at, span.ends_at)) for period in leave]
    return sum(Period(begin, end).minutes for begin, end in within if begin < end)
