"""The pages for a forgotten password: asking for a link, and using it."""

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from mainstay.doors.http import Request, Response
from mainstay.doors.office.sign_in.public_pages import PublicPages, TooManyAttempts
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.rendering import redirect
from mainstay.identity import links, sign_in
from mainstay.identity.authenticate import actor_of_reset
from mainstay.identity.links import LinkKind, LinkMaker, OneTimeLink
from mainstay.identity.person_sign_in import reset_password
from mainstay.identity.sign_in import InvalidLink
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.context import RequestDetails
from mainstay.values.email_address import fold_address
from mainstay.vocabulary.refusal import NotFound, Refusal

# The most emails within an hour.
WINDOW = 3600.0
EMAILS_PER_ACCOUNT = 5
EMAILS_PER_ADDRESS = 30


@dataclass(frozen=True, slots=True)
class PasswordResetPages:
    """The pages to reset a password."""

    public_pages: PublicPages
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            Route("GET", "/forgot-password", self.show_form),
            Route("POST", "/forgot-password", self.send_link),
            Route("GET", "/reset-password/{token}", self.show_reset),
            Route("POST", "/reset-password/{token}", self.reset),
        ]

    async def show_form(self, request: Request, _: Mapping[str, str]) -> Response:
        """Show the form to ask for a link."""
        return self.public_pages.render_page("forgot.html", request, sent=False, email="")

    async def send_link(self, request: Request, _: Mapping[str, str]) -> Response:
        """Email a link to the account with this address. The answer is the same if there is none."""
        fields = await self.public_pages.visitors.read_anonymous_form(request)
        email = fields.get("email", "").strip()
        address = self.public_pages.client_address(request)
        if not await self.public_pages.count_use("reset from", address, EMAILS_PER_ADDRESS, WINDOW):
            return self.public_pages.render_page("forgot.html", request, TooManyAttempts(), sent=False, email=email)
        if await self.public_pages.count_use("reset of", fold_address(email), EMAILS_PER_ACCOUNT, WINDOW):
            performer = self.public_pages.visitors.performer
            owner = await self.public_pages.runner.run_read(sign_in.find_email_organisation, performer.database, email)
            await self.public_pages.runner.run_change(
                owner, sign_in.send_reset_link, performer.database, performer.languages, email, performer.clock()
            )
            performer.wake_worker()
        return self.public_pages.render_page("forgot.html", request, sent=True, email=email)

    async def show_reset(self, request: Request, path_values: Mapping[str, str]) -> Response:
        """Show the form for a new password, while the link is valid."""
        link = await self.public_pages.runner.run_read(self._find_link, path_values["token"])
        if link is None:
            return self._render_dead_link(request)
        return self.public_pages.render_page("reset.html", request, email=link.email)

    async def reset(self, request: Request, path_values: Mapping[str, str]) -> Response:
        """Set the new password, and end every session of the account, including this browser's."""
        fields = await self.public_pages.visitors.read_anonymous_form(request)
        link = await self.public_pages.runner.run_read(self._find_link, path_values["token"])
        if link is None:
            return self._render_dead_link(request)
        try:
            account = await self.public_pages.runner.run_change(
                str(link.account), self._reset_password, link, fields.get("password", ""), request.id
            )
        except InvalidLink:
            return self._render_dead_link(request)
        except Refusal as refusal:
            return self.public_pages.render_page("reset.html", request, refusal, email=link.email)
        # Using the link proves access to the mailbox, so the browser counts as one that has signed in.
        cookie = await self.public_pages.remember_browser(request, account)
        return redirect("/sign-in?done=reset", (self.public_pages.visitors.expired_session_cookie(), cookie))

    def _render_dead_link(self, request: Request) -> Response:
        return self.public_pages.render_page("dead_link.html", request, InvalidLink(), again="/forgot-password")

    def _find_link(self, token: str) -> OneTimeLink | None:
        performer = self.public_pages.visitors.performer
        record_id = self.link_maker.verify_token(LinkKind.RESET, token)
        if record_id is None:
            return None
        with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            link = links.find(db, LinkKind.RESET, record_id, performer.clock())
        return link if link and link.account else None

    def _reset_password(self, link: OneTimeLink, password: str, request_id: str) -> str:
        performer = self.public_pages.visitors.performer
        with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            organisation = sign_in.find_organisation_of(db, link.account)
        try:
            with performer.database.read_transaction(organisation) as db:
                actor = actor_of_reset(db, link.id)
            answer = performer.perform(
                reset_password, actor, orjson.dumps({"password": password}), RequestDetails(request_id)
            )
        except NotFound:
            raise InvalidLink from None
        return str(orjson.loads(answer.body)["id"])
