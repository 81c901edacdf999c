"""The small form that plans a visit on the schedule, and the jobs that wait to be planned."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from urllib.parse import urlencode

from mainstay.business.jobs.model import TO_SCHEDULE, JobOut
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.jobs.store import JOBS
from mainstay.business.people.operations import list_people
from mainstay.business.schedule.operations import plan_visit
from mainstay.business.schedule.store import VISITS
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import Action
from mainstay.doors.office.kit.reference_fields import ReferenceFields, record_title_of
from mainstay.doors.office.work.schedule_days import TemplateVariables, parse_date
from mainstay.doors.office.work.visit_lengths import USUAL_MINUTES, find_usual_minutes
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import FormField, form_fields_of
from mainstay.doors.pages.formatting import format_date, join_isolated
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_counted_text, translate_text
from mainstay.doors.pages.rendering import redirect
from mainstay.doors.pages.session import is_local_path
from mainstay.kernel.catalogue import check_permission
from mainstay.values.durations import hours_text
from mainstay.values.ids import is_id
from mainstay.values.message import Message, ShownMessage, message_of
from mainstay.values.moments import moment_text
from mainstay.values.wall_times import parse_entered_moment
from mainstay.vocabulary.refusal import Fault, Invalid

PATH = "/schedule/new"
PLAN_PATH = f"{VISITS.path}/plan"
# So many people, and jobs to choose from in the tray.
_MAX_PEOPLE, _MAX_JOBS = 100, 30
# The lengths to choose from, in minutes.
_LENGTHS = (15, 30, 45, 60, 75, 90, 105, 120, 150, 180, 210, 240, 300, 360, 420, 480, 600, 720)
LENGTH_CHOICES = tuple((str(length), hours_text(length)) for length in _LENGTHS)
_FIRST_HOUR = "08:00"


@dataclass(frozen=True)
class QuickVisitPages:
    """The small form to plan a visit: within the schedule, and on a page of its own."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of the form."""
        form = Form(
            self.office, self._find_minutes, self._plan, self._render, fill_in=self._fill_in, operation=plan_visit
        )
        return form.routes(PATH)

    async def list_waiting_jobs(self, request: OfficeRequest, today: date) -> TemplateVariables | None:
        """Return the jobs that wait for a visit, those due first at the top. None for those who may not plan."""
        if not (request.can_perform(plan_visit) and request.can_perform(list_jobs)):
            return None
        # All of them are live. With that filter, those that are due are read along an index of due dates.
        waiting = {"stage": TO_SCHEDULE, "status": "live", "limit": _MAX_JOBS}
        page = await self.office.perform(request, list_jobs, waiting | {"order": "due"})
        jobs = page.data
        if not page.has_more:
            newest = await self.office.perform(request, list_jobs, waiting)
            jobs = [*jobs, *(job for job in newest.data if job.due_on is None)][:_MAX_JOBS]
            page = newest
        jobs = sorted(jobs, key=lambda job: (job.due_on is None, job.due_on or "", job.number))
        return {
            "jobs": [_describe_job(job, today) for job in jobs],
            "count": f"{len(jobs)}+" if page.has_more else str(len(jobs)),
            "path": f"{JOBS.path}?{urlencode({'stage': TO_SCHEDULE})}",
            "minutes": USUAL_MINUTES,
            "form_path": PATH,
        }

    def build_form(
        self, request: OfficeRequest, people: Sequence[tuple[str, str]], day: date
    ) -> TemplateVariables | None:
        """Return the small form as the schedule shows it. None for those who may not plan."""
        if not request.can_perform(plan_visit):
            return None
        fields = {"day": day.isoformat(), "start": _FIRST_HOUR, "minutes": str(USUAL_MINUTES)}
        return _form_variables(_job_field(request), people, fields)

    async def _find_minutes(self, request: OfficeRequest, _: PathValues) -> int:
        """Return how long a visit of the job in the address usually is."""
        return await find_usual_minutes(self.office, request, query_parameters(request.http_request).get("jobId", ""))

    def _fill_in(self, request: OfficeRequest, usual_minutes: int) -> dict[str, str]:
        today = self.office.today(request).isoformat()
        usual = {"day": today, "start": _FIRST_HOUR, "minutes": str(usual_minutes)}
        return usual | query_parameters(request.http_request)

    async def _render(self, form: OpenForm[int]) -> Response:
        request = form.request
        people = await self.office.perform(request, list_people, {"limit": _MAX_PEOPLE})
        choices = [(person.id, person.name) for person in people.data]
        [job], fields = await ReferenceFields(self.office).add_choices(
            request, [_job_field(request)], form.fields, None
        )
        day = request.display.date_to_field(request.display.parse_date(fields.get("day", "")))
        return self.office.render_page(
            "visit_new.html",
            request,
            form.status,
            area="Schedule",
            quick=_form_variables(job, choices, {**fields, "day": day})
            | {"day_example": request.display.date_example, "full_path": _full_path(form.fields)},
            back=_path_back(form.fields),
            **form.variables,
        )

    async def _plan(self, form: OpenForm[int]) -> Response:
        check_permission(plan_visit, form.request.actor)
        form_field, fields = _job_field(form.request), form.fields
        given, _ = await ReferenceFields(self.office).read_input(form.request, [form_field], fields)
        starts_at = _read_start(form.request, fields)
        person = fields.get("person", "")
        await self.office.perform(
            form.request,
            plan_visit,
            {
                **given,
                "personIds": [person] if person else [],
                "startsAt": starts_at,
                "durationMinutes": int(fields["minutes"]) if fields.get("minutes", "").isdecimal() else USUAL_MINUTES,
            },
        )
        back = _path_back(fields)
        return redirect(f"{back}{'&' if '?' in back else '?'}done={plan_visit.name}")


def _job_field(request: OfficeRequest) -> FormField:
    form_fields = form_fields_of(plan_visit, request.actor.permissions)
    return replace(next(field for field in form_fields if field.name == "jobId"), required=True, help=None)


def _form_variables(job: FormField, people: Sequence[tuple[str, str]], fields: Mapping[str, str]) -> TemplateVariables:
    """Return what the template of the small form shows."""
    minutes = fields.get("minutes", "")
    lengths = {*_LENGTHS, *([int(minutes)] if minutes.isdecimal() else [])}
    return {
        "job": job,
        "people": [("", translate_text("No person")), *people],
        "lengths": [(str(length), hours_text(length)) for length in sorted(lengths)],
        "fields": defaultdict(str, fields),
        "full_path": PLAN_PATH,
        "path": PATH,
    }


def _read_start(request: OfficeRequest, fields: Mapping[str, str]) -> str:
    """Return the moment at which the visit begins. The board shows times in this time zone, wherever the site is."""
    day, start = request.display.parse_date(fields.get("day", "").strip()), fields.get("start", "").strip()
    missing = [name for name, text in (("day", day), ("start", start)) if not text]
    faults: dict[str, ShownMessage] = dict.fromkeys(missing, Message("is required"))
    if day and parse_date(day) is None:
        faults["day"] = Message("is not a date such as 2026-11-15")
    if not faults:
        try:
            return moment_text(parse_entered_moment(f"{day}T{start}", request.time_zone))
        except ValueError as error:
            faults["start"] = message_of(error)
    page_format = PageFormat(request.display)
    raise Invalid([Fault(name, page_format.render_problem(problem)) for name, problem in faults.items()])


def _full_path(fields: Mapping[str, str]) -> str:
    """Return the address of the form with all fields, for the job that this one was opened for."""
    job, person = fields.get("jobId", ""), fields.get("person")
    values = ({"jobId": job} if is_id(job, "job") else {}) | ({f"personIds {person}": "on"} if person else {})
    return f"{PLAN_PATH}?{urlencode(values)}" if values else PLAN_PATH


def plan_visit_action(job: JobOut) -> Action:
    """Return the button that opens the small form for a visit to a job, for its lead, and leads to the job."""
    lead = {"person": job.lead_person_id} if job.lead_person_id else {}
    query = {"jobId": job.id, **lead, "back": JOBS.path_of(job.id)}
    return Action("Plan visit", f"{PATH}?{urlencode(query)}", opens_dialog=True)


def _path_back(fields: Mapping[str, str]) -> str:
    back = fields.get("back", "")
    return back if is_local_path(back) else "/schedule"


def _describe_job(job: JobOut, today: date) -> TemplateVariables:
    """Return a waiting job as the tray shows it."""
    days_late = (today - date.fromisoformat(job.due_on)).days if job.due_on else 0
    town = job.site_address.city if job.site_address else None
    return {
        "id": job.id,
        "number": job.number,
        "title": job.title,
        "full_title": record_title_of(job),
        "subtitle": join_isolated(job.customer_name, town, separator=" · "),
        "due": translate_text("Due {date}", date=format_date(job.due_on)) if job.due_on else "",
        "budget": job.budget,
        "late": translate_counted_text("{count} day late", "{count} days late", days_late) if days_late > 0 else "",
        "plan_path": f"{PLAN_PATH}?jobId={job.id}",
    }
