"""The approval screen: a person chooses the organisation and the access of an app, and approves or denies."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import orjson

from mainstay.doors.http import HttpError, Request, Response
from mainstay.doors.oauth.authorize import AppRequest, Authorization, SignInNeeded
from mainstay.doors.oauth.errors import OAuthError
from mainstay.doors.oauth.redirect_uris import is_loopback
from mainstay.doors.pages.door import error_page
from mainstay.doors.pages.forms import FormError
from mainstay.doors.pages.rendering import render_template
from mainstay.doors.pages.session import Visitor, Visitors, path_with_query
from mainstay.identity import return_tickets
from mainstay.identity.authenticate import actor_of_person
from mainstay.identity.connections import approve_connection
from mainstay.identity.sessions import Membership
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.context import RequestDetails
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission, has_permission
from mainstay.vocabulary.refusal import Conflict, Invalid, Refusal
from mainstay.vocabulary.toolsets import DEFAULT_TOOLSETS, EXTRA_TOOLSETS, Toolset

TICKET_LIFETIME = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class ApprovalScreen:
    """Answers `/oauth/authorize`: GET shows the screen and changes nothing, POST takes the decision."""

    authorization: Authorization
    visitors: Visitors

    async def __call__(self, request: Request) -> Response:
        """Show the screen, or take the decision."""
        if request.method not in {"GET", "HEAD", "POST"}:
            return error_page(405, Message("This method is not allowed here."), (("allow", "GET, HEAD, POST"),))
        try:
            visitor = await self.visitors.find_visitor(request)
            app_request = await self.authorization.read(request, visitor.account if visitor else None)
            if visitor is None:
                return await self._redirect_to_sign_in(request)
            return await self._answer_visitor(request, app_request, visitor)
        except SignInNeeded:
            return await self._redirect_to_sign_in(request)
        except (FormError, HttpError) as error:
            return error_page(error.status, error.message)

    async def _redirect_to_sign_in(self, request: Request) -> Response:
        return await self.visitors.redirect_to_sign_in(request, form_path=path_with_query(request))

    async def _answer_visitor(self, request: Request, app_request: AppRequest, visitor: Visitor) -> Response:
        try:
            self.authorization.check(app_request)
            if request.method == "POST":
                return await self._decide(request, app_request, visitor)
            return self._render_screen(request, app_request, visitor)
        except OAuthError as error:
            return self.authorization.refuse(app_request, error)

    def _render_screen(
        self,
        request: Request,
        app_request: AppRequest,
        visitor: Visitor,
        chosen: Membership | None = None,
        problem: Refusal | None = None,
    ) -> Response:
        memberships = _memberships_to_connect(visitor)
        chosen = chosen or next(
            (membership for membership in memberships if membership == visitor.membership), memberships[0]
        )
        until = moment_text(self.authorization.performer.clock() + TICKET_LIFETIME)
        return render_template(
            "approve.html",
            _status_of(problem),
            allows_app_redirect=True,
            problem=problem.text if problem else None,
            visitor=visitor,
            app=app_request.client.name,
            described_at=urlsplit(app_request.client.id).netloc if app_request.client.is_document else None,
            # Any program on the device can ask in the name of an app whose document everyone can read.
            leads_to_device=app_request.client.is_document and is_loopback(app_request.redirect_uri),
            returns_to=_destination_of(app_request.redirect_uri),
            places=memberships,
            chosen=chosen,
            writers=[
                membership
                for membership in memberships
                if has_permission(membership.role, Permission.CONNECTIONS_WRITE)
            ],
            action=path_with_query(request),
            toolsets=[(one, one not in EXTRA_TOOLSETS) for one in Toolset],
            ticket=_Ticket(secrets.token_hex(16), until, app_request.client.digest).sign(visitor, request.query),
        )

    async def _decide(self, request: Request, app_request: AppRequest, visitor: Visitor) -> Response:
        form = await self.visitors.read_form(request, visitor)
        runner = self.authorization.runner
        ticket = _read_ticket(visitor, request.query, form, self.authorization.performer.clock())
        if ticket.client_digest != app_request.client.digest:
            changed = Conflict(Message("The app has changed its description since. Check where you'll return to."))
            return self._render_screen(request, app_request, visitor, problem=changed)
        await runner.run(self._spend_ticket, ticket)
        if form.get("decision") != "approve":
            raise OAuthError("access_denied", "The person did not approve the app.")
        membership = next(
            (
                membership
                for membership in _memberships_to_connect(visitor)
                if membership.organisation == form.get("organisation")
            ),
            None,
        )
        if membership is None:
            raise FormError(400, Message("Choose an organisation in which you can connect apps."))
        given: dict[str, object] = {
            "clientId": app_request.client.id,
            "clientName": app_request.client.name,
            "access": form.get("access"),
            "toolsets": _read_toolsets(form),
            "redirectUri": app_request.redirect_uri,
            "challenge": app_request.challenge,
        }
        try:
            code = await runner.run_change(membership.organisation, self._approve, membership, given, request.id)
        except Refusal as refusal:
            return self._render_screen(request, app_request, visitor, membership, refusal)
        return self.authorization.answer(app_request, code=code)

    def _spend_ticket(self, ticket: "_Ticket") -> None:
        """Spend a ticket, so that the decision on a screen counts only once."""
        with self.authorization.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            is_unused = return_tickets.mark_answered(db, ticket.nonce, ticket.until)
        if not is_unused:
            raise _stale_screen_error()

    def _approve(self, membership: Membership, given: dict[str, object], request_id: str) -> str:
        performer = self.authorization.performer
        with performer.database.read_transaction(membership.organisation) as db:
            actor = actor_of_person(db, membership.person, Door.OFFICE)
        answer = performer.perform(approve_connection, actor, orjson.dumps(given), RequestDetails(request_id))
        return str(orjson.loads(answer.body)["code"])


@dataclass(frozen=True, slots=True)
class _Ticket:
    """The ticket of one screen, for one session and one request of an app."""

    nonce: str
    until: str
    # The app as the screen showed it.
    client_digest: str

    def sign(self, visitor: Visitor, query: bytes) -> str:
        """Return the ticket as the form carries it, signed with a key that only the session knows."""
        shown = f"{self.nonce}.{self.until}.{self.client_digest}"
        message = b"\n".join((b"approve", query, shown.encode()))
        return f"{shown}.{hmac.digest(visitor.csrf.encode(), message, hashlib.sha256).hex()}"


_TICKET = re.compile(r"([0-9a-f]+)\.([^.]+\.[^.]+)\.([0-9a-f]+)\.[0-9a-f]+")


def _read_ticket(visitor: Visitor, query: bytes, form: dict[str, str], now: datetime) -> _Ticket:
    text = form.get("ticket", "")
    parts = _TICKET.fullmatch(text)
    if parts is None:
        raise _stale_screen_error()
    ticket = _Ticket(*parts.groups())
    is_genuine = hmac.compare_digest(text.encode(), ticket.sign(visitor, query).encode())
    if not is_genuine or ticket.until <= moment_text(now):
        raise _stale_screen_error()
    return ticket


# Sent with the choice of areas, because a browser sends nothing for areas that are not chosen.
_TOOLSETS_FIELD = "toolsets"


def _read_toolsets(form: dict[str, str]) -> list[Toolset] | None:
    """Return the chosen areas; None if they are exactly those that are chosen by default, or nothing was asked."""
    if _TOOLSETS_FIELD not in form:
        return None
    chosen = [toolset for toolset in Toolset if f"toolset {toolset}" in form]
    return None if {*chosen} == DEFAULT_TOOLSETS else chosen


def _status_of(problem: Refusal | None) -> int:
    if problem is None:
        return 200
    return next((status for kind, status in _STATUSES.items() if isinstance(problem, kind)), 403)


_STATUSES = {Invalid: 400, Conflict: 409}


def _stale_screen_error() -> FormError:
    return FormError(400, Message("This request was already answered or has expired. Start again in the app."))


def _memberships_to_connect(visitor: Visitor) -> list[Membership]:
    """Return the memberships of the organisations in which the visitor may connect apps."""
    memberships = [
        membership for membership in visitor.memberships if has_permission(membership.role, Permission.CONNECTIONS_READ)
    ]
    if not memberships:
        raise OAuthError("access_denied", "The person can't connect apps in any organisation.")
    return memberships


def _destination_of(redirect_uri: str) -> str:
    """Return what a person should judge of a redirect address: its host, or the scheme of an app on the device."""
    parts = urlsplit(redirect_uri)
    return parts.netloc if parts.scheme in {"http", "https"} else f"{parts.scheme}:"
