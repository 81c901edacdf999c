"""What stands on the page of a job: its next step, its visits and hours, what it cost, and the ways to the customer."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from mainstay.business.costing.operations import get_job_costing
from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.customers.operations import get_customer
from mainstay.business.customers.places import get_site
from mainstay.business.hours.operations import list_hours, log_hours
from mainstay.business.hours.timers import start_timer
from mainstay.business.invoices.operations import draft_invoice
from mainstay.business.jobs.model import is_over, is_planned, is_to_be_billed, is_to_be_planned, moves, next_step
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.people.model import is_here
from mainstay.business.people.operations import get_person, list_people
from mainstay.business.schedule.model import is_done
from mainstay.business.schedule.operations import list_visits, plan_visit
from mainstay.doors.office.arrangement import Action, Arrangement
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.references import AsTold
from mainstay.doors.pages.showing import state_of
from mainstay.doors.pages.words import dialled
from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import NotFound
from mainstay.terms.rights import Right
from mainstay.values.words import folded

_SHORT = 6
# So many hours are added up where whoever looks is not told what they cost.
_ADDED_UP = 100


@dataclass(frozen=True)
class JobPage:
    """Gathers it, as far as whoever looks may see it."""

    desk: Desk
    of: Arrangement

    async def shown(self, guest: Guest, job: AsTold | None) -> dict[str, Any]:
        """What only a job's page has."""
        if job is None:
            return {}
        visits = await self._visits(guest, job)
        costing = await self._get(guest, get_job_costing, jobId=job["id"])
        return {
            "actions": self._actions(guest, job, visits["coming"], costing),
            "visits": visits,
            "worked": await self._hours(guest, job),
            "costing": costing,
            "costed": _by_state(costing) if costing else [],
            "callable": await self._callable(guest, job),
            "assigned": await self._assigned(guest, job),
            "may_bill": guest.may(list_unbilled),
        }

    def _actions(self, guest: Guest, job: AsTold, coming: list[AsTold], costing: AsTold | None) -> list[Action]:
        """What can be done, what is next first."""
        work = [] if is_over(job["status"]) else self._work(guest, job, costing)
        others = [*work, *self.of.actions(self.desk, job)]
        first = self._next(guest, job, coming, costing)
        return [first, *(one for one in others if one.path != first.path or one.plain)] if first else others

    def _next(self, guest: Guest, job: AsTold, coming: list[AsTold], costing: AsTold | None) -> Action | None:
        stage = job["stage"]
        if is_to_be_planned(stage) and guest.may(plan_visit):
            return Action("Plan a visit", _planning(job))
        if is_planned(stage) and coming:
            return Action("See the next visit", coming[0]["path"])
        # Where nothing was agreed and nothing worked or bought, there is nothing to bill.
        billable = job["billing"] == "fixed" or (costing and Decimal(costing["unbilled"]))
        if is_to_be_billed(stage) and billable and guest.may(draft_invoice):
            return Action("Draft the invoice", _billing(job, costing))
        step = next_step(stage, told=bool(job["nextAction"]))
        possible = change_job_status.name in job["availableActions"]
        if step is None or not possible or step.to not in moves(job["status"], guest.actor):
            return None
        return Action(step.words, self.of.path_to(change_job_status, job), plain=True, answers={"status": step.to})

    def _work(self, guest: Guest, job: AsTold, costing: AsTold | None) -> list[Action]:
        """What is planned and logged on a job."""
        offered = (
            (plan_visit, Action("Plan a visit", _planning(job))),
            (log_hours, Action("Log hours", f"/hours/new?{urlencode({'jobId': job['id']})}")),
            (draft_invoice, Action("Draft an invoice", _billing(job, costing))),
            (start_timer, Action("Start timer", "/hours/timer/start", plain=True, answers={"job": job["id"]})),
        )
        return [action for operation, action in offered if guest.may(operation)]

    async def _visits(self, guest: Guest, job: AsTold) -> dict[str, Any]:
        """Those to come, the next first; and those that were, the latest first."""
        if not guest.may(list_visits):
            return {"coming": [], "past": [], "all": None, "own": False}
        today = self.desk.today(guest)
        about = {"jobId": job["id"], "limit": _SHORT}
        coming = await self.desk.perform(guest, list_visits, {**about, "from": today.isoformat()})
        before = (today - timedelta(days=1)).isoformat()
        past = await self.desk.perform(guest, list_visits, {**about, "until": before, "order": "latest"})
        asked = urlencode({"jobId": job["id"], "order": "latest"})
        return {
            # What is not done yet comes first.
            "coming": sorted(map(_visit, coming["data"]), key=lambda one: is_done(one["status"])),
            "past": [_visit(one) for one in past["data"]],
            "own": Right.ALL_SCHEDULE_READ not in guest.actor.rights,
            "all": f"/schedule/visits?{asked}" if coming["hasMore"] or past["hasMore"] else None,
        }

    async def _hours(self, guest: Guest, job: AsTold) -> dict[str, Any] | None:
        """The last entries, and how much there is in each state, as far as it is told."""
        page = await self._get(guest, list_hours, jobId=job["id"], limit=_ADDED_UP)
        if page is None:
            return None
        minutes: dict[str, int] = {}
        for entry in page["data"]:
            minutes[entry["status"]] = minutes.get(entry["status"], 0) + (entry["minutes"] or 0)
        model = list_hours.output
        return {
            "entries": [{**one, "state": state_of(model, one["status"])} for one in page["data"][:_SHORT]],
            "sums": []
            if page["hasMore"]
            else [(state_of(model, name), sum_) for name, sum_ in minutes.items() if sum_],
            "all": f"/hours?{urlencode({'jobId': job['id']})}" if len(page["data"]) > _SHORT else None,
        }

    async def _callable(self, guest: Guest, job: AsTold) -> list[dict[str, str]]:
        """Whom one can call: whom one meets there, and the customer."""
        site = await self._get(guest, get_site, siteId=job["siteId"]) if job["siteId"] else None
        customer = await self._get(guest, get_customer, customerId=job["customerId"])
        found = [
            {"name": site["contactName"] or job["siteName"], "phone": site["contactPhone"]} if site else None,
            {"name": customer["name"], "phone": customer["phone"]} if customer else None,
        ]
        # Often they are the same, however the number is written.
        numbers = {dialled(one["phone"]): one for one in reversed(found) if one and one["phone"]}
        ways = list(numbers.values())[::-1]
        if len({one["name"] for one in ways}) < len(ways):
            return [{**one, "name": f"{one['name']}, {one['phone']}"} for one in ways]
        return ways

    async def _assigned(self, guest: Guest, job: AsTold) -> list[AsTold]:
        """Those who work on it."""
        if not job["assigned"] or not guest.may(list_people):
            return []
        found = [await self._get(guest, get_person, personId=identity) for identity in job["assigned"]]
        return sorted((one for one in found if one and is_here(one["status"])), key=lambda one: folded(one["name"]))

    async def _get(self, guest: Guest, operation: Operation, **given: object) -> AsTold | None:
        """What an operation tells, if whoever looks is told it."""
        if not guest.may(operation):
            return None
        try:
            return await self.desk.perform(guest, operation, given)
        except NotFound:
            return None


def _by_state(costing: AsTold) -> list[tuple[int, str]]:
    """How much was worked in each state, in words."""
    states = list_hours.output.states
    return [(one["minutes"], states[one["status"]].word.lower()) for one in costing["hours"]]


def _planning(job: Mapping[str, Any]) -> str:
    return f"/schedule/visits/plan?{urlencode({'jobId': job['id']})}"


def _billing(job: Mapping[str, Any], costing: AsTold | None) -> str:
    """Where an invoice for a job is drafted: of its quote if it has one, and of work that is not billed yet."""
    asked = {"jobId": job["id"]}
    if job.get("quoteId"):
        asked["quoteId"] = job["quoteId"]
    if costing and Decimal(costing["unbilled"]) and job["billing"] == "timeAndMaterials":
        asked["unbilled"] = "on"
    return f"/invoices/new?{urlencode(asked)}"


def _visit(visit: AsTold) -> AsTold:
    return {
        **visit,
        "path": f"/schedule/visits/{visit['id']}",
        "state": state_of(list_visits.output, visit["status"]),
    }
