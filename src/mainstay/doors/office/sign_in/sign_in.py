"""The pages to sign in and out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mainstay.doors.http import Request, Response
from mainstay.doors.office.sign_in.first_organisation import FirstOrganisationPages
from mainstay.doors.office.sign_in.public_pages import PublicPages
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.rendering import redirect
from mainstay.doors.pages.session import ERASE_STORED_PAGES
from mainstay.identity import return_tickets, sessions
from mainstay.identity import sign_in as signing_in
from mainstay.identity.first_organisation import SET_UP_PATH
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Refusal


@dataclass(frozen=True, slots=True)
class SignInPages:
    """The sign-in page, and signing out."""

    public_pages: PublicPages
    first_organisation: FirstOrganisationPages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            Route("GET", "/sign-in", self.show),
            Route("POST", "/sign-in", self.sign_in),
            Route("POST", "/sign-out", self.sign_out),
        ]

    async def show(self, request: Request, _: Mapping[str, str]) -> Response:
        """Show the form. Redirect visitors who are signed in, or to the first setup if there is no organisation yet."""
        query = query_parameters(request)
        ticket = query.get("ticket", "")
        if await self.public_pages.visitors.find_visitor(request):
            path = await self.public_pages.runner.run_read(self._find_path, ticket)
            return redirect(path or "/")
        if await self.first_organisation.is_awaited():
            return redirect(SET_UP_PATH)
        return self._render_page(request, {"ticket": ticket}, problem=_SIGN_IN_ENDED if "late" in query else None)

    async def sign_in(self, request: Request, _: Mapping[str, str]) -> Response:
        """Begin a session, and redirect to the page that the visitor wanted."""
        fields = await self.public_pages.visitors.read_anonymous_form(request)
        try:
            known = await self.public_pages.look_up(fields.get("email", ""))
            await self.public_pages.count_attempt(request, known)
            account = await self.public_pages.runner.run(signing_in.check_password, known, fields.get("password", ""))
        except Refusal as refusal:
            return self._render_page(request, fields, refusal)
        keep = "keep" in fields
        return await self.public_pages.start_session(request, account, None, fields.get("ticket", ""), keep=keep)

    async def sign_out(self, request: Request, _: Mapping[str, str]) -> Response:
        """End the session."""
        visitors = self.public_pages.visitors
        visitor = await visitors.find_visitor(request)
        if visitor is not None:
            await visitors.read_form(request, visitor)
            await self.public_pages.runner.run(self._end_session, visitor.account, visitor.session)
        return redirect("/sign-in?done=signed-out", (visitors.expired_session_cookie(), ERASE_STORED_PAGES))

    def _render_page(
        self, request: Request, fields: dict[str, str], refusal: Refusal | None = None, **variables: Any
    ) -> Response:
        email, ticket = fields.get("email", ""), fields.get("ticket", "")
        variables |= {"email": email, "ticket": ticket, "keep": "keep" in fields}
        return self.public_pages.render_page("sign_in.html", request, refusal, **variables)

    def _find_path(self, ticket: str) -> str | None:
        performer = self.public_pages.visitors.performer
        with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return return_tickets.find(db, ticket, performer.clock())

    def _end_session(self, account_id: str, session: str) -> None:
        with self.public_pages.visitors.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            sessions.end_session(db, account_id, session)


_SIGN_IN_ENDED = Message("Your session ended, so nothing was saved. Sign in to continue.")
