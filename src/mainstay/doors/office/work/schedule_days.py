"""A day and a week of the schedule, prepared for their pages: rows of people, and the position of each visit."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from mainstay.business.schedule.board import BoardLeave, BoardPerson, BoardVisit, ScheduleOut, TimeSpan
from mainstay.business.schedule.model import VisitOut, is_undecided, is_usual_status
from mainstay.business.schedule.store import VISITS
from mainstay.doors.pages.formatting import format_long_date, format_short_date, format_visit_hours, join_isolated
from mainstay.doors.pages.page_language import translate_label, translate_text
from mainstay.values.moments import ONE_DAY, moment_text, parse_moment, start_of_day
from mainstay.values.wall_times import wall_time_text

DrawnPart = dict[str, Any]
_Interval = TimeSpan | BoardVisit

_QUARTER = timedelta(minutes=15)
_HOUR = timedelta(hours=1)
# The hours shown on a day on which nobody works.
_USUAL_HOURS = (8, 17)
# The empty hours shown before and after everything, so that visits can be moved there.
_MARGIN = 3 * _HOUR
_MAX_LANES = 6
# Only dates from 2000 to 2099 can be planned. A page also shows dates around the one in its URL.
_FIRST_DATE, _LAST_DATE = date(2000, 2, 1), date(2099, 11, 30)


@dataclass(frozen=True)
class ScheduleDay:
    """One date of a schedule."""

    schedule: ScheduleOut
    day: date

    def build_grid(self) -> DrawnPart:
        """Return the hours that are shown, and a row for each person. Visits without a person come first."""
        rows = [self._build_row(person) for person in self.schedule.people]
        nobody = self._build_row(_nobody())
        if nobody["items"] or nobody["anytime"]:
            rows.insert(0, nobody)
        begin, hours = self._window
        zone_info = ZoneInfo(self._zone_name)
        local_hours = [(begin + number * _HOUR).astimezone(zone_info) for number in range(hours)]
        return {
            "hours": hours,
            "clocks": [f"{hour:%H:%M}" for hour in local_hours],
            "rows": rows,
            "date": self.day.isoformat(),
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

        These are all hours with work or a visit, and a margin before and after.
        """
        midnight, next_midnight = self._day_bounds
        times = [_times_of(interval) for person in self.schedule.people for interval in person.works]
        times += [_times_of(visit) for visit in self.schedule.visits if visit.starts_at]
        first = min((max(starts_at, midnight) for starts_at, _ in times), default=midnight + _USUAL_HOURS[0] * _HOUR)
        last = max((min(ends_at, next_midnight) for _, ends_at in times), default=midnight + _USUAL_HOURS[1] * _HOUR)
        hours_before = (max(first - _MARGIN, midnight) - midnight) // _HOUR
        hours = _ceil_division(min(last + _MARGIN, next_midnight) - midnight, _HOUR) - hours_before
        return midnight + hours_before * _HOUR, hours

    def _build_row(self, person: BoardPerson) -> DrawnPart:
        visits = [visit for visit in self.schedule.visits if (visit.person_id or "") == person.id]
        items: list[DrawnPart] = []
        # When the last visit in each lane ends.
        lane_ends: list[datetime] = []
        for visit in visits:
            if not visit.starts_at:
                continue
            starts_at, ends_at = _times_of(visit)
            free_lane = next((lane for lane, end in enumerate(lane_ends) if end <= starts_at), len(lane_ends))
            lane = min(free_lane, _MAX_LANES - 1)
            lane_ends[lane : lane + 1] = [ends_at]
            item = _visit_item(visit, self._zone_name) | _wall_span_of(visit, self._zone_name)
            items.append(item | self._grid_position(visit) | {"lane": lane})
        return {
            "id": person.id,
            "name": person.name,
            "colour": person.colour,
            "items": items,
            "anytime": [_visit_item(visit, self._zone_name) for visit in visits if not visit.starts_at],
            "works": [self._grid_position(interval) for interval in person.works],
            "away": [self._grid_position(leave) | _leave_item(leave, self._zone_name) for leave in person.away],
        }

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

    def build_table(self) -> DrawnPart:
        """Return the dates, and a row for each person with a cell for each date."""
        midnights = [moment_text(start_of_day(day, self._zone_name)) for day in (*self._days, self._days[-1] + ONE_DAY)]
        dates = [
            ({"date": day.isoformat(), "words": format_long_date(day)}, span)
            for day, span in zip(self._days, pairwise(midnights), strict=True)
        ]
        return {
            "days": [
                {
                    "date": day.isoformat(),
                    "short": format_short_date(day),
                    "today": day == self.today,
                }
                for day in self._days
            ],
            "rows": [
                {
                    "id": person.id,
                    "name": person.name,
                    "cells": [
                        {
                            **date_values,
                            "items": self._items_by_cell.get((person.id, date_values["date"]), []),
                            "away": [
                                _leave_item(leave, self._zone_name) for leave in person.away if _touches(leave, span)
                            ],
                            "off": bool(person.id) and not any(_touches(interval, span) for interval in person.works),
                        }
                        for date_values, span in dates
                    ],
                }
                for person in self._people
            ],
        }

    def visits_by_date(self) -> Iterator[DrawnPart]:
        """Yield each date with its visits; each visit names its person."""
        names = {person.id: person.name for person in self._people}
        for day in self._days:
            items = [
                item | {"person": names.get(person, "")}
                for (person, day_text), cell_items in self._items_by_cell.items()
                if day_text == day.isoformat()
                for item in cell_items
            ]
            yield {"words": format_long_date(day), "items": sorted(items, key=lambda item: str(item["sort_key"]))}

    @property
    def _zone_name(self) -> str:
        return self.schedule.time_zone

    @cached_property
    def _days(self) -> list[date]:
        return [self.first + timedelta(days=number) for number in range(7)]

    @cached_property
    def _items_by_cell(self) -> dict[tuple[str, str], list[DrawnPart]]:
        """The visits by person and date, in the organisation's time zone."""
        cells: dict[tuple[str, str], list[DrawnPart]] = {}
        for visit in self.schedule.visits:
            wall_span = _wall_span_of(visit, self._zone_name)
            day_text = visit.on or wall_span["from"].partition("T")[0]
            cells.setdefault((visit.person_id or "", day_text), []).append(
                _visit_item(visit, self._zone_name) | wall_span
            )
        return cells

    @property
    def _people(self) -> list[BoardPerson]:
        has_unassigned = any(person == "" for person, _ in self._items_by_cell)
        return [*([_nobody()] if has_unassigned else []), *self.schedule.people]


def _nobody() -> BoardPerson:
    """Return the row of visits without a person."""
    return BoardPerson(id="", name=translate_text("Unassigned"), colour=None, works=[], away=[])


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


def _visit_item(visit: BoardVisit, organisation_zone: str) -> DrawnPart:
    """Return a visit as the schedule shows it. Its hours name their time zone if it is not the organisation's."""
    # The date is that of the visit's own place, as its hours are; moving a visit by days counts from it.
    day = wall_time_text(visit.starts_at, visit.time_zone)[:10] if visit.starts_at else visit.on
    return {
        "id": visit.id,
        "path": VISITS.path_of(visit.id),
        "hours": format_visit_hours(visit, organisation_zone),
        "title": visit_title(visit),
        "subtitle": " · ".join(filter(None, (visit.customer_name, visit.site_name))),
        "status": visit.status,
        # Nearly all are planned, so only other statuses are shown.
        "status_label": None if is_usual_status(visit.status) else translate_label(visit.status),
        "date": day,
        "sort_key": visit.starts_at or "",
        "movable": visit.movable,
        "overlaps": visit.allow_overlap,
    }


def _ceil_division(length: timedelta, unit: timedelta) -> int:
    """Return how many units cover a length of time; a part of one counts as a whole one."""
    return -(-length // unit)


def _times_of(interval: _Interval) -> tuple[datetime, datetime]:
    return parse_moment(interval.starts_at or ""), parse_moment(interval.ends_at or "")


def _touches(interval: TimeSpan, span: tuple[str, str]) -> bool:
    """Return whether something overlaps a date. Moments can be compared as texts."""
    begin, end = span
    return interval.starts_at < end and interval.ends_at > begin


def _wall_span_of(interval: _Interval, zone: str) -> DrawnPart:
    """Return start and end in a time zone, or nothing if the visit can be at any time of its day."""
    if not interval.starts_at or not interval.ends_at:
        return {}
    return {"from": wall_time_text(interval.starts_at, zone), "until": wall_time_text(interval.ends_at, zone)}


def _leave_item(leave: BoardLeave, zone: str) -> DrawnPart:
    """Return time off as the schedule shows it. If it is not decided yet, it blocks nothing."""
    kind = translate_label(leave.kind)
    if is_undecided(leave.status):
        return {"words": translate_text("{kind}, not approved yet", kind=kind)}
    return {
        "words": kind,
        "called": translate_text("time off ({kind})", kind=kind.lower()),
        **_wall_span_of(leave, zone),
    }
