"""What someone does first whose organisation is still empty."""

from typing import Any, NamedTuple

from mainstay.business.customers.operations import create_customer, list_customers
from mainstay.business.jobs.operations import create_job, list_jobs
from mainstay.business.organisation.settings import update_settings
from mainstay.business.people.operations import invite_person, list_people
from mainstay.doors.office.desk import Desk, Guest
from mainstay.kernel.operation import Operation


class _Step(NamedTuple):
    """One of the first steps: what does it, where, and how one sees that it is done."""

    words: str
    path: str
    does: Operation
    # What lists the outcome, and how many there are before the step is done.
    lists: Operation | None = None
    before: int = 0


_STEPS = (
    _Step("Add a customer, or bring them over from a file", "/customers/new", create_customer, list_customers),
    _Step("Create the first job", "/jobs/new", create_job, list_jobs),
    _Step("Invite the people you work with", "/people/invite", invite_person, list_people, before=1),
    _Step("Say when you work", "/settings/work-rules", update_settings),
)


async def first_steps(desk: Desk, guest: Guest) -> list[dict[str, Any]]:
    """The first steps, each with whether it is done; none where there is a job, or where they are another's to do."""
    if not guest.may(create_job) or await _count(desk, guest, list_jobs):
        return []
    return [
        {
            "words": step.words,
            "path": step.path,
            "done": step.lists is not None and await _count(desk, guest, step.lists) > step.before,
        }
        for step in _STEPS
        if guest.may(step.does)
    ]


async def _count(desk: Desk, guest: Guest, lists: Operation) -> int:
    return int((await desk.list(guest, lists, {"limit": 1}))["count"])
