"""Time off: its list, its pages and its forms."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from mainstay.business.schedule.leave import cancel_time_off, decide_time_off, request_time_off
from mainstay.business.schedule.model import TimeOffOut, is_undecided
from mainstay.business.schedule.planning import plan_schedule
from mainstay.business.schedule.store import TIME_OFF
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import RecordLayout, SelectionAction
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.work.visit_planning import PLANNING_PATH
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import format_date, format_date_range, format_moment, join_isolated
from mainstay.doors.pages.page_language import translate_label
from mainstay.values.choices import to_label
from mainstay.values.message import Message


def _format_leave_period(leave: TimeOffOut) -> str:
    return format_date_range(leave.from_, leave.until) if leave.from_ and leave.until else ""


def _format_leave_start(leave: TimeOffOut, zone: str) -> str:
    return format_date(leave.from_) if leave.from_ else format_moment(leave.starts_at, zone)


def _format_leave_end(leave: TimeOffOut, zone: str) -> str:
    """Format the end of time off. For whole days, that is the last day, not the moment when the next one begins."""
    return format_date(leave.until) if leave.until else format_moment(leave.ends_at, zone)


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
class TimeOffPages:
    """The pages of time off."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return RecordPages(self.office, TIME_OFF_LAYOUT, add_variables=self._page_variables).routes()

    async def _page_variables(self, request: OfficeRequest, leave: TimeOffOut | None) -> dict[str, Any]:
        """Return the buttons of time off. While it waits for a decision, that button comes first."""
        if leave is None:
            return {}
        is_waiting = is_undecided(leave.status)
        decide_path = TIME_OFF_LAYOUT.operation_path(decide_time_off, leave)
        actions = [
            action if action.path == decide_path else action._replace(label=to_label(cancel_time_off.name))
            for action in TIME_OFF_LAYOUT.actions_of(self.office, leave)
        ]
        move_path = f"{PLANNING_PATH}?{urlencode({'timeOffId': leave.id})}"
        return {
            "actions": sorted(actions, key=lambda action: (action.path == decide_path) != is_waiting),
            "move_visits_path": move_path if request.can_perform(plan_schedule) else None,
        }
