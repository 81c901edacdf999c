"""The running timer of a person, for pages."""

from datetime import timedelta

from mainstay.business.hours.model import TimeEntryOut
from mainstay.business.hours.operations import list_hours
from mainstay.business.hours.store import TIME_ENTRIES
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.values.moments import parse_moment
from mainstay.vocabulary.typed_records import extend_record

# The address that stops a timer.
STOP_PATH = f"{TIME_ENTRIES.path}/timer/stop"


class RunningTimer(TimeEntryOut):
    """The time entry of a running timer, with the minutes passed."""

    passed: int


async def find_running_timer(office: OfficePages, request: OfficeRequest, person_id: str) -> RunningTimer | None:
    """Return the time entry of a person's running timer with the minutes passed, or None."""
    timers = await office.perform(request, list_hours, {"personId": person_id, "status": "running", "limit": 1})
    if not timers.data:
        return None
    [entry] = timers.data
    passed = office.visitors.performer.clock() - parse_moment(entry.started_at or "")
    return extend_record(RunningTimer, entry, passed=max(passed // timedelta(minutes=1), 0))
