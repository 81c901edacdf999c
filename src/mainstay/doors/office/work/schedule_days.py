"""A day and a week of the schedule, prepared for their pages: rows of people, and the position of each visit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from mainstay.business.schedule.board import BoardLeave, BoardPerson, BoardVisit, ScheduleOut, TimeSpan
from mainstay.business.schedule.model import (
    VisitOut,
    find_visit_delay,
    is_undecided,
    is_usual_status,
)
from mainstay.business.schedule.store import VISITS
from mainstay.doors.office.work.visit_tints import assign_tints
from mainstay.doors.pages.formatting import (
    format_long_date,
    format_short_date,
    format_visit_hours,
    initials_of,
    join_isolated,
)
from mainstay.doors.pages.page_language import translate_counted_text, translate_label, translate_text
from mainstay.values.durations import hours_text
from mainstay.values.moments import ONE_DAY, moment_text, parse_moment, start_of_day
from mainstay.values.wall_times import wall_time_text

TemplateVariables = dict[str, Any]
_Interval = TimeSpan | BoardVisit

_QUARTER = timedelta(minutes=15)
_HOUR = timedelta(hours=1)
# The hours shown on a day on which nobody works.
_USUAL_HOURS = (8, 17)
# The empty time shown before and after everything, so that visits can be moved there.
_MARGIN = _HOUR
_MAX_LANES = 6
# A visit that lasts at most so many quarters of an hour shows only its start.
_BRIEF = 8
# The most people whose initials stand beside those who have no visits.
_MAX_INITIALS = 8
# Only dates from 2000 to 2099 can be planned. A page also shows dates around the one in its URL.
_FIRST_DATE, _LAST_DATE = date(2000, 2, 1), date(2099, 11, 30)


@dataclass(frozen=True)
class ScheduleDay:
    """One date of a schedule."""

    schedule: ScheduleOut
    day: date
    now: datetime
    # Whether all hours are shown, and not only those around the work.
    whole_day: bool = False

    def build_grid(self) -> TemplateVariables:
        """Return the hours that are shown, and a row for each person. Visits without a person come first.

        People who have no visits and no time off are folded away, unless that is true of everyone.
        """
        rows = [self._build_row(person) for person in self.schedule.people]
        busy, idle = [row for row in rows if _is_busy(row)], [row for row in rows if not _is_busy(row)]
        nobody = self._build_row(_nobody())
        begin, hours = self._window
        zone_info = ZoneInfo(self._zone_name)
        local_hours = [(begin + number * _HOUR).astimezone(zone_info) for number in range(hours)]
        return {
            "hours": hours,
            "clocks": [f"{hour:%H:%M}" for hour in local_hours],
            **_fold_idle_rows([nobody] if _is_busy(nobody) else [], busy, idle),
            "date": self.day.isoformat(),
            "now": self._find_now(),
        }

    @property
    def _zone_name(self) -> str:
        return self.schedule.time_zone

    @cached_property
    def _day_bounds(self) -> tuple[datetime, datetime]:
        return start_of_day(self.day, self._zone_name), start_of_day(self.day + ONE_DAY, self._zone_name)

    @cached_property
    def _window(self) -> tuple[datetime, int]:
        """The first moment shown and the number of hours shown.

        These are all hours with work or a visit, and a margin before and after. If nobody works, the usual hours are
        shown too.
        """
        midnight, next_midnight = self._day_bounds
        if self.whole_day:
            return midnight, _ceil_division(next_midnight - midnight, _HOUR)
        works = [_times_of(interval) for person in self.schedule.people for interval in person.works]
        times = works or [(midnight + _USUAL_HOURS[0] * _HOUR, midnight + _USUAL_HOURS[1] * _HOUR)]
        times += [_times_of(visit) for visit in self.schedule.visits if visit.starts_at]
        first = max(min(starts_at for starts_at, _ in times), midnight)
        last = min(max(ends_at for _, ends_at in times), next_midnight)
        hours_before = (max(first - _MARGIN, midnight) - midnight) // _HOUR
        hours = _ceil_division(min(last + _MARGIN, next_midnight) - midnight, _HOUR) - hours_before
        return midnight + hours_before * _HOUR, hours

    def _find_now(self) -> TemplateVariables | None:
        """Return the quarter of an hour in which it is now, and the time; None if that is not shown."""
        begin, hours = self._window
        if not begin <= self.now < begin + hours * _HOUR:
            return None
        return {
            "at": (self.now - begin) // _QUARTER + 1,
            "clock": f"{self.now.astimezone(ZoneInfo(self._zone_name)):%H:%M}",
        }

    def _build_row(self, person: BoardPerson) -> TemplateVariables:
        visits = self._visits_by_person.get(person.id, [])
        items: list[TemplateVariables] = []
        # When the last visit in each lane ends.
        lane_ends: list[datetime] = []
        for visit in visits:
            if not visit.starts_at:
                continue
            starts_at, ends_at = _times_of(visit)
            free_lane = next((lane for lane, end in enumerate(lane_ends) if end <= starts_at), len(lane_ends))
            lane = min(free_lane, _MAX_LANES - 1)
            lane_ends[lane : lane + 1] = [ends_at]
            position = self._grid_position(visit)
            item = _visit_item(visit, self._zone_name) | _wall_span_of(visit, self._zone_name) | position
            if position["for"] <= _BRIEF:
                start, dash, end = item["hours"].partition("\N{EN DASH}")
                item |= {"start": start, "end": dash + end, "class": f"{item['class']} brief"}
            place = f"at-{position['at']} for-{position['for']} lane-{lane}"
            items.append(item | {"place": place, "late": self._describe_delay(visit)})
        return {
            **_describe_person(person, visits, self._day_bounds),
            "tint": self._tints[person.id],
            "items": items,
            "anytime": [_visit_item(visit, self._zone_name) for visit in visits if not visit.starts_at],
            "works": [self._grid_position(interval) for interval in person.works],
            "away": [self._grid_position(leave) | _leave_item(leave, self._zone_name) for leave in person.away],
        }

    @cached_property
    def _visits_by_person(self) -> dict[str, list[BoardVisit]]:
        return _group_by_person(self.schedule.visits)

    @cached_property
    def _tints(self) -> dict[str, str]:
        return assign_tints(self.schedule.people)

    def _describe_delay(self, visit: BoardVisit) -> str | None:
        """Say by how much a visit of today is late to begin, or to end."""
        midnight, next_midnight = self._day_bounds
        if not midnight <= self.now < next_midnight:
            return None
        delay = find_visit_delay(visit.status, visit.starts_at or "", visit.ends_at or "", self.now)
        if delay is None:
            return None
        time = hours_text(delay.minutes)
        return translate_text("{time} over", time=time) if delay.has_begun else translate_text("{time} late", time=time)

    def _grid_position(self, interval: _Interval) -> dict[str, int]:
        """Return the quarter of an hour in which something begins, counted from one, and how many it lasts."""
        begin, hours = self._window
        quarter_count = hours * 4
        starts_at, ends_at = _times_of(interval)
        first = min(max((starts_at - begin) // _QUARTER, 0), quarter_count - 1)
        end = min(max(_ceil_division(ends_at - begin, _QUARTER), first + 1), quarter_count)
        return {"at": first + 1, "for": end - first}


@dataclass(frozen=True)
class ScheduleWeek:
    """Seven dates of a schedule."""

    schedule: ScheduleOut
    first: date
    today: date

    def build_table(self) -> TemplateVariables:
        """Return the dates, and a row for each person with a cell for each date.

        People who have no visits and no time off are folded away, unless that is true of everyone.
        """
        rows = [self._build_row(person) for person in self._people]
        unassigned = [row for row in rows if not row["id"]]
        busy = [row for row in rows if row["id"] and _is_busy_in_week(row)]
        idle = [row for row in rows if row["id"] and not _is_busy_in_week(row)]
        return {
            "days": [
                {
                    "date": day.isoformat(),
                    "short": format_short_date(day),
                    "today": day == self.today,
                }
                for day in self._days
            ],
            **_fold_idle_rows(unassigned, busy, idle),
        }

    def _build_row(self, person: BoardPerson) -> TemplateVariables:
        return {
            **_describe_person(person, self._visits_by_person.get(person.id, []), self._bounds),
            "tint": self._tints[person.id],
            "cells": [
                {
                    **date_values,
                    "items": self._items_by_cell.get((person.id, date_values["date"]), []),
                    "away": [_leave_item(leave, self._zone_name) for leave in person.away if _touches(leave, span)],
                    "off": bool(person.id) and not any(_touches(interval, span) for interval in person.works),
                }
                for date_values, span in self._dates
            ],
        }

    @cached_property
    def _dates(self) -> list[tuple[dict[str, str], tuple[str, str]]]:
        """What is shown of each date, and the moments at which it begins and ends."""
        midnights = [moment_text(start_of_day(day, self._zone_name)) for day in (*self._days, self._days[-1] + ONE_DAY)]
        return [
            ({"date": day.isoformat(), "long_date": format_long_date(day)}, span)
            for day, span in zip(self._days, pairwise(midnights), strict=True)
        ]

    def visits_by_date(self) -> Iterator[TemplateVariables]:
        """Yield each date with its visits; each visit names its person."""
        people = {person.id: person for person in self._people}
        for day in self._days:
            items = [
                item | {"person": people[person].name, "class": f"{item['class']} {self._tints[person]}"}
                for (person, day_text), cell_items in self._items_by_cell.items()
                if day_text == day.isoformat() and person in people
                for item in cell_items
            ]
            yield {"long_date": format_long_date(day), "items": sorted(items, key=lambda item: str(item["sort_key"]))}

    @property
    def _zone_name(self) -> str:
        return self.schedule.time_zone

    @cached_property
    def _days(self) -> list[date]:
        return [self.first + timedelta(days=number) for number in range(7)]

    @cached_property
    def _items_by_cell(self) -> dict[tuple[str, str], list[TemplateVariables]]:
        """The visits by person and date, in the organisation's time zone."""
        cells: dict[tuple[str, str], list[TemplateVariables]] = {}
        for visit in self.schedule.visits:
            wall_span = _wall_span_of(visit, self._zone_name)
            day_text = visit.on or wall_span["from"].partition("T")[0]
            cells.setdefault((visit.person_id or "", day_text), []).append(
                _visit_item(visit, self._zone_name) | wall_span
            )
        return cells

    @cached_property
    def _bounds(self) -> tuple[datetime, datetime]:
        return start_of_day(self.first, self._zone_name), start_of_day(self._days[-1] + ONE_DAY, self._zone_name)

    @cached_property
    def _visits_by_person(self) -> dict[str, list[BoardVisit]]:
        return _group_by_person(self.schedule.visits)

    @cached_property
    def _tints(self) -> dict[str, str]:
        return assign_tints(self.schedule.people)

    @property
    def _people(self) -> list[BoardPerson]:
        has_unassigned = any(person == "" for person, _ in self._items_by_cell)
        return [*([_nobody()] if has_unassigned else []), *self.schedule.people]


def _nobody() -> BoardPerson:
    """Return the row of visits without a person."""
    return BoardPerson(id="", name=translate_text("No person"), colour=None, works=[], away=[])


def _is_busy(row: TemplateVariables) -> bool:
    """Return whether a row has a visit or time off."""
    return bool(row["items"] or row["anytime"] or row["away"])


def _is_busy_in_week(row: TemplateVariables) -> bool:
    """Return whether a row of a week has a visit or time off."""
    return any(cell["items"] or cell["away"] for cell in row["cells"])


def _fold_idle_rows(
    unassigned: list[TemplateVariables], busy: list[TemplateVariables], idle: list[TemplateVariables]
) -> TemplateVariables:
    """Return the rows that are shown, and those that are folded away with who they are."""
    folded = idle if busy else []
    return {
        "rows": [*unassigned, *(busy or idle)],
        "folded": folded,
        "folded_names": _describe_idle_people([str(row["name"]) for row in folded]),
        "initials": [{"text": row["initials"], "tint": row["tint"]} for row in folded[:_MAX_INITIALS]],
    }


def _group_by_person(visits: Sequence[BoardVisit]) -> dict[str, list[BoardVisit]]:
    """Return the visits by the id of their person; those without a person under an empty text."""
    grouped: dict[str, list[BoardVisit]] = {}
    for visit in visits:
        grouped.setdefault(visit.person_id or "", []).append(visit)
    return grouped


def _describe_person(
    person: BoardPerson, visits: Sequence[BoardVisit], bounds: tuple[datetime, datetime]
) -> TemplateVariables:
    """Return what stands beside a row: the name, and how much of the working time is planned."""
    planned = _minutes_within([visit for visit in visits if visit.starts_at], bounds)
    workable = _minutes_within(person.works, bounds)
    words = (
        translate_text("{planned} of {hours}", planned=hours_text(planned), hours=hours_text(workable))
        if workable
        else translate_counted_text("{count} visit", "{count} visits", len(visits))
        if visits
        else ""
    )
    return {
        "id": person.id,
        "name": person.name,
        "initials": initials_of(person.name) if person.id else "?",
        "load": words,
        "over": bool(workable) and planned > workable,
    }


def _minutes_within(intervals: Sequence[_Interval], bounds: tuple[datetime, datetime]) -> int:
    """Return how many minutes of some intervals are between two moments."""
    times = [_times_of(interval) for interval in intervals]
    lengths = (max(min(end, bounds[1]) - max(start, bounds[0]), timedelta(0)) for start, end in times)
    return sum(lengths, timedelta(0)) // timedelta(minutes=1)


def _describe_idle_people(names: Sequence[str]) -> str:
    """Say who has no visits: one or two people by name, or how many."""
    first_names = [name.split()[0] if name.split() else name for name in names]
    match first_names:
        case [name]:
            return translate_text("{name} has no visits", name=name)
        case [one, other]:
            return translate_text("{one} and {other} have no visits", one=one, other=other)
        case _:
            return translate_text("{count} people have no visits", count=len(names))


def visit_title(visit: VisitOut | BoardVisit) -> str:
    """Return the title of a visit: its job, its own title, or its kind."""
    job = join_isolated(visit.job_number, visit.job_title)
    return job or visit.title or translate_label(visit.kind)


def parse_date(text: str) -> date | None:
    """Parse a date from a URL. Return None if it is not a date, or too far away to be planned."""
    try:
        parsed = date.fromisoformat(text)
    except ValueError:
        return None
    return parsed if _FIRST_DATE <= parsed <= _LAST_DATE else None


def _visit_item(visit: BoardVisit, organisation_zone: str) -> TemplateVariables:
    """Return a visit as the schedule shows it. Its hours name their time zone if it is not the organisation's."""
    # The date is that of the visit's own place, as its hours are; moving a visit by days counts from it.
    day = wall_time_text(visit.starts_at, visit.time_zone)[:10] if visit.starts_at else visit.on
    return {
        "id": visit.id,
        "path": VISITS.path_of(visit.id),
        "hours": format_visit_hours(visit, organisation_zone),
        "title": visit_title(visit),
        "subtitle": " · ".join(filter(None, (visit.customer_name, visit.site_name))),
        "class": f"booked {visit.status}",
        # Nearly all are planned, so only other statuses are shown.
        "status_label": None if is_usual_status(visit.status) else translate_label(visit.status),
        "date": day,
        "sort_key": visit.starts_at or "",
        "movable": visit.movable,
        "overlaps": visit.allow_overlap,
        **_NOT_ON_GRID,
    }


# What only visits with a time have, or those of a day or a list. The page is quicker if every visit has all of it.
_NOT_ON_GRID: TemplateVariables = dict.fromkeys(("from", "until", "at", "for", "place", "end", "late", "person"))


def _ceil_division(length: timedelta, unit: timedelta) -> int:
    """Return how many units cover a length of time; a part of one counts as a whole one."""
    return -(-length // unit)


def _times_of(interval: _Interval) -> tuple[datetime, datetime]:
    return parse_moment(interval.starts_at or ""), parse_moment(interval.ends_at or "")


def _touches(interval: TimeSpan, span: tuple[str, str]) -> bool:
    """Return whether something overlaps a date. Moments can be compared as texts."""
    begin, end = span
    return interval.starts_at < end and interval.ends_at > begin


def _wall_span_of(interval: _Interval, zone: str) -> TemplateVariables:
    """Return start and end in a time zone, or nothing if the visit can be at any time of its day."""
    if not interval.starts_at or not interval.ends_at:
        return {}
    return {"from": wall_time_text(interval.starts_at, zone), "until": wall_time_text(interval.ends_at, zone)}


def _leave_item(leave: BoardLeave, zone: str) -> TemplateVariables:
    """Return time off as the schedule shows it. If it is not decided yet, it blocks nothing."""
    kind = translate_label(leave.kind)
    if is_undecided(leave.status):
        return {"label": translate_text("{kind}, not approved yet", kind=kind)}
    return {
        "label": kind,
        "title": translate_text("time off ({kind})", kind=kind.lower()),
        **_wall_span_of(leave, zone),
    }
