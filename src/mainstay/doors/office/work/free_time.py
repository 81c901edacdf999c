"""The search for free time: who is free, and when."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from mainstay.business.schedule.free_time import FreeTimeOut, LeaveThen, Slot, find_free_time
from mainstay.business.schedule.store import VISITS
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, refusal_variables, status_of
from mainstay.doors.office.kit.reference_fields import ReferenceFields
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import default_values, form_fields_of, join_times, to_operation_input
from mainstay.doors.pages.formatting import format_date_range, format_long_date, format_moment, join_isolated
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.page_language import translate_label
from mainstay.kernel.catalogue import check_permission
from mainstay.values.wall_times import wall_time_text
from mainstay.vocabulary.refusal import Refusal


@dataclass(frozen=True)
class FreeTimePages:
    """The page that searches for free time."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of this page."""
        return [Route("GET", "/schedule/free", self.office.require_sign_in(self.show))]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show who is free, and when, for the fields in the address."""
        check_permission(find_free_time, request.actor)
        form_fields = [
            field for field in form_fields_of(find_free_time, request.actor.permissions) if field.name != "limit"
        ]
        query = join_times(form_fields, query_parameters(request.http_request))
        form_fields, fields = await ReferenceFields(self.office).add_choices(
            request, form_fields, default_values(form_fields) | query, None
        )
        found: FreeTimeOut | None = None
        refusal: Refusal | None = None
        variables: dict[str, Any] = {}
        if query:
            try:
                resolved = await ReferenceFields(self.office).resolve_ids(request, form_fields, fields)
                search_input = {
                    name: value
                    for name, value in to_operation_input(form_fields, resolved, request.display).items()
                    if value
                }
                found = await self.office.perform(request, find_free_time, search_input)
                variables = {
                    "days": _group_slots(found, search_input),
                    "on_leave": _describe_leave(found, request.time_zone),
                }
            except Refusal as error:
                refusal = error
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


def _group_slots(found: FreeTimeOut, search_input: Mapping[str, object]) -> list[dict[str, Any]]:
    """Group free slots by date and person. People stay in the order of the search."""
    by_day: dict[str, dict[str, dict[str, Any]]] = {}
    for slot in found.slots:
        day = wall_time_text(slot.starts_at, found.time_zone)[:10]
        person = by_day.setdefault(day, {}).setdefault(slot.person_id, {"name": slot.person_name, "slots": []})
        person["reasons"] = slot.reasons
        person["slots"].append({**vars(slot), "plan": _plan_visit_path(slot, search_input, found.time_zone)})
    return [
        {"label": format_long_date(date.fromisoformat(day)), "people": [*people.values()]}
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


def _plan_visit_path(slot: Slot, search_input: Mapping[str, object], zone: str) -> str:
    """Return the address of the form to plan a visit, filled in with a free slot."""
    fields = {
        "startsAt": wall_time_text(slot.starts_at, zone),
        "durationMinutes": search_input.get("durationMinutes", 60),
    }
    fields |= {f"personIds {slot.person_id}": "on", "timeZone": zone}
    if search_input.get("jobId"):
        fields["jobId"] = search_input["jobId"]
    return f"{VISITS.path}/plan?{urlencode(fields)}"
