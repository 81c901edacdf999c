"""A week of someone's hours as a grid one types into: a row for each job, a column for each day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import NamedTuple

from mainstay.business.hours.operations import delete_hours, log_hours, update_hours
from mainstay.doors.office.references import AsTold
from mainstay.doors.pages.words import side_by_side
from mainstay.kernel.operation import Operation
from mainstay.values.durations import hours_text, read_minutes
from mainstay.values.ids import is_id

DAYS = 7
# The row in which hours on a job are typed that is in none yet, and that of hours on no job.
NEW, NO_JOB = "new", "none"
_CHANGEABLE = "update_hours"


@dataclass(frozen=True)
class Cell:
    """The hours of one day on one job."""

    row: str
    day: date
    # The entry that is typed here; the others have times, or are no longer for anyone to type.
    entry: AsTold | None = None
    others: Sequence[AsTold] = ()
    typed: str | None = None
    fault: str | None = None
    # What it stood for when that was typed.
    known: str | None = None

    @property
    def name(self) -> str:
        """The name of its field."""
        return f"hours {self.row} {self.day}"

    @property
    def seen(self) -> str:
        """What it stood for when it was shown: the entry, its version and its minutes."""
        if self.known is not None:
            return self.known
        entry = self.entry
        return f"{entry['id']} {entry['version']} {entry['minutes']}" if entry else ""

    @property
    def text(self) -> str:
        """What stands in it."""
        if self.typed is not None:
            return self.typed
        return hours_text(self.entry["minutes"]) if self.entry else ""

    @property
    def minutes(self) -> int:
        """All that was worked on this job that day."""
        return sum(entry["minutes"] or 0 for entry in (*self.others, *([self.entry] if self.entry else [])))


@dataclass(frozen=True)
class Row:
    """The hours on one job."""

    key: str
    title: str
    path: str | None
    cells: Sequence[Cell]

    @property
    def minutes(self) -> int:
        """Of the whole week."""
        return sum(cell.minutes for cell in self.cells)


@dataclass(frozen=True)
class Week:
    """Seven days from a Monday, and what was worked in them."""

    monday: date
    today: date
    rows: Sequence[Row] = ()
    # The row in which a job is added.
    blank: Row = field(default_factory=lambda: Row(NEW, "", None, ()))

    @property
    def days(self) -> list[date]:
        """Its days."""
        return [self.monday + timedelta(days=number) for number in range(DAYS)]

    @property
    def sunday(self) -> date:
        """Its last day."""
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
    """The beginning of a day's week."""
    return day - timedelta(days=day.weekday())


def week_of(
    monday: date,
    today: date,
    entries: Sequence[AsTold],
    typed: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
) -> Week:
    """The grid: a row for each job of these entries, of which those of the week before only lend theirs."""
    days = [monday + timedelta(days=number) for number in range(DAYS)]
    rows: dict[str, list[AsTold]] = {}
    titles: dict[str, str] = {}
    for entry in entries:
        key = entry["jobId"] or NO_JOB
        titles[key] = side_by_side(entry["jobNumber"], entry["jobTitle"]) if entry["jobId"] else "No job"
        rows.setdefault(key, [])
        if monday.isoformat() <= entry["on"] <= days[-1].isoformat():
            rows[key].append(entry)
    said = _Said(typed or {}, faults or {})
    shown = [
        Row(key, titles[key], f"/jobs/{key}" if key != NO_JOB else None, _cells(key, days, found, said))
        for key, found in sorted(rows.items(), key=lambda row: (row[0] == NO_JOB, titles[row[0]]))
    ]
    return Week(monday, today, shown, Row(NEW, "", None, _cells(NEW, days, (), said)))


class _Said(NamedTuple):
    typed: Mapping[str, str]
    faults: Mapping[str, str]


def _cells(key: str, days: Sequence[date], entries: Sequence[AsTold], said: _Said) -> list[Cell]:
    cells = []
    for day in days:
        found = [entry for entry in entries if entry["on"] == day.isoformat()]
        own = next((entry for entry in found if _is_typed(entry)), None)
        cell = Cell(key, day, own, [entry for entry in found if entry is not own])
        cells.append(_typed_over(cell, said))
    return cells


def _typed_over(cell: Cell, said: _Said) -> Cell:
    """A cell with what was typed into it; what was not typed over stands as it is now, whoever has changed it."""
    typed, fault = said.typed.get(cell.name), said.faults.get(cell.name)
    known = said.typed.get(f"seen {cell.row} {cell.day}", "")
    minutes = (*known.split(" "), "", "")[2]
    before = hours_text(int(minutes)) if minutes.isdecimal() and len(minutes) < _LONGEST else ""
    if typed is None or typed == before:
        return cell
    # Whoever was told that it has changed may type over what it is now.
    return replace(cell, typed=typed, fault=fault, known=None if fault else known)


def _is_typed(entry: AsTold) -> bool:
    """Whether an entry is a number of hours that may still be typed over: what has times keeps them."""
    return entry["startedAt"] is None and _CHANGEABLE in entry["availableActions"]


class Deed(NamedTuple):
    """What is to be done because of what was typed in a cell."""

    cell: str
    operation: Operation
    given: dict[str, object]
    version: int | None = None


def deeds(fields: Mapping[str, str], job: str, person: str | None) -> tuple[list[Deed], dict[str, str]]:
    """What is to be done because of what was typed; and by cell, what cannot be read.

    `job` is what the new row is about, and `person` whose week it is where it is another's.
    """
    found: list[Deed] = []
    faults: dict[str, str] = {}
    for name, text in fields.items():
        mark, _, place = name.partition(" ")
        row, _, day = place.partition(" ")
        if mark != "hours":
            continue
        try:
            minutes = read_minutes(text) if text.strip() else 0
        except ValueError as problem:
            faults[name] = f"That {problem}."
            continue
        seen = fields.get(f"seen {place}", "").split(" ")
        if is_id(seen[0], "entry"):
            found += _changed(name, minutes, seen)
        elif minutes and row == NEW and not job:
            faults[name] = "Choose the job in this row."
        elif minutes:
            about = job if row == NEW else row
            on_job = {} if about == NO_JOB else {"jobId": about}
            whose = {"personId": person} if person else {}
            found.append(Deed(name, log_hours, {"on": day, "minutes": minutes, **on_job, **whose}))
    return found, faults


def _changed(name: str, minutes: int, seen: Sequence[str]) -> list[Deed]:
    identity, version, before = (*seen, "", "")[:3]
    if before == str(minutes):
        return []
    known = int(version) if version.isdecimal() and len(version) < _LONGEST else None
    if minutes:
        return [Deed(name, update_hours, {"timeEntryId": identity, "minutes": minutes}, known)]
    return [Deed(name, delete_hours, {"timeEntryId": identity, "confirmed": True}, known)]


_LONGEST = 16
