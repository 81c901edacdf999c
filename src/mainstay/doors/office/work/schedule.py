"""The schedule: a day, a week, a month or a list, and a sheet to print."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from mainstay.business.schedule.board import get_schedule
from mainstay.business.schedule.free_time import find_free_time
from mainstay.business.schedule.leave import list_time_off
from mainstay.business.schedule.model import VisitOut
from mainstay.business.schedule.month import get_schedule_month
from mainstay.business.schedule.operations import list_visits, move_visit, plan_visit
from mainstay.business.schedule.store import VISITS
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.work.field_visits import FieldVisitPages
from mainstay.doors.office.work.free_time import FreeTimePages
from mainstay.doors.office.work.quick_visits import QuickVisitPages
from mainstay.doors.office.work.schedule_days import ScheduleDay, ScheduleWeek, parse_date, visit_title
from mainstay.doors.office.work.schedule_months import ScheduleMonth, find_calendar_bounds, start_of_next_month
from mainstay.doors.office.work.time_off import TimeOffPages
from mainstay.doors.office.work.visit_planning import NOTICE_KEY, PLANNING_PATH, VisitPlanningPages
from mainstay.doors.office.work.visits import VisitPages, describe_visit_change
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import format_long_date, format_long_month
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_text
from mainstay.kernel.catalogue import check_permission
from mainstay.values.message import Message

_PATH = "/schedule"
_VIEWS = {"day": Message("Day"), "week": Message("Week"), "month": Message("Month"), "list": Message("List")}
# The sheet to print, which is not among the views to choose from.
_SHEET = "sheet"
_WEEK_VIEWS = frozenset({"week", "list"})
# The views on which visits are planned and moved.
_BOARDS = frozenset({"day", "week"})
# How days can be shown otherwise. Each option is a parameter of the address with one value.
_ALL_HOURS, _BY_STATUS = "hours", "by"
_OPTIONS = {_ALL_HOURS: "all", _BY_STATUS: "status"}
_DAYS_PER_WEEK = 7
_MAX_VISITS_ON_SHEET = 300
_SHEET_PAGE_SIZE = 100
# The changes of visits whose notices name the person and the time.
_DESCRIBED_CHANGES = frozenset({plan_visit.name, move_visit.name})


@dataclass(frozen=True)
class _ShownDays:
    """The days that a page of the schedule shows."""

    view: str
    # The date in the address.
    shown_day: date
    first: date
    last: date
    options: frozenset[str]

    @property
    def previous_first(self) -> date:
        """The first of the days before, in the same view."""
        if self.view == "month":
            return (self.first - timedelta(days=1)).replace(day=1)
        return self.first - timedelta(days=(self.last - self.first).days + 1)


@dataclass(frozen=True)
class SchedulePages:
    """The pages of the schedule, with those of visits and time off."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            Route("GET", _PATH, self.office.require_sign_in(self.show)),
            *FreeTimePages(self.office).routes(),
            *QuickVisitPages(self.office).routes(),
            *VisitPlanningPages(self.office).routes(),
            *FieldVisitPages(self.office).routes(),
            *VisitPages(self.office).routes(),
            *TimeOffPages(self.office).routes(),
        ]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show the days of the schedule that the address names."""
        check_permission(get_schedule, request.actor)
        query = query_parameters(request.http_request)
        view = query["view"] if query.get("view") in {*_VIEWS, _SHEET} else "day"
        options = _read_options(query)
        today = self.office.today(request)
        shown_day = parse_date(request.display.parse_date(query.get("on", ""))) or today
        if view == "month":
            return await self._show_month(request, shown_day, options)
        first = last = shown_day
        if view in _WEEK_VIEWS:
            first = shown_day - timedelta(days=shown_day.weekday())
            last = first + timedelta(days=_DAYS_PER_WEEK - 1)
        variables: dict[str, Any] = {"quick": None, "tray": None}
        if view == _SHEET:
            variables["sheet"] = await self._build_day_sheet(request, shown_day)
        schedule = await self.office.perform(
            request, get_schedule, {"from": first.isoformat(), "until": last.isoformat()}
        )
        # The viewer's own row comes first.
        schedule.people.sort(key=lambda person: person.id != request.actor.id)
        if view == "day":
            now = self.office.visitors.performer.clock()
            variables["day"] = ScheduleDay(schedule, shown_day, now, _ALL_HOURS in options).build_grid()
        elif view == "week":
            variables["week"] = ScheduleWeek(schedule, first, today).build_table()
        elif view == "list":
            variables["by_day"] = ScheduleWeek(schedule, first, today).visits_by_date()
        if view in _BOARDS:
            quick_visits = QuickVisitPages(self.office)
            names = [(person.id, person.name) for person in schedule.people]
            variables["quick"] = quick_visits.build_form(request, names, shown_day)
            variables["tray"] = await quick_visits.list_waiting_jobs(request, today)
        return await self._render_days(
            request,
            _ShownDays(view, shown_day, first, last, options),
            title=format_long_date(shown_day)
            if view in {"day", _SHEET}
            else PageFormat(request.display).render(Message("Week of {date}", date=format_long_date(first))),
            has_too_many=schedule.more,
            several_zones=len({visit.time_zone for visit in schedule.visits} | {schedule.time_zone}) > 1,
            **variables,
        )

    async def _show_month(self, request: OfficeRequest, shown_day: date, options: frozenset[str]) -> Response:
        """Show the weeks of a month."""
        first, last = find_calendar_bounds(shown_day)
        schedule = await self.office.perform(
            request, get_schedule_month, {"from": first.isoformat(), "until": last.isoformat()}
        )
        first_of_month = shown_day.replace(day=1)
        last_of_month = start_of_next_month(shown_day) - timedelta(days=1)
        return await self._render_days(
            request,
            _ShownDays("month", shown_day, first_of_month, last_of_month, options),
            title=format_long_month(shown_day),
            has_too_many=False,
            several_zones=False,
            weeks=ScheduleMonth(schedule, shown_day, self.office.today(request)).build_weeks(),
            day_path=lambda day: _schedule_path("day", date.fromisoformat(day), options),
            quick=None,
            tray=None,
        )

    async def _render_days(self, request: OfficeRequest, days: _ShownDays, **variables: Any) -> Response:
        """Return the page of some days, with the links to others."""
        view, shown_day, options = days.view, days.shown_day, days.options
        one_time_notice = self.office.one_time_secrets.take(request.http_request, request.visitor, NOTICE_KEY)
        return self.office.render_page(
            "schedule.html",
            request,
            area="Schedule",
            view=view,
            visit_title=visit_title,
            views=[(name, text, _schedule_path(name, shown_day, options)) for name, text in _VIEWS.items()],
            by_status=_BY_STATUS in options,
            option_links=_build_option_links(view, shown_day, options),
            sheet_path=_schedule_path(_SHEET, shown_day, options),
            on=shown_day.isoformat(),
            today_path=_schedule_path(view, self.office.today(request), options),
            previous_path=_schedule_path(view, days.previous_first, options),
            next_path=_schedule_path(view, days.last + timedelta(days=1), options),
            can_plan=request.can_perform(plan_visit),
            edit_several_path=(
                f"{PLANNING_PATH}?{urlencode({'from': days.first.isoformat(), 'until': days.last.isoformat()})}"
            ),
            can_find_free_time=request.can_perform(find_free_time),
            can_list_time_off=request.can_perform(list_time_off),
            notice=one_time_notice.content["notice"] if one_time_notice else await self._find_notice(request),
            headers=one_time_notice.headers if one_time_notice else (),
            **variables,
        )

    async def _find_notice(self, request: OfficeRequest) -> str | None:
        """Return the notice of the last change. If a visit was planned or moved, it names the person and the time."""
        change = request.undoable_changes[0] if request.undoable_changes else None
        if change and change.operation in _DESCRIBED_CHANGES:
            visit_ids = (record_id for record_id in change.records or () if record_id.startswith(f"{VISITS.prefix}_"))
            if visit_id := next(visit_ids, None):
                return describe_visit_change(request, await self.office.get_record(request, visit_id), change.operation)
        return self.office.find_notice(request)

    async def _build_day_sheet(self, request: OfficeRequest, shown_day: date) -> list[dict[str, Any]]:
        """Return everyone's visits of a date, for the sheet to print."""
        query = {"from": shown_day.isoformat(), "until": shown_day.isoformat(), "limit": _SHEET_PAGE_SIZE}
        visits: list[VisitOut] = []
        cursor: dict[str, object] = {}
        while len(visits) < _MAX_VISITS_ON_SHEET:
            page = await self.office.perform(request, list_visits, {**query, **cursor})
            visits += page.data
            if not page.has_more:
                break
            cursor = {"startingAfter": visits[-1].id}
        by_person: dict[str, list[VisitOut]] = {}
        for visit in visits:
            by_person.setdefault(visit.person_name or "", []).append(visit)
        # Visits without a person come last.
        return [
            {"name": name or translate_text("No person"), "visits": by_person[name]}
            for name in sorted(by_person, key=lambda name: (not name, name))
        ]


def _read_options(query: Mapping[str, str]) -> frozenset[str]:
    """Return the options that an address chooses."""
    return frozenset(name for name, value in _OPTIONS.items() if query.get(name) == value)


def _build_option_links(view: str, day: date, options: frozenset[str]) -> list[tuple[Message, str]]:
    """Return the links that turn each option on or off."""
    texts = {_BY_STATUS: (Message("Colour by status"), Message("Colour by person"))}
    if view == "day":
        texts = {_ALL_HOURS: (Message("Show all hours"), Message("Show working hours")), **texts}
    return [
        (turn_off if name in options else turn_on, _schedule_path(view, day, options ^ {name}))
        for name, (turn_on, turn_off) in texts.items()
    ]


def _schedule_path(view: str, day: date, options: frozenset[str]) -> str:
    parameters = {name: value for name, value in _OPTIONS.items() if name in options}
    return f"{_PATH}?{urlencode({'view': view, 'on': day.isoformat(), **parameters})}"
