"""A sample firm to look at: made for a person who begins, opened, left and deleted again."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mainstay.business.organisation.settings import update_settings
from mainstay.doors.http import Response
from mainstay.doors.office.kit.background_work import REFRESH_HEADERS, BackgroundWork
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.rendering import redirect
from mainstay.identity import sessions
from mainstay.identity.sessions import Membership
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.log import log_error
from mainstay.kernel.catalogue import check_permission
from mainstay.lazy_import import import_lazily
from mainstay.maintenance.sample_deletion import delete_sample_firm
from mainstay.values.ids import new_id
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission, has_permission
from mainstay.vocabulary.refusal import NotFound, TooManyRequests

PATH = "/sample-firm"
SAMPLES_PER_DAY = 5


@dataclass(frozen=True)
class SampleFirmPages:
    """The buttons that open, leave and delete a sample firm, and the page that shows how far it is made."""

    office: OfficePages
    _work: BackgroundWork = field(default_factory=BackgroundWork)

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            Route("GET", PATH, self.office.require_sign_in(self.show)),
            *Form(self.office, find_by_path, self._open).routes(f"{PATH}/open", PATH),
            *Form(self.office, find_by_path, self._leave).routes(f"{PATH}/leave", PATH),
            *Form(self.office, find_by_path, self._delete).routes(f"{PATH}/delete", PATH),
        ]

    async def show(self, request: OfficeRequest, _: PathValues) -> Response:
        """Show how far the sample firm is made."""
        done_jobs = self._progress_of(request)
        return self.office.render_page(
            "sample_firm.html",
            request,
            headers=REFRESH_HEADERS if done_jobs is not None else (),
            area="Home",
            done_jobs=done_jobs,
            all_jobs=_builder().SAMPLE_SIZE.jobs,
            is_made=_find_sample(request) is not None,
        )

    async def _open(self, form: OpenForm[PathValues]) -> Response:
        """Switch to the person's sample firm, or make one."""
        request = form.request
        if self._progress_of(request) is not None:
            return redirect(PATH)
        if sample := _find_sample(request):
            return await self._switch(request, sample.organisation)
        check_permission(update_settings, request.actor)
        account = request.visitor.account
        if not (
            await self.office.visitors.rate_limits.take(f"samples of {account}", SAMPLES_PER_DAY, 86_400.0)
        ).accepted:
            raise TooManyRequests(Message("You have created several sample firms today. Try again tomorrow."))
        self.office.visitors.temporary_files.set_progress(_progress_name(request), 0)
        await self._work.start(self._make(request))
        return redirect(PATH)

    async def _leave(self, form: OpenForm[PathValues]) -> Response:
        """Switch back to the person's own organisation. The sample firm stays."""
        own = _find_own(form.request)
        if own is None:
            raise NotFound("organisation")
        return await self._switch(form.request, own.organisation)

    async def _delete(self, form: OpenForm[PathValues]) -> Response:
        """Delete the person's sample firm with all that is in it, and switch back."""
        request, visitors = form.request, self.office.visitors
        sample = _find_sample(request)
        if sample is None or self._progress_of(request) is not None:
            raise NotFound("organisation")
        await visitors.runner.run_change(
            sample.organisation, delete_sample_firm, visitors.performer.database, sample.organisation
        )
        own = _find_own(request)
        return await self._switch(request, own.organisation) if own else redirect("/")

    async def _make(self, request: OfficeRequest) -> None:
        """Make the sample firm. If that fails, what there is of it can be deleted."""
        visitors, name = self.office.visitors, _progress_name(request)
        person = request.actor.person
        owner = _builder().SampleOwner(person.name if person else "", request.visitor.email)
        report = partial(visitors.temporary_files.set_progress, name)
        try:
            await visitors.runner.run_in_background(
                request.actor.organisation,
                _builder().make_sample_firm,
                visitors.performer,
                new_id("org"),
                owner,
                report,
            )
        except Exception as error:
            log_error("sample firm failed", error, request=request.http_request.id)
        finally:
            visitors.temporary_files.clear_progress(name)

    async def _switch(self, request: OfficeRequest, organisation: str) -> Response:
        await self.office.visitors.runner.run(self._store_choice, request.visitor.session, organisation)
        return redirect("/")

    def _store_choice(self, session: str, organisation: str) -> None:
        with self.office.visitors.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            sessions.choose_organisation(db, session, organisation)

    def _progress_of(self, request: OfficeRequest) -> int | None:
        return self.office.visitors.temporary_files.progress_of(_progress_name(request))


def _builder() -> Any:
    """Return the module that makes sample firms. It draws in libraries that servers seldom need."""
    return import_lazily("mainstay.demo.sample")


def _progress_name(request: OfficeRequest) -> str:
    return f"sample.{request.visitor.account}"


def _find_sample(request: OfficeRequest) -> Membership | None:
    """Return the sample firm that the person owns. In one of somebody else, they may be a guest."""
    owned = (one for one in request.visitor.memberships if has_permission(one.role, Permission.OWNERS_NAME))
    return next((one for one in owned if one.is_sample), None)


def _find_own(request: OfficeRequest) -> Membership | None:
    return next((one for one in request.visitor.memberships if not one.is_sample), None)
