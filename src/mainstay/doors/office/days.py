"""A day and a week of the schedule as their pages show them: who stands in which row, and what begins where."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from mainstay.business.schedule.model import is_as_planned, is_undecided
from mainstay.doors.pages.words import long_day, side_by_side, span
from mainstay.values.moments import beginning_of, moment_text, parse_moment
from mainstay.values.wall_times import wall_text
from mainstay.values.words import words_of

DrawnPart = dict[str, Any]

_QUARTER = timedelta(minutes=15)
_HOUR = timedelta(hours=1)
# What is shown of a day on which nobody works.
_USUAL = (8, 17)
# What is shown before and behind all of it, for visits to be moved into; what is there then has room around it again.
_ROOM = 3 * _HOUR
_MOST_LANES = 6
_NOBODY = "Nobody yet"


@dataclass(frozen=True)
class Day:
    """One date of a schedule."""

    found: Mapping[str, Any]
    on: date

    def rows(self) -> DrawnPart:
        """The hours that are shown, and a row for each person; what nobody does yet comes first."""
        rows = [self._row(person) for person in self.found["people"]]
        nobody = self._row({"id": "", "name": _NOBODY, "colour": None, "works": [], "away": []})
        if nobody["items"] or nobody["anytime"]:
            rows.insert(0, nobody)
        begin, hours = self._window
        local = [(begin + number * _HOUR).astimezone(self._zone) for number in range(hours)]
        return {
            "hours": hours,
            "clocks": [f"{one:%H:%M}" for one in local],
            "rows": rows,
            "date": self.on.isoformat(),
        }

    @cached_property
    def _zone(self) -> ZoneInfo:
        return ZoneInfo(self.found["timeZone"])

    @cached_property
    def _span(self) -> tuple[datetime, datetime]:
        zone = self.found["timeZone"]
        return beginning_of(self.on, zone), beginning_of(self.on + timedelta(days=1), zone)

    @cached_property
    def _window(self) -> tuple[datetime, int]:
        """From which moment how many hours are shown: all in which someone works or is somewhere, with room around."""
        begin, end = self._span
        times = [_times(one) for person in self.found["people"] for one in person["works"]]
        times += [_times(visit) for visit in self.found["visits"] if visit["startsAt"]]
        first = min((max(starts, begin) for starts, _ in times), default=begin + _USUAL[0] * _HOUR)
        last = max((min(ends, end) for _, ends in times), default=begin + _USUAL[1] * _HOUR)
        before = (max(first - _ROOM, begin) - begin) // _HOUR
        hours = -((begin - min(last + _ROOM, end)) // _HOUR) - before
        return begin + before * _HOUR, hours

    def _row(self, person: Mapping[str, Any]) -> DrawnPart:
        visits = [one for one in self.found["visits"] if (one["personId"] or "") == person["id"]]
        timed = [one for one in visits if one["startsAt"]]
        items: list[DrawnPart] = []
        ends: list[datetime] = []
        for visit in timed:
            starts, until = _times(visit)
            free = next((number for number, end in enumerate(ends) if end <= starts), len(ends))
            lane = min(free, _MOST_LANES - 1)
            ends[lane : lane + 1] = [until]
            shown = _item(visit, self._zone.key) | _taken(visit, self._zone.key)
            items.append(shown | self._place(visit) | {"lane": lane})
        return {
            "id": person["id"],
            "name": person["name"],
            "colour": person["colour"],
            "items": items,
            "anytime": [_item(one, self._zone.key) for one in visits if not one["startsAt"]],
            "works": [self._place(one) for one in person["works"]],
            "away": [self._place(one) | _leave(one, self._zone.key) for one in person["away"]],
        }

    def _place(self, one: Mapping[str, Any]) -> dict[str, int]:
        """The quarter of an hour in which something begins, counted from one, and for how many it lasts."""
        begin, hours = self._window
        most = hours * 4
        starts, ends = _times(one)
        first = min(max((starts - begin) // _QUARTER, 0), most - 1)
        last = min(max(-((begin - ends) // _QUARTER), first + 1), most)
        return {"at": first + 1, "for": last - first}


@dataclass(frozen=True)
class Week:
    """Seven dates of a schedule."""

    found: Mapping[str, Any]
    first: date
    today: date

    def rows(self) -> DrawnPart:
        """The dates, and a row for each person with what is on each of them."""
        ends = [moment_text(beginning_of(day, self._zone)) for day in (*self._days, self._days[-1] + timedelta(days=1))]
        dates = [
            ({"date": day.isoformat(), "words": long_day(day)}, span)
            for day, span in zip(self._days, pairwise(ends), strict=True)
        ]
        return {
            "days": [
                {"date": day.isoformat(), "short": f"{day:%a} {day.day} {day:%b}", "today": day == self.today}
                for day in self._days
            ],
            "rows": [
                {
                    "id": person["id"],
                    "name": person["name"],
                    "cells": [
                        {
                            **told,
                            "items": self._by_cell.get((person["id"], told["date"]), []),
                            "away": [_leave(one, self._zone) for one in person["away"] if _touches(one, span)],
                            "off": bool(person["id"]) and not any(_touches(one, span) for one in person["works"]),
                        }
                        for told, span in dates
                    ],
                }
                for person in self._people
            ],
        }

    def by_day(self) -> Iterator[DrawnPart]:
        """What is on each of them, with who goes there."""
        names = {person["id"]: person["name"] for person in self._people}
        for day in self._days:
            items = [
                item | {"person": names.get(person, "")}
                for (person, on), found in self._by_cell.items()
                if on == day.isoformat()
                for item in found
            ]
            yield {"words": long_day(day), "items": sorted(items, key=lambda item: str(item["order"]))}

    @property
    def _zone(self) -> str:
        return str(self.found["timeZone"])

    @cached_property
    def _days(self) -> list[date]:
        return [self.first + timedelta(days=number) for number in range(7)]

    @cached_property
    def _by_cell(self) -> dict[tuple[str, str], list[DrawnPart]]:
        """What is shown, by person and date in the organisation's zone."""
        cells: dict[tuple[str, str], list[DrawnPart]] = {}
        for visit in self.found["visits"]:
            taken = _taken(visit, self._zone)
            on = visit["on"] or taken["from"].partition("T")[0]
            cells.setdefault((visit["personId"] or "", on), []).append(_item(visit, self._zone) | taken)
        return cells

    @property
    def _people(self) -> list[DrawnPart]:
        nobody: list[DrawnPart] = [{"id": "", "name": _NOBODY, "works": [], "away": []}]
        return [*(nobody if any(person == "" for person, _ in self._by_cell) else []), *self.found["people"]]


def called(visit: Mapping[str, Any]) -> str:
    """What people call a visit."""
    job = side_by_side(visit["jobNumber"], visit["jobTitle"])
    return job or visit["title"] or words_of(visit["kind"])


def date_of(text: str) -> date | None:
    """The date that stands in an address; None for what is none, or so far away that nothing is planned."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if _FIRST <= found <= _LAST else None


_FIRST, _LAST = date(2000, 2, 1), date(2099, 11, 30)


def _item(visit: Mapping[str, Any], zone: str) -> DrawnPart:
    """A visit as it stands on a board of a place."""
    day = wall_text(visit["startsAt"], visit["timeZone"])[:10] if visit["startsAt"] else visit["on"]
    return {
        "id": visit["id"],
        "path": f"/schedule/visits/{visit['id']}",
        "when": span(visit, zone),
        "what": called(visit),
        "below": " · ".join(filter(None, (visit["customerName"], visit["siteName"]))),
        "status": visit["status"],
        # Nearly all are planned: only what is not needs to be said.
        "state": None if is_as_planned(visit["status"]) else words_of(visit["status"]),
        "date": day,
        "order": visit["startsAt"] or "",
        "movable": visit["movable"],
        "overlaps": visit["allowOverlap"],
    }


def _times(one: Mapping[str, Any]) -> tuple[datetime, datetime]:
    return parse_moment(one["startsAt"]), parse_moment(one["endsAt"])


def _touches(one: Mapping[str, Any], span: tuple[str, str]) -> bool:
    """Whether something reaches into a date; as they are written, moments are in the order of time."""
    begin, end = span
    return bool(one["startsAt"] < end and one["endsAt"] > begin)


def _taken(one: Mapping[str, Any], zone: str) -> DrawnPart:
    """From when until when something takes someone's time, as the clocks of a place show it; nothing for any time."""
    if not one["startsAt"]:
        return {}
    return {"from": wall_text(one["startsAt"], zone), "until": wall_text(one["endsAt"], zone)}


def _leave(one: Mapping[str, Any], zone: str) -> DrawnPart:
    """Time off as it stands on a board; what is not decided yet is in nobody's way."""
    kind = words_of(one["kind"])
    if is_undecided(one["status"]):
        return {"words": f"{kind}, not decided yet"}
    return {"words": kind, "called": f"time off ({kind.lower()})", **_taken(one, zone)}
