"""Edit several visits at once: type in rows, check a preview, then perform all changes or none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from mainstay.business.people.operations import list_people
from mainstay.business.schedule.leave import get_time_off
from mainstay.business.schedule.model import TimeOffOut
from mainstay.business.schedule.operations import list_visits, move_visit
from mainstay.business.schedule.planning import plan_schedule
from mainstay.business.schedule.store import TIME_OFF
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, Preview
from mainstay.doors.office.work.schedule_days import parse_date
from mainstay.doors.office.work.visit_rows import (
    NOBODY,
    VisitRow,
    add_faults,
    build_rows,
    hand_over_visits,
    has_lost_changes,
    read_visit_changes,
    swap_people,
)
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_text
from mainstay.doors.pages.rendering import redirect
from mainstay.kernel.catalogue import check_permission
from mainstay.values.ids import is_id
from mainstay.values.message import Message, message_of
from mainstay.vocabulary.refusal import Conflict, Invalid

PLANNING_PATH = "/schedule/change"
# The key of the notice that the schedule shows after a change.
NOTICE_KEY = "schedule"
# The most rows in the form, and the most people to choose from.
_MAX_ROWS, _MAX_PEOPLE = 100, 100
_A_WEEK = timedelta(days=6)
# The problems by which visits can be filtered, each with the text of the page.
PROBLEM_FILTERS = {
    "onLeave": Message("Upcoming visits of people who are off."),
    "unassigned": Message("Upcoming visits without a person."),
}
_NO_CHANGES = Message("No changes yet. Choose another person, date or time for a visit, or cancel it.")
_VISITS_GONE = Message(
    "Someone else moved or cancelled a visit that you changed, so nothing was saved. The current visits are shown "
    "below."
)


@dataclass(frozen=True)
class _VisitFilter:
    """The filter of the address that selects the visits."""

    from_: str
    until: str
    person: str
    # The time off whose visits are to be moved, or another problem, on any date.
    leave: str
    matter: str

    @property
    def list_query(self) -> dict[str, object]:
        """The filter as input of the list of visits."""
        if self.matter:
            return {self.matter: True}
        person = {"personId": self.person} if self.person else {}
        return {"from": self.from_, "until": self.until, **person}


@dataclass(frozen=True)
class _Sheet:
    """The selected visits as rows."""

    visit_filter: _VisitFilter
    leave: TimeOffOut | None
    rows: Sequence[VisitRow]
    # Whether there are more visits than rows.
    has_more: bool

    @property
    def return_path(self) -> str:
        """The page to return to after the change: the time off, or the week of the first changed visit."""
        done = {"done": plan_schedule.name}
        if self.leave:
            return f"{TIME_OFF.path_of(self.leave.id)}?{urlencode(done)}"
        # A visit that is called off stays on its day, whatever else was typed.
        days = (row.current.day if row.typed.off else row.typed.day for row in self.rows if row.changed)
        return f"/schedule?{urlencode({'view': 'week', 'on': min(days), **done})}"


@dataclass(frozen=True)
class VisitPlanningPages:
    """The page to change several visits."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of this page."""
        return Form(self.office, self._check_access, self._send, self._render_form).routes(PLANNING_PATH)

    async def _check_access(self, request: OfficeRequest, _: PathValues) -> None:
        check_permission(plan_schedule, request.actor)

    async def _send(self, form: OpenForm[None]) -> Response:
        """Fill in the marked rows, show a preview of all changes, or perform them."""
        request, fields = form.request, form.fields
        sheet, is_complete = await self._read_sheet(request, fields)
        if not is_complete:
            raise Conflict(_VISITS_GONE)
        if form.button in _FORM_BUTTONS:
            try:
                filled_rows = _FORM_BUTTONS[form.button](sheet.rows, fields)
            except ValueError as error:
                raise Invalid([], PageFormat(request.display).render(message_of(error))) from None
            return await self._render_sheet(form, replace(sheet, rows=filled_rows))
        return await self._preview_or_perform(form, sheet)

    async def _preview_or_perform(self, form: OpenForm[None], sheet: _Sheet) -> Response:
        """Show the preview of the changes, or perform them if they are confirmed."""
        request = form.request
        changes, rows = read_visit_changes(sheet.rows)
        if not changes:
            raise Invalid([], PageFormat(request.display).render(_NO_CHANGES))
        if any(row.faults for row in rows):
            return await self._render_sheet(form, replace(sheet, rows=rows), 422)
        try:
            answer = await self.office.preview_or_perform(request, plan_schedule, {"changes": changes}, form.fields)
        except Invalid as invalid:
            rows = add_faults(rows, {fault.field: fault.problem for fault in invalid.faults})
            problem = None if any(row.faults for row in rows) else invalid.text
            return await self._render_sheet(form, replace(sheet, rows=rows), 422, problem=problem)
        if not isinstance(answer, Preview):
            notice = {"notice": f"{plan_schedule.done_message} {answer.summary}"}
            notice_key = sheet.leave.id if sheet.leave else NOTICE_KEY
            return redirect(
                sheet.return_path, [self.office.one_time_secrets.build_cookie(request.visitor, notice_key, notice)]
            )
        if answer.blockers:
            return await self._render_sheet(form, sheet, 409, blockers=answer.blockers)
        fields = {name: text for row in rows if row.changed for name, text in row.to_fields().items()}
        return self.office.render_page(
            "planned.html", request, answer.status, area="Schedule", preview=answer, fields=fields
        )

    async def _render_form(self, form: OpenForm[None]) -> Response:
        """Show the selected visits, each with its person and time as typed."""
        sheet, _is_complete = await self._read_sheet(form.request, form.fields)
        problem = form.refusal.text if form.refusal else None
        return await self._render_sheet(form, sheet, form.status, problem=problem, notice=form.notice)

    async def _render_sheet(self, form: OpenForm[None], sheet: _Sheet, status: int = 200, **variables: Any) -> Response:
        request, variables = form.request, {"blockers": (), **variables}
        page = await self.office.perform(request, list_people, {"limit": _MAX_PEOPLE, "order": "name"})
        return self.office.render_page(
            "planning.html",
            request,
            status,
            area="Schedule",
            visit_filter=sheet.visit_filter,
            leave=sheet.leave,
            matter=PROBLEM_FILTERS.get(sheet.visit_filter.matter),
            rows=sheet.rows,
            more=sheet.has_more,
            most=_MAX_ROWS,
            people=[(person.id, person.name) for person in page.data],
            nobody=(NOBODY, translate_text("Unassigned")),
            **variables,
        )

    async def _read_sheet(self, request: OfficeRequest, fields: Mapping[str, str]) -> tuple[_Sheet, bool]:
        """Return the visits that can be changed, as typed, and whether nothing was typed for other visits."""
        visit_filter, leave, visit_ids = self._read_filter(request), None, None
        days = {name: request.display.parse_date(text) for name, text in fields.items() if name.endswith(".day")}
        list_query = visit_filter.list_query
        if visit_filter.leave:
            leave = await self.office.perform(request, get_time_off, {"timeOffId": visit_filter.leave})
            visit_ids = {one.visit_id for one in leave.collisions or ()}
            list_query = {"personId": leave.person_id, **_dates_around(leave)}
        page = await self.office.list_records(request, list_visits, {**list_query, "limit": _MAX_ROWS})
        visits = [
            visit
            for visit in page.data
            if move_visit.name in visit.available_actions and (visit_ids is None or visit.id in visit_ids)
        ]
        return _Sheet(visit_filter, leave, build_rows(visits, {**fields, **days}), page.has_more), not has_lost_changes(
            visits, {**fields, **days}
        )

    def _read_filter(self, request: OfficeRequest) -> _VisitFilter:
        query = query_parameters(request.http_request)
        first = parse_date(request.display.parse_date(query.get("from", ""))) or self.office.today(request)
        last = parse_date(request.display.parse_date(query.get("until", ""))) or first + _A_WEEK
        person, leave = query.get("personId", ""), query.get("timeOffId", "")
        return _VisitFilter(
            first.isoformat(),
            max(first, last).isoformat(),
            person if is_id(person, "person") else "",
            leave if is_id(leave, "leave") else "",
            next((name for name in PROBLEM_FILTERS if query.get(name)), ""),
        )


# The buttons that fill in the form, and the one that only shows it again.
_FORM_BUTTONS: Mapping[str, Callable[[Sequence[VisitRow], Mapping[str, str]], Sequence[VisitRow]]] = {
    "hand over": lambda rows, fields: hand_over_visits(rows, fields.get("to", ""), fields.get("by", "")),
    "swap": lambda rows, _: swap_people(rows),
    "again": lambda rows, _: rows,
}


def _dates_around(leave: TimeOffOut) -> dict[str, str]:
    """Return the dates of time off and one day on each side, so that they suffice in every time zone."""
    first, last = (date.fromisoformat(moment[:10]) for moment in (leave.starts_at, leave.ends_at))
    one_day = timedelta(days=1)
    return {"from": (first - one_day).isoformat(), "until": (last + one_day).isoformat()}
