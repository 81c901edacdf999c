"""Shared parts of the pages before sign-in: their layout, limits on attempts, and the start of a session."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.doors.http import Request, Response
from mainstay.doors.office.kit.office_pages import NOTICES, refusal_variables, status_of
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.rendering import redirect, render_template
from mainstay.doors.pages.session import Visitors
from mainstay.doors.runner import Runner
from mainstay.doors.server_names import network_of
from mainstay.identity import devices, sessions
from mainstay.identity import sign_in as signing_in
from mainstay.identity.authenticate import actor_of_person
from mainstay.identity.person_sign_in import sign_in
from mainstay.identity.sessions import NewSession
from mainstay.identity.sign_in import KnownAddress
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseHandle
from mainstay.kernel.context import RequestDetails
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.refusal import Refusal, TooManyRequests

# The most attempts within a quarter of an hour. Those on an account are counted from its last successful sign-in.
WINDOW = 900.0
ATTEMPTS_PER_ACCOUNT = 20
ATTEMPTS_PER_ADDRESS = 300


class TooManyAttempts(TooManyRequests):
    """Passwords were tried, or emails requested, too often."""

    def __init__(self) -> None:
        super().__init__(Message("Too many attempts. Wait a while, then try again."))


@dataclass(frozen=True, slots=True)
class PublicPages:
    """What the pages before sign-in need: rendering, rate limits and the start of a session."""

    visitors: Visitors

    @property
    def runner(self) -> Runner:
        """The runner on which work is done."""
        return self.visitors.runner

    def render_page(
        self,
        template: str,
        request: Request,
        refusal: Refusal | None = None,
        *,
        allows_app_redirect: bool = True,
        **variables: Any,
    ) -> Response:
        """Return a page for someone who is not signed in.

        `allows_app_redirect` marks pages that may be part of connecting a third-party app, as most of these are.
        """
        csrf, headers = self.visitors.anonymous_token(request)
        if isinstance(refusal, TooManyRequests):
            headers = (*headers, ("retry-after", "60"))
        page_variables = (
            {"notice": NOTICES.get(query_parameters(request).get("done", ""))} | refusal_variables(refusal) | variables
        )
        return render_template(
            template,
            status_of(refusal),
            allows_app_redirect=allows_app_redirect,
            headers=headers,
            csrf=csrf,
            **page_variables,
        )

    async def look_up(self, email: str) -> KnownAddress:
        """Return what is known about an email address."""
        return await self.runner.run_read(self._read_address, signing_in.look_up_address, email)

    async def look_up_account(self, account_id: str) -> KnownAddress:
        """Return what is known about the account of someone who is signed in."""
        return await self.runner.run_read(self._read_address, signing_in.look_up_account, account_id)

    async def count_attempt(self, request: Request, known: KnownAddress) -> None:
        """Count an attempt at a password before it is made. Raise TooManyAttempts if there were too many.

        A browser that has signed in to this account before has its own limit, which strangers cannot use up.
        """
        device = await self.runner.run_read(self._find_device, known, self.visitors.device_secrets(request))
        if device:
            is_accepted = await self.count_use("sign-in by", device, ATTEMPTS_PER_ACCOUNT, WINDOW)
        else:
            is_accepted = await self._count_stranger(request, known)
        if not is_accepted:
            raise TooManyAttempts

    async def _count_stranger(self, request: Request, known: KnownAddress) -> bool:
        by_address = await self.count_use("sign-in from", self.client_address(request), ATTEMPTS_PER_ADDRESS, WINDOW)
        account = f"{known.folded} {known.signed_in_at}"
        return by_address and await self.count_use("sign-in of", account, ATTEMPTS_PER_ACCOUNT, WINDOW)

    async def count_use(self, counter: str, subject: str, limit: int, window: float) -> bool:
        """Count one use, and return whether it is within the limit. The counter's name has only a hash of `who`."""
        name = f"{counter} {hashlib.sha256(subject.encode()).hexdigest()}"
        return (await self.visitors.rate_limits.take(name, limit, window)).accepted

    def client_address(self, request: Request) -> str:
        """Return the address or network that a request is counted under."""
        return network_of(self.visitors.addresses.client_address(request.peer, request.headers))

    async def start_session(
        self, request: Request, account_id: str, organisation: str | None, ticket: str, *, keep: bool = False
    ) -> Response:
        """Begin a session for someone who has proved who they are, and redirect to the page they wanted.

        With `keep`, the device stays signed in.
        """
        earlier_visitor = await self.visitors.find_visitor(request)
        sign_in_input = {
            "browser": request.headers.get("user-agent", ""),
            "carried": self.visitors.device_secrets(request),
            "ticket": ticket,
            "earlier": earlier_visitor.session if earlier_visitor and earlier_visitor.account == account_id else None,
            "keep": keep,
        }
        result = await self.runner.run_change(
            organisation or account_id, self._begin_session, account_id, organisation, sign_in_input, request.id
        )
        cookies = (
            self.visitors.session_cookie(result["session"], keep=keep),
            self.visitors.device_cookie(*result["devices"]),
        )
        return redirect(result["path"] or "/", cookies)

    async def remember_browser(self, request: Request, account_id: str) -> tuple[str, str]:
        """Remember this browser for the account, and return the header of its device cookie."""
        cookies = await self.runner.run(self._renew_devices, account_id, self.visitors.device_secrets(request))
        return self.visitors.device_cookie(*cookies)

    def _read_address(self, look_up: Callable[[DatabaseHandle, str], KnownAddress], subject: str) -> KnownAddress:
        with self.visitors.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return look_up(db, subject)

    def _find_device(self, known: KnownAddress, cookies: Sequence[str]) -> str | None:
        performer = self.visitors.performer
        with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            # Also searched if there is no account, so that the response takes equally long.
            return devices.find(db, known.account or "", cookies, performer.clock())

    def _renew_devices(self, account_id: str, cookies: Sequence[str]) -> tuple[str, ...]:
        performer = self.visitors.performer
        with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            return devices.renew_device(db, account_id, cookies, performer.clock())

    def _begin_session(
        self, account_id: str, organisation: str | None, sign_in_input: dict[str, Any], request_id: str
    ) -> dict[str, Any]:
        """Begin a session in the named organisation, or in the first.

        An account without any organisation gets a session too, and a page that says so.
        """
        performer = self.visitors.performer
        with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            memberships = sessions.list_memberships(db, account_id)
        membership = next(
            (membership for membership in memberships if membership.organisation == organisation),
            memberships[0] if memberships else None,
        )
        if membership is None:
            with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
                new_session = NewSession(account_id, None, sign_in_input["browser"], sign_in_input["keep"])
                secret = sessions.begin_session(db, new_session, performer.clock())
            return {"session": secret, "devices": sign_in_input["carried"], "path": None}
        with performer.database.read_transaction(membership.organisation) as db:
            actor = actor_of_person(db, membership.person, Door.OFFICE)
        answer = performer.perform(sign_in, actor, orjson.dumps(sign_in_input), RequestDetails(request_id))
        result: dict[str, Any] = orjson.loads(answer.body)
        return result
