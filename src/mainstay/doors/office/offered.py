"""The page of a quote for the customer it was sent to: read, downloaded, accepted or declined, by a secret link.

Nothing that a program does that only follows links changes anything: what a customer says, they say by a form. That the
quote was seen is told by the page itself, from a browser that shows it, and by every form of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from mainstay.business.quotes.public import (
    TakenBack,
    accept_offered_quote,
    decline_offered_quote,
    get_offered_quote,
    get_offered_quote_pdf,
    outcome_of,
    see_offered_quote,
    was_taken_back,
)
from mainstay.doors.http import Request, Response
from mainstay.doors.office.linked import UNLISTED, LinkedPages
from mainstay.doors.office.threshold import Threshold
from mainstay.doors.pages.door import Route, form_at
from mainstay.doors.pages.render import render, see_other
from mainstay.identity.links import Kind, LinkMaker
from mainstay.kernel.operation import Operation
from mainstay.paper.locales import Locale
from mainstay.paper.messages import say
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Conflict, Invalid, Lapsed, Refusal

_ONE = "/q/{token}"
_CHOSEN = "chosen "


@dataclass(frozen=True, slots=True)
class OfferedPages:
    """The pages."""

    threshold: Threshold
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Where they are."""
        one, entered = _ONE, self._linked.entered
        return [
            Route("GET", one, entered(self.show)),
            Route("GET", f"{one}/pdf", entered(self.pdf)),
            Route("POST", f"{one}/seen", entered(self.seen)),
            *form_at(f"{one}/choose", entered(self.choose), one),
            *form_at(f"{one}/accept", entered(self.accept), one),
            *form_at(f"{one}/decline", entered(self.decline), one),
        ]

    async def show(self, request: Request, actor: Actor) -> Response:
        """The quote as it stands; reading it changes nothing."""
        return await self._page(request, actor)

    async def pdf(self, request: Request, actor: Actor) -> Response:
        """The PDF that was sent, or the page that says why there is none any more."""
        try:
            return await self._linked.file(request, actor, get_offered_quote_pdf, _about(actor))
        except TakenBack:
            return await self._page(request, actor)

    async def seen(self, request: Request, actor: Actor) -> Response:
        """Note that someone looks at it."""
        await self.threshold.visitors.stranger_form(request)
        await self._perform(request, actor, see_offered_quote)
        return Response(204, b"", UNLISTED)

    async def choose(self, request: Request, actor: Actor) -> Response:
        """The quote with the options that were ticked, and what it comes to with them."""
        fields = await self.threshold.visitors.stranger_form(request)
        return await self._page(request, actor, fields)

    async def accept(self, request: Request, actor: Actor) -> Response:
        """Accept it, with a name and the options that were ticked."""
        fields = await self.threshold.visitors.stranger_form(request)
        if fields.get("name", "").strip() and await self._comes_to_another(request, actor, fields):
            return await self._page(request, actor, fields, ask_again=True)
        given = {"name": fields.get("name", ""), "chosen": _ticked(fields)}
        return await self._answer(request, actor, accept_offered_quote, given, fields)

    async def decline(self, request: Request, actor: Actor) -> Response:
        """Decline it."""
        fields = await self.threshold.visitors.stranger_form(request)
        given = {"reason": fields.get("reason", "").strip() or None}
        return await self._answer(request, actor, decline_offered_quote, given, fields)

    async def _comes_to_another(self, request: Request, actor: Actor, fields: dict[str, str]) -> bool:
        """Whether it comes to another total with what was ticked than the one that was read."""
        try:
            quote = await self._perform(request, actor, get_offered_quote, {"chosen": _ticked(fields)})
        except Invalid:
            return False
        return quote["canAnswer"] and _has_options(quote) and fields.get("shown") != quote["total"]

    async def _answer(
        self, request: Request, actor: Actor, operation: Operation, given: dict[str, Any], fields: dict[str, str]
    ) -> Response:
        try:
            await self._perform(request, actor, operation, given)
        except Invalid as invalid:
            return await self._page(request, actor, fields, invalid)
        except (Conflict, Lapsed) as refusal:
            # It was accepted, replaced or withdrawn meanwhile, or what was ticked takes off too much: the page says so.
            return await self._page(request, actor, fields, refusal)
        return see_other(request.path.rpartition("/")[0], UNLISTED)

    async def _page(
        self,
        request: Request,
        actor: Actor,
        fields: Mapping[str, str] | None = None,
        refusal: Refusal | None = None,
        *,
        ask_again: bool = False,
    ) -> Response:
        asked = {} if fields is None else {"chosen": _ticked(fields)}
        try:
            quote = await self._perform(request, actor, get_offered_quote, asked)
        except Invalid:
            quote = await self._perform(request, actor, get_offered_quote)
        csrf, headers = self.threshold.visitors.stranger(request)
        faults = {fault.field for fault in refusal.faults} if isinstance(refusal, Invalid) else set()
        return render(
            "offered.html",
            _status(quote, faults=bool(faults), stopped=bool(refusal or ask_again)),
            headers=(*headers, *UNLISTED),
            csrf=csrf,
            here=f"/q/{self.link_maker.token(Kind.QUOTE, actor.about or '')}",
            typed=fields or {},
            wrong=faults,
            ask_again=ask_again,
            **_told(quote),
        )

    async def _perform(
        self, request: Request, actor: Actor, operation: Operation, given: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        return await self._linked.perform(request, actor, operation, _about(actor, given))

    @property
    def _linked(self) -> LinkedPages:
        return LinkedPages(self.threshold, self.link_maker, Kind.QUOTE)


def _about(actor: Actor, given: Mapping[str, Any] | None = None) -> bytes:
    return orjson.dumps({"quoteId": actor.about, **(given or {})})


def _status(quote: dict[str, Any], *, faults: bool, stopped: bool) -> int:
    if faults:
        return 422
    if stopped:
        return 409
    return 410 if was_taken_back(quote["status"]) else 200


def _ticked(fields: Mapping[str, str]) -> list[str]:
    return [name.removeprefix(_CHOSEN) for name in fields if name.startswith(_CHOSEN)]


def _has_options(quote: dict[str, Any]) -> bool:
    return any(line["optional"] for line in quote["lines"])


def _told(quote: dict[str, Any]) -> dict[str, Any]:
    """What the page shows, in words and numbers as its reader writes them."""
    snapshot = Snapshot.model_validate(quote["snapshot"])
    language, currency, seller = quote["language"], snapshot.currency, snapshot.seller
    locale = Locale.of(snapshot)
    values = {
        "organisation": seller.name,
        "name": quote["acceptedBy"] or "",
        "day": locale.day(quote["acceptedOn"] or snapshot.valid_until or snapshot.issued_on),
    }
    return {
        "quote": quote,
        "snapshot": snapshot,
        "language": language,
        "locale": locale,
        "t": partial(say, language),
        "money": lambda amount: locale.money(amount, currency),
        "outcome": None if quote["canAnswer"] else say(language, outcome_of(quote["status"]), **values),
        "next": _next_steps(quote, language, seller.name, locale.money(quote["deposit"] or "0", currency)),
        "tone": "good" if quote["acceptedBy"] else "bad",
        "ended": was_taken_back(quote["status"]),
        "total": locale.money(quote["total"], currency),
        "optional": _has_options(quote),
    }


def _next_steps(quote: dict[str, Any], language: str, organisation: str, deposit: str) -> list[str]:
    """What happens next, once it is accepted."""
    if not quote["acceptedBy"]:
        return []
    steps = [say(language, "public.next", organisation=organisation)]
    return [*steps, say(language, "public.nextDeposit", amount=deposit)] if quote["deposit"] else steps
