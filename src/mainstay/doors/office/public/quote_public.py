"""The public page of a quote: its customer reads, downloads, accepts or declines it through a secret link.

A program that only follows links changes nothing, because customers answer through forms. The page itself reports that
the quote was seen when a browser displays it, and so does every form on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import orjson

from mainstay.business.quotes.public import (
    OfferedQuoteOut,
    QuoteRetracted,
    accept_offered_quote,
    closed_message_of,
    decline_offered_quote,
    get_offered_quote,
    get_offered_quote_pdf,
    is_retracted,
    see_offered_quote,
)
from mainstay.documents.locales import Locale
from mainstay.documents.messages import translate
from mainstay.documents.snapshot import Snapshot
from mainstay.doors.http import Request, Response
from mainstay.doors.office.public.public_links import NOINDEX_HEADERS, SecretLinkPages
from mainstay.doors.office.sign_in.public_pages import PublicPages
from mainstay.doors.pages.door import Route, form_routes
from mainstay.doors.pages.rendering import redirect, render_template
from mainstay.identity.links import LinkKind, LinkMaker
from mainstay.kernel.operation import OperationReturning
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import Conflict, Invalid, Lapsed, Refusal

_PATH = "/q/{token}"
A = TypeVar("A")
_CHOSEN_PREFIX = "chosen "


@dataclass(frozen=True, slots=True)
class PublicQuotePages:
    """The public page of a quote, its PDF and its forms."""

    public_pages: PublicPages
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        path, guard = _PATH, self._link_pages.guard
        return [
            Route("GET", path, guard(self.show)),
            Route("GET", f"{path}/pdf", guard(self.download_pdf)),
            Route("POST", f"{path}/seen", guard(self.mark_seen)),
            *form_routes(f"{path}/choose", guard(self.show_choice), path),
            *form_routes(f"{path}/accept", guard(self.accept), path),
            *form_routes(f"{path}/decline", guard(self.decline), path),
        ]

    async def show(self, request: Request, actor: Actor) -> Response:
        """Show the quote. Reading it changes nothing."""
        return await self._render_page(request, actor)

    async def download_pdf(self, request: Request, actor: Actor) -> Response:
        """Return the PDF that was sent, or the page that says that the quote was withdrawn or replaced."""
        try:
            return await self._link_pages.download_file(request, actor, get_offered_quote_pdf, _encode_input(actor))
        except QuoteRetracted:
            return await self._render_page(request, actor)

    async def mark_seen(self, request: Request, actor: Actor) -> Response:
        """Record that the quote was seen."""
        await self.public_pages.visitors.read_anonymous_form(request)
        await self._perform(request, actor, see_offered_quote)
        return Response(204, b"", NOINDEX_HEADERS)

    async def show_choice(self, request: Request, actor: Actor) -> Response:
        """Show the quote with the ticked options and the resulting total."""
        fields = await self.public_pages.visitors.read_anonymous_form(request)
        return await self._render_page(request, actor, fields)

    async def accept(self, request: Request, actor: Actor) -> Response:
        """Accept the quote, with the customer's name and the ticked options."""
        fields = await self.public_pages.visitors.read_anonymous_form(request)
        if fields.get("name", "").strip() and await self._has_total_changed(request, actor, fields):
            return await self._render_page(request, actor, fields, ask_again=True)
        given = {"name": fields.get("name", ""), "chosen": _read_ticked_options(fields)}
        return await self._submit_answer(request, actor, accept_offered_quote, given, fields)

    async def decline(self, request: Request, actor: Actor) -> Response:
        """Decline the quote."""
        fields = await self.public_pages.visitors.read_anonymous_form(request)
        given = {"reason": fields.get("reason", "").strip() or None}
        return await self._submit_answer(request, actor, decline_offered_quote, given, fields)

    async def _has_total_changed(self, request: Request, actor: Actor, fields: dict[str, str]) -> bool:
        """Return whether the ticked options lead to another total than the one that was displayed."""
        try:
            quote = await self._perform(request, actor, get_offered_quote, {"chosen": _read_ticked_options(fields)})
        except Invalid:
            return False
        return quote.can_answer and _has_options(quote) and fields.get("shown") != quote.total

    async def _submit_answer(
        self,
        request: Request,
        actor: Actor,
        operation: OperationReturning[Any],
        given: dict[str, Any],
        fields: dict[str, str],
    ) -> Response:
        try:
            await self._perform(request, actor, operation, given)
        except Invalid as invalid:
            return await self._render_page(request, actor, fields, invalid)
        except (Conflict, Lapsed) as refusal:
            # The quote was answered, replaced or withdrawn meanwhile, or the options reduce it too much.
            return await self._render_page(request, actor, fields, refusal)
        return redirect(request.path.rpartition("/")[0], NOINDEX_HEADERS)

    async def _render_page(
        self,
        request: Request,
        actor: Actor,
        fields: Mapping[str, str] | None = None,
        refusal: Refusal | None = None,
        *,
        ask_again: bool = False,
    ) -> Response:
        given = {} if fields is None else {"chosen": _read_ticked_options(fields)}
        try:
            quote = await self._perform(request, actor, get_offered_quote, given)
        except Invalid:
            quote = await self._perform(request, actor, get_offered_quote)
        csrf, headers = self.public_pages.visitors.anonymous_token(request)
        faults = {fault.field for fault in refusal.faults} if isinstance(refusal, Invalid) else set()
        return render_template(
            "quote_public.html",
            _status_of(quote, has_faults=bool(faults), is_stopped=bool(refusal or ask_again)),
            headers=(*headers, *NOINDEX_HEADERS),
            csrf=csrf,
            here=f"/q/{self.link_maker.build_token(LinkKind.QUOTE, actor.linked_record or '')}",
            typed=fields or {},
            wrong=faults,
            ask_again=ask_again,
            **_page_variables(quote),
        )

    async def _perform(
        self, request: Request, actor: Actor, operation: OperationReturning[A], given: Mapping[str, Any] | None = None
    ) -> A:
        return await self._link_pages.perform(request, actor, operation, _encode_input(actor, given))

    @property
    def _link_pages(self) -> SecretLinkPages:
        return SecretLinkPages(self.public_pages, self.link_maker, LinkKind.QUOTE)


def _encode_input(actor: Actor, given: Mapping[str, Any] | None = None) -> bytes:
    return orjson.dumps({"quoteId": actor.linked_record, **(given or {})})


def _status_of(quote: OfferedQuoteOut, *, has_faults: bool, is_stopped: bool) -> int:
    if has_faults:
        return 422
    if is_stopped:
        return 409
    return 410 if is_retracted(quote.status) else 200


def _read_ticked_options(fields: Mapping[str, str]) -> list[str]:
    return [name.removeprefix(_CHOSEN_PREFIX) for name in fields if name.startswith(_CHOSEN_PREFIX)]


def _has_options(quote: OfferedQuoteOut) -> bool:
    return any(line.optional for line in quote.lines)


def _page_variables(quote: OfferedQuoteOut) -> dict[str, Any]:
    """Return the variables of the template, localised for the customer."""
    snapshot = Snapshot.model_validate(quote.snapshot)
    language, currency, seller = quote.language, snapshot.currency, snapshot.seller
    locale = Locale.for_snapshot(snapshot)
    values = {
        "organisation": seller.name,
        "name": quote.accepted_by or "",
        "day": locale.format_day(quote.accepted_on or snapshot.valid_until or snapshot.issued_on),
    }
    return {
        "quote": quote,
        "snapshot": snapshot,
        "language": language,
        "locale": locale,
        "t": partial(translate, language),
        "money": lambda amount: locale.format_money(amount, currency),
        "outcome": None if quote.can_answer else translate(language, closed_message_of(quote.status), **values),
        "next": _next_steps(quote, language, seller.name, locale.format_money(quote.deposit or "0", currency)),
        "tone": "good" if quote.accepted_by else "bad",
        "ended": is_retracted(quote.status),
        "total": locale.format_money(quote.total, currency),
        "optional": _has_options(quote),
    }


def _next_steps(quote: OfferedQuoteOut, language: str, organisation: str, deposit: str) -> list[str]:
    """Return the next steps to show once the quote is accepted."""
    if not quote.accepted_by:
        return []
    steps = [translate(language, "public.next", organisation=organisation)]
    return [*steps, translate(language, "public.nextDeposit", amount=deposit)] if quote.deposit else steps
