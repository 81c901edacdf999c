"""A week of a person's hours as an editable grid: a row for each job, a column for each day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import NamedTuple

from mainstay.business.hours.model import TimeEntryOut
from mainstay.business.hours.operations import delete_hours, log_hours, update_hours
from mainstay.business.jobs.store import JOBS
from mainstay.doors.pages.formatting import join_isolated
from mainstay.doors.pages.message_format import duration_problem, problem_sentence
from mainstay.doors.pages.page_language import translate_text
from mainstay.kernel.operation import Operation
from mainstay.values.durations import hours_text
from mainstay.values.ids import is_id
from mainstay.values.typed_durations import parse_minutes
from mainstay.vocabulary.refusal import Invalid, Refusal

DAYS = 7
# The row for a job that has no row yet, and the row of hours without a job.
NEW_ROW, NO_JOB = "new", "none"
_UPDATE = "update_hours"


@dataclass(frozen=True)
class HoursCell:
    """The hours of one day on one job."""

    row: str
    day: date
    # The entry that can be edited here. The others have times, or can no longer be edited.
    entry: TimeEntryOut | None = None
    others: Sequence[TimeEntryOut] = ()
    typed: str | None = None
    fault: str | None = None
    # The entry, version and minutes that the field showed when the person typed.
    seen_when_typed: str | None = None

    @property
    def name(self) -> str:
        """The name of the form field."""
        return f"hours {self.row} {self.day}"

    @property
    def seen(self) -> str:
        """The entry, version and minutes that the field shows, as the hidden field of the form."""
        if self.seen_when_typed is not None:
            return self.seen_when_typed
        entry = self.entry
        return f"{entry.id} {entry.version} {entry.minutes}" if entry else ""

    @property
    def text(self) -> str:
        """The text in the field."""
        if self.typed is not None:
            return self.typed
        return hours_text(self.entry.minutes or 0) if self.entry else ""

    @property
    def minutes(self) -> int:
        """All minutes of this job on that day."""
        return sum(entry.minutes or 0 for entry in (*self.others, *([self.entry] if self.entry else [])))


@dataclass(frozen=True)
class HoursRow:
    """The hours on one job."""

    key: str
    title: str
    path: str | None
    cells: Sequence[HoursCell]

    @property
    def minutes(self) -> int:
        """The minutes of the whole week."""
        return sum(cell.minutes for cell in self.cells)


@dataclass(frozen=True)
class HoursWeek:
    """Seven days from a Monday on, with the hours of each job."""

    monday: date
    today: date
    rows: Sequence[HoursRow] = ()
    # The row in which a job is added.
    new_row: HoursRow = field(default_factory=lambda: HoursRow(NEW_ROW, "", None, ()))

    @property
    def days(self) -> list[date]:
        """The days of the week."""
        return [self.monday + timedelta(days=number) for number in range(DAYS)]

    @property
    def sunday(self) -> date:
        """The last day of the week."""
        return self.monday + timedelta(days=DAYS - 1)

    @property
    def open_day(self) -> date:
        """The day that a phone shows first: today, or the first one of another week."""
        return self.today if self.today in self.days else self.monday

    @property
    def totals(self) -> list[int]:
        """The minutes of each day."""
        return [sum(row.cells[number].minutes for row in self.rows) for number in range(DAYS)]


def monday_of(day: date) -> date:
    """Return the Monday of a day's week."""
    return day - timedelta(days=day.weekday())


def build_week(
    monday: date,
    today: date,
    entries: Sequence[TimeEntryOut],
    typed: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
) -> HoursWeek:
    """Return the grid, with a row for each job of the entries. Entries of the week before only add rows."""
    days = [monday + timedelta(days=number) for number in range(DAYS)]
    rows: dict[str, list[TimeEntryOut]] = {}
    titles: dict[str, str] = {}
    for entry in entries:
        key = entry.job_id or NO_JOB
        titles[key] = join_isolated(entry.job_number, entry.job_title) if entry.job_id else translate_text("No job")
        rows.setdefault(key, [])
        if monday.isoformat() <= entry.on <= days[-1].isoformat():
            rows[key].append(entry)
    typed_values = _TypedValues(typed or {}, faults or {})
    week_rows = [
        HoursRow(
            key,
            titles[key],
            JOBS.path_of(key) if key != NO_JOB else None,
            _build_cells(key, days, job_entries, typed_values),
        )
        for key, job_entries in sorted(rows.items(), key=lambda row: (row[0] == NO_JOB, titles[row[0]]))
    ]
    return HoursWeek(
        monday, today, week_rows, HoursRow(NEW_ROW, "", None, _build_cells(NEW_ROW, days, (), typed_values))
    )


class _TypedValues(NamedTuple):
    typed: Mapping[str, str]
    faults: Mapping[str, str]


def _build_cells(
    key: str, days: Sequence[date], entries: Sequence[TimeEntryOut], typed_values: _TypedValues
) -> list[HoursCell]:
    cells = []
    for day in days:
        day_entries = [entry for entry in entries if entry.on == day.isoformat()]
        own = next((entry for entry in day_entries if _is_editable(entry)), None)
        cell = HoursCell(key, day, own, [entry for entry in day_entries if entry is not own])
        cells.append(_apply_typed(cell, typed_values))
    return cells


def _apply_typed(cell: HoursCell, typed_values: _TypedValues) -> HoursCell:
    """Add what was typed to a cell. If nothing was typed over it, it shows the current entry."""
    typed, fault = typed_values.typed.get(cell.name), typed_values.faults.get(cell.name)
    known = typed_values.typed.get(f"seen {cell.row} {cell.day}", "")
    minutes = (*known.split(" "), "", "")[2]
    before = hours_text(int(minutes)) if minutes.isdecimal() and len(minutes) < _MAX_DIGITS else ""
    if typed is None or typed == before:
        return cell
    # Once the fault was shown, what is typed next is about the current entry.
    return replace(cell, typed=typed, fault=fault, seen_when_typed=None if fault else known)


def _is_editable(entry: TimeEntryOut) -> bool:
    """Return whether an entry is a plain number of hours that can still be changed. Entries with times are not."""
    return entry.started_at is None and _UPDATE in entry.available_actions


class HoursChange(NamedTuple):
    """A change that follows from what was typed in a cell."""

    cell: str
    operation: Operation
    given: dict[str, object]
    version: int | None = None


def read_hours_changes(
    fields: Mapping[str, str], job: str, person_id: str | None
) -> tuple[list[HoursChange], dict[str, str]]:
    """Return the changes that follow from what was typed, and the faults by cell.

    `job` is the job of the new row. `person` is whose week it is, if it is not the viewer's own.
    """
    changes: list[HoursChange] = []
    faults: dict[str, str] = {}
    for name, text in fields.items():
        prefix, _, cell_place = name.partition(" ")
        row, _, day = cell_place.partition(" ")
        if prefix != "hours":
            continue
        try:
            minutes = parse_minutes(text) if text.strip() else 0
        except ValueError as problem:
            faults[name] = duration_problem("Time", problem)
            continue
        seen = fields.get(f"seen {cell_place}", "").split(" ")
        if is_id(seen[0], "entry"):
            changes += _entry_changes(name, minutes, seen)
        elif minutes and row == NEW_ROW and not job:
            faults[name] = translate_text("Choose a job for this row.")
        elif minutes:
            job_id = job if row == NEW_ROW else row
            job_input = {} if job_id == NO_JOB else {"jobId": job_id}
            person_input = {"personId": person_id} if person_id else {}
            changes.append(HoursChange(name, log_hours, {"on": day, "minutes": minutes, **job_input, **person_input}))
    return changes, faults


def _entry_changes(name: str, minutes: int, seen: Sequence[str]) -> list[HoursChange]:
    record_id, version, before = (*seen, "", "")[:3]
    if before == str(minutes):
        return []
    known = int(version) if version.isdecimal() and len(version) < _MAX_DIGITS else None
    if minutes:
        return [HoursChange(name, update_hours, {"timeEntryId": record_id, "minutes": minutes}, known)]
    return [HoursChange(name, delete_hours, {"timeEntryId": record_id, "confirmed": True}, known)]


_MAX_DIGITS = 16


# By the input field of an operation: the field of the page's own forms, and its label there.
_FORM_FIELDS = {
    "minutes": ("time", "Time"),
    "on": ("day", "Date"),
    "job": ("job", "Job"),
    "jobId": ("job", "Job"),
    "breakMinutes": ("break", "Break"),
    "endedAt": ("endedAt", "Ended at"),
    "note": ("note", "What was done"),
}
# For each form except the usual one: a field that only it has.
_FIELD_OF_FORM = {"log": "time", "stop": "break", "switch": "switch"}


def page_faults_of(refusal: Refusal | None) -> dict[str, str]:
    """Return the faults by field of the page's own forms, or nothing if a fault is in another field."""
    faults = refusal.faults if isinstance(refusal, Invalid) else ()
    if any(fault.field not in _FORM_FIELDS for fault in faults):
        return {}
    labelled = [(*_FORM_FIELDS[fault.field], fault.problem) for fault in faults]
    return {name: problem_sentence(label, problem) for name, label, problem in labelled}


def form_name_of(fields: Mapping[str, str]) -> str:
    """Return the name of the form that was sent. Several forms have a field for the job."""
    if any(name.startswith("hours ") for name in fields):
        return "week"
    return next((form for form, own in _FIELD_OF_FORM.items() if own in fields), "start")
