"""Settings: the organisation, its work rules, failed tasks, and the person's own account."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mainstay.business.organisation.failed_work import BACKGROUND_TASKS
from mainstay.business.organisation.settings import SETTINGS, update_settings
from mainstay.business.organisation.store import ORGANISATION
from mainstay.doors.downloads import respond_with_picture
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.record_panels import PANELS_WITHOUT_FILES
from mainstay.doors.office.settings.document_settings import EMAIL_FIELDS, MONEY_FIELDS, NUMBER_FORMATS, SETTINGS_FIELDS
from mainstay.doors.office.sign_in.public_pages import PublicPages
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.page_language import translate_label, translate_text
from mainstay.doors.pages.rendering import redirect
from mainstay.identity import sessions, sign_in
from mainstay.identity.passwords import check_new_password
from mainstay.identity.person_sign_in import change_password
from mainstay.identity.sessions import Session
from mainstay.identity.sign_in import WrongCredentials
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.files import FileStore
from mainstay.infrastructure.images import media_type_of
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Fault, Invalid, NotFound, Refusal

_ACCOUNT_PATH = "/settings/account"

ORGANISATION_LAYOUT = RecordLayout(
    kind=ORGANISATION,
    lead="Your name, address and company details, as customers see them.",
    base_template="settings.html",
    title_of=lambda organisation: str(organisation.name),
    subtitle_of=lambda _: translate_text("Your name, address and company details, as customers see them."),
    columns=(),
    facts=(
        "legalName",
        "address",
        "email",
        "phone",
        "taxNumber",
        "registrationNumber",
        "country",
        "currency",
        "timeZone",
    ),
    page_body="logo.html",
    skipped_fields=SETTINGS_FIELDS | MONEY_FIELDS,
)


WORK_RULES_LAYOUT = RecordLayout(
    kind=SETTINGS,
    edit_title="Edit work settings",
    lead="Working hours, what each role can see, and job numbers.",
    base_template="settings.html",
    title_of=lambda _: translate_text("Work"),
    subtitle_of=lambda _: translate_text("Working hours, what each role can see, and job numbers."),
    columns=(),
    facts=(
        "workingHours",
        "membersSeePrices",
        "membersSeeTeamSchedule",
        "subcontractorsLogHours",
        "hoursRoundingMinutes",
        "jobNumbers",
        "purchaseOrderNumbers",
        "subscription",
    ),
    field_texts={
        **NUMBER_FORMATS,
        "subscription": lambda settings, _zone: translate_label(settings.subscription.status),
    },
    skipped_fields=MONEY_FIELDS | EMAIL_FIELDS,
    form_leads={update_settings.name: "Changes apply at once."},
    panels=PANELS_WITHOUT_FILES,
)


FAILED_WORK_LAYOUT = RecordLayout(
    kind=BACKGROUND_TASKS,
    lead="Background tasks that failed. Fix the cause, then retry.",
    base_template="settings.html",
    title_of=lambda work: str(work.about),
    subtitle_of=lambda _: "",
    columns=("problem", "failedAt"),
    facts=("problem", "failedAt", "attempts"),
    panels=PANELS_WITHOUT_FILES,
    empty_text="Nothing has failed.",
)


@dataclass(frozen=True, slots=True)
class SettingsPages:
    """The pages of the layouts above, the logo, and the pages of the person's own account."""

    office: OfficePages
    public_pages: PublicPages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        signed_in = self.office.require_sign_in
        return [
            Route("GET", "/logo/{name}", signed_in(self.show_logo)),
            Route("GET", _ACCOUNT_PATH, signed_in(self.show_account)),
            *Form(self.office, find_by_path, self._change_password, self._show_refused_password).routes(
                f"{_ACCOUNT_PATH}/password", _ACCOUNT_PATH
            ),
            *Form(self.office, find_by_path, self._end_other_sessions).routes(
                f"{_ACCOUNT_PATH}/sessions/end-others", _ACCOUNT_PATH
            ),
            *Form(self.office, find_by_path, self._end_session).routes(
                f"{_ACCOUNT_PATH}/sessions/{{id}}/end", _ACCOUNT_PATH
            ),
        ]

    async def show_logo(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return the logo to people of the organisation. Another picture has another name, and so another path."""
        membership, visitors = request.visitor.membership, self.office.visitors
        if membership is None or not membership.logo or membership.logo != path_values["name"]:
            raise NotFound("page")
        return await visitors.runner.run(_respond_with_logo, visitors.files, membership.logo)

    async def show_account(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show the person's own account."""
        return await self._render_account(request, notice=self.office.find_notice(request))

    async def _change_password(self, form: OpenForm[PathValues]) -> Response:
        """Change the person's own password, and end all their other sessions."""
        request, fields = form.request, form.fields
        try:
            known = await self.public_pages.look_up_account(request.visitor.account)
            await self.public_pages.count_attempt(request.http_request, known)
            check_new_password("newPassword", fields.get("newPassword", ""))
            await self.office.visitors.runner.run(sign_in.check_password, known, fields.get("password", ""))
            given = {"password": fields.get("newPassword", ""), "session": request.visitor.session}
            await self.office.perform(request, change_password, given)
        except WrongCredentials:
            wrong = Invalid([Fault("password", Message("is not correct"))])
            raise self.office.translate_refusal(request, change_password, wrong) from None
        except Refusal as refusal:
            raise self.office.translate_refusal(request, change_password, refusal) from None
        cookie = await self.public_pages.remember_browser(request.http_request, request.visitor.account)
        return redirect(f"{_ACCOUNT_PATH}?done=password", (cookie,))

    async def _show_refused_password(self, form: OpenForm[PathValues]) -> Response:
        return await self._render_account(form.request, form.status, **form.variables)

    async def _end_session(self, form: OpenForm[PathValues]) -> Response:
        """End one of the person's own sessions."""
        await self.office.visitors.runner.run(self._store_end, form.request.visitor.account, form.subject["id"])
        return redirect(f"{_ACCOUNT_PATH}?done=ended")

    async def _end_other_sessions(self, form: OpenForm[PathValues]) -> Response:
        """End all of the person's own sessions except this one."""
        visitor = form.request.visitor
        await self.office.visitors.runner.run(self._store_end_of_others, visitor.account, visitor.session)
        return redirect(f"{_ACCOUNT_PATH}?done=others-ended")

    async def _render_account(self, request: OfficeRequest, status: int = 200, **variables: Any) -> Response:
        own_sessions = await self.office.visitors.runner.run_read(self._read_sessions, request.visitor.account)
        return self.office.render_page("account.html", request, status, sessions=own_sessions, **variables)

    def _read_sessions(self, account_id: str) -> list[Session]:
        performer = self.office.visitors.performer
        with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return sessions.list_sessions(db, account_id, performer.clock())

    def _store_end(self, account_id: str, session_id: str) -> None:
        with self.office.visitors.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            sessions.end_session(db, account_id, session_id)

    def _store_end_of_others(self, account_id: str, session_id: str) -> None:
        with self.office.visitors.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            sessions.end_sessions(db, account_id, except_session_id=session_id)


def _respond_with_logo(files: FileStore, name: str) -> Response:
    try:
        path = files.fetch_path(name)
        return respond_with_picture(path, "logo", media_type_of(path))
    except FileNotFoundError:
        # The folder of files was not restored together with the database.
        raise NotFound("page") from None
