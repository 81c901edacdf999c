"""The timer that runs for someone, as pages tell it."""

from datetime import timedelta
from typing import Any

from mainstay.business.hours.operations import list_hours
from mainstay.doors.office.desk import Desk, Guest
from mainstay.values.moments import parse_moment

# Where a timer is stopped.
STOP = "/hours/timer/stop"


async def running_timer(desk: Desk, guest: Guest, person: str) -> dict[str, Any] | None:
    """The hours that someone works on now, with the minutes that have passed; None where no timer runs."""
    found = await desk.perform(guest, list_hours, {"personId": person, "status": "running", "limit": 1})
    if not found["data"]:
        return None
    entry: dict[str, Any] = found["data"][0]
    passed = desk.visitors.stage.clock() - parse_moment(entry["startedAt"])
    return entry | {"passed": max(passed // timedelta(minutes=1), 0)}
