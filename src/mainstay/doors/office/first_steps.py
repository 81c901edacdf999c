"""First steps for an empty organisation, and what is missing before the first invoice."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from mainstay.business.customers.operations import create_customer, list_customers
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.jobs.operations import create_job, list_jobs
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.logo import set_logo
from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.business.organisation.settings import SETTINGS, get_settings, update_settings
from mainstay.business.people.operations import invite_person, list_people
from mainstay.business.people.store import PEOPLE
from mainstay.business.pricelist.operations import list_price_items, save_price_item
from mainstay.business.pricelist.store import ITEMS
from mainstay.business.pricelist.taxes import list_tax_rates, save_tax_rate
from mainstay.doors.office.first_run import COUNTRY_PATH, PRICES_PATH
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.settings.importing import import_path_of
from mainstay.kernel.operation import Operation


class _Alternative(NamedTuple):
    """An alternative way to do a step, and the operation that must be permitted for it."""

    words: str
    path: str
    operation: Operation


class _Step(NamedTuple):
    """One of the first steps: its operation, its page, how to tell that it is done, and an alternative."""

    words: str
    path: str
    operation: Operation
    is_done: Callable[[OfficePages, OfficeRequest], Awaitable[bool]]
    other_way: _Alternative | None = None


async def list_first_steps(office: OfficePages, request: OfficeRequest) -> list[dict[str, Any]]:
    """Return the first steps, each with whether it is done.

    The list is empty if there is a job already, or if the viewer may not create jobs.
    """
    if not request.can_perform(create_job) or await _make_list_check(list_jobs)(office, request):
        return []
    return await _describe_steps(office, request, _STARTING_STEPS)


async def list_invoicing_steps(office: OfficePages, request: OfficeRequest) -> list[dict[str, Any]]:
    """Return the steps to take before the first invoice.

    The list is empty if all of them are done, or if the next invoice number is no longer 1.
    """
    if not request.can_perform(update_settings):
        return []
    settings = await office.perform(request, get_settings)
    if (settings.invoice_numbers.next or 1) > 1:
        return []
    steps = await _describe_steps(office, request, _INVOICING_STEPS)
    return steps if not all(step["done"] for step in steps) else []


async def _describe_steps(
    office: OfficePages, request: OfficeRequest, steps: tuple[_Step, ...]
) -> list[dict[str, Any]]:
    return [
        {
            "words": step.words,
            "path": step.path,
            "done": await step.is_done(office, request),
            "other_way": step.other_way if step.other_way and request.can_perform(step.other_way.operation) else None,
        }
        for step in steps
        if request.can_perform(step.operation)
    ]


def _make_list_check(
    list_operation: Operation, minimum: int = 0
) -> Callable[[OfficePages, OfficeRequest], Awaitable[bool]]:
    """Return a check that a list has more than `minimum` records."""

    async def look(office: OfficePages, request: OfficeRequest) -> bool:
        return len((await office.perform(request, list_operation, {"limit": minimum + 1})).data) > minimum

    return look


async def _has_bank_account(office: OfficePages, request: OfficeRequest) -> bool:
    return (await office.perform(request, get_organisation)).bank is not None


async def _never_done(_office: OfficePages, _request: OfficeRequest) -> bool:
    """Return False, for a step whose defaults should be looked at in any case."""
    return False


async def _has_logo(_office: OfficePages, request: OfficeRequest) -> bool:
    return bool(request.visitor.membership and request.visitor.membership.logo)


_TAX_STEP = _Step("Set tax rates and payment terms", COUNTRY_PATH, save_tax_rate, _make_list_check(list_tax_rates))
_BANK_STEP = _Step("Add bank details", "/settings/documents/edit", update_organisation, _has_bank_account)
_STARTING_STEPS = (
    _TAX_STEP,
    _Step("Add your logo", "/settings/set-logo", set_logo, _has_logo),
    _Step(
        "Start your price list",
        PRICES_PATH,
        save_price_item,
        _make_list_check(list_price_items),
        _Alternative("Import from a file", import_path_of(ITEMS), create_customer),
    ),
    _Step(
        "Add a customer",
        CUSTOMERS.new_path,
        create_customer,
        _make_list_check(list_customers),
        _Alternative("Import from a file", import_path_of(CUSTOMERS), create_customer),
    ),
    _Step("Create your first job", JOBS.new_path, create_job, _make_list_check(list_jobs)),
    _Step("Invite your team", PEOPLE.new_path, invite_person, _make_list_check(list_people, minimum=1)),
    _Step("Set working hours", SETTINGS.path, update_settings, _never_done),
    _BANK_STEP,
)
_INVOICING_STEPS = (_BANK_STEP, _TAX_STEP)
