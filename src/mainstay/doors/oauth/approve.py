"""The approval screen: a person chooses the organisation and the access, and approves or not."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import orjson

from mainstay.backing.database import EVERY
from mainstay.doors.http import Interrupted, Request, Response
from mainstay.doors.oauth.answers import OAuthError
from mainstay.doors.oauth.authorize import Asked, Authorization
from mainstay.doors.pages.door import apology_page
from mainstay.doors.pages.forms import WrongForm
from mainstay.doors.pages.render import render
from mainstay.doors.pages.session import Visitor, Visitors, whole_path
from mainstay.identity import tickets
from mainstay.identity.authenticate import actor_of_person
from mainstay.identity.connections import approve_connection
from mainstay.identity.sessions import Membership
from mainstay.kernel.context import Envelope
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Invalid, Refusal
from mainstay.terms.rights import Right, holds
from mainstay.values.moments import moment_text

TICKET_LIFETIME = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Consent:
    """Answers `/oauth/authorize`: GET shows the screen and changes nothing, POST takes the answer."""

    authorization: Authorization
    visitors: Visitors

    async def __call__(self, request: Request) -> Response:
        """Show the screen, or take the answer."""
        if request.method not in {"GET", "HEAD", "POST"}:
            return apology_page(405, "This address is not used in that way.", (("allow", "GET, HEAD, POST"),))
        try:
            asked = await self.authorization.read(request)
            visitor = await self.visitors.visitor(request)
            if visitor is None:
                return await self.visitors.sign_in_first(request, form_at=whole_path(request))
            return await self._signed_in(request, asked, visitor)
        except (WrongForm, Interrupted) as wrong:
            return apology_page(wrong.status, wrong.text)

    async def _signed_in(self, request: Request, asked: Asked, visitor: Visitor) -> Response:
        try:
            self.authorization.check(asked)
            if request.method == "POST":
                return await self._decide(request, asked, visitor)
            return self._screen(request, asked, visitor)
        except OAuthError as problem:
            return self.authorization.refuse(asked, problem)

    def _screen(
        self,
        request: Request,
        asked: Asked,
        visitor: Visitor,
        chosen: Membership | None = None,
        problem: Refusal | None = None,
    ) -> Response:
        places = _places(visitor)
        chosen = chosen or next((place for place in places if place == visitor.membership), places[0])
        until = moment_text(self.authorization.stage.clock() + TICKET_LIFETIME)
        return render(
            "approve.html",
            _status_of(problem),
            journey=True,
            problem=problem.text if problem else None,
            visitor=visitor,
            app=asked.client.name,
            returns_to=_place_of(asked.redirect_uri),
            places=places,
            chosen=chosen,
            writers=[place for place in places if holds(place.role, Right.CONNECTIONS_WRITE)],
            action=whole_path(request),
            ticket=_Ticket(secrets.token_hex(16), until).sealed(visitor, request.query),
        )

    async def _decide(self, request: Request, asked: Asked, visitor: Visitor) -> Response:
        form = await self.visitors.form(request, visitor)
        runner = self.authorization.runner
        await runner.run(self._use, _read_ticket(visitor, request.query, form, self.authorization.stage.clock()))
        if form.get("decision") != "approve":
            raise OAuthError("access_denied", "The person did not approve the app.")
        place = next((place for place in _places(visitor) if place.organisation == form.get("organisation")), None)
        if place is None:
            raise WrongForm(400, "Choose an organisation in which you may connect apps.")
        given = {
            "clientId": asked.client.id,
            "clientName": asked.client.name,
            "access": form.get("access"),
            "redirectUri": asked.redirect_uri,
            "challenge": asked.challenge,
        }
        try:
            code = await runner.change(place.organisation, self._approve, place, given, request.id)
        except Refusal as refusal:
            return self._screen(request, asked, visitor, place, refusal)
        return self.authorization.answer(asked, code=code)

    def _use(self, ticket: "_Ticket") -> None:
        """An answer to a screen counts once."""
        with self.authorization.stage.database.changing(EVERY) as rows:
            fresh = tickets.spend(rows, ticket.nonce, ticket.until)
        if not fresh:
            raise _stale_screen()

    def _approve(self, place: Membership, given: dict[str, str | None], request: str) -> str:
        stage = self.authorization.stage
        with stage.database.reading(place.organisation) as rows:
            actor = actor_of_person(rows, place.person, Door.OFFICE)
        answer = stage.perform(approve_connection, actor, orjson.dumps(given), Envelope(request))
        return str(orjson.loads(answer.body)["code"])


@dataclass(frozen=True, slots=True)
class _Ticket:
    """One showing of the screen, to one session, for one request of an app."""

    nonce: str
    until: str

    def sealed(self, visitor: Visitor, query: bytes) -> str:
        """The ticket as the form carries it; the seal's key is known to the session only."""
        words = b"\n".join((b"approve", query, self.nonce.encode(), self.until.encode()))
        return f"{self.nonce}.{self.until}.{hmac.digest(visitor.csrf.encode(), words, hashlib.sha256).hex()}"


def _read_ticket(visitor: Visitor, query: bytes, form: dict[str, str], now: datetime) -> _Ticket:
    given = form.get("ticket", "")
    nonce, _, rest = given.partition(".")
    ticket = _Ticket(nonce, rest.rpartition(".")[0])
    genuine = hmac.compare_digest(given.encode(), ticket.sealed(visitor, query).encode())
    if not genuine or ticket.until <= moment_text(now):
        raise _stale_screen()
    return ticket


def _status_of(problem: Refusal | None) -> int:
    if problem is None:
        return 200
    return 400 if isinstance(problem, Invalid) else 403


def _stale_screen() -> WrongForm:
    return WrongForm(400, "This approval was answered before, or was open for too long. Start again from the app.")


def _places(visitor: Visitor) -> list[Membership]:
    """The organisations in which the visitor may connect apps."""
    places = [place for place in visitor.memberships if holds(place.role, Right.CONNECTIONS_READ)]
    if not places:
        raise OAuthError("access_denied", "The person may not connect apps in any organisation.")
    return places


def _place_of(redirect_uri: str) -> str:
    """Where an app is answered, as a person should judge it: its host, or the scheme of an app on the device."""
    parts = urlsplit(redirect_uri)
    return parts.netloc if parts.scheme in {"http", "https"} else f"{parts.scheme}:"
