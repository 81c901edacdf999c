"""What someone does first whose organisation is still empty, and what is missing before the first invoice."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from mainstay.business.customers.operations import create_customer, list_customers
from mainstay.business.importing.model import KINDS
from mainstay.business.jobs.operations import create_job, list_jobs
from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.business.organisation.settings import get_settings, update_settings
from mainstay.business.people.operations import invite_person, list_people
from mainstay.business.pricelist.taxes import list_tax_rates, save_tax_rate
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.importing import PATH as IMPORT
from mainstay.kernel.operation import Operation


class _Way(NamedTuple):
    """Another way to do the same, for those who may go it."""

    words: str
    path: str
    does: Operation


class _Step(NamedTuple):
    """One of the first steps: what does it, where, how one sees that it is done, and in which other way one does it."""

    words: str
    path: str
    does: Operation
    is_done: Callable[[Desk, Guest], Awaitable[bool]]
    other_way: _Way | None = None


async def first_steps(desk: Desk, guest: Guest) -> list[dict[str, Any]]:
    """The first steps, each with whether it is done; none where there is a job, or where they are another's to do."""
    if not guest.may(create_job) or await _is_there(list_jobs)(desk, guest):
        return []
    return await _told(desk, guest, (*_BEGINNING, *_INVOICING))


async def before_invoicing(desk: Desk, guest: Guest) -> list[dict[str, Any]]:
    """What is to be said before the first invoice; none where all is said, or once one has decided on its number."""
    if not guest.may(update_settings):
        return []
    settings = await desk.perform(guest, get_settings)
    if settings["invoiceNumbers"]["next"] > 1:
        return []
    steps = await _told(desk, guest, _INVOICING)
    return steps if not all(step["done"] for step in steps) else []


async def _told(desk: Desk, guest: Guest, steps: tuple[_Step, ...]) -> list[dict[str, Any]]:
    return [
        {
            "words": step.words,
            "path": step.path,
            "done": await step.is_done(desk, guest),
            "other_way": step.other_way if step.other_way and guest.may(step.other_way.does) else None,
        }
        for step in steps
        if guest.may(step.does)
    ]


def _is_there(lists: Operation, before: int = 0) -> Callable[[Desk, Guest], Awaitable[bool]]:
    """Whether there are more than so many of what is listed."""

    async def look(desk: Desk, guest: Guest) -> bool:
        return len((await desk.perform(guest, lists, {"limit": before + 1}))["data"]) > before

    return look


async def _is_paid_somewhere(desk: Desk, guest: Guest) -> bool:
    return (await desk.perform(guest, get_organisation))["bank"] is not None


async def _never(_desk: Desk, _guest: Guest) -> bool:
    """What has an answer from the beginning, which one looks at nevertheless."""
    return False


_BEGINNING = (
    _Step(
        "Add a customer",
        "/customers/new",
        create_customer,
        _is_there(list_customers),
        _Way("bring them over from a file", IMPORT, KINDS["customers"].makes),
    ),
    _Step("Create the first job", "/jobs/new", create_job, _is_there(list_jobs)),
    _Step("Invite the people you work with", "/people/invite", invite_person, _is_there(list_people, before=1)),
    _Step("Say when you work", "/settings/work-rules", update_settings, _never),
)
_INVOICING = (
    _Step("Say where customers pay you", "/settings/documents/edit", update_organisation, _is_paid_somewhere),
    _Step("Add the taxes that you charge", "/settings/taxes/new", save_tax_rate, _is_there(list_tax_rates)),
)
