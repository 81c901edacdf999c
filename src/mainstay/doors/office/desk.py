"""What every page of the office stands on: a visitor in, an operation performed, a page or a refusal out."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import orjson

from mainstay.business.people.operations import list_people
from mainstay.doors.http import Request, Response
from mainstay.doors.pages.door import Page
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import render
from mainstay.doors.pages.session import Visitor, Visitors
from mainstay.identity.keys import list_keys
from mainstay.identity.signing_in import DeadLink, NotSignedIn
from mainstay.kernel.context import Envelope
from mainstay.kernel.actor import Actor
from mainstay.kernel.operation import Operation
from mainstay.kernel.catalogue import admit
from mainstay.kernel.refusal import Conflict, Forbidden, Invalid, Lapsed, NotFound, Refusal, Stale, TooMany
from mainstay.webhooks.endpoints import list_webhooks

NOTHING: Mapping[str, object] = MappingProxyType({})

# A page for someone signed in: the request, who looks, and the `{…}` segment of its path.
OfficePage = Callable[[Request, "Guest", str], Awaitable[Response]]

_STATUSES: dict[type[Refusal], int] = {
    Lapsed: 402,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    DeadLink: 410,
    Stale: 409,
    Invalid: 422,
    # A form that did not sign anyone in: the page is shown again.
    NotSignedIn: 422,
    TooMany: 429,
}

# What a page says after something was done; the address carries only the word.
NOTICES = {
    "saved": "Your changes are saved.",
    "invited": "The invitation is on its way by mail.",
    "owner": "The person is an owner now.",
    "removed": "The person has left the organisation. Their access has ended.",
    "revoked": "The API key is revoked. The next request with it is refused.",
    "disconnected": "The app's access is revoked. Its next request is refused.",
    "webhook-deleted": "The webhook is deleted. Nothing more is sent there.",
    "paused": "The webhook is paused. What happens is kept for it, and sent when you resume it.",
    "resumed": "The webhook is active. What was kept for it is being sent.",
    "revived": "The webhook is active again. What it missed is sent when you ask for it, further below.",
    "tested": "The test event is on its way. What becomes of it appears in the list.",
    "sent-again": "The event is on its way again.",
    "all-sent-again": "Everything that did not arrive since then is on its way again.",
    "part-sent-again": "The oldest 5,000 events are on their way again. Ask once more for the rest.",
    "none-missed": "Nothing is missing: everything since then has arrived, or is on its way.",
    "password": "Your password is changed. Every other sign-in has ended.",
    "ended": "The sign-in has ended.",
    "others-ended": "Every other sign-in has ended.",
    "reset": "Your new password is set. Sign in with it.",
    "signed-out": "You are signed out.",
}


@dataclass(frozen=True, slots=True)
class Area:
    """A part of the office as the navigation shows it."""

    name: str
    path: str
    # What one must be able to do for it to be of any use.
    operation: Operation | None = None


AREAS = (Area("Home", "/"), Area("People", "/people", list_people), Area("Settings", "/settings"))
DEVELOPER_AREAS = (
    Area("API Keys", "/settings/developer/keys", list_keys),
    Area("MCP", "/settings/developer/mcp"),
    Area("Webhooks", "/settings/developer/webhooks", list_webhooks),
)


@dataclass(frozen=True, slots=True)
class Guest:
    """A visitor who is a person of an organisation."""

    visitor: Visitor
    actor: Actor

    @property
    def time_zone(self) -> str:
        """Where their clocks are."""
        return self.visitor.membership.time_zone if self.visitor.membership else "UTC"

    def may(self, operation: Operation) -> bool:
        """Whether this operation is theirs to perform now."""
        try:
            admit(operation, self.actor)
        except Refusal:
            return False
        return True

    def open_areas(self, areas: Sequence[Area]) -> list[Area]:
        """Those of these areas that are of any use to them."""
        return [area for area in areas if area.operation is None or self.may(area.operation)]


@dataclass(frozen=True, slots=True)
class Desk:
    """Lets people into the office and does what they ask."""

    visitors: Visitors

    def signed_in(self, page: OfficePage) -> Page:
        """The page, for people who are signed in and in an organisation; others are told the way."""

        async def guarded(request: Request, segment: str) -> Response:
            visitor = await self.visitors.visitor(request)
            if visitor is None:
                return await self.visitors.sign_in_first(request)
            if visitor.actor is None:
                return render("no_organisation.html", 403, visitor=visitor, csrf=visitor.csrf)
            guest = Guest(visitor, visitor.actor)
            try:
                return await page(request, guest, segment)
            except Stale as stale:
                # What a form does to a record is at an address below the record's.
                return self._refused(guest, stale, _CHANGED_SINCE, back=request.path.rpartition("/")[0])
            except Refusal as refusal:
                return self._refused(guest, refusal, refusal.text)

        return guarded

    async def perform(
        self,
        request: Request,
        guest: Guest,
        operation: Operation,
        given: Mapping[str, object] = NOTHING,
        version: int | None = None,
    ) -> dict[str, Any]:
        """Perform an operation as this person, on the version of the record they saw; its answer, or a refusal."""
        versions = None if version is None else frozenset({version})
        run = self.visitors.runner.change if operation.changes else self.visitors.runner.read
        answer = await run(
            self.visitors.stage.perform,
            operation,
            guest.actor,
            orjson.dumps(dict(given)),
            Envelope(request.id, versions),
        )
        result: dict[str, Any] = orjson.loads(answer.body)
        return result

    async def form(self, request: Request, guest: Guest) -> dict[str, str]:
        """The fields of a form that this person sent."""
        return await self.visitors.form(request, guest.visitor)

    def page(self, template: str, guest: Guest, status: int = 200, **shown: Any) -> Response:
        """A page in the office's frame."""
        return render(
            template,
            status,
            visitor=guest.visitor,
            actor=guest.actor,
            may=guest.may,
            csrf=guest.visitor.csrf,
            zone=guest.time_zone,
            areas=guest.open_areas(AREAS),
            developer_areas=guest.open_areas(DEVELOPER_AREAS),
            **shown,
        )

    def _refused(self, guest: Guest, refusal: Refusal, text: str, back: str = "") -> Response:
        return self.page("refused.html", guest, status_of(refusal), text=text, back=back, area="")

    def form_page(
        self, template: str, guest: Guest, fields: Mapping[str, Any], refusal: Refusal | None = None, **shown: Any
    ) -> Response:
        """The page that a form stands on, with what was filled in and what was wrong with it."""
        told = wrong(refusal) | shown
        return self.page(template, guest, status_of(refusal), fields=defaultdict(str, fields), **told)


_CHANGED_SINCE = "Someone has changed this since you opened it, so nothing was done."


def wrong(refusal: Refusal | None) -> dict[str, Any]:
    """A refusal as a form shows it: a problem beside each field, or one for the whole."""
    if isinstance(refusal, Invalid):
        # A fault within a list is told beside the field of the list.
        return {"faults": {fault.field.partition(".")[0]: fault.problem for fault in refusal.faults}}
    if isinstance(refusal, Stale):
        return {"problem": f"{_CHANGED_SINCE} Look at it in another window, then save again what is below."}
    return {"problem": refusal.text} if refusal else {}


def status_of(refusal: Refusal | None) -> int:
    """The status of a page that shows a refusal."""
    if refusal is None:
        return 200
    return next((_STATUSES[kind] for kind in type(refusal).__mro__ if kind in _STATUSES), 400)


def notice(request: Request) -> str | None:
    """What was just done, said on the page after it."""
    return NOTICES.get(query_words(request).get("done", ""))


def seen_version(fields: dict[str, str]) -> int | None:
    """The version of the record that a form was filled in on."""
    text = fields.get("version", "")
    return int(text) if text.isdecimal() and len(text) < _LONGEST_VERSION else None


_LONGEST_VERSION = 16


def once_more(fields: dict[str, str], refusal: Refusal | None, version: int) -> dict[str, str]:
    """The fields of a form, shown again. Whoever is told that the record has changed may save over this version."""
    return fields | {"version": str(version)} if isinstance(refusal, Stale) else fields


def filled(fields: dict[str, str], *names: str) -> dict[str, str | None]:
    """These fields of a form as an operation takes them: what was left empty is null."""
    return {name: fields.get(name, "").strip() or None for name in names}
