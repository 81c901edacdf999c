"""The page of an invoice for the customer it was sent to: read, downloaded, and how to pay it, by a secret link.

Nothing that a program does that only follows links changes anything; that the invoice was seen is told by the page
itself, from a browser that shows it.
"""

from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import orjson

from mainstay.business.invoices.model import is_payable, is_void
from mainstay.business.invoices.public import (
    get_linked_invoice,
    get_linked_invoice_pdf,
    get_linked_invoice_ubl,
    outcome_of,
    see_linked_invoice,
)
from mainstay.doors.http import Request, Response
from mainstay.doors.office.linked import UNLISTED, LinkedPages
from mainstay.doors.office.threshold import Threshold
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import render
from mainstay.identity.links import Kind, LinkMaker
from mainstay.paper.locales import Locale
from mainstay.paper.messages import say
from mainstay.paper.paying import payment
from mainstay.paper.sheet import title_of
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.actor import Actor


@dataclass(frozen=True, slots=True)
class BilledPages:
    """The pages."""

    threshold: Threshold
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Where they are."""
        one, entered = "/i/{token}", self._linked.entered
        return [
            Route("GET", one, entered(self.show)),
            Route("GET", f"{one}/pdf", entered(self.pdf)),
            Route("GET", f"{one}/ubl", entered(self.ubl)),
            Route("POST", f"{one}/seen", entered(self.seen)),
        ]

    async def show(self, request: Request, actor: Actor) -> Response:
        """The invoice as it stands; reading it changes nothing."""
        invoice = await self._linked.perform(request, actor, get_linked_invoice, _about(actor))
        csrf, headers = self.threshold.visitors.stranger(request)
        return render(
            "billed.html",
            headers=(*headers, *UNLISTED),
            csrf=csrf,
            here=f"/i/{self.link_maker.token(Kind.INVOICE, actor.about or '')}",
            **_told(invoice),
        )

    async def pdf(self, request: Request, actor: Actor) -> Response:
        """The PDF that was issued."""
        copied = {"copy": "void"} if query_words(request).get("copy") == "void" else {}
        return await self._linked.file(request, actor, get_linked_invoice_pdf, _about(actor, copied))

    async def ubl(self, request: Request, actor: Actor) -> Response:
        """The e-invoice."""
        return await self._linked.file(request, actor, get_linked_invoice_ubl, _about(actor))

    async def seen(self, request: Request, actor: Actor) -> Response:
        """Note that someone looks at it."""
        await self.threshold.visitors.stranger_form(request)
        await self._linked.perform(request, actor, see_linked_invoice, _about(actor))
        return Response(204, b"", UNLISTED)

    @property
    def _linked(self) -> LinkedPages:
        return LinkedPages(self.threshold, self.link_maker, Kind.INVOICE)


def _about(actor: Actor, given: dict[str, str] | None = None) -> bytes:
    return orjson.dumps({"invoiceId": actor.about, **(given or {})})


def _told(invoice: dict[str, Any]) -> dict[str, Any]:
    """What the page shows, in words and numbers as its reader writes them."""
    issued = Snapshot.model_validate(invoice["snapshot"])
    # What is still to be paid now, not what was when it was issued.
    totals = issued.totals.model_copy(update={"due": invoice["due"]})
    snapshot = issued.model_copy(update={"totals": totals})
    language, currency = invoice["language"], snapshot.currency
    locale = Locale.of(snapshot)
    values = {
        "paid": locale.money(invoice["paid"], currency),
        "due": locale.money(invoice["due"], currency),
        "day": locale.day(snapshot.due_on or snapshot.issued_on),
    }
    outcome = outcome_of(invoice["status"])
    return {
        "invoice": invoice,
        "snapshot": snapshot,
        "language": language,
        "locale": locale,
        "t": partial(say, language),
        "money": lambda amount: locale.money(amount, currency),
        "title": title_of(snapshot),
        "subtotal": locale.money(snapshot.subtotal, currency),
        "outcome": say(language, outcome.message, **values) if outcome else None,
        "tone": outcome.tone if outcome else "",
        "payment": payment(snapshot, locale) if is_payable(invoice["status"]) else None,
        "is_void": is_void(invoice["status"]),
        "paid": locale.money(f"-{invoice['paid']}", currency) if Decimal(invoice["paid"]) else None,
        "credited": locale.money(f"-{invoice['credited']}", currency) if Decimal(invoice["credited"]) else None,
        "rates": snapshot.rates,
    }
