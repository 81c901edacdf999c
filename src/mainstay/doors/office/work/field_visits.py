"""A visit in the field: start work with its timer, take a break, and finish with hours, a note and photos."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from mainstay.business.hours.approval import submit_hours
from mainstay.business.hours.model import LONG_MINUTES, is_unusually_long, is_work_on_visit
from mainstay.business.hours.operations import list_hours, log_hours
from mainstay.business.hours.timers import stop_timer
from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.model import DONE, JobOut, settable_statuses
from mainstay.business.jobs.operations import change_job_status, get_job
from mainstay.business.records.attachments import add_document
from mainstay.business.records.notes import add_note
from mainstay.business.schedule.model import FINISHED, PLANNED, STARTED, VisitOut, next_visit_step
from mainstay.business.schedule.operations import get_visit, list_visits
from mainstay.business.schedule.store import VISITS
from mainstay.doors.http import Response
from mainstay.doors.office.kit.attachments import UPLOAD_LIMITS, FileAdder
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues
from mainstay.doors.office.kit.linked_changes import LinkedChange
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.running_timer import RunningTimer, find_running_timer
from mainstay.doors.office.work.schedule_days import visit_title
from mainstay.doors.office.work.visit_hours import (
    LONGEST,
    OTHER_WORK_PLACES,
    count_minutes,
    read_hours,
    read_pressed_at,
)
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.rendering import redirect
from mainstay.infrastructure.images import PICTURE_TYPES
from mainstay.kernel.catalogue import check_permission
from mainstay.values.moments import moment_text, parse_moment
from mainstay.values.wall_times import wall_time_text
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import NotFound

# The most entries of a job that are read to find those of one visit.
_MAX_ENTRIES = 100
_MULTIPART = "multipart/form-data"
# The most visits whose jobs are offered for a part of the hours.
_MAX_VISITS = 20


@dataclass(frozen=True)
class FieldVisit:
    """A visit as the person in the field sees it: with the timer on it, or their timer on other work."""

    visit: VisitOut
    timer: RunningTimer | None = None
    other_timer: RunningTimer | None = None
    # The minutes that they have logged on it.
    logged: int = 0
    # Whether starting and finishing move the viewer's timer.
    uses_timer: bool = False

    @property
    def is_under_way(self) -> bool:
        """Whether the visit has been started, and not finished."""
        return self.visit.status == STARTED

    @property
    def step(self) -> str:
        """What the buttons are for: to start (`ready`), while the work goes on, or on a break (`onBreak`)."""
        if not self.is_under_way:
            return "ready"
        return "onBreak" if self.uses_timer and not self.timer else "working"


@dataclass(frozen=True)
class FieldVisitPages:
    """The pages and buttons by which a person in the field does a visit."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        page = VISITS.path_of("{id}")
        finish = Form(
            self.office,
            self._find_visit,
            self._finish,
            self._render_finish,
            fill_in=self._fill_in,
            read_fields=self._read_fields,
            operation=set_visit_status,
        )
        return [
            *Form(self.office, self._find_visit, self._start).routes(f"{page}/start", page),
            *Form(self.office, self._find_visit, self._take_break).routes(f"{page}/break", page),
            *finish.routes(f"{page}/finish"),
        ]

    async def build_variables(self, request: OfficeRequest, visit: VisitOut) -> dict[str, Any]:
        """Return the template variables of the bar by which the viewer does their own visit, or of what they logged."""
        is_own = visit.person_id == request.actor.id
        if visit.status == FINISHED and is_own and request.actor.can(Permission.HOURS_LOG):
            return {"work_bar": None, "logged": await self._count_logged(request, visit)}
        if not is_own or set_visit_status.name not in visit.available_actions or next_visit_step(visit.status) is None:
            return {"work_bar": None, "logged": 0}
        return {"work_bar": await self._find_work(request, visit), "logged": 0}

    async def _find_visit(self, request: OfficeRequest, path_values: PathValues) -> FieldVisit:
        visit = await self.office.perform(request, get_visit, {"visitId": path_values["id"]})
        return await self._find_work(request, visit)

    async def _find_work(self, request: OfficeRequest, visit: VisitOut) -> FieldVisit:
        """Return a visit with the timer and the hours of the viewer."""
        uses_timer = visit.person_id == request.actor.id and request.actor.can(Permission.HOURS_LOG)
        if not uses_timer:
            return FieldVisit(visit)
        timer = await find_running_timer(self.office, request, str(request.actor.id))
        is_on_visit = timer is not None and is_work_on_visit(timer, visit.id, visit.job_id)
        return FieldVisit(
            visit,
            timer if is_on_visit else None,
            None if is_on_visit else timer,
            await self._count_logged(request, visit) if visit.status in {STARTED, FINISHED} else 0,
            uses_timer=True,
        )

    async def _count_logged(self, request: OfficeRequest, visit: VisitOut) -> int:
        query = {"personId": visit.person_id, "limit": _MAX_ENTRIES} | ({"jobId": visit.job_id} if visit.job_id else {})
        entries = await self.office.perform(request, list_hours, query)
        return sum(entry.minutes or 0 for entry in entries.data if entry.visit_id == visit.id)

    async def _start(self, form: OpenForm[FieldVisit]) -> Response:
        """Start the visit or go on after a break, with the timer."""
        given: dict[str, object] = {"visitId": form.subject.visit.id, "status": STARTED}
        given |= {"timer": True} if form.subject.uses_timer else {}
        given |= {"startedAt": moment} if (moment := read_pressed_at(form.fields)) else {}
        await self.office.perform(form.request, set_visit_status, given)
        return self._redirect(form, set_visit_status.name)

    async def _take_break(self, form: OpenForm[FieldVisit]) -> Response:
        """Stop the timer until the work goes on."""
        # A phone does not know the timer of a start that it has not sent yet. It is the person's only one.
        given = {"timeEntryId": entry} if (entry := form.fields.get("entry")) else {}
        given |= {"endedAt": moment} if (moment := read_pressed_at(form.fields)) else {}
        await self.office.perform(form.request, stop_timer, given)
        return self._redirect(form, stop_timer.name)

    def _fill_in(self, request: OfficeRequest, subject: FieldVisit) -> dict[str, str]:
        """Return the hours to log: from the start of the timer until now. None if a break has logged them."""
        if not subject.uses_timer or (subject.logged and not subject.timer):
            return {}
        now = self.office.visitors.performer.clock()
        # A phone stores this page before the visit is started, and fills in the start that it has kept.
        began = (subject.timer.started_at if subject.timer else subject.visit.started_at) or moment_text(now)
        started = wall_time_text(began, request.time_zone)
        is_forgotten = now - parse_moment(began) > LONGEST
        ended = "" if is_forgotten else wall_time_text(moment_text(now), request.time_zone)[11:16]
        return {
            "on": started[:10],
            "startedAt": started[11:16],
            "endedAt": ended,
            "seenStart": started[11:16] if subject.timer else "",
            "seenAt": began if subject.timer else "",
            "breakMinutes": "",
            "otherJobId": subject.visit.job_id or "",
        }

    async def _read_fields(self, request: OfficeRequest) -> dict[str, str]:
        """Return the sent fields, and receive photos if there are any."""
        check_permission(set_visit_status, request.actor)
        if not request.http_request.headers.get("content-type", "").lower().startswith(_MULTIPART):
            return await self.office.read_form(request)
        check_permission(add_document, request.actor)
        return await self.office.read_form_with_files(request, UPLOAD_LIMITS)

    async def _finish(self, form: OpenForm[FieldVisit]) -> Response:
        """Finish the visit: stop the timer or log its hours, and add the note and the photos, all or nothing."""
        visit, fields = form.subject.visit, form.fields
        hours = read_hours(fields)
        changes = [LinkedChange(set_visit_status, {"visitId": visit.id, "status": FINISHED, **hours.of_visit})]
        if hours.of_other_work:
            changes.append(LinkedChange(log_hours, hours.of_other_work))
        if "submit" in fields:
            day = fields.get("on", "")
            changes.append(LinkedChange(submit_hours, {"from": day, "until": day}))
        if "jobDone" in fields and visit.job_id:
            changes.append(LinkedChange(change_job_status, {"jobId": visit.job_id, "status": DONE}))
        if note := fields.get("text", "").strip():
            changes.append(LinkedChange(add_note, {"recordId": visit.id, "text": note, "visibility": "field"}))
        files = [file for name in UPLOAD_LIMITS for file in form.request.uploaded_files.get(name, ())]
        await FileAdder(self.office).add(form.request, files, {"recordId": visit.id, "visibility": "field"}, changes)
        return self._redirect(form, set_visit_status.name)

    async def _render_finish(self, form: OpenForm[FieldVisit]) -> Response:
        """Show the form to finish a visit."""
        request, subject = form.request, form.subject
        minutes, is_timed = count_minutes(form.fields), "startedAt" in form.fields
        return self.office.render_page(
            "visit_finish.html",
            request,
            form.status,
            area=VISITS.area,
            visit=subject.visit,
            title=visit_title(subject.visit),
            path=VISITS.path_of(subject.visit.id),
            fields=defaultdict(str, form.fields),
            timed=is_timed,
            logged=subject.logged,
            minutes=minutes,
            is_long=is_unusually_long(minutes),
            long_minutes=LONG_MINUTES,
            other_jobs=await self._list_jobs_of_today(request, subject.visit) if is_timed else [],
            other_places=OTHER_WORK_PLACES,
            last_of_job=await self._find_job_to_finish(request, subject.visit),
            can_add_files=request.can_perform(add_document),
            accepts=",".join(PICTURE_TYPES),
            lost_files=bool(request.uploaded_files),
            faults=form.faults,
            problem=form.problem,
            notice=form.notice,
        )

    async def _list_jobs_of_today(self, request: OfficeRequest, visit: VisitOut) -> list[tuple[str, str]]:
        """Return the jobs that a part of the hours may have been for: of this visit, and of the viewer's others."""
        today = self.office.today(request).isoformat()
        query = {"from": today, "until": today, "personId": request.actor.id, "limit": _MAX_VISITS}
        page = await self.office.perform(request, list_visits, query)
        jobs = {one.job_id: f"{one.job_number} {one.job_title}" for one in (visit, *page.data) if one.job_id}
        return [*jobs.items()]

    async def _find_job_to_finish(self, request: OfficeRequest, visit: VisitOut) -> JobOut | None:
        """Return the visit's job if the viewer may finish it and sees no other open visit of it."""
        if visit.job_id is None or not (request.can_perform(get_job) and request.can_perform(change_job_status)):
            return None
        try:
            job = await self.office.perform(request, get_job, {"jobId": visit.job_id})
        except NotFound:
            return None
        for status in (PLANNED, STARTED):
            query = {"jobId": job.id, "status": status, "limit": 2}
            page = await self.office.perform(request, list_visits, query)
            if any(one.id != visit.id for one in page.data):
                return None
        return job if DONE in settable_statuses(job.status, request.actor) else None

    def _redirect(self, form: OpenForm[FieldVisit], done: str) -> Response:
        return redirect(f"{VISITS.path_of(form.subject.visit.id)}?done={done}")
