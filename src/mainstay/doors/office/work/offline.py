"""What a phone stores for times without a network: the list of the viewer's visits, and the script that stores them."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import groupby

from mainstay.business.overview.visit_versions import get_visit_versions
from mainstay.business.schedule.model import VisitOut
from mainstay.business.schedule.operations import list_visits
from mainstay.doors.http import Request, Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.running_timer import find_running_timer
from mainstay.doors.office.work.schedule_days import visit_title
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import format_long_date
from mainstay.doors.pages.page_language import current_language
from mainstay.doors.pages.static_files import STATIC_ADDRESSES, STATIC_FILES
from mainstay.values.moments import moment_text
from mainstay.values.wall_times import wall_time_text
from mainstay.vocabulary.permissions import Permission

_MAX_VISITS = 50
_VERSION_LENGTH = 16
# A worker controls the pages below its address, so this one is not below that of the other static files.
_WORKER = replace(STATIC_FILES[STATIC_ADDRESSES["worker.js"]], cache_control="no-cache")


@dataclass(frozen=True)
class OfflinePages:
    """The page of the viewer's next visits, and the service worker."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            Route("GET", "/today", self.office.require_sign_in(self.show)),
            Route("GET", "/worker.js", self.serve_worker),
        ]

    async def serve_worker(self, _request: Request, _: Mapping[str, str]) -> Response:
        """Return the script of the service worker. Browsers ask for it again, so that it is always the current one."""
        return _WORKER

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show the viewer's visits of today and tomorrow."""
        today = self.office.today(request)
        both_days = {"from": today.isoformat(), "until": (today + timedelta(days=1)).isoformat()}
        query = {**both_days, "personId": request.actor.id, "limit": _MAX_VISITS}
        page = await self.office.list_records(request, list_visits, query)
        days = [
            (format_long_date(date.fromisoformat(day)), [*visits]) for day, visits in groupby(page.data, key=_date_of)
        ]
        return self.office.render_page(
            "today.html",
            request,
            area="Home",
            days=days,
            visit_title=visit_title,
            versions=await self._find_versions(request, page.data, both_days),
            states=list_visits.output.states,
            now=moment_text(self.office.visitors.performer.clock()),
        )

    async def _find_versions(
        self, request: OfficeRequest, visits: Sequence[VisitOut], days: Mapping[str, str]
    ) -> dict[str, str]:
        """Return the version of each visit's pages, by which a phone knows whether it has to load them again."""
        known = await self.office.perform(request, get_visit_versions, days)
        has_timer = visits and request.actor.can(Permission.HOURS_LOG)
        timer = await find_running_timer(self.office, request, str(request.actor.id)) if has_timer else None
        visitor, actor = request.visitor, request.actor
        # What all pages of this person show or need. They are loaded again each day, whatever else they show.
        of_person = (
            visitor.session,
            visitor.memberships,
            actor.person,
            actor.role,
            actor.subscribed,
            timer and timer.id,
        )
        jobs = sorted({visit.job_id or "" for visit in visits})
        common = repr((days, of_person, jobs, current_language().code, STATIC_ADDRESSES))
        return {
            visit: hashlib.sha256(f"{common}{version}".encode()).hexdigest()[:_VERSION_LENGTH]
            for visit, version in known.versions.items()
        }


def _date_of(visit: VisitOut) -> str:
    return visit.on or wall_time_text(visit.starts_at or "", visit.time_zone)[:10]
