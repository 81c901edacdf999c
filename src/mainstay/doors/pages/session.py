"""Who looks at a page: the session in the cookie, the person behind it, and the way through sign-in and back."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from mainstay.backing.content_reader import ContentReader
from mainstay.backing.database import EVERY
from mainstay.backing.files import Files, PassingFiles
from mainstay.backing.images import NotAPicture
from mainstay.backing.limits import Limits
from mainstay.business.issuing.printer import Printer
from mainstay.doors.addresses import Addresses, neighbourhood
from mainstay.doors.http import Headers, Request, Response
from mainstay.doors.pages.door import apology
from mainstay.doors.pages.forms import check_csrf, csrf_token, read_form, read_long_form
from mainstay.doors.pages.late_forms import LateForms
from mainstay.doors.pages.render import see_other
from mainstay.doors.pages.uploads import Limit, Received, Uploads
from mainstay.doors.running import Runner
from mainstay.identity import devices, sessions, tickets
from mainstay.identity.authenticate import actor_of_person
from mainstay.identity.sealing import Sealer
from mainstay.identity.sessions import Membership, Session
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import Actor, Door
from mainstay.terms.refusal import Fault, Invalid, NotFound

# A path longer than this is not remembered over a sign-in.
LONGEST_PATH = 8_000
TICKETS_A_MINUTE = 120
# Stands in a page's address before the ticket to what was typed there.
TYPED = "typed"


@dataclass(frozen=True, slots=True)
class Visitor:
    """Someone signed in, with the organisation they work in now."""

    account: str
    email: str
    session: str
    # What forms of this session and organisation carry.
    csrf: str
    memberships: tuple[Membership, ...]
    # The one of them they work in, and they themselves there; None for those who are in no organisation any more.
    membership: Membership | None
    actor: Actor | None


@dataclass(frozen=True, slots=True)
class Visitors:
    """Knows visitors by their cookies."""

    stage: Stage
    runner: Runner
    limits: Limits
    addresses: Addresses
    base_url: str
    sealer: Sealer
    files: Files
    passing: PassingFiles
    content: ContentReader
    printer: Printer

    async def visitor(self, request: Request) -> Visitor | None:
        """Whoever is signed in, as they stand now."""
        secret = _cookies(request).get(self._session_cookie)
        if not secret:
            return None
        session = await self.runner.read(self._find, secret)
        if session is None:
            return None
        if session.is_stale(self.stage.clock()):
            await self.runner.run(self._see, session.id)
        return await self.runner.read(self._visitor, session, secret)

    async def form(self, request: Request, visitor: Visitor) -> dict[str, str]:
        """The fields of a form that this visitor sent from a page of ours."""
        fields = await read_form(request, self.base_url)
        check_csrf(fields, visitor.csrf)
        return fields

    async def long_form(self, request: Request, visitor: Visitor) -> dict[str, str]:
        """The same of a form that may hold a whole document; TooLong where it holds more."""
        fields = await read_long_form(request, self.base_url, self.runner)
        check_csrf(fields, visitor.csrf)
        return fields

    async def form_with_files(
        self, request: Request, visitor: Visitor, limits: Mapping[str, Limit], received: dict[str, list[Received]]
    ) -> dict[str, str]:
        """The same of a form with files within limits, which are put where `received` says then."""
        fields = await Uploads(self.base_url, self.passing, self.runner).read(request, limits, received)
        check_csrf(fields, visitor.csrf)
        return fields

    def keep_picture(self, field: str, path: Path, longest_side: int) -> tuple[str, int]:
        """Keep a picture that was handed in for a field; the name under which it is kept, and its size."""
        try:
            content = self.content.redraw(path, longest_side)
        except NotAPicture as fault:
            raise Invalid([Fault(field, str(fault))]) from None
        return self.files.keep(content), len(content)

    async def sign_in_first(self, request: Request, form_at: str | None = None) -> Response:
        """Send a visitor to sign in, and afterwards back to what they asked for, or to the page of the form they sent.

        Where that is, the browser tells, if nobody else does.
        """
        address = neighbourhood(self.addresses.of_client(request.peer, request.headers))
        verdict = await self.limits.take(f"return ticket {address}", TICKETS_A_MINUTE)
        if not verdict.accepted:
            return apology(request, 429, "Wait a minute, then try again.", (("retry-after", "60"),))
        lost = request.method not in {"GET", "HEAD"}
        if not lost and len(whole_path(request)) > LONGEST_PATH:
            return apology(request, 414, "This address is too long to come back to. Sign in first, then open it again.")
        path = form_at or (await self._form_as_left(request) if lost else whole_path(request))
        words = {"late": "yes"} if lost else {}
        if path != "/" and len(path) <= LONGEST_PATH and _is_local(path):
            words["ticket"] = await self.runner.run(self._issue, path)
        return see_other("/sign-in" + (f"?{urlencode(words)}" if words else ""))

    async def _form_as_left(self, request: Request) -> str:
        """The page of a form that was sent too late, with a ticket to what was typed into it, where it is kept."""
        page = self._page_before(request)
        typed = await self.late_forms.keep(request, self.base_url, self.devices(request)) if page != "/" else None
        if typed is None:
            return page
        path, _, query = page.partition("?")
        words = [(name, word) for name, word in parse_qsl(query, keep_blank_values=True) if name != TYPED]
        return f"{path}?{urlencode([*words, (TYPED, typed)])}"

    @property
    def late_forms(self) -> LateForms:
        """What keeps a form that was sent too late."""
        return LateForms(self.stage, self.runner, self.limits, self.sealer)

    def _page_before(self, request: Request) -> str:
        referer = request.headers.get("referer", "")
        ours = referer.startswith(f"{self.base_url}/")
        return referer.removeprefix(self.base_url).partition("#")[0] if ours else "/"

    def session_cookie(self, secret: str) -> tuple[str, str]:
        """The header that hands a browser its session."""
        return self._cookie(self._session_cookie, secret)

    def no_session_cookie(self) -> tuple[str, str]:
        """The header that takes it away."""
        return self._cookie(self._session_cookie, "", "; Max-Age=0")

    def devices(self, request: Request) -> tuple[str, ...]:
        """The secrets by which this browser is known to accounts that signed in here before, the latest first."""
        carried = _cookies(request).get(self._device_cookie, "").split(".")
        return tuple(secret for secret in carried if len(secret) == _SECRET_LENGTH)[:_MOST_DEVICES]

    def device_cookie(self, *carried: str) -> tuple[str, str]:
        """The header that lets a browser carry them for as long as they are kept."""
        life = int(devices.KEPT.total_seconds())
        return self._cookie(self._device_cookie, ".".join(carried[:_MOST_DEVICES]), f"; Max-Age={life}")

    def short_cookie(self, name: str, value: str, life: timedelta) -> tuple[str, str]:
        """The header that lets a browser carry something for a moment; without a life, no longer."""
        return self._cookie(f"{self._session_cookie}-{name}", value, f"; Max-Age={int(life.total_seconds())}")

    def read_short_cookie(self, request: Request, name: str) -> str:
        """What it carries."""
        return _cookies(request).get(f"{self._session_cookie}-{name}", "")

    def stranger(self, request: Request) -> tuple[str, Headers]:
        """For forms of those who are not signed in: their token, and the cookie that it belongs to where it is new."""
        secret = _cookies(request).get(self._stranger_cookie, "")
        if len(secret) >= _SECRET_LENGTH:
            return csrf_token(secret), ()
        secret = secrets.token_urlsafe(32)
        return csrf_token(secret), (self._cookie(self._stranger_cookie, secret),)

    async def stranger_form(self, request: Request) -> dict[str, str]:
        """The fields of a form that someone not signed in sent from a page of ours."""
        fields = await read_form(request, self.base_url)
        check_csrf(fields, self.stranger(request)[0])
        return fields

    @property
    def _secure(self) -> bool:
        return self.base_url.startswith("https://")

    @property
    def _session_cookie(self) -> str:
        return "__Host-mainstay" if self._secure else "mainstay"

    @property
    def _stranger_cookie(self) -> str:
        return f"{self._session_cookie}-guest"

    @property
    def _device_cookie(self) -> str:
        return f"{self._session_cookie}-device"

    def _cookie(self, name: str, value: str, more: str = "") -> tuple[str, str]:
        secure = "; Secure" if self._secure else ""
        return "set-cookie", f"{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{more}"

    def _find(self, secret: str) -> Session | None:
        with self.stage.database.reading(EVERY) as rows:
            return sessions.find(rows, secret, self.stage.clock())

    def _see(self, session: str) -> None:
        with self.stage.database.changing(EVERY) as rows:
            sessions.see(rows, session, self.stage.clock())

    def _issue(self, path: str) -> str:
        with self.stage.database.changing(EVERY) as rows:
            return tickets.issue(rows, path, self.stage.clock())

    def _visitor(self, session: Session, secret: str) -> Visitor:
        with self.stage.database.reading(EVERY) as rows:
            places = tuple(sessions.memberships(rows, session.account, session.organisation))
        here = next((place for place in places if place.organisation == session.organisation), None)
        if here is None and places:
            here = places[0]
        actor = self._actor(here) if here else None
        return Visitor(
            account=session.account,
            email=session.email,
            session=session.id,
            # A form of one organisation is not taken for another one, chosen since in another window.
            csrf=csrf_token(secret, here.organisation if here else ""),
            memberships=places,
            membership=here if actor else None,
            actor=actor,
        )

    def _actor(self, here: Membership) -> Actor | None:
        try:
            with self.stage.database.reading(here.organisation) as rows:
                return actor_of_person(rows, here.person, Door.OFFICE)
        except NotFound:
            # They left since their places were read.
            return None


_SECRET_LENGTH = 43
# How many accounts a browser is known to at once.
_MOST_DEVICES = 5


def whole_path(request: Request) -> str:
    """What is asked for, with its query."""
    return request.path + ("?" + request.query.decode("latin-1") if request.query else "")


def _cookies(request: Request) -> dict[str, str]:
    pairs = request.headers.get("cookie", "").split(";")
    return {name.strip(): value.strip() for name, _, value in (pair.partition("=") for pair in pairs)}


def _is_local(path: str) -> bool:
    """Whether a browser reads this as a path of this server, whatever follows."""
    return path.startswith("/") and not path.startswith(("//", "/\\")) and path.isascii() and path.isprintable()
