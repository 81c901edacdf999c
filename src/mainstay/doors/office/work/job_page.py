"""The content of a job's page: its next step, visits, hours and costs, and the phone numbers for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from mainstay.business.costing.model import JobCostingOut
from mainstay.business.costing.operations import get_job_costing
from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.customers.operations import get_customer
from mainstay.business.customers.sites_and_contacts import get_site
from mainstay.business.hours.model import has_unknown_cost
from mainstay.business.hours.operations import list_hours, log_hours
from mainstay.business.hours.store import TIME_ENTRIES
from mainstay.business.hours.timers import start_timer
from mainstay.business.invoices.drafting.operations import draft_invoice, list_invoices
from mainstay.business.invoices.store import INVOICES
from mainstay.business.jobs.model import (
    JobOut,
    has_planned_visit,
    has_to_be_billed,
    has_to_be_planned,
    is_over,
    next_job_step,
    settable_statuses,
)
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.people.model import PersonOut, has_not_left
from mainstay.business.people.operations import get_person, list_people
from mainstay.business.schedule.model import VisitOut, is_visit_done
from mainstay.business.schedule.operations import list_visits, plan_visit
from mainstay.business.schedule.store import VISITS
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import Action, RecordLayout, mark_next_step
from mainstay.doors.office.work.job_diary import JobDiary
from mainstay.doors.office.work.quick_visits import plan_visit_action
from mainstay.doors.pages.display import state_of
from mainstay.doors.pages.formatting import format_visit_date, to_phone_digits
from mainstay.doors.pages.message_format import PageFormat
from mainstay.kernel.operation import OperationReturning
from mainstay.values.choices import fold_text
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import NotFound

_SHORT_LIST = 6
# The most entries that are added up if the viewer may not see the job's costs.
_MAX_ADDED_UP = 100
A = TypeVar("A")


class _PhoneContact(NamedTuple):
    """Someone to call about a job."""

    name: str
    phone: str


@dataclass(frozen=True)
class JobPageVariables:
    """Collects what the viewer may see of a job."""

    office: OfficePages
    layout: RecordLayout

    async def collect(self, request: OfficeRequest, job: JobOut | None) -> dict[str, Any]:
        """Return what only a job's page has."""
        if job is None:
            return {}
        visits = await self._visit_variables(request, job)
        worked = await self._hours_variables(request, job)
        costing = await self._get_if_permitted(request, get_job_costing, jobId=job.id)
        return {
            "actions": self._list_actions(request, job, visits["coming"], costing),
            "next_text": _next_visit_text(request, job, visits["coming"]),
            "visits": visits,
            "diary": await JobDiary(self.office).build(request, job, self.layout.path_of(job.id)),
            "worked": worked,
            "costing": costing,
            "costed": _minutes_by_state(costing) if costing else [],
            "missing": await self._find_missing_costs(request, job, costing) if costing else None,
            "owed": await self._find_owed(request, job) if costing else None,
            "callable": await self._phone_contacts(request, job),
            **self._work_links(request, job, visits, worked),
            "assigned": await self._assigned_people(request, job),
            "can_bill": request.can_perform(list_unbilled),
        }

    def _list_actions(
        self, request: OfficeRequest, job: JobOut, coming: Sequence[VisitOut], costing: JobCostingOut | None
    ) -> list[Action]:
        """Return the buttons, the next step first."""
        work = [] if is_over(job.status) else self._work_actions(request, job, costing)
        others = [*work, *self.layout.actions_of(self.office, job)]
        first = self._next_action(request, job, coming, costing)
        if first is None:
            return others
        return mark_next_step([first, *(one for one in others if one.path != first.path or one.is_direct)])

    def _next_action(
        self, request: OfficeRequest, job: JobOut, coming: Sequence[VisitOut], costing: JobCostingOut | None
    ) -> Action | None:
        stage = job.stage
        if stage is None:
            return None
        if has_to_be_planned(stage) and request.can_perform(plan_visit):
            return plan_visit_action(job)
        if has_planned_visit(stage) and coming:
            return Action("Open visit", VISITS.path_of(coming[0].id))
        unbilled = Decimal(costing.unbilled) if costing else Decimal()
        if has_to_be_billed(stage, job.billing, unbilled) and request.can_perform(draft_invoice):
            return Action("Create invoice", draft_invoice_path(job, costing))
        step = next_job_step(stage, sees_office_stages=bool(job.next_action))
        possible = change_job_status.name in job.available_actions
        if step is None or not possible or step.status not in settable_statuses(job.status, request.actor):
            return None
        return Action(
            step.label,
            self.layout.operation_path(change_job_status, job),
            is_direct=True,
            answers={"status": step.status},
        )

    def _work_actions(self, request: OfficeRequest, job: JobOut, costing: JobCostingOut | None) -> list[Action]:
        """Return the buttons to plan, log and bill work on a job."""
        choices = (
            (plan_visit, plan_visit_action(job)),
            (log_hours, Action("Log hours", _log_hours_path(job))),
            (draft_invoice, Action("Create invoice", draft_invoice_path(job, costing))),
            (
                start_timer,
                Action("Start timer", f"{TIME_ENTRIES.path}/timer/start", is_direct=True, answers={"job": job.id}),
            ),
        )
        return [action for operation, action in choices if request.can_perform(operation)]

    def _work_links(
        self, request: OfficeRequest, job: JobOut, visits: Mapping[str, Any], worked: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Return the links to plan a visit and to log hours: beside their lists, or in the row of what can be added."""
        plan, log = plan_visit_action(job)._replace(label="Visit"), Action("Hours", _log_hours_path(job))
        can_plan, can_log = (request.can_perform(one) and not is_over(job.status) for one in (plan_visit, log_hours))
        has_visits, has_hours = bool(visits["coming"] or visits["past"]), bool(worked and worked["entries"])
        return {
            "plans": plan.path if can_plan else None,
            "logs": log.path if can_log else None,
            "chips": [*([plan] if can_plan and not has_visits else []), *([log] if can_log and not has_hours else [])],
        }

    async def _visit_variables(self, request: OfficeRequest, job: JobOut) -> dict[str, Any]:
        """Return the visits to come, the next first, and past visits, the latest first."""
        if not request.can_perform(list_visits):
            return {"coming": [], "past": [], "states": {}, "all": None, "own": False}
        today = self.office.today(request)
        query = {"jobId": job.id, "limit": _SHORT_LIST}
        coming = await self.office.perform(request, list_visits, {**query, "from": today.isoformat()})
        before = (today - timedelta(days=1)).isoformat()
        past = await self.office.perform(request, list_visits, {**query, "until": before, "order": "latest"})
        list_query = urlencode({"jobId": job.id, "order": "latest"})
        return {
            # Visits that are not done yet come first.
            "coming": sorted(coming.data, key=lambda one: is_visit_done(one.status)),
            "past": past.data,
            "states": list_visits.output.states,
            "own": Permission.ALL_SCHEDULE_READ not in request.actor.permissions,
            "all": f"{VISITS.path}?{list_query}" if coming.has_more or past.has_more else None,
        }

    async def _hours_variables(self, request: OfficeRequest, job: JobOut) -> dict[str, Any] | None:
        """Return the last entries, and the minutes in each state if there are not too many entries to add up."""
        page = await self._get_if_permitted(request, list_hours, jobId=job.id, limit=_MAX_ADDED_UP)
        if page is None:
            return None
        minutes: dict[str, int] = {}
        for entry in page.data:
            minutes[entry.status] = minutes.get(entry.status, 0) + (entry.minutes or 0)
        model = list_hours.output
        return {
            "entries": [{**vars(one), "state": state_of(model, one.status)} for one in page.data[:_SHORT_LIST]],
            "sums": [] if page.has_more else [(state_of(model, name), sum_) for name, sum_ in minutes.items() if sum_],
            "all": f"{TIME_ENTRIES.path}?{urlencode({'jobId': job.id})}" if len(page.data) > _SHORT_LIST else None,
        }

    async def _find_missing_costs(
        self, request: OfficeRequest, job: JobOut, costing: JobCostingOut
    ) -> dict[str, Any] | None:
        """Return what the margin is at most, and whose hours and how many lines have no cost. None if all have one."""
        if costing.margin is None or not costing.uncosted:
            return None
        entries = await self._get_if_permitted(request, list_hours, jobId=job.id, limit=_MAX_ADDED_UP)
        uncosted = [one for one in entries.data if has_unknown_cost(one)] if entries else []
        return {
            "limit": str(Decimal(costing.margin) + Decimal(costing.uncosted_revenue)),
            "people": [*{one.person_id: one.person_name for one in uncosted}.items()],
            "lines": max(costing.uncosted - len(uncosted), 0),
        }

    async def _find_owed(self, request: OfficeRequest, job: JobOut) -> str | None:
        """Return what the customer still owes on the job's invoices, if there is something."""
        page = await self._get_if_permitted(request, list_invoices, jobId=job.id, status="unpaid", totals=True, limit=1)
        due = page.totals.due if page and page.totals else None
        return due if due and Decimal(due) else None

    async def _phone_contacts(self, request: OfficeRequest, job: JobOut) -> list[_PhoneContact]:
        """Return the phone numbers of the site's contact and of the customer."""
        site = await self._get_if_permitted(request, get_site, siteId=job.site_id) if job.site_id else None
        customer = await self._get_if_permitted(request, get_customer, customerId=job.customer_id)
        contacts = [
            _PhoneContact(site.contact_name or job.site_name or "", site.contact_phone or "") if site else None,
            _PhoneContact(customer.name, customer.phone or "") if customer else None,
        ]
        # Often both are the same number, written differently.
        numbers = {to_phone_digits(one.phone): one for one in reversed(contacts) if one and one.phone}
        phones = list(numbers.values())[::-1]
        if len({one.name for one in phones}) < len(phones):
            return [one._replace(name=f"{one.name}, {one.phone}") for one in phones]
        return phones

    async def _assigned_people(self, request: OfficeRequest, job: JobOut) -> list[PersonOut]:
        """Return the people who are assigned to the job."""
        if not job.assigned or not request.can_perform(list_people):
            return []
        people = [await self._get_if_permitted(request, get_person, personId=record_id) for record_id in job.assigned]
        return sorted([one for one in people if one and has_not_left(one.status)], key=lambda one: fold_text(one.name))

    async def _get_if_permitted(
        self, request: OfficeRequest, operation: OperationReturning[A], **given: object
    ) -> A | None:
        """Return the answer of an operation, or None if the viewer may not perform it or not see the record."""
        if not request.can_perform(operation):
            return None
        try:
            return await self.office.perform(request, operation, given)
        except NotFound:
            return None


def _next_visit_text(request: OfficeRequest, job: JobOut, coming: Sequence[VisitOut]) -> str | None:
    """Return when the next visit of a job is, if doing that visit is its next step."""
    if not coming or job.stage is None or not has_planned_visit(job.stage):
        return None
    message = Message("visit on {time}", time=format_visit_date(coming[0], request.time_zone))
    return PageFormat(request.display).render(message)


def _minutes_by_state(costing: JobCostingOut) -> list[tuple[int, str]]:
    """Return the minutes in each state, with its label."""
    states = list_hours.output.states
    return [(one.minutes, states[one.status].label) for one in costing.hours]


def _log_hours_path(job: JobOut) -> str:
    return f"{TIME_ENTRIES.new_path}?{urlencode({'jobId': job.id})}"


def draft_invoice_path(job: JobOut, costing: JobCostingOut | None) -> str:
    """Return the address that drafts an invoice for a job, from its quote if it has one, and from unbilled work."""
    query = {"jobId": job.id}
    if job.quote_id:
        query["quoteId"] = job.quote_id
    if costing and Decimal(costing.unbilled) and job.billing == "timeAndMaterials":
        query["unbilled"] = "on"
    return f"{INVOICES.new_path}?{urlencode(query)}"
