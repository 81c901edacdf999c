"""Hours that wait for approval: all entries of one person and week on one page."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from mainstay.business.costing.operations import get_job_costing
from mainstay.business.hours.approval import review_hours
from mainstay.business.hours.inputs import MAX_ENTRIES_AT_ONCE
from mainstay.business.hours.model import STATUS_AFTER, TO_REVIEW, ReviewDecision, TimeEntryOut, is_unusually_long
from mainstay.business.hours.operations import list_hours
from mainstay.business.hours.store import TIME_ENTRIES
from mainstay.business.invoices.drafting.operations import draft_invoice
from mainstay.business.jobs.model import has_to_be_billed
from mainstay.business.jobs.operations import get_job
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, parse_version
from mainstay.doors.office.work.hours_week import DAYS, monday_of
from mainstay.doors.office.work.job_page import draft_invoice_path
from mainstay.doors.pages.display import DisplaySettings, state_of
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_text
from mainstay.doors.pages.rendering import redirect
from mainstay.values.message import Choice, Message
from mainstay.vocabulary.refusal import Forbidden, Invalid, NotFound, Refusal, Stale

_PAGE_SIZE = 100
# The most waiting entries that are read for the queue. There may be more.
_MAX_QUEUED_ENTRIES = 1000
_PATH = f"{TIME_ENTRIES.path}/approve"
_APPROVE: ReviewDecision = "approve"
# So many jobs are offered to be invoiced after their hours were approved.
_MAX_JOBS = 4
# The prefix of the fields that name an entry. Their values are the versions that were shown.
_ENTRY_PREFIX = "entry "


def can_see_queue(request: OfficeRequest) -> bool:
    """Return whether the person may see what waits for approval, even while nothing can be decided on."""
    return request.actor.can(review_hours.permission)


@dataclass(frozen=True)
class HoursApprovalPages:
    """The page to approve or reject hours."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return Form(self.office, find_by_path, self._decide, self._render_page, fill_in=_read_query).routes(_PATH)

    async def _decide(self, form: OpenForm[PathValues]) -> Response:
        """Approve the marked entries, or reject them with a reason."""
        fields = form.fields
        entry_fields = [name for name in fields if name.startswith(_ENTRY_PREFIX)]
        marked = {name.removeprefix(_ENTRY_PREFIX): parse_version(fields[name]) for name in entry_fields}
        shown_versions = {entry_id: version for entry_id, version in marked.items() if version is not None}
        decision, reason = fields.get("decision", ""), fields.get("reason") or None
        given = {"timeEntryIds": [*marked], "decision": decision, "reason": reason}
        answer = await self.office.perform(form.request, review_hours, given, expected_versions=shown_versions)
        notice = {"done": review_hours.name, "decided": decision, "count": len(marked)}
        jobs = dict.fromkeys(entry.job_number for entry in answer.entries if entry.job_number)
        notice |= {"jobs": " ".join(jobs)} if decision == _APPROVE and jobs else {}
        return redirect(f"{_PATH}?{urlencode(notice)}")

    async def _render_page(self, form: OpenForm[PathValues]) -> Response:
        """Show what waits, by person and week, and the entries of one of them."""
        request, refusal = form.request, form.refusal
        values = {**query_parameters(request.http_request), **form.fields} if request.restored_fields else form.fields
        changed_ids = refusal.record_ids if isinstance(refusal, Stale) else ()
        if not can_see_queue(request):
            raise Forbidden(Message("You can't approve hours. Ask an owner or admin."))
        queue, has_more = await self._read_queue(request)
        person, monday = values.get("person", ""), values.get("week", "")
        chosen = next((one for one in queue if (one["person"], one["week"]) == (person, monday)), None)
        if chosen is None and not person and queue:
            chosen = queue[0]
        days, more_days = await self._read_days(request, chosen) if chosen else ([], False)
        return self.office.render_page(
            "hours_approve.html",
            request,
            form.status,
            area="Hours",
            queue=queue,
            more=has_more,
            chosen=chosen,
            waiting=_sum_waiting(days),
            days=days,
            more_days=more_days,
            fields=values,
            changed=changed_ids,
            problem=_changed_text(len(changed_ids), request.display) if changed_ids else _problem_text(refusal, values),
            notice=form.notice or _decision_notice(query_parameters(request.http_request), request.display),
            to_invoice=await self._list_jobs_to_invoice(request),
            can_see_queue=True,
            # What was typed stays visible, even if it is refused because nothing can be decided any more.
            can_decide=request.can_perform(review_hours) or refusal is not None or bool(request.restored_fields),
        )

    async def _list_jobs_to_invoice(self, request: OfficeRequest) -> list[tuple[str, str]]:
        """Return the jobs of the hours that were just approved, each with a path, if it can be invoiced now."""
        numbers = query_parameters(request.http_request).get("jobs", "").split()[:_MAX_JOBS]
        if not (request.can_perform(draft_invoice) and request.can_perform(get_job_costing)):
            return []
        found = []
        for number in numbers:
            with suppress(NotFound, Invalid):
                job = await self.office.perform(request, get_job, {"jobId": number})
                costing = await self.office.perform(request, get_job_costing, {"jobId": job.id})
                if job.stage and has_to_be_billed(job.stage, job.billing, Decimal(costing.unbilled)):
                    found.append((job.number, draft_invoice_path(job, costing)))
        return found

    async def _read_queue(self, request: OfficeRequest) -> tuple[list[dict[str, Any]], bool]:
        """Return the people and weeks whose hours wait, the oldest first, and whether there are more entries."""
        entries, has_more = await self._read_entries(
            request, {"status": TO_REVIEW, "order": "oldest"}, _MAX_QUEUED_ENTRIES
        )
        queue: dict[tuple[str, str], dict[str, Any]] = {}
        for entry in entries:
            week = _week_of(entry)
            new_item: dict[str, Any] = {"person": entry.person_id, "name": entry.person_name, "week": week}
            new_item |= {"count": 0, "minutes": 0, "long": 0}
            item = queue.setdefault((entry.person_id, week), new_item)
            item["count"] += 1
            item["minutes"] += entry.minutes or 0
            item["long"] += is_unusually_long(entry.minutes)
        for item in queue.values():
            # The last week may continue beyond the entries that were read.
            item["partly"] = has_more and item["week"] == _week_of(entries[-1])
            item["path"] = f"{_PATH}?{urlencode({'person': item['person'], 'week': item['week']})}"
        return list(queue.values()), has_more

    async def _read_days(self, request: OfficeRequest, chosen: Mapping[str, Any]) -> tuple[list[dict[str, Any]], bool]:
        """Return the entries of the week by day, and whether there are more than can be decided at once."""
        monday = date.fromisoformat(chosen["week"])
        date_range = {"from": monday.isoformat(), "until": (monday + timedelta(days=DAYS - 1)).isoformat()}
        query = {"personId": chosen["person"], "order": "oldest", **date_range}
        entries, has_more = await self._read_entries(request, query, MAX_ENTRIES_AT_ONCE)
        if has_more:
            # Show only what waits. Deciding on it makes room for the rest.
            entries, has_more = await self._read_entries(request, {**query, "status": TO_REVIEW}, MAX_ENTRIES_AT_ONCE)
        model = list_hours.output
        days: dict[str, dict[str, Any]] = {}
        for entry in entries:
            day = days.setdefault(entry.on, {"on": date.fromisoformat(entry.on), "entries": [], "minutes": 0})
            entry_values = {"state": state_of(model, entry.status), "waits": entry.status == TO_REVIEW}
            entry_values |= {"long": is_unusually_long(entry.minutes)}
            day["entries"].append({**vars(entry), **entry_values})
            day["minutes"] += entry.minutes or 0
        return list(days.values()), has_more

    async def _read_entries(
        self, request: OfficeRequest, query: Mapping[str, object], max_entries: int
    ) -> tuple[list[TimeEntryOut], bool]:
        """Return up to this many entries, read page by page, and whether there are more."""
        entries: list[TimeEntryOut] = []
        given = {**query, "limit": _PAGE_SIZE}
        while True:
            page = await self.office.perform(request, list_hours, given)
            entries += page.data
            if not page.has_more or len(entries) >= max_entries:
                return entries, page.has_more
            given |= {"startingAfter": entries[-1].id}


def _read_query(request: OfficeRequest, _: PathValues) -> dict[str, str]:
    return query_parameters(request.http_request)


def _week_of(entry: TimeEntryOut) -> str:
    return monday_of(date.fromisoformat(entry.on)).isoformat()


def _sum_waiting(days: list[dict[str, Any]]) -> dict[str, int]:
    """Return how many entries of these days wait for a decision, and their minutes in all."""
    minutes = [entry["minutes"] or 0 for day in days for entry in day["entries"] if entry["waits"]]
    return {"count": len(minutes), "minutes": sum(minutes)}


def _decision_notice(query: Mapping[str, str], display: DisplaySettings) -> str | None:
    """Return the notice that says how many entries were decided, and how."""
    outcome, count = STATUS_AFTER.get(query.get("decided", "")), query.get("count", "")
    if outcome is None or not count.isdecimal():
        return None
    return PageFormat(display).render(
        Message(
            "{count} entry {outcome}.", plural="{count} entries {outcome}.", count=int(count), outcome=Choice(outcome)
        )
    )


def _changed_text(count: int, display: DisplaySettings) -> str:
    return PageFormat(display).render(
        Message(
            "{count} entry was changed after you opened this page, so nothing was saved. Check it, then try again.",
            plural="{count} entries were changed after you opened this page, so nothing was saved. Check them, then "
            "try again.",
            count=count,
        )
    )


def _problem_text(refusal: Refusal | None, values: Mapping[str, str]) -> str | None:
    """Return what is wrong. If something is missing, say so in words of this page."""
    faults = {fault.field for fault in refusal.faults} if isinstance(refusal, Invalid) else set()
    if "timeEntryIds" in faults and not any(name.startswith(_ENTRY_PREFIX) for name in values):
        return translate_text("Select at least one entry.")
    if "reason" in faults and not values.get("reason", "").strip():
        return translate_text("Enter a reason, so the person knows what to correct.")
    return refusal.text if refusal else None
