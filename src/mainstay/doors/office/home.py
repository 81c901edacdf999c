"""The start page, the changelog, and the choice of organisation."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib.resources import files

from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.hours.operations import list_hours
from mainstay.business.hours.timers import stop_timer
from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.organisation.failed_work import list_failed_work
from mainstay.business.organisation.settings import update_settings
from mainstay.business.overview.operations import get_overview
from mainstay.business.schedule.model import VisitOut, VisitStep, next_visit_step
from mainstay.business.schedule.operations import list_visits
from mainstay.changes.audit import ActedBy
from mainstay.doors.http import Request, Response
from mainstay.doors.office.first_steps import list_first_steps, list_invoicing_steps
from mainstay.doors.office.home_cards import build_revenue, count_late, group_needs
from mainstay.doors.office.home_feed import HomeFeed
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, format_count
from mainstay.doors.office.kit.running_timer import STOP_PATH, find_running_timer
from mainstay.doors.office.settings.activity import activity_path
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.rendering import redirect, render_template
from mainstay.identity import sessions
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.operation import Operation
from mainstay.lazy_import import import_lazily
from mainstay.vocabulary.refusal import NotFound

_MAX_VISITS = 50


@dataclass(frozen=True, slots=True)
class HomePages:
    """The start page, the changelog and the switch of organisation."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            Route("GET", "/", self.office.require_sign_in(self.show)),
            *Form(self.office, find_by_path, self._switch_organisation).routes("/organisation", "/"),
            Route("GET", "/changelog", self.show_changelog),
        ]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show what waits and what is late, what happened since yesterday, and what is planned today."""
        overview = await self.office.perform(request, get_overview) if request.can_perform(get_overview) else None
        failed_count = (
            await self._count_records(request, list_failed_work) if request.can_perform(list_failed_work) else None
        )
        feed = await HomeFeed(self.office, request).list_days()
        own, others, has_more = await self._list_todays_visits(request)
        is_idle = not (overview and overview.needs) and not (own or others or feed)
        # First steps are only for an organisation in which nothing waits and nothing is planned.
        steps = await list_first_steps(self.office, request) if is_idle else []
        return self.office.render_page(
            "home.html",
            request,
            area="Home",
            today=self.office.today(request),
            needs=group_needs(overview.needs, self._base_url) if overview else [],
            late=count_late(overview.needs) if overview else 0,
            is_idle=is_idle,
            currency=overview.currency if overview else "",
            revenue=build_revenue(overview.revenue, self._base_url) if overview and overview.revenue else None,
            feed=feed,
            activity=self._app_activity_path(request),
            by_apps=format_count(overview.changed_by_apps) if overview and overview.changed_by_apps else None,
            undone=failed_count,
            timer=await find_running_timer(self.office, request, str(request.actor.id))
            if request.can_perform(list_hours)
            else None,
            stop=STOP_PATH,
            can_stop_timer=request.can_perform(stop_timer),
            steps=steps,
            can_open_sample=request.can_perform(update_settings),
            invoicing=[] if steps else await list_invoicing_steps(self.office, request),
            can_bill=request.can_perform(list_unbilled),
            own=own,
            others=others,
            next_step=_next_step,
            states=list_visits.output.states,
            more=has_more,
            notice=self.office.find_notice(request),
        )

    @property
    def _base_url(self) -> str:
        return self.office.visitors.performer.base_url

    def _app_activity_path(self, request: OfficeRequest) -> str | None:
        """Return the address of the activity that the overview counts as done by apps, if the viewer may see it."""
        yesterday = self.office.today(request) - timedelta(days=1)
        return activity_path(request, **{"actedBy": ActedBy.APP.value, "from": yesterday.isoformat()})

    async def _list_todays_visits(self, request: OfficeRequest) -> tuple[list[VisitOut], list[VisitOut], bool]:
        """Return today's visits that the viewer sees: their own, those of others, and whether there are more."""
        day = self.office.today(request).isoformat()
        query = {"from": day, "until": day, "limit": _MAX_VISITS}
        page = await self.office.list_records(request, list_visits, query)
        own = [visit for visit in page.data if visit.person_id == request.actor.id]
        others = [visit for visit in page.data if visit.person_id != request.actor.id]
        if page.has_more:
            # The viewer's own visits are read separately, because the page may not contain all of them.
            own = (await self.office.list_records(request, list_visits, {**query, "personId": request.actor.id})).data
        return own, others, page.has_more

    async def _count_records(self, request: OfficeRequest, list_operation: Operation, **filters: object) -> str:
        """Return how many records a list has, as text."""
        return format_count(await self.office.count_records(request, list_operation, filters))

    async def _switch_organisation(self, form: OpenForm[PathValues]) -> Response:
        """Switch to another organisation of this account."""
        chosen, visitor = form.fields.get("organisation", ""), form.request.visitor
        if chosen not in {membership.organisation for membership in visitor.memberships}:
            raise NotFound("organisation")
        await self.office.visitors.runner.run(self._store_organisation, visitor.session, chosen)
        return redirect("/")

    async def show_changelog(self, _request: Request, _: Mapping[str, str]) -> Response:
        """Show the changelog, to anyone."""
        return render_template("changelog.html", changelog=_render_changelog())

    def _store_organisation(self, session: str, organisation: str) -> None:
        with self.office.visitors.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            sessions.choose_organisation(db, session, organisation)


def _next_step(visit: VisitOut) -> VisitStep | None:
    """Return the next step of a visit, if the viewer can take it."""
    return next_visit_step(visit.status) if set_visit_status.name in visit.available_actions else None


@cache
def _render_changelog() -> str:
    """Return the changelog as HTML. Any HTML in its Markdown source is escaped."""
    markdown = files(__package__).joinpath("CHANGELOG.md").read_text("utf-8").partition("\n")[2]
    html: str = import_lazily("markdown_it").MarkdownIt("commonmark", {"html": False}).render(markdown)
    return html
