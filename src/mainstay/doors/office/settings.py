"""Settings: the organisation, and one's own account."""

from dataclasses import dataclass
from typing import Any

from mainstay.backing.database import EVERY
from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.doors.http import Request, Response
from mainstay.doors.office.desk import Desk, Guest, filled, notice, once_more, seen_version
from mainstay.doors.office.threshold import Threshold
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.render import see_other
from mainstay.identity import sessions, signing_in
from mainstay.identity.passwords import check_new_password, hash_password
from mainstay.identity.sessions import Session
from mainstay.identity.signing_in import NotSignedIn
from mainstay.kernel.refusal import Fault, Invalid, Refusal
from mainstay.values.money import CURRENCIES
from mainstay.values.places import COUNTRIES

_REQUIRED = ("name", "country", "currency", "timeZone")
_OPTIONAL = ("legalName", "taxNumber", "address", "email", "phone")


@dataclass(frozen=True, slots=True)
class Settings:
    """The pages."""

    desk: Desk
    threshold: Threshold

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", "/settings", enter(self.show)),
            Route("POST", "/settings", enter(self.change)),
            Route("GET", "/settings/account", enter(self.show_account)),
            Route("POST", "/settings/account/password", enter(self.change_password)),
            Route("POST", "/settings/account/sessions/end-others", enter(self.end_other_sessions)),
            Route("POST", "/settings/account/sessions/{id}/end", enter(self.end_session)),
        ]

    async def show(self, request: Request, guest: Guest, _: str) -> Response:
        """The organisation's details."""
        organisation = await self.desk.perform(request, guest, get_organisation)
        return self._organisation_page(guest, organisation, notice=notice(request))

    async def change(self, request: Request, guest: Guest, _: str) -> Response:
        """Change them."""
        fields = await self.desk.form(request, guest)
        given: dict[str, object] = {name: fields.get(name, "") for name in _REQUIRED}
        given |= filled(fields, *_OPTIONAL)
        try:
            await self.desk.perform(request, guest, update_organisation, given, seen_version(fields))
        except Refusal as refusal:
            organisation = await self.desk.perform(request, guest, get_organisation)
            return self._organisation_page(guest, once_more(fields, refusal, organisation["version"]), refusal)
        return see_other("/settings?done=saved")

    async def show_account(self, request: Request, guest: Guest, _: str) -> Response:
        """One's own sign-in."""
        return await self._account_page(guest, notice=notice(request))

    async def change_password(self, request: Request, guest: Guest, _: str) -> Response:
        """Change one's own password; every other session ends."""
        fields = await self.desk.form(request, guest)
        try:
            known = await self.threshold.look_up_account(guest.visitor.account)
            await self.threshold.count_attempt(request, known)
            check_new_password("newPassword", fields.get("newPassword", ""))
            await self.desk.visitors.runner.change(signing_in.prove, known, fields.get("password", ""))
        except NotSignedIn:
            return await self._account_page(guest, Invalid([Fault("password", "is not right")]))
        except Refusal as refusal:
            return await self._account_page(guest, refusal)
        await self.desk.visitors.runner.change(self._set_password, guest, fields["newPassword"])
        return see_other("/settings/account?done=password")

    async def end_session(self, request: Request, guest: Guest, session: str) -> Response:
        """End one of one's own sessions."""
        await self.desk.form(request, guest)
        await self.desk.visitors.runner.change(self._end, guest.visitor.account, session)
        return see_other("/settings/account?done=ended")

    async def end_other_sessions(self, request: Request, guest: Guest, _: str) -> Response:
        """End all of one's own sessions but this."""
        await self.desk.form(request, guest)
        await self.desk.visitors.runner.change(self._end_others, guest.visitor.account, guest.visitor.session)
        return see_other("/settings/account?done=others-ended")

    def _organisation_page(
        self, guest: Guest, fields: dict[str, Any], refusal: Refusal | None = None, **more: Any
    ) -> Response:
        return self.desk.form_page(
            "organisation.html",
            guest,
            fields,
            refusal,
            area="Settings",
            update=update_organisation,
            countries=[(code, code) for code in sorted(COUNTRIES)],
            currencies=[(code, code) for code in sorted(CURRENCIES)],
            **more,
        )

    async def _account_page(self, guest: Guest, refusal: Refusal | None = None, **more: Any) -> Response:
        own = await self.desk.visitors.runner.read(self._sessions, guest.visitor.account)
        return self.desk.form_page("account.html", guest, {}, refusal, area="Settings", sessions=own, **more)

    def _sessions(self, account: str) -> list[Session]:
        stage = self.desk.visitors.stage
        with stage.database.reading(EVERY) as rows:
            return sessions.of_account(rows, account, stage.clock())

    def _set_password(self, guest: Guest, password: str) -> None:
        stage, visitor = self.desk.visitors.stage, guest.visitor
        kept = hash_password(password)
        signing_in.change_password(stage.database, visitor.account, visitor.session, kept, stage.clock())

    def _end(self, account: str, session: str) -> None:
        with self.desk.visitors.stage.database.changing(EVERY) as rows:
            sessions.end(rows, account, session)

    def _end_others(self, account: str, session: str) -> None:
        with self.desk.visitors.stage.database.changing(EVERY) as rows:
            sessions.end_all(rows, account, but=session)
