"""A forgotten password: asking for a link, and using it."""

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from mainstay.backing.database import EVERY
from mainstay.doors.http import Request, Response
from mainstay.doors.office.threshold import Threshold, TooManyAttempts
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.render import see_other
from mainstay.identity import links, signing_in
from mainstay.identity.authenticate import actor_of_reset
from mainstay.identity.entering import reset_password
from mainstay.identity.links import Kind, Link, LinkMaker
from mainstay.identity.signing_in import DeadLink
from mainstay.kernel.context import Envelope
from mainstay.terms.refusal import NotFound, Refusal
from mainstay.values.mailbox import fold_address

# Mails within an hour.
WINDOW = 3600.0
MAILS_PER_ACCOUNT = 5
MAILS_PER_ADDRESS = 30


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The pages."""

    threshold: Threshold
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("GET", "/forgot-password", self.show_question),
            Route("POST", "/forgot-password", self.ask),
            Route("GET", "/reset-password/{token}", self.show_reset),
            Route("POST", "/reset-password/{token}", self.reset),
        ]

    async def show_question(self, request: Request, _: Mapping[str, str]) -> Response:
        """The form that asks for a link."""
        return self.threshold.page("forgot.html", request, sent=False, email="")

    async def ask(self, request: Request, _: Mapping[str, str]) -> Response:
        """Mail a link to whoever has this address; the answer is the same when nobody has."""
        fields = await self.threshold.visitors.stranger_form(request)
        email = fields.get("email", "").strip()
        address = self.threshold.address(request)
        if not await self.threshold.take("reset from", address, MAILS_PER_ADDRESS, WINDOW):
            return self.threshold.page("forgot.html", request, TooManyAttempts(), sent=False, email=email)
        if await self.threshold.take("reset of", fold_address(email), MAILS_PER_ACCOUNT, WINDOW):
            stage = self.threshold.visitors.stage
            owner = await self.threshold.runner.read(signing_in.find_owner, stage.database, email)
            await self.threshold.runner.change(owner, signing_in.ask_for_reset, stage.database, email, stage.clock())
            stage.ring()
        return self.threshold.page("forgot.html", request, sent=True, email=email)

    async def show_reset(self, request: Request, at: Mapping[str, str]) -> Response:
        """The form for a new password, while the link lives."""
        link = await self.threshold.runner.read(self._find, at["token"])
        if link is None:
            return self._dead(request)
        return self.threshold.page("reset.html", request, email=link.email)

    async def reset(self, request: Request, at: Mapping[str, str]) -> Response:
        """Set the new password. Every session of the account ends, this browser's too."""
        fields = await self.threshold.visitors.stranger_form(request)
        link = await self.threshold.runner.read(self._find, at["token"])
        if link is None:
            return self._dead(request)
        try:
            account = await self.threshold.runner.change(
                str(link.account), self._reset, link, fields.get("password", ""), request.id
            )
        except DeadLink:
            return self._dead(request)
        except Refusal as refusal:
            return self.threshold.page("reset.html", request, refusal, email=link.email)
        # Whoever had the link has shown that the mailbox is theirs: their browser is as good as one that signed in.
        cookie = await self.threshold.know_browser(request, account)
        return see_other("/sign-in?done=reset", (self.threshold.visitors.no_session_cookie(), cookie))

    def _dead(self, request: Request) -> Response:
        return self.threshold.page("dead_link.html", request, DeadLink(), again="/forgot-password")

    def _find(self, token: str) -> Link | None:
        stage = self.threshold.visitors.stage
        identity = self.link_maker.read(Kind.RESET, token)
        if identity is None:
            return None
        with stage.database.reading(EVERY) as rows:
            found = links.find(rows, Kind.RESET, identity, stage.clock())
        return found if found and found.account else None

    def _reset(self, link: Link, password: str, request: str) -> str:
        stage = self.threshold.visitors.stage
        with stage.database.reading(EVERY) as rows:
            place = signing_in.find_place(rows, link.account)
        try:
            with stage.database.reading(place) as rows:
                actor = actor_of_reset(rows, link.id)
            answer = stage.perform(reset_password, actor, orjson.dumps({"password": password}), Envelope(request))
        except NotFound:
            raise DeadLink from None
        return str(orjson.loads(answer.body)["id"])
