"""Several visits as rows of a form, with person, time and length, and the changes that were typed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any, NamedTuple

from mainstay.business.schedule.model import VisitOut
from mainstay.doors.office.work.schedule_days import visit_title
from mainstay.doors.office.work.visit_lengths import find_length
from mainstay.doors.pages.message_format import duration_problem, problem_sentence
from mainstay.doors.pages.page_language import translate_text
from mainstay.values.durations import hours_text
from mainstay.values.message import Message
from mainstay.values.typed_durations import parse_minutes
from mainstay.values.wall_times import wall_time_text

NOBODY = "nobody"
_SEPARATOR = "|"
# By the input field of an operation: the field of the row that shows its faults.
_FAULT_FIELDS = {"personId": "who", "on": "day", "startsAt": "time", "endsAt": "length", "durationMinutes": "length"}
# The labels of the row's fields.
_LABELS = {"who": "Person", "day": "Date", "time": "Start", "length": "Duration", "visit": "Visit"}
_CHANGED_SINCE = "Someone else changed this visit. Check it, then continue."


class VisitPlan(NamedTuple):
    """The person and time of a visit as typed, and whether it is called off."""

    who: str
    day: str
    time: str
    length: str
    off: bool = False

    @property
    def texts(self) -> dict[str, str]:
        """The typed texts by field, without the row's number."""
        return {"who": self.who, "day": self.day, "time": self.time, "length": self.length}

    @property
    def when(self) -> tuple[str, str, str]:
        """The day, time and length."""
        return self.day, self.time, self.length


@dataclass(frozen=True)
class VisitRow:
    """One visit of the form."""

    number: int
    visit: VisitOut
    # The visit as it is stored now, and as it is typed.
    current: VisitPlan
    typed: VisitPlan
    marked: bool = False
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether the typed visit differs from the stored one."""
        return self.typed != self.current

    @property
    def title(self) -> str:
        """The title of the visit."""
        return visit_title(self.visit)

    @property
    def seen_text(self) -> str:
        """The version and texts of the visit as it was shown, for the hidden field of the form."""
        return _SEPARATOR.join((str(self.visit.version), *self.current.texts.values()))

    def field_name(self, name: str) -> str:
        """Return the name of one of the row's form fields."""
        return f"{self.number}.{name}"

    def to_fields(self) -> dict[str, str]:
        """Return the row as the fields that a form sends."""
        texts = {"visit": self.visit.id, "seen": self.seen_text, **self.typed.texts}
        texts |= {"off": "on"} if self.typed.off else {}
        return {self.field_name(name): text for name, text in texts.items()}


def build_rows(visits: Sequence[VisitOut], fields: Mapping[str, str]) -> list[VisitRow]:
    """Return a row for each visit, with what was typed."""
    sent_numbers = {fields[name]: name.partition(".")[0] for name in fields if name.endswith(".visit")}
    rows = []
    for number, visit in enumerate(visits):
        current = _plan_of(visit)
        if visit.id not in sent_numbers:
            rows.append(VisitRow(number, visit, current, current))
            continue
        sent_number = sent_numbers[visit.id]
        version, seen = _parse_seen(fields.get(f"{sent_number}.seen", ""))
        # Texts that were not changed here are shown as they are stored now, even if someone else changed them.
        typed = _merge_plan(current, seen, _read_plan(fields, sent_number))
        is_stale = typed != current and version != str(visit.version)
        faults = {"visit": translate_text(_CHANGED_SINCE)} if is_stale else {}
        rows.append(VisitRow(number, visit, current, typed, f"{sent_number}.mark" in fields, faults))
    return rows


def has_lost_changes(visits: Sequence[VisitOut], fields: Mapping[str, str]) -> bool:
    """Return whether something was typed for a visit that is no longer among these."""
    visit_ids = {visit.id for visit in visits}
    for name in (name for name in fields if name.endswith(".visit") and fields[name] not in visit_ids):
        number = name.partition(".")[0]
        if _read_plan(fields, number) != _parse_seen(fields.get(f"{number}.seen", ""))[1]:
            return True
    return False


def read_visit_changes(rows: Sequence[VisitRow]) -> tuple[list[dict[str, Any]], list[VisitRow]]:
    """Return what was typed as changes of the schedule, and the rows with their faults by field."""
    changes, checked_rows = [], []
    for row in rows:
        faults = dict(row.faults)
        if row.changed:
            change, change_faults = _build_change(row)
            faults |= change_faults
            changes.append(change)
        checked_rows.append(replace(row, faults=faults))
    return changes, checked_rows


def add_faults(rows: Sequence[VisitRow], faults: Mapping[str, str]) -> list[VisitRow]:
    """Return the rows with the faults of their changes. The faults are keyed by path, such as `changes.0.startsAt`."""
    faults_by_row = {row.number: dict(row.faults) for row in rows}
    numbers = [row.number for row in rows if row.changed]
    for path, problem in faults.items():
        _, index, name = (*path.split("."), "", "")[:3]
        if index.isdecimal() and int(index) < len(numbers):
            field_name = _FAULT_FIELDS.get(name, "visit")
            faults_by_row[numbers[int(index)]][field_name] = problem_sentence(_LABELS[field_name], problem)
    return [replace(row, faults=faults_by_row[row.number]) for row in rows]


def hand_over_visits(rows: Sequence[VisitRow], person_id: str, days: str) -> list[VisitRow]:
    """Give the marked rows to another person, or move them by days. Raise ValueError if that is not possible."""
    if not any(row.marked for row in rows):
        raise ValueError(Message("Select at least one visit."))
    day_count = days.strip().removeprefix("+") or "0"
    if not _DAYS_PATTERN.fullmatch(day_count) or abs(int(day_count)) > _MAX_DAYS:
        raise ValueError(Message("Enter the days as a whole number up to {count}, such as 1 or -7.", count=_MAX_DAYS))
    if not person_id and not int(day_count):
        raise ValueError(Message("Choose a person, or the number of days to move the visits."))
    return [replace(row, typed=_move_plan(row.typed, person_id, int(day_count))) if row.marked else row for row in rows]


def swap_people(rows: Sequence[VisitRow]) -> list[VisitRow]:
    """Swap the people of the two marked rows. Raise ValueError if not exactly two are marked."""
    match [row for row in rows if row.marked]:
        case [first, second]:
            new_people = {first.number: second.typed.who, second.number: first.typed.who}
        case _:
            raise ValueError(Message("Select the two visits to swap."))
    return [
        replace(row, typed=row.typed._replace(who=new_people[row.number])) if row.number in new_people else row
        for row in rows
    ]


_MAX_DAYS = 366
_DAYS_PATTERN = re.compile("-?[0-9]{1,3}")


def _plan_of(visit: VisitOut) -> VisitPlan:
    """Return a stored visit as it would be typed, in its own time zone."""
    who = visit.person_id or NOBODY
    if visit.starts_at is None:
        return VisitPlan(who, visit.on or "", "", "")
    day, _, time = wall_time_text(visit.starts_at, visit.time_zone).partition("T")
    return VisitPlan(who, day, time, hours_text(find_length(visit) or 0))


def _read_plan(fields: Mapping[str, str], number: str) -> VisitPlan:
    who, day, time, length = (fields.get(f"{number}.{name}", "").strip() for name in ("who", "day", "time", "length"))
    return VisitPlan(who, day, time, length, f"{number}.off" in fields)


def _merge_plan(current: VisitPlan, seen: VisitPlan, typed: VisitPlan) -> VisitPlan:
    """Return the current visit with the texts that differ from what was shown."""
    texts = {name: text for name, text in typed.texts.items() if text != seen.texts[name]}
    return current._replace(**texts, off=typed.off)


def _parse_seen(text: str) -> tuple[str, VisitPlan]:
    version, who, day, time, length = (*text.split(_SEPARATOR), "", "", "", "", "")[:5]
    return version, VisitPlan(who, day, time, length)


def _build_change(row: VisitRow) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the change of a row, and the faults in what was typed."""
    typed, current, visit_key = row.typed, row.current, {"visitId": row.visit.id}
    if typed.off:
        return {"change": "cancel", **visit_key}, {}
    change: dict[str, Any] = {"change": "move", **visit_key}
    if typed.who != current.who:
        change["personId"] = None if typed.who == NOBODY else typed.who
    if typed.when == current.when:
        return change, {}
    faults = dict(_find_faults(typed))
    if faults:
        return change, faults
    if not typed.time:
        return change | {"on": typed.day}, {}
    return change | {"startsAt": f"{typed.day}T{typed.time}", "durationMinutes": parse_minutes(typed.length)}, {}


def _find_faults(typed: VisitPlan) -> Iterator[tuple[str, str]]:
    if not typed.day:
        yield "day", translate_text("Enter a date.")
    if not typed.time:
        return
    if not typed.length:
        yield "length", translate_text("Enter a duration, such as 1:30.")
        return
    try:
        parse_minutes(typed.length)
    except ValueError as problem:
        yield "length", duration_problem(_LABELS["length"], problem)


def _move_plan(typed: VisitPlan, person_id: str, days: int) -> VisitPlan:
    try:
        day = (date.fromisoformat(typed.day) + timedelta(days=days)).isoformat()
    except (ValueError, OverflowError):
        day = typed.day
    return typed._replace(who=person_id or typed.who, day=day)
