"""Signing in and out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mainstay.backing.database import EVERY
from mainstay.doors.http import Request, Response
from mainstay.doors.office.founding import FoundingPages
from mainstay.doors.office.threshold import Threshold
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import see_other
from mainstay.identity import sessions, signing_in, tickets
from mainstay.identity.founding import PATH
from mainstay.terms.refusal import Refusal


@dataclass(frozen=True, slots=True)
class SignIn:
    """The pages."""

    threshold: Threshold
    founding: FoundingPages

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("GET", "/sign-in", self.show),
            Route("POST", "/sign-in", self.sign_in),
            Route("POST", "/sign-out", self.sign_out),
        ]

    async def show(self, request: Request, _: Mapping[str, str]) -> Response:
        """The form; whoever is signed in goes on at once, and where nobody can sign in yet, one sets it up first."""
        words = query_words(request)
        ticket = words.get("ticket", "")
        if await self.threshold.visitors.visitor(request):
            path = await self.threshold.runner.read(self._find_path, ticket)
            return see_other(path or "/")
        if await self.founding.is_awaited():
            return see_other(PATH)
        return self._page(request, {"ticket": ticket}, problem=_LATE if "late" in words else None)

    async def sign_in(self, request: Request, _: Mapping[str, str]) -> Response:
        """Begin a session, and go back to where the visitor wanted to go."""
        fields = await self.threshold.visitors.stranger_form(request)
        try:
            known = await self.threshold.look_up(fields.get("email", ""))
            await self.threshold.count_attempt(request, known)
            account = await self.threshold.runner.run(signing_in.prove, known, fields.get("password", ""))
        except Refusal as refusal:
            return self._page(request, fields, refusal)
        return await self.threshold.welcome(request, account, None, fields.get("ticket", ""))

    async def sign_out(self, request: Request, _: Mapping[str, str]) -> Response:
        """End the session."""
        visitors = self.threshold.visitors
        visitor = await visitors.visitor(request)
        if visitor is not None:
            await visitors.form(request, visitor)
            await self.threshold.runner.run(self._end, visitor.account, visitor.session)
        return see_other("/sign-in?done=signed-out", (visitors.no_session_cookie(),))

    def _page(self, request: Request, fields: dict[str, str], refusal: Refusal | None = None, **shown: Any) -> Response:
        email, ticket = fields.get("email", ""), fields.get("ticket", "")
        return self.threshold.page("sign_in.html", request, refusal, email=email, ticket=ticket, **shown)

    def _find_path(self, ticket: str) -> str | None:
        stage = self.threshold.visitors.stage
        with stage.database.reading(EVERY) as rows:
            return tickets.find(rows, ticket, stage.clock())

    def _end(self, account: str, session: str) -> None:
        with self.threshold.visitors.stage.database.changing(EVERY) as rows:
            sessions.end(rows, account, session)


_LATE = "Your sign-in had ended, so nothing was done with what you sent. Sign in to go on."
