"""Visitors of pages: the session cookie, the person behind it, and the redirect through sign-in and back."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from mainstay.business.issuing.pdf_printer import Printer
from mainstay.doors.file_intake import FileIntake
from mainstay.doors.http import Headers, Request, Response
from mainstay.doors.pages.door import respond_with_error
from mainstay.doors.pages.forms import check_csrf, csrf_token, read_long_form, read_page_form
from mainstay.doors.pages.interrupted_forms import InterruptedForms
from mainstay.doors.pages.rendering import redirect
from mainstay.doors.pages.uploads import UploadedFile, UploadLimit, UploadReader
from mainstay.doors.runner import Runner
from mainstay.doors.server_names import ServerNames, network_of
from mainstay.identity import devices, return_tickets, sessions
from mainstay.identity.authenticate import actor_of_person
from mainstay.identity.encryption import Encryptor
from mainstay.identity.sessions import Membership, Session
from mainstay.infrastructure.content_reader import ContentReader
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.files import FileStore, TemporaryFiles
from mainstay.infrastructure.images import UnacceptedPicture
from mainstay.infrastructure.rate_limits import RateLimits
from mainstay.kernel.perform import Performer
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.refusal import Fault, Invalid, NotFound

# A longer path is not remembered during sign-in.
MAX_PATH_LENGTH = 8_000
TICKETS_A_MINUTE = 120
# The query parameter with the ticket to what was typed before sign-in.
TYPED_PARAMETER = "typed"
# The header by which a browser erases all that it has stored of the office.
ERASE_STORED_PAGES = ("clear-site-data", '"storage"')


@dataclass(frozen=True, slots=True)
class Visitor:
    """A signed-in account, with the organisation it is working in."""

    account: str
    email: str
    session: str
    # The CSRF token of forms of this session and organisation.
    csrf: str
    memberships: tuple[Membership, ...]
    # The current membership and its actor. None if the account is in no organisation any more.
    membership: Membership | None
    actor: Actor | None


@dataclass(frozen=True, slots=True)
class Visitors:
    """Recognises visitors by their cookies, and reads their forms."""

    performer: Performer
    runner: Runner
    rate_limits: RateLimits
    addresses: ServerNames
    base_url: str
    sealer: Encryptor
    files: FileStore
    temporary_files: TemporaryFiles
    content_reader: ContentReader
    printer: Printer

    @property
    def file_intake(self) -> FileIntake:
        """What examines and stores the files that are attached to records."""
        return FileIntake(self.performer, self.runner, self.files, self.content_reader, self.rate_limits)

    async def find_visitor(self, request: Request) -> Visitor | None:
        """Return the signed-in visitor with their current memberships and permissions, or None."""
        secret = _parse_cookies(request).get(self._session_cookie_name)
        if not secret:
            return None
        session = await self.runner.run_read(self._find_session, secret)
        if session is None:
            return None
        if session.is_seen_at_outdated(self.performer.clock()):
            await self.runner.run(self._mark_session_used, session.id)
        return await self.runner.run_read(self._build_visitor, session, secret)

    async def read_form(self, request: Request, visitor: Visitor) -> dict[str, str]:
        """Return the fields of a form that this visitor sent from one of our pages."""
        fields = await read_page_form(request, self.base_url)
        check_csrf(fields, visitor.csrf)
        return fields

    async def read_long_form(self, request: Request, visitor: Visitor) -> dict[str, str]:
        """Return the fields of a form that may hold a whole document. Raise FormTooLong if it is larger still."""
        fields = await read_long_form(request, self.base_url, self.runner)
        check_csrf(fields, visitor.csrf)
        return fields

    async def read_form_with_files(
        self,
        request: Request,
        visitor: Visitor,
        limits: Mapping[str, UploadLimit],
        uploaded_files: dict[str, list[UploadedFile]],
    ) -> dict[str, str]:
        """Return the text fields of a form with files, and add the received files to `received`."""
        fields = await UploadReader(self.base_url, self.temporary_files, self.runner).read_form(
            request, limits, uploaded_files
        )
        check_csrf(fields, visitor.csrf)
        return fields

    def store_picture(self, field: str, path: Path, longest_side: int) -> tuple[str, int]:
        """Store an uploaded picture, scaled down. Return the stored file's name and its size in bytes."""
        try:
            content = self.content_reader.redraw(path, longest_side)
        except UnacceptedPicture as error:
            raise Invalid([Fault(field, error.message)]) from None
        return self.files.store(content), len(content)

    async def redirect_to_sign_in(self, request: Request, form_path: str | None = None) -> Response:
        """Redirect to sign-in, and from there back to the requested page or to the page of the form that was sent.

        If the caller does not name the form's page, the `Referer` header does.
        """
        address = network_of(self.addresses.client_address(request.peer, request.headers))
        verdict = await self.rate_limits.take(f"return ticket {address}", TICKETS_A_MINUTE)
        if not verdict.accepted:
            return respond_with_error(
                request, 429, Message("Too many requests. Wait a minute, then try again."), (("retry-after", "60"),)
            )
        is_form = request.method not in {"GET", "HEAD"}
        if not is_form and len(path_with_query(request)) > MAX_PATH_LENGTH:
            return respond_with_error(
                request, 414, Message("This address is too long. Sign in first, then open it again.")
            )
        path = form_path or (await self._find_form_page(request) if is_form else path_with_query(request))
        parameters = {"late": "yes"} if is_form else {}
        if path != "/" and len(path) <= MAX_PATH_LENGTH and is_local_path(path):
            parameters["ticket"] = await self.runner.run(self._issue_ticket, path)
        secret = _parse_cookies(request).get(self._session_cookie_name)
        # The worker erases the pages of a session that has expired; one that was ended leaves nothing at all.
        was_ended = secret and not await self.runner.run_read(self._is_known, secret)
        headers = (ERASE_STORED_PAGES,) if was_ended else ()
        return redirect("/sign-in" + (f"?{urlencode(parameters)}" if parameters else ""), headers)

    async def _find_form_page(self, request: Request) -> str:
        """Return the page of a form that was sent after sign-out, with a ticket to what was typed if it was stored."""
        page = self._previous_page(request)
        ticket = (
            await self.interrupted_forms.store(request, self.base_url, self.device_secrets(request))
            if page != "/"
            else None
        )
        if ticket is None:
            return page
        path, _, query = page.partition("?")
        parameters = [
            (name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != TYPED_PARAMETER
        ]
        return f"{path}?{urlencode([*parameters, (TYPED_PARAMETER, ticket)])}"

    @property
    def interrupted_forms(self) -> InterruptedForms:
        """The store of forms that were sent after sign-out."""
        return InterruptedForms(self.performer, self.runner, self.rate_limits, self.sealer)

    def _previous_page(self, request: Request) -> str:
        referer = request.headers.get("referer", "")
        is_own = referer.startswith(f"{self.base_url}/")
        return referer.removeprefix(self.base_url).partition("#")[0] if is_own else "/"

    def session_cookie(self, secret: str, *, keep: bool = False) -> tuple[str, str]:
        """Return the header that sets the session cookie. The browser forgets it when it is closed, or keeps it."""
        life = f"; Max-Age={int(sessions.MAX_REMEMBERED_AGE.total_seconds())}" if keep else ""
        return self._build_cookie(self._session_cookie_name, secret, life)

    def expired_session_cookie(self) -> tuple[str, str]:
        """Return the header that removes the session cookie."""
        return self._build_cookie(self._session_cookie_name, "", "; Max-Age=0")

    def device_secrets(self, request: Request) -> tuple[str, ...]:
        """Return the device secrets of accounts that signed in with this browser before, the latest first."""
        candidates = _parse_cookies(request).get(self._device_cookie_name, "").split(".")
        return tuple(secret for secret in candidates if len(secret) == _SECRET_LENGTH)[:_MAX_DEVICES]

    def device_cookie(self, *device_secrets: str) -> tuple[str, str]:
        """Return the header that sets the cookie with the device secrets."""
        life = int(devices.LIFETIME.total_seconds())
        return self._build_cookie(
            self._device_cookie_name, ".".join(device_secrets[:_MAX_DEVICES]), f"; Max-Age={life}"
        )

    def short_lived_cookie(self, name: str, value: str, life: timedelta) -> tuple[str, str]:
        """Return the header that sets a short-lived cookie. A life of zero removes it."""
        return self._build_cookie(
            f"{self._session_cookie_name}-{name}", value, f"; Max-Age={int(life.total_seconds())}"
        )

    def read_short_lived_cookie(self, request: Request, name: str) -> str:
        """Return the value of a short-lived cookie."""
        return _parse_cookies(request).get(f"{self._session_cookie_name}-{name}", "")

    def anonymous_token(self, request: Request) -> tuple[str, Headers]:
        """Return the CSRF token of a visitor who is not signed in, and the header of its cookie if it is new."""
        secret = _parse_cookies(request).get(self._anonymous_cookie_name, "")
        if len(secret) >= _SECRET_LENGTH:
            return csrf_token(secret), ()
        secret = secrets.token_urlsafe(32)
        return csrf_token(secret), (self._build_cookie(self._anonymous_cookie_name, secret),)

    async def read_anonymous_form(self, request: Request) -> dict[str, str]:
        """Return the fields of a form that someone not signed in sent from one of our pages."""
        fields = await read_page_form(request, self.base_url)
        check_csrf(fields, self.anonymous_token(request)[0])
        return fields

    @property
    def _is_secure(self) -> bool:
        return self.base_url.startswith("https://")

    @property
    def _session_cookie_name(self) -> str:
        return "__Host-mainstay" if self._is_secure else "mainstay"

    @property
    def _anonymous_cookie_name(self) -> str:
        return f"{self._session_cookie_name}-guest"

    @property
    def _device_cookie_name(self) -> str:
        return f"{self._session_cookie_name}-device"

    def _build_cookie(self, name: str, value: str, attributes: str = "") -> tuple[str, str]:
        secure = "; Secure" if self._is_secure else ""
        return "set-cookie", f"{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{attributes}"

    def _find_session(self, secret: str) -> Session | None:
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return sessions.find(db, secret, self.performer.clock())

    def _is_known(self, secret: str) -> bool:
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return sessions.is_known(db, secret)

    def _mark_session_used(self, session: str) -> None:
        with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            sessions.mark_seen(db, session, self.performer.clock())

    def _issue_ticket(self, path: str) -> str:
        with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            return return_tickets.issue_ticket(db, path, self.performer.clock())

    def _build_visitor(self, session: Session, secret: str) -> Visitor:
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            memberships = tuple(sessions.list_memberships(db, session.account, session.organisation))
        current = next(
            (membership for membership in memberships if membership.organisation == session.organisation), None
        )
        if current is None and memberships:
            current = memberships[0]
        actor = self._find_actor(current) if current else None
        return Visitor(
            account=session.account,
            email=session.email,
            session=session.id,
            # The token names the organisation, because the visitor may switch to another one in another window.
            csrf=csrf_token(secret, current.organisation if current else ""),
            memberships=memberships,
            membership=current if actor else None,
            actor=actor,
        )

    def _find_actor(self, membership: Membership) -> Actor | None:
        try:
            with self.performer.database.read_transaction(membership.organisation) as db:
                return actor_of_person(db, membership.person, Door.OFFICE)
        except NotFound:
            # The person left the organisation after the memberships were read.
            return None


_SECRET_LENGTH = 43
# How many accounts a browser remembers.
_MAX_DEVICES = 5


def path_with_query(request: Request) -> str:
    """Return the path of a request with its query."""
    return request.path + ("?" + request.query.decode("latin-1") if request.query else "")


def _parse_cookies(request: Request) -> dict[str, str]:
    pairs = request.headers.get("cookie", "").split(";")
    return {name.strip(): value.strip() for name, _, value in (pair.partition("=") for pair in pairs)}


def is_local_path(path: str) -> bool:
    """Return whether browsers always read this as a path of this server, and never as another host."""
    return path.startswith("/") and not path.startswith(("//", "/\\")) and path.isascii() and path.isprintable()
