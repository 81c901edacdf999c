"""The running timer of a person, for pages."""

from datetime import timedelta
from typing import Any

from mainstay.business.hours.operations import list_hours
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.values.moments import parse_moment

# The address that stops a timer.
STOP_PATH = "/hours/timer/stop"


async def find_running_timer(office: OfficePages, request: OfficeRequest, person_id: str) -> dict[str, Any] | None:
    """Return the time entry of a person's running timer with the minutes passed, or None."""
    timers = await office.perform(request, list_hours, {"personId": person_id, "status": "running", "limit": 1})
    if not timers["data"]:
        return None
    entry: dict[str, Any] = timers["data"][0]
    passed = office.visitors.performer.clock() - parse_moment(entry["startedAt"])
    return entry | {"passed": max(passed // timedelta(minutes=1), 0)}
