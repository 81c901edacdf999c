"""Hours: the editable week, the timer, approval, and the list."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

import orjson

from mainstay.business.hours.approval import review_hours, submit_hours
from mainstay.business.hours.model import STATUS_BEFORE, ReviewDecision, TimeEntryOut
from mainstay.business.hours.operations import list_hours, log_hours
from mainstay.business.hours.store import TIME_ENTRIES
from mainstay.business.hours.timers import start_timer, stop_timer
from mainstay.business.jobs.model import JobOut
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.people.model import PersonOut
from mainstay.business.people.operations import list_people
from mainstay.business.schedule.operations import list_visits
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import Action, RecordLayout, SelectionAction, button_label
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.reference_fields import ReferenceFields
from mainstay.doors.office.kit.running_timer import STOP_PATH, find_running_timer
from mainstay.doors.office.money.to_bill import ToBillPages
from mainstay.doors.office.work.hours_approval import HoursApprovalPages, can_see_queue
from mainstay.doors.office.work.hours_week import (
    DAYS,
    NO_JOB,
    HoursChange,
    build_week,
    form_name_of,
    monday_of,
    page_faults_of,
    read_hours_changes,
)
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import FormField
from mainstay.doors.pages.formatting import join_isolated
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import duration_problem
from mainstay.doors.pages.page_language import translate_text
from mainstay.doors.pages.rendering import redirect
from mainstay.kernel.operation import Operation
from mainstay.values.durations import hours_text
from mainstay.values.message import Message, RenderedText
from mainstay.values.typed_durations import parse_break_minutes, parse_minutes
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid, Refusal, Stale
from mainstay.vocabulary.schemas import RecordPage

# The most entries of a week and the one before, and the most jobs and people to choose from.
_ENTRIES, _JOBS, _PEOPLE = 100, 100, 100
_JOB_FIELD = FormField("job", "Job", None, "reference", required=False, refers_to="job")
_NO_JOB_TEXTS = {NO_JOB, "no job"}
_WEEK = f"{TIME_ENTRIES.path}/week"
# The key of a fault of the whole week, besides those of its cells.
_SUBMIT = "submit"


def _stop_buttons(entry: TimeEntryOut) -> Sequence[Action]:
    """Return the button that stops a timer and returns to its week."""
    answers = {"entry": entry.id, "person": entry.person_id, "on": entry.on}
    return (Action(button_label(stop_timer), STOP_PATH, is_direct=True, answers=answers),)


def _submit_buttons(entry: TimeEntryOut) -> Sequence[Action]:
    """Return the button that submits only this entry."""
    return (Action("Submit", HOURS_LAYOUT.operation_path(submit_hours, entry), is_direct=True),)


def _decision_buttons(entry: TimeEntryOut) -> Sequence[Action]:
    """Return the buttons to decide on an entry. Rejecting it asks for the reason."""
    path = HOURS_LAYOUT.operation_path(review_hours, entry)
    return [
        Action(
            _DECISION_LABELS[decision],
            path,
            is_direct=decision != _DECISION_WITH_REASON,
            answers={"decision": decision},
        )
        for decision in _possible_decisions(entry)
    ]


def _possible_decisions(entry: TimeEntryOut) -> list[ReviewDecision]:
    """Return the possible decisions on an entry, the likeliest first."""
    return [decision for decision, status in STATUS_BEFORE.items() if status == entry.status]


def _form_decisions(entry: TimeEntryOut) -> list[ReviewDecision]:
    """Return the decisions in the form: the one that needs a reason if it is possible, because others have buttons."""
    decisions = _possible_decisions(entry)
    return [_DECISION_WITH_REASON] if _DECISION_WITH_REASON in decisions else decisions


def _form_purpose(entry: TimeEntryOut) -> str | None:
    """Return the purpose of the form, or None if nothing can be decided on the entry."""
    return next((_DECISION_LABELS[decision] for decision in _form_decisions(entry)), None)


_DECISION_LABELS: Mapping[ReviewDecision, str] = {"approve": "Approve", "reject": "Reject", "unapprove": "Unapprove"}
# The decision that needs a form.
_DECISION_WITH_REASON: ReviewDecision = "reject"

HOURS_LAYOUT = RecordLayout(
    kind=TIME_ENTRIES,
    lead="Time worked, by person and job.",
    create_operation=log_hours,
    first_fields=("jobId", "on", "minutes", "note", "billable", "personId"),
    title_of=lambda entry: join_isolated(_format_length(entry), entry.person_name, separator=" · "),
    subtitle_of=lambda entry: (
        join_isolated(entry.job_number, entry.job_title) if entry.job_id else translate_text("No job")
    ),
    columns=("status", "on", "note"),
    phone_columns=("on",),
    facts=(
        "personName",
        "on",
        "minutes",
        "startedAt",
        "endedAt",
        "breakMinutes",
        "note",
        "reviewNote",
        "billable",
        "billableMinutes",
        "billed",
        "costRate",
        "billRate",
    ),
    tabs={"all": "All", "running": "Running", "draft": "Drafts", "submitted": "Submitted"}
    | {"approved": "Approved", "rejected": "Rejected"},
    list_header="hours_header.html",
    page_body="time_entry.html",
    selection_actions=(
        SelectionAction(
            review_hours,
            _DECISION_LABELS["approve"],
            {"decision": "approve"},
            allows=lambda entry: "approve" in _possible_decisions(entry),
            notice=lambda count: Message("{count} entry approved.", plural="{count} entries approved.", count=count),
        ),
    ),
    empty_text="No hours yet. Log hours or start a timer.",
    form_leads={review_hours.name: "Rejected hours go back to the person to correct."},
    primary_actions={
        stop_timer.name: _stop_buttons,
        submit_hours.name: _submit_buttons,
        review_hours.name: _decision_buttons,
    },
    choices={"decision": tuple(_DECISION_LABELS.items())},
    possible_choices={"decision": lambda entry, _by: _form_decisions(entry)},
    purposes={review_hours.name: _form_purpose},
    required_if={"reason": ("decision", _DECISION_WITH_REASON)},
)


def _format_length(entry: TimeEntryOut) -> str:
    return translate_text("Running") if entry.minutes is None else hours_text(entry.minutes)


class _WeekAddress(NamedTuple):
    """The person and the week of the page."""

    monday: date
    today: date
    person: str
    # Whether it is the viewer's own.
    own: bool

    @property
    def path(self) -> str:
        """The address of this week."""
        return self.path_of_week(self.monday)

    def path_of_week(self, monday: date) -> str:
        """Return the address of another week of the same person."""
        query = {"on": monday.isoformat()} if monday != monday_of(self.today) else {}
        query |= {} if self.own else {"person": self.person}
        return _WEEK + (f"?{urlencode(query)}" if query else "")

    @property
    def date_range(self) -> dict[str, str]:
        """The first and the last date, as input of operations."""
        return {"from": self.monday.isoformat(), "until": (self.monday + timedelta(days=DAYS - 1)).isoformat()}

    @property
    def person_input(self) -> dict[str, str]:
        """The person as input of operations, unless it is the viewer."""
        return {} if self.own else {"personId": self.person}


@dataclass(frozen=True)
class HoursPages:
    """The pages of hours, the timer and approval."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            *self._form(self._save_week).routes(_WEEK),
            *self._form(self._log).routes(f"{_WEEK}/log", _WEEK),
            *self._form(self._start).routes(f"{TIME_ENTRIES.path}/timer/start", _WEEK),
            *self._form(self._stop).routes(STOP_PATH, _WEEK),
            *HoursApprovalPages(self.office).routes(),
            *ToBillPages(self.office).routes(),
            *RecordPages(self.office, HOURS_LAYOUT, add_variables=self._header_variables).routes(),
        ]

    def _form(self, perform: Callable[[OpenForm[PathValues]], Awaitable[Response]]) -> Form[PathValues]:
        """Return a form of the page of a week, the viewer's own or another person's."""
        return Form(self.office, find_by_path, perform, self._render_page)

    async def _save_week(self, form: OpenForm[PathValues]) -> Response:
        """Save all typed changes, or none."""
        request, address = form.request, self._read_address(form)
        job = await self._resolve_job(request, form.fields)
        changes, faults = read_hours_changes(form.fields, job, None if address.own else address.person)
        if form.fields.get("then") == "submit":
            changes.append(HoursChange(_SUBMIT, submit_hours, {**address.date_range, **address.person_input}))
        if faults:
            raise _CellFaults(faults)
        runner = self.office.visitors.runner
        try:
            await runner.run_change(request.actor.organisation, self._perform_all, request, changes)
        except _RefusedChanges as error:
            faults = {change.cell: self._explain(request, change, refusal) for change, refusal in error.refused}
            raise _CellFaults(faults) from None
        return _redirect_to_week(address, changes[-1].operation.name if changes else "unchanged")

    async def _log(self, form: OpenForm[PathValues]) -> Response:
        """Log hours of one day."""
        fields, display = form.fields, form.request.display
        given = {
            "minutes": _parse_duration("time", "Time", fields.get("time", ""), parse_minutes),
            "on": display.parse_date(fields.get("day", "")),
            "note": fields.get("note", "").strip() or None,
        }
        return await self._perform_and_redirect(form, log_hours, given)

    async def _start(self, form: OpenForm[PathValues]) -> Response:
        """Start a timer. If the person asked to switch, the running one is stopped."""
        given = {"switch": "switch" in form.fields, "note": form.fields.get("note", "").strip() or None}
        return await self._perform_and_redirect(form, start_timer, given)

    async def _stop(self, form: OpenForm[PathValues]) -> Response:
        """Stop the timer."""
        fields, display = form.fields, form.request.display
        given: dict[str, object] = {
            name: text for name in ("note", "endedAt") if (text := fields.get(name, "").strip())
        }
        given |= {"endedAt": display.parse_time(fields["endedAt"])} if "endedAt" in given else {}
        written = fields.get("break", "") or "0"
        given["breakMinutes"] = _parse_duration("break", "Break", written, parse_break_minutes)
        # The page of an entry stops its own timer, not another one that was started since.
        given |= {"timeEntryId": fields["entry"]} if fields.get("entry") else {}
        return await self._perform_and_redirect(form, stop_timer, given)

    async def _perform_and_redirect(
        self, form: OpenForm[PathValues], operation: Operation, given: Mapping[str, object]
    ) -> Response:
        address, job_input = self._read_address(form), {}
        if "job" in form.fields:
            job = await self._resolve_job(form.request, form.fields)
            job_input = {"jobId": job} if job not in {"", NO_JOB} else {}
        person_input = {} if "timeEntryId" in given else address.person_input
        await self.office.perform(form.request, operation, {**given, **job_input, **person_input})
        return _redirect_to_week(address, operation.name)

    async def _resolve_job(self, request: OfficeRequest, fields: Mapping[str, str]) -> str:
        """Return the id of the job that was chosen or typed."""
        if fields.get("job", "").strip().lower() in _NO_JOB_TEXTS:
            return NO_JOB
        return (await ReferenceFields(self.office).resolve_ids(request, [_JOB_FIELD], fields)).get("job", "")

    def _read_address(self, form: OpenForm[PathValues]) -> _WeekAddress:
        request, query = form.request, {**query_parameters(form.request.http_request), **form.fields}
        today = self.office.today(request)
        try:
            chosen = date.fromisoformat(query.get("on", ""))
        except ValueError:
            chosen = today
        # The first and last dates of the calendar have no whole weeks.
        monday = monday_of(min(max(chosen, date(2000, 1, 3)), today + timedelta(days=366)))
        person = query.get("person", "") if request.actor.can(Permission.ALL_HOURS_READ) else ""
        own_id = str(request.actor.id)
        return _WeekAddress(monday, today, person or own_id, person in {"", own_id})

    async def _render_page(self, form: OpenForm[PathValues]) -> Response:
        request, address, typed, refusal = form.request, self._read_address(form), form.fields, form.refusal
        faults = refusal.faults_by_cell if isinstance(refusal, _CellFaults) else page_faults_of(refusal)
        entries = await self._list_entries(request, address)
        jobs = await self.office.perform(request, list_jobs, {"status": "live", "limit": _JOBS})
        week = build_week(address.monday, address.today, entries.data, typed, faults)
        return self.office.render_page(
            "hours_week.html",
            request,
            form.status,
            area="Hours",
            at=address,
            week=week,
            states=list_hours.output.states,
            # What was typed stays visible, even if it is refused because nothing can be changed any more.
            types=request.can_perform(log_hours) or bool(typed),
            more=entries.has_more,
            before=address.path_of_week(address.monday - timedelta(days=DAYS)),
            after=address.path_of_week(address.monday + timedelta(days=DAYS)),
            timer=await find_running_timer(self.office, request, address.person),
            stop=STOP_PATH,
            jobs=await self._sort_jobs(request, address, jobs.data),
            many_jobs=jobs.has_more,
            people=await self._list_people(request),
            typed=typed,
            sent=form_name_of(typed),
            wrong=faults,
            marks=bool(faults.keys() - {_SUBMIT}),
            problem=refusal.text if refusal and not faults else None,
            notice=form.notice or self.office.find_notice(request),
            **await self._header_variables(request, None),
        )

    async def _list_entries(self, request: OfficeRequest, address: _WeekAddress) -> RecordPage[TimeEntryOut]:
        """Return the hours of the week, and of the one before, because its jobs are likely to continue."""
        query = {
            "personId": address.person,
            **address.date_range,
            "from": (address.monday - timedelta(days=DAYS)).isoformat(),
            "limit": _ENTRIES,
        }
        return await self.office.list_records(request, list_hours, query)

    async def _sort_jobs(self, request: OfficeRequest, address: _WeekAddress, jobs: list[JobOut]) -> list[JobOut]:
        """Sort the jobs to choose from: those with a visit of the person today come first."""
        if not request.can_perform(list_visits):
            return jobs
        day = address.today.isoformat()
        query = {"personId": address.person, "from": day, "until": day, "limit": _JOBS}
        page = await self.office.perform(request, list_visits, query)
        planned = [visit.job_id for visit in page.data]
        return sorted(jobs, key=lambda job: planned.index(job.id) if job.id in planned else len(planned))

    async def _list_people(self, request: OfficeRequest) -> list[PersonOut]:
        if not request.actor.can(Permission.ALL_HOURS_READ):
            return []
        page = await self.office.perform(request, list_people, {"limit": _PEOPLE, "order": "name"})
        return page.data

    async def _header_variables(self, request: OfficeRequest, record: Mapping[str, Any] | None) -> dict[str, Any]:
        return {} if record else {"can_see_queue": can_see_queue(request)}

    def _explain(self, request: OfficeRequest, change: HoursChange, refusal: Refusal) -> str:
        if isinstance(refusal, Stale):
            return translate_text("Someone else changed this. Check it, then save again.")
        return self.office.translate_refusal(request, change.operation, refusal).text

    def _perform_all(self, request: OfficeRequest, changes: Sequence[HoursChange]) -> None:
        """Perform all changes in one transaction. If any is refused, none is done."""
        refused: list[tuple[HoursChange, Refusal]] = []
        with self.office.visitors.performer.open_batch(request.actor.organisation) as performer:
            for change in changes:
                details = request.build_request_details(change.cell, change.version)
                try:
                    performer.perform(change.operation, request.actor, orjson.dumps(change.given), details)
                except Refusal as refusal:
                    refused.append((change, refusal))
            if refused:
                raise _RefusedChanges(refused)


class _RefusedChanges(Exception):
    """Some changes of the page were refused, so none was made."""

    def __init__(self, refused: Sequence[tuple[HoursChange, Refusal]]) -> None:
        super().__init__(refused)
        self.refused = refused


class _CellFaults(Invalid):
    """Some cells of the page are wrong, so nothing was saved."""

    def __init__(self, faults_by_cell: Mapping[str, str]) -> None:
        super().__init__([Fault(cell, RenderedText(problem)) for cell, problem in faults_by_cell.items()])
        self.faults_by_cell = faults_by_cell


def _parse_duration(cell: str, label: str, text: str, parse: Callable[[str], int]) -> int:
    try:
        return parse(text)
    except ValueError as problem:
        raise _CellFaults({cell: duration_problem(label, problem)}) from None


def _redirect_to_week(address: _WeekAddress, done: str) -> Response:
    separator = "&" if "?" in address.path else "?"
    return redirect(f"{address.path}{separator}{urlencode({'done': done})}")
