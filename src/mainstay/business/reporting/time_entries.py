"""The report on the time entries behind the hours of a period."""

from mainstay.business.reporting.inputs import ReportQuery, TimeChoice
from mainstay.business.reporting.model import (
    MAX_REPORT_ROWS,
    CellValue,
    ReportTable,
    RowValue,
    make_column,
    make_table,
)
from mainstay.kernel.context import Context
from mainstay.kernel.record_store import select_related
from mainstay.values.message import Message

_COLUMNS = (
    make_column("timeEntryId", "Time entry ID", "id"),
    make_column("on", "Date", "date"),
    make_column("person", "Person", "text"),
    make_column("job", "Job", "text"),
    make_column("worked", "Worked", "minutes"),
    make_column("billable", "Billable", "minutes"),
    make_column("billed", "Invoiced", "minutes"),
)
_SUMS = ("worked", "billable", "billed")


def report_time_entries(ctx: Context, query: ReportQuery) -> ReportTable:
    """Build the report on time entries, earliest first. Their sums are those of the report on hours."""
    condition = " AND person_id = :person" if query.person else ""
    condition += f" AND {_CONDITIONS[query.time]} = 1" if query.time else ""
    parameters = query.parameters | ({"person": query.person} if query.person else {})
    found = ctx.db.all(_SELECT_ENTRIES.format(condition), limit=MAX_REPORT_ROWS + 1, **parameters)
    rows: list[list[RowValue]] = [[*row] for row in found]
    totals = ctx.db.one(_SELECT_SUMS.format(condition), **parameters) or (0, 0, 0)
    sums: dict[str, CellValue] = {name: int(total or 0) for name, total in zip(_SUMS, totals, strict=True)}
    return make_table(_COLUMNS, rows, _NOTES, sums)


_NOTES = (Message("Excludes rejected hours and running timers."),)
_CONDITIONS: dict[TimeChoice, str] = {"billable": "billable", "billed": "billed"}
_MINUTES = "minutes, CASE WHEN billable = 1 THEN minutes ELSE 0 END, CASE WHEN billed = 1 THEN minutes ELSE 0 END"
_SUM_MINUTES = ", ".join(f"CAST(sum({minutes}) AS bigint)" for minutes in _MINUTES.split(", "))
_ENTRIES = (
    "FROM time_entry WHERE organisation_id = :organisation AND on_date >= :first AND on_date <= :last"
    " AND status <> 'running' AND status <> 'rejected'{}"
)
_SELECT_ENTRIES = (
    f"SELECT id, on_date, {select_related('person.name', 'time_entry.person_id')},"
    f" {select_related('job.number', 'time_entry.job_id')}, {_MINUTES} {_ENTRIES} ORDER BY on_date, id LIMIT :limit"
)
_SELECT_SUMS = f"SELECT {_SUM_MINUTES} {_ENTRIES}"
