"""Several visits as rows of a form: who goes, when and for how long; and what was typed there as changes of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any, NamedTuple

from mainstay.doors.office.days import called
from mainstay.values.durations import hours_text, read_minutes
from mainstay.values.moments import parse_moment
from mainstay.values.wall_times import wall_text

Visit = Mapping[str, Any]

NOBODY = "nobody"
_BETWEEN = "|"
_MINUTE = timedelta(minutes=1)
# The field of a row that a fault of the operation's is told beside.
_BESIDE = {"personId": "who", "on": "day", "startsAt": "time", "endsAt": "length", "durationMinutes": "length"}
_CHANGED_SINCE = "Someone has changed it since you opened this page. Look whether you still want it so."


class Plan(NamedTuple):
    """Who does a visit, and when, as it is typed; whether it is called off."""

    who: str
    day: str
    time: str
    length: str
    off: bool = False

    @property
    def texts(self) -> dict[str, str]:
        """What is typed, by the names of its fields behind the row's number."""
        return {"who": self.who, "day": self.day, "time": self.time, "length": self.length}

    @property
    def when(self) -> tuple[str, str, str]:
        """When it is."""
        return self.day, self.time, self.length


@dataclass(frozen=True)
class Row:
    """One visit of the form."""

    number: int
    visit: Visit
    # As it was when the form was opened, and as it is typed now.
    seen: Plan
    typed: Plan
    marked: bool = False
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether something else is typed than was seen."""
        return self.typed != self.seen

    @property
    def called(self) -> str:
        """What people call it."""
        return called(self.visit)

    @property
    def known(self) -> str:
        """What the form remembers of the visit as it was seen."""
        return _BETWEEN.join((str(self.visit["version"]), *self.seen.texts.values()))

    def named(self, name: str) -> str:
        """The name of one of its fields."""
        return f"{self.number}.{name}"

    def fields(self) -> dict[str, str]:
        """The row as a form sends it."""
        told = {"visit": self.visit["id"], "seen": self.known, **self.typed.texts}
        told |= {"off": "on"} if self.typed.off else {}
        return {self.named(name): text for name, text in told.items()}


def rows_of(visits: Sequence[Visit], fields: Mapping[str, str]) -> list[Row]:
    """A row for each visit, with what was typed over it."""
    sent = {fields[name]: name.partition(".")[0] for name in fields if name.endswith(".visit")}
    rows = []
    for number, visit in enumerate(visits):
        now = _plan(visit)
        if visit["id"] not in sent:
            rows.append(Row(number, visit, now, now))
            continue
        before = sent[visit["id"]]
        version, seen = _seen(fields.get(f"{before}.seen", ""))
        # What was not typed over is shown as it is, whatever others did to it meanwhile.
        typed = _over(now, seen, _typed(fields, before))
        stale = typed != now and version != str(visit["version"])
        faults = {"visit": _CHANGED_SINCE} if stale else {}
        rows.append(Row(number, visit, now, typed, f"{before}.mark" in fields, faults))
    return rows


def gone(visits: Sequence[Visit], fields: Mapping[str, str]) -> bool:
    """Whether something was typed for a visit that is not among these any more."""
    here = {visit["id"] for visit in visits}
    for name in (name for name in fields if name.endswith(".visit") and fields[name] not in here):
        number = name.partition(".")[0]
        if _typed(fields, number) != _seen(fields.get(f"{number}.seen", ""))[1]:
            return True
    return False


def changes_of(rows: Sequence[Row]) -> tuple[list[dict[str, Any]], list[Row]]:
    """What was typed as changes of the schedule; and the rows, with what is wrong beside its field."""
    changes, told = [], []
    for row in rows:
        faults = dict(row.faults)
        if row.changed:
            change, wrong = _change(row)
            faults |= wrong
            changes.append(change)
        told.append(replace(row, faults=faults))
    return changes, told


def with_faults(rows: Sequence[Row], faults: Mapping[str, str]) -> list[Row]:
    """The rows with what was refused of their changes, by the way to each field: `changes.0.startsAt`."""
    told = {row.number: dict(row.faults) for row in rows}
    numbers = [row.number for row in rows if row.changed]
    for path, problem in faults.items():
        _, place, name = (*path.split("."), "", "")[:3]
        if place.isdecimal() and int(place) < len(numbers):
            told[numbers[int(place)]][_BESIDE.get(name, "visit")] = f"It {problem}."
    return [replace(row, faults=told[row.number]) for row in rows]


def handed_over(rows: Sequence[Row], to: str, days: str) -> list[Row]:
    """The rows, of which those that are marked go to someone else or so many days later; ValueError where none is."""
    if not any(row.marked for row in rows):
        raise ValueError("Mark the visits that are meant.")
    by = days.strip().removeprefix("+") or "0"
    if not _DAYS.fullmatch(by) or abs(int(by)) > _FURTHEST:
        raise ValueError(f"Say by how many days as a whole number of at most {_FURTHEST}, such as 1 or -7.")
    if not to and not int(by):
        raise ValueError("Choose who does the marked visits, or by how many days they move.")
    return [replace(row, typed=_handed(row.typed, to, int(by))) if row.marked else row for row in rows]


def swapped(rows: Sequence[Row]) -> list[Row]:
    """The rows, of which the two that are marked have their people exchanged; ValueError where they are not two."""
    match [row for row in rows if row.marked]:
        case [first, second]:
            to = {first.number: second.typed.who, second.number: first.typed.who}
        case _:
            raise ValueError("Mark the two visits whose people swap.")
    return [replace(row, typed=row.typed._replace(who=to[row.number])) if row.number in to else row for row in rows]


_FURTHEST = 366
_DAYS = re.compile("-?[0-9]{1,3}")


def _plan(visit: Visit) -> Plan:
    """How a visit stands, as it is typed: by the clocks there."""
    who = visit["personId"] or NOBODY
    if visit["startsAt"] is None:
        return Plan(who, visit["on"], "", "")
    day, _, time = wall_text(visit["startsAt"], visit["timeZone"]).partition("T")
    minutes = (parse_moment(visit["endsAt"]) - parse_moment(visit["startsAt"])) // _MINUTE
    return Plan(who, day, time, hours_text(minutes))


def _typed(fields: Mapping[str, str], number: str) -> Plan:
    who, day, time, length = (fields.get(f"{number}.{name}", "").strip() for name in ("who", "day", "time", "length"))
    return Plan(who, day, time, length, f"{number}.off" in fields)


def _over(now: Plan, seen: Plan, typed: Plan) -> Plan:
    """A visit as it is now, with what was typed over what was seen of it."""
    texts = {name: text for name, text in typed.texts.items() if text != seen.texts[name]}
    return now._replace(**texts, off=typed.off)


def _seen(text: str) -> tuple[str, Plan]:
    version, who, day, time, length = (*text.split(_BETWEEN), "", "", "", "", "")[:5]
    return version, Plan(who, day, time, length)


def _change(row: Row) -> tuple[dict[str, Any], dict[str, str]]:
    """One change, and what cannot be read of it."""
    typed, seen, about = row.typed, row.seen, {"visitId": row.visit["id"]}
    if typed.off:
        return {"change": "cancel", **about}, {}
    change: dict[str, Any] = {"change": "move", **about}
    if typed.who != seen.who:
        change["personId"] = None if typed.who == NOBODY else typed.who
    if typed.when == seen.when:
        return change, {}
    faults = dict(_unread(typed))
    if faults:
        return change, faults
    if not typed.time:
        return change | {"on": typed.day}, {}
    return change | {"startsAt": f"{typed.day}T{typed.time}", "durationMinutes": read_minutes(typed.length)}, {}


def _unread(typed: Plan) -> Iterator[tuple[str, str]]:
    if not typed.day:
        yield "day", "Say on which day."
    if not typed.time:
        return
    if not typed.length:
        yield "length", "Say for how long, such as 1:30."
        return
    try:
        read_minutes(typed.length)
    except ValueError as problem:
        yield "length", f"It {problem}."


def _handed(typed: Plan, to: str, days: int) -> Plan:
    try:
        day = (date.fromisoformat(typed.day) + timedelta(days=days)).isoformat()
    except (ValueError, OverflowError):
        day = typed.day
    return typed._replace(who=to or typed.who, day=day)
