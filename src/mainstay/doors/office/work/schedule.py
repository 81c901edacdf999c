"""The schedule: day, week, list and a sheet to print, visits, time off, and who is free."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType
from typing import Any, get_args
from urllib.parse import urlencode

from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import get_job
from mainstay.business.schedule.board import get_schedule
from mainstay.business.schedule.free_time import FreeTimeOut, LeaveThen, Slot, find_free_time
from mainstay.business.schedule.leave import (
    cancel_time_off,
    decide_time_off,
    list_time_off,
    request_time_off,
)
from mainstay.business.schedule.model import (
    STATUS_MESSAGES,
    SettableStatus,
    TimeOffOut,
    VisitOut,
    is_undecided,
    next_visit_step,
)
from mainstay.business.schedule.month import get_schedule_month
from mainstay.business.schedule.operations import cancel_visit, list_visits, move_visit, plan_visit
from mainstay.business.schedule.planning import plan_schedule
from mainstay.business.schedule.store import TIME_OFF, VISITS
from mainstay.business.schedule.visit_times import describe_visit_time
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, refusal_variables, status_of
from mainstay.doors.office.kit.record_layout import RecordLayout, SelectionAction
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.reference_fields import ReferenceFields
from mainstay.doors.office.work.field_visits import FieldVisitPages
from mainstay.doors.office.work.quick_visits import LENGTH_CHOICES, QuickVisitPages
from mainstay.doors.office.work.schedule_days import ScheduleDay, ScheduleWeek, parse_date, visit_title
from mainstay.doors.office.work.schedule_months import ScheduleMonth, find_calendar_bounds, start_of_next_month
from mainstay.doors.office.work.visit_lengths import find_length
from mainstay.doors.office.work.visit_planning import NOTICE_KEY, PROBLEM_FILTERS, VisitPlanningPages
from mainstay.doors.office.work.visit_planning import PATH as PLANNING
from mainstay.doors.pages.display import EMPTY_TEXT
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import Choices, default_values, form_fields_of, join_times, to_operation_input
from mainstay.doors.pages.formatting import (
    format_date,
    format_date_range,
    format_long_date,
    format_long_month,
    format_moment,
    format_other_zone,
    format_visit_date,
    join_isolated,
)
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_label, translate_text
from mainstay.kernel.catalogue import check_permission
from mainstay.values.choices import to_label
from mainstay.values.durations import hours_text
from mainstay.values.message import Message
from mainstay.values.names import zone_names
from mainstay.values.wall_times import wall_time_text
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import NotFound, Refusal
from mainstay.vocabulary.typed_records import RecordFields, extend_record

_PATH = "/schedule"
_VIEWS = {"day": Message("Day"), "week": Message("Week"), "month": Message("Month"), "list": Message("List")}
_MONTH, _SHEET = "month", "sheet"
# The views on which visits are planned and moved.
_BOARDS = frozenset({"day", "week"})
_DAYS_PER_WEEK = 7
# The most visits on the sheet of a day.
_MAX_ON_SHEET = 300
_PAGE_SIZE = 100


def _describe_change(request: OfficeRequest, visit: VisitOut, operation: str) -> str:
    """Return the notice of a visit that was planned or changed: whose it is now, and when."""
    title, person = visit_title(visit), visit.person_name or translate_text("no person")
    time = describe_visit_time(visit.starts_at, visit.ends_at, visit.on, visit.time_zone)
    if operation == plan_visit.name:
        message = Message("{visit} planned: {person}, {time}.", visit=title, person=person, time=time)
    else:
        message = Message("{visit} changed: {person}, {time}.", visit=title, person=person, time=time)
    return PageFormat(request.display).render(message)


# The changes of visits whose notices say more than that something was done.
_DESCRIBED_CHANGES = frozenset({plan_visit.name, move_visit.name})


def _visit_subtitle(visit: VisitOut, zone: str) -> str:
    return join_isolated(
        format_visit_date(visit, zone), visit.person_name or translate_text("Unassigned"), separator=" · "
    )


def _format_visit_start(visit: VisitOut, zone: str) -> str:
    if visit.starts_at is None:
        return format_date(visit.on or "")
    return f"{format_moment(visit.starts_at, visit.time_zone)}{format_other_zone(visit.time_zone, zone)}"


def _format_leave_period(leave: TimeOffOut) -> str:
    return format_date_range(leave.from_, leave.until) if leave.from_ and leave.until else ""


def _format_leave_start(leave: TimeOffOut, zone: str) -> str:
    return format_date(leave.from_) if leave.from_ else format_moment(leave.starts_at, zone)


def _format_leave_end(leave: TimeOffOut, zone: str) -> str:
    """Format the end of time off. For whole days, that is the last day, not the moment when the next one begins."""
    return format_date(leave.until) if leave.until else format_moment(leave.ends_at, zone)


def _next_statuses(visit: VisitOut, _by: Actor) -> list[str]:
    """Return the statuses that a visit can get, the next step first."""
    step = next_visit_step(visit.status)
    others = [status for status in get_args(SettableStatus) if status != visit.status]
    return sorted(others, key=lambda status: step is None or status != step.to)


class _LinkedVisit(VisitOut):
    """A visit, with how long it is, and what is known of the visits that can be changed with it."""

    # None if it has only a date.
    duration_minutes: int | None
    # Whether its time zone is another than the viewer's.
    has_other_zone: bool
    # Whether a crew is planned for it, and the last planned visit of its series.
    crew_planned: bool
    last_of_series: VisitOut | None


def _possible_scopes(visit: _LinkedVisit, _by: Actor) -> list[str]:
    """Return which other visits can be changed with this one, if they are still planned."""
    last = visit.last_of_series
    follows = [] if last is None else ["following", "all"] if _start_of(last) >= _start_of(visit) else ["all"]
    return ["one", *(["crew"] if visit.crew_planned else []), *follows]


def _prefill_visit(visit: RecordFields) -> Mapping[str, Any]:
    """Return the initial values of a visit's form. The time zone is only asked for if it is another than usual."""
    return {**visit, "timeZone": visit["timeZone"] if visit["hasOtherZone"] else None}


def _own_length(visit: _LinkedVisit) -> Choices:
    """Return the length of a visit as a choice."""
    return ((str(visit.duration_minutes), hours_text(visit.duration_minutes)),) if visit.duration_minutes else ()


def _start_of(visit: VisitOut) -> str:
    return str(visit.starts_at or visit.on)


def _name_other_zone(visit: VisitOut, zone: str) -> str:
    """Return the time zone of a visit if it is not the viewer's own."""
    return EMPTY_TEXT if visit.time_zone == zone else zone_names().get(visit.time_zone, visit.time_zone)


_CLASHES_LEAD = "Clashes are checked when you save."
VISITS_LAYOUT = RecordLayout(
    kind=VISITS,
    lead="Who goes where, and when.",
    create_operation=plan_visit,
    first_fields=("jobId", "title", "personIds", "personId", "startsAt", "durationMinutes", "notes", "scope"),
    title_of=visit_title,
    # The viewer's time zone is not known here. The column and the page add the zone if it differs.
    subtitle_of=lambda visit: _visit_subtitle(visit, visit.time_zone),
    columns=("status", "startsAt", "customerName"),
    facts=(
        "personName",
        "kind",
        "customerName",
        "siteName",
        "siteAddress",
        "accessNotes",
        "contactName",
        "contactPhone",
        "notes",
        "startedAt",
        "finishedAt",
        "overlapReason",
    ),
    tabs={"": "Upcoming", "planned": "Planned", "started": "Started", "done": "Done", "cancelled": "Cancelled"},
    order="start",
    list_header="visits_header.html",
    page_header="visit.html",
    # Hours have a page of their own, which starts and finishes visits. The end follows from the start and the duration.
    skipped_fields=frozenset({"endsAt", "timer", "startedAt", "endedAt", "breakMinutes", "note"}),
    # A visit of a job has no title of its own, so its form does not ask for one.
    possible_choices={
        "status": _next_statuses,
        "scope": _possible_scopes,
        "title": lambda visit, _by: [""] if visit.job_id else [],
    },
    bulk_operations=frozenset({cancel_visit.name}),
    choices={
        "scope": (
            ("one", "This visit only"),
            ("crew", "This visit for everyone on it"),
            ("following", "This and following visits"),
            ("all", "All visits in the series"),
        ),
        "durationMinutes": LENGTH_CHOICES,
    },
    prefill=_prefill_visit,
    own_choices={"durationMinutes": _own_length},
    field_texts={"startsAt": _format_visit_start, "timeZone": _name_other_zone},
    form_leads={
        plan_visit.name: _CLASHES_LEAD,
        move_visit.name: _CLASHES_LEAD,
        set_visit_status.name: "Starting the first visit also starts the job.",
    },
    selection_actions=(
        SelectionAction(
            cancel_visit,
            "Cancel",
            notice=lambda count: Message("{count} visit cancelled.", plural="{count} visits cancelled.", count=count),
        ),
    ),
    empty_text="No upcoming visits.",
)
TIME_OFF_LAYOUT = RecordLayout(
    kind=TIME_OFF,
    lead="Holidays, sickness and other time off.",
    create_operation=request_time_off,
    first_fields=("personId", "kind", "from", "until", "note"),
    title_of=lambda leave: join_isolated(translate_label(leave.kind), leave.person_name, separator=", "),
    subtitle_of=_format_leave_period,
    columns=("status", "startsAt", "endsAt"),
    facts=("personName", "kind", "startsAt", "endsAt", "note", "decisionNote"),
    tabs={"": "Upcoming", "requested": "Requested", "approved": "Approved", "declined": "Declined"}
    | {"cancelled": "Cancelled"},
    order="start",
    page_body="time_off.html",
    next_operations=frozenset({decide_time_off.name}),
    field_texts={"startsAt": _format_leave_start, "endsAt": _format_leave_end},
    form_headers={decide_time_off.name: "time_off.html"},
    selection_actions=(
        SelectionAction(
            decide_time_off,
            "Approve",
            {"decision": "approve"},
            notice=lambda count: Message("{count} approved.", count=count),
        ),
    ),
    empty_text="No upcoming time off.",
)


@dataclass(frozen=True)
class _ShownDays:
    """The days that a page of the schedule shows."""

    view: str
    # The date in the address.
    on: date
    first: date
    last: date
    choices: Mapping[str, str]

    @property
    def before(self) -> date:
        """The first of as many days before."""
        if self.view == _MONTH:
            return (self.first - timedelta(days=1)).replace(day=1)
        return self.first - timedelta(days=(self.last - self.first).days + 1)


@dataclass(frozen=True)
class SchedulePages:
    """The pages of the schedule, of visits and of time off."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        signed_in = self.office.require_sign_in
        return [
            Route("GET", _PATH, signed_in(self.show)),
            Route("GET", f"{_PATH}/free", signed_in(self.show_free_time)),
            *QuickVisitPages(self.office).routes(),
            *VisitPlanningPages(self.office).routes(),
            *FieldVisitPages(self.office).routes(),
            *RecordPages(
                self.office,
                VISITS_LAYOUT,
                add_variables=self._visit_variables,
                extend_record=self._add_linked_visits,
            ).routes(),
            *RecordPages(self.office, TIME_OFF_LAYOUT, add_variables=self._time_off_variables).routes(),
        ]

    async def _visit_variables(self, request: OfficeRequest, visit: VisitOut | None) -> dict[str, Any]:
        """Return what only these pages have: a button for the next step of the viewer's own visit, and its crew."""
        if visit is None:
            query = query_parameters(request.http_request)
            filters = {name: query[name] for name in ("from", "until", "personId", *PROBLEM_FILTERS) if query.get(name)}
            return {"changing": f"{PLANNING}?{urlencode(filters)}" if request.can_perform(plan_schedule) else None}
        actions = VISITS_LAYOUT.actions_of(self.office, visit)
        work = await FieldVisitPages(self.office).build_variables(request, visit)
        # The bar has the likely next step, so the other actions are in a menu.
        menus = {"actions": [], "other_actions": actions} if work["work_bar"] else {"actions": actions}
        variables: dict[str, Any] = {**menus, **work, "subtitle": _visit_subtitle(visit, request.time_zone)}
        done = query_parameters(request.http_request).get("done")
        if done == set_visit_status.name:
            variables["notice"] = PageFormat(request.display).render(STATUS_MESSAGES[visit.status])
        if done == move_visit.name:
            variables["notice"] = _describe_change(request, visit, done)
        return variables | {
            "crew": await self._list_crew(request, visit),
            "work": await self._job_description(request, visit),
        }

    async def _job_description(self, request: OfficeRequest, visit: VisitOut) -> str | None:
        """Return the description of the visit's job, if the viewer may see the job."""
        if visit.job_id is None or not request.can_perform(get_job):
            return None
        try:
            job = await self.office.perform(request, get_job, {"jobId": visit.job_id})
        except NotFound:
            return None
        return job.description

    async def _add_linked_visits(self, request: OfficeRequest, visit: VisitOut) -> _LinkedVisit:
        crew = await self._list_planned(request, visit, {"groupId": visit.group_id})
        series = await self._list_planned(request, visit, {"seriesId": visit.series_id})
        last = series[0] if series else None
        return extend_record(
            _LinkedVisit,
            visit,
            duration_minutes=find_length(visit),
            has_other_zone=visit.time_zone != request.time_zone,
            crew_planned=bool(crew),
            last_of_series=last,
        )

    async def _list_planned(
        self, request: OfficeRequest, visit: VisitOut, group: Mapping[str, str | None]
    ) -> list[VisitOut]:
        if not (any(group.values()) and request.can_perform(cancel_visit)):
            return []
        query = {**group, "status": "planned", "order": "latest", "limit": 2}
        page = await self.office.perform(request, list_visits, query)
        return [one for one in page.data if one.id != visit.id]

    async def _list_crew(self, request: OfficeRequest, visit: VisitOut) -> list[VisitOut]:
        """Return the visits of the rest of the crew, if the viewer may see them."""
        if not visit.group_id:
            return []
        page = await self.office.perform(request, list_visits, {"groupId": visit.group_id, "limit": _PAGE_SIZE})
        return [one for one in page.data if one.id != visit.id]

    async def _time_off_variables(self, request: OfficeRequest, leave: TimeOffOut | None) -> dict[str, Any]:
        """Return the buttons of time off. While it waits for a decision, that button comes first."""
        if leave is None:
            return {}
        is_waiting = is_undecided(leave.status)
        decide_path = TIME_OFF_LAYOUT.operation_path(decide_time_off, leave)
        actions = [
            one if one.path == decide_path else one._replace(label=to_label(cancel_time_off.name))
            for one in TIME_OFF_LAYOUT.actions_of(self.office, leave)
        ]
        move_path = f"{PLANNING}?{urlencode({'timeOffId': leave.id})}" if request.can_perform(plan_schedule) else None
        return {
            "actions": sorted(actions, key=lambda one: (one.path == decide_path) != is_waiting),
            "moving": move_path,
        }

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show the days of the schedule that the address names."""
        check_permission(get_schedule, request.actor)
        query = query_parameters(request.http_request)
        view = query["view"] if query.get("view") in {*_VIEWS, _SHEET} else "day"
        choices = _read_choices(query)
        today = self.office.today(request)
        shown_day = parse_date(request.display.parse_date(query.get("on", ""))) or today
        if view == _MONTH:
            return await self._show_month(request, shown_day, choices)
        first = shown_day - timedelta(days=shown_day.weekday()) if view in {"week", "list"} else shown_day
        last = first + timedelta(days=_DAYS_PER_WEEK - 1) if view in {"week", "list"} else first
        variables: dict[str, Any] = {"quick": None, "tray": None}
        if view == _SHEET:
            variables["sheet"] = await self._build_day_sheet(request, shown_day)
        schedule = await self.office.perform(
            request, get_schedule, {"from": first.isoformat(), "until": last.isoformat()}
        )
        # The viewer's own row comes first.
        schedule.people.sort(key=lambda person: person.id != request.actor.id)
        if view == "day":
            now, whole_day = self.office.visitors.performer.clock(), _WHOLE_DAY.items() <= choices.items()
            variables["day"] = ScheduleDay(schedule, shown_day, now, whole_day).build_grid()
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
            _ShownDays(view, shown_day, first, last, choices),
            title=format_long_date(shown_day)
            if view in {"day", _SHEET}
            else PageFormat(request.display).render(Message("Week of {date}", date=format_long_date(first))),
            has_too_many=schedule.more,
            several_zones=len({visit.time_zone for visit in schedule.visits} | {schedule.time_zone}) > 1,
            **variables,
        )

    async def _show_month(self, request: OfficeRequest, shown_day: date, choices: Mapping[str, str]) -> Response:
        """Show the weeks of a month."""
        first, last = find_calendar_bounds(shown_day)
        schedule = await self.office.perform(
            request, get_schedule_month, {"from": first.isoformat(), "until": last.isoformat()}
        )
        month_begin = shown_day.replace(day=1)
        days = _ShownDays(_MONTH, shown_day, month_begin, start_of_next_month(shown_day) - timedelta(days=1), choices)
        return await self._render_days(
            request,
            days,
            title=format_long_month(shown_day),
            has_too_many=False,
            several_zones=False,
            weeks=ScheduleMonth(schedule, shown_day, self.office.today(request)).build_weeks(),
            day_path=lambda day: _schedule_path("day", date.fromisoformat(day), choices),
            quick=None,
            tray=None,
        )

    async def _render_days(self, request: OfficeRequest, days: _ShownDays, **variables: Any) -> Response:
        """Return the page of some days, with the links to others."""
        view, on, choices = days.view, days.on, days.choices
        one_time_notice = self.office.one_time_secrets.take(request.http_request, request.visitor, NOTICE_KEY)
        return self.office.render_page(
            "schedule.html",
            request,
            area="Schedule",
            view=view,
            visit_title=visit_title,
            views=[(name, text, _schedule_path(name, on, choices)) for name, text in _VIEWS.items()],
            by_status=_BY_STATUS.items() <= choices.items(),
            switches=_build_switches(view, on, choices),
            sheet_path=_schedule_path(_SHEET, on, choices),
            on=on.isoformat(),
            today=_schedule_path(view, self.office.today(request), choices),
            before=_schedule_path(view, days.before, choices),
            after=_schedule_path(view, days.last + timedelta(days=1), choices),
            may_plan=request.can_perform(plan_visit),
            changing=f"{PLANNING}?{urlencode({'from': days.first.isoformat(), 'until': days.last.isoformat()})}",
            may_ask=request.can_perform(find_free_time),
            sees_leave=request.can_perform(list_time_off),
            notice=one_time_notice.content["notice"] if one_time_notice else await self._find_notice(request),
            headers=one_time_notice.headers if one_time_notice else (),
            **variables,
        )

    async def _find_notice(self, request: OfficeRequest) -> str | None:
        """Return the notice of what was just done; of a visit that was planned or moved, whose it is and when."""
        change = request.undoable_changes[0] if request.undoable_changes else None
        visits = [one for one in (change.records if change else None) or () if one.startswith(f"{VISITS.prefix}_")]
        if change and change.operation in _DESCRIBED_CHANGES and visits:
            return _describe_change(request, await self.office.get_record(request, visits[0]), change.operation)
        return self.office.find_notice(request)

    async def show_free_time(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show who is free, and when, for the fields in the address."""
        check_permission(find_free_time, request.actor)
        form_fields = [one for one in form_fields_of(find_free_time, request.actor.permissions) if one.name != "limit"]
        query = join_times(form_fields, query_parameters(request.http_request))
        form_fields, fields = await ReferenceFields(self.office).add_choices(
            request, form_fields, default_values(form_fields) | query, None
        )
        found, refusal = None, None
        variables: dict[str, Any] = {}
        if query:
            try:
                resolved = await ReferenceFields(self.office).resolve_ids(request, form_fields, fields)
                answers = {
                    name: value
                    for name, value in to_operation_input(form_fields, resolved, request.display).items()
                    if value
                }
                found = await self.office.perform(request, find_free_time, answers)
                variables = {
                    "days": _slots_by_day(found, answers),
                    "on_leave": _describe_leave(found, request.time_zone),
                }
            except Refusal as refused:
                refusal = refused
        return self.office.render_page(
            "free_time.html",
            request,
            status_of(refusal),
            area="Schedule",
            form_fields=form_fields,
            fields=defaultdict(str, fields),
            found=found,
            **variables,
            **refusal_variables(refusal),
        )

    async def _build_day_sheet(self, request: OfficeRequest, shown_day: date) -> list[dict[str, Any]]:
        """Return everyone's visits of a date, for the sheet to print."""
        query = {"from": shown_day.isoformat(), "until": shown_day.isoformat(), "limit": _PAGE_SIZE}
        visits: list[VisitOut] = []
        cursor: dict[str, object] = {}
        while len(visits) < _MAX_ON_SHEET:
            page = await self.office.perform(request, list_visits, {**query, **cursor})
            visits += page.data
            if not page.has_more:
                break
            cursor = {"startingAfter": visits[-1].id}
        by_person: dict[str, list[VisitOut]] = {}
        for visit in visits:
            by_person.setdefault(visit.person_name or "", []).append(visit)
        # Visits without a person come last.
        sorted_people = sorted(by_person.items(), key=lambda one: (not one[0], one[0]))
        return [{"name": name or translate_text("No person"), "visits": found} for name, found in sorted_people]


# What the viewer chose about how days are shown, as it stands in the address.
_WHOLE_DAY: Mapping[str, str] = MappingProxyType({"hours": "all"})
_BY_STATUS: Mapping[str, str] = MappingProxyType({"by": "status"})


def _read_choices(query: Mapping[str, str]) -> dict[str, str]:
    """Return the choices of the viewer in an address."""
    known = (*_WHOLE_DAY.items(), *_BY_STATUS.items())
    return {name: value for name, value in known if query.get(name) == value}


def _build_switches(view: str, day: date, choices: Mapping[str, str]) -> list[tuple[Message, str]]:
    """Return the links that show the same days otherwise: all hours, and coloured by status."""
    hours = [(_WHOLE_DAY, Message("Show all hours"), Message("Show working hours"))] if view == "day" else []
    colours = (_BY_STATUS, Message("Colour by status"), Message("Colour by person"))
    return [
        (off, _schedule_path(view, day, {name: choices[name] for name in choices.keys() - choice.keys()}))
        if choice.items() <= choices.items()
        else (on, _schedule_path(view, day, {**choices, **choice}))
        for choice, on, off in (*hours, colours)
    ]


def _schedule_path(view: str, day: date, choices: Mapping[str, str]) -> str:
    return f"{_PATH}?{urlencode({'view': view, 'on': day.isoformat(), **choices})}"


def _slots_by_day(found: FreeTimeOut, answers: Mapping[str, object]) -> list[dict[str, Any]]:
    """Group free slots by date and person. People stay in the order of the search."""
    by_day: dict[str, dict[str, dict[str, Any]]] = {}
    for slot in found.slots:
        day = wall_time_text(slot.starts_at, found.time_zone)[:10]
        person = by_day.setdefault(day, {}).setdefault(slot.person_id, {"name": slot.person_name, "slots": []})
        person["reasons"] = slot.reasons
        person["slots"].append({**vars(slot), "plan": _plan_visit_path(slot, answers, found.time_zone)})
    return [
        {"words": format_long_date(date.fromisoformat(day)), "people": [*people.values()]}
        for day, people in sorted(by_day.items())
    ]


def _describe_leave(found: FreeTimeOut, zone: str) -> list[str]:
    """Say who is on leave, of what kind, and when."""
    return [
        join_isolated(
            leave.person_name,
            f"{translate_label(leave.kind).lower()}, {_format_leave_span(leave, zone)}",
            separator=": ",
        )
        for leave in found.on_leave
    ]


def _format_leave_span(leave: LeaveThen, zone: str) -> str:
    first, last = (wall_time_text(moment, zone) for moment in (leave.starts_at, leave.ends_at))
    if first.endswith("T00:00") and last.endswith("T00:00"):
        return format_date_range(first[:10], (date.fromisoformat(last[:10]) - timedelta(days=1)).isoformat())
    return f"{format_moment(leave.starts_at, zone)}\N{EN DASH}{format_moment(leave.ends_at, zone)}"


def _plan_visit_path(slot: Slot, answers: Mapping[str, object], zone: str) -> str:
    """Return the address of the form to plan a visit, filled in with a free slot."""
    fields = {"startsAt": wall_time_text(slot.starts_at, zone), "durationMinutes": answers.get("durationMinutes", 60)}
    fields |= {f"personIds {slot.person_id}": "on", "timeZone": zone}
    if answers.get("jobId"):
        fields["jobId"] = answers["jobId"]
    return f"{VISITS.path}/plan?{urlencode(fields)}"
