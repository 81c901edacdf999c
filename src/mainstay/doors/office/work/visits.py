"""Visits: their list, their pages and their forms."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import urlencode

from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import get_job
from mainstay.business.schedule.model import STATUS_MESSAGES, SettableStatus, VisitOut, next_visit_step
from mainstay.business.schedule.operations import cancel_visit, list_visits, move_visit, plan_visit
from mainstay.business.schedule.planning import plan_schedule
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.visit_times import describe_visit_time
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import RecordLayout, SelectionAction
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.work.field_visits import FieldVisitPages
from mainstay.doors.office.work.quick_visits import LENGTH_CHOICES
from mainstay.doors.office.work.schedule_days import visit_title
from mainstay.doors.office.work.visit_lengths import find_length
from mainstay.doors.office.work.visit_planning import PLANNING_PATH, PROBLEM_FILTERS
from mainstay.doors.pages.display import EMPTY_TEXT
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import Choices
from mainstay.doors.pages.formatting import (
    format_date,
    format_moment,
    format_other_zone,
    format_visit_date,
    join_isolated,
)
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_text
from mainstay.values.durations import hours_text
from mainstay.values.message import Message
from mainstay.values.names import zone_names
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import NotFound
from mainstay.vocabulary.typed_records import RecordFields, extend_record

_MAX_CREW_VISITS = 100


def _format_subtitle(visit: VisitOut, zone: str) -> str:
    return join_isolated(
        format_visit_date(visit, zone), visit.person_name or translate_text("Unassigned"), separator=" · "
    )


def _format_visit_start(visit: VisitOut, zone: str) -> str:
    if visit.starts_at is None:
        return format_date(visit.on or "")
    return f"{format_moment(visit.starts_at, visit.time_zone)}{format_other_zone(visit.time_zone, zone)}"


def _list_next_statuses(visit: VisitOut, _actor: Actor) -> list[str]:
    """Return the statuses that a visit can get, the next step first."""
    step = next_visit_step(visit.status)
    others = [status for status in get_args(SettableStatus) if status != visit.status]
    return sorted(others, key=lambda status: step is None or status != step.to)


class _LinkedVisit(VisitOut):
    """A visit, with its length and the planned visits that can be changed with it."""

    # None if it has only a date.
    duration_minutes: int | None
    # Whether its time zone differs from the viewer's.
    has_other_zone: bool
    # Whether other visits of its crew are planned.
    has_planned_crew: bool
    # The last other planned visit of its series.
    last_of_series: VisitOut | None


def _list_possible_scopes(visit: _LinkedVisit, _actor: Actor) -> list[str]:
    """Return which other visits can be changed with this one, if they are still planned."""
    scopes = ["one"]
    if visit.has_planned_crew:
        scopes.append("crew")
    if visit.last_of_series:
        if _find_start(visit.last_of_series) >= _find_start(visit):
            scopes.append("following")
        scopes.append("all")
    return scopes


def _prefill_visit(visit: RecordFields) -> Mapping[str, Any]:
    """Return the initial values of a visit's form. The time zone is only asked for if it differs from the viewer's."""
    return {**visit, "timeZone": visit["timeZone"] if visit["hasOtherZone"] else None}


def _own_length_choice(visit: _LinkedVisit) -> Choices:
    """Return the length of a visit as a choice."""
    return ((str(visit.duration_minutes), hours_text(visit.duration_minutes)),) if visit.duration_minutes else ()


def _find_start(visit: VisitOut) -> str:
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
    subtitle_of=lambda visit: _format_subtitle(visit, visit.time_zone),
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
        "status": _list_next_statuses,
        "scope": _list_possible_scopes,
        "title": lambda visit, _actor: [""] if visit.job_id else [],
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
    own_choices={"durationMinutes": _own_length_choice},
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


@dataclass(frozen=True)
class VisitPages:
    """The pages of visits."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return RecordPages(
            self.office,
            VISITS_LAYOUT,
            add_variables=self._page_variables,
            extend_record=self._add_linked_visits,
        ).routes()

    async def _page_variables(self, request: OfficeRequest, visit: VisitOut | None) -> dict[str, Any]:
        """Return the variables of a visit's page, or of the list."""
        return self._list_variables(request) if visit is None else await self._visit_variables(request, visit)

    def _list_variables(self, request: OfficeRequest) -> dict[str, Any]:
        query = query_parameters(request.http_request)
        filters = {name: query[name] for name in ("from", "until", "personId", *PROBLEM_FILTERS) if query.get(name)}
        path = f"{PLANNING_PATH}?{urlencode(filters)}"
        return {"edit_several_path": path if request.can_perform(plan_schedule) else None}

    async def _visit_variables(self, request: OfficeRequest, visit: VisitOut) -> dict[str, Any]:
        """Return the buttons for the next step of the viewer's own visit, the crew and the work to do."""
        actions = VISITS_LAYOUT.actions_of(self.office, visit)
        work = await FieldVisitPages(self.office).build_variables(request, visit)
        # The bar has the likely next step, so the other actions are in a menu.
        menus = {"actions": [], "other_actions": actions} if work["work_bar"] else {"actions": actions}
        variables: dict[str, Any] = {**menus, **work, "subtitle": _format_subtitle(visit, request.time_zone)}
        operation = query_parameters(request.http_request).get("done")
        if operation == set_visit_status.name:
            variables["notice"] = PageFormat(request.display).render(STATUS_MESSAGES[visit.status])
        if operation == move_visit.name:
            variables["notice"] = describe_visit_change(request, visit, operation)
        return variables | {
            "crew": await self._list_crew(request, visit),
            "work": await self._find_job_description(request, visit),
        }

    async def _find_job_description(self, request: OfficeRequest, visit: VisitOut) -> str | None:
        """Return the description of the visit's job, if the viewer may see the job."""
        if visit.job_id is None or not request.can_perform(get_job):
            return None
        try:
            job = await self.office.perform(request, get_job, {"jobId": visit.job_id})
        except NotFound:
            return None
        return job.description

    async def _add_linked_visits(self, request: OfficeRequest, visit: VisitOut) -> _LinkedVisit:
        crew_visit = await self._find_last_planned(request, visit, {"groupId": visit.group_id})
        return extend_record(
            _LinkedVisit,
            visit,
            duration_minutes=find_length(visit),
            has_other_zone=visit.time_zone != request.time_zone,
            has_planned_crew=crew_visit is not None,
            last_of_series=await self._find_last_planned(request, visit, {"seriesId": visit.series_id}),
        )

    async def _find_last_planned(
        self, request: OfficeRequest, visit: VisitOut, list_filter: Mapping[str, str | None]
    ) -> VisitOut | None:
        """Return the last planned visit of a crew or series, apart from this one."""
        if not (any(list_filter.values()) and request.can_perform(cancel_visit)):
            return None
        # One of the two may be this visit.
        query = {**list_filter, "status": "planned", "order": "latest", "limit": 2}
        page = await self.office.perform(request, list_visits, query)
        return next((other for other in page.data if other.id != visit.id), None)

    async def _list_crew(self, request: OfficeRequest, visit: VisitOut) -> list[VisitOut]:
        """Return the visits of the rest of the crew, if the viewer may see them."""
        if not visit.group_id:
            return []
        page = await self.office.perform(request, list_visits, {"groupId": visit.group_id, "limit": _MAX_CREW_VISITS})
        return [other for other in page.data if other.id != visit.id]


def describe_visit_change(request: OfficeRequest, visit: VisitOut, operation: str) -> str:
    """Return the notice of a visit that was planned or changed: whose it is now, and when."""
    title, person = visit_title(visit), visit.person_name or translate_text("no person")
    time = describe_visit_time(visit.starts_at, visit.ends_at, visit.on, visit.time_zone)
    if operation == plan_visit.name:
        message = Message("{visit} planned: {person}, {time}.", visit=title, person=person, time=time)
    else:
        message = Message("{visit} changed: {person}, {time}.", visit=title, person=person, time=time)
    return PageFormat(request.display).render(message)
