"""The public page of an invoice: its customer reads and downloads it, and sees how to pay, through a secret link.

A program that only follows links changes nothing. The page itself reports that the invoice was seen when a browser
displays it.
"""

from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import orjson

from mainstay.business.invoices.issuing.public import (
    LinkedInvoiceOut,
    get_linked_invoice,
    get_linked_invoice_pdf,
    get_linked_invoice_ubl,
    notice_of,
    see_linked_invoice,
)
from mainstay.business.invoices.model import is_payable, is_void
from mainstay.documents.document_content import document_title_of
from mainstay.documents.locales import Locale
from mainstay.documents.messages import translate
from mainstay.documents.payment_details import build_payment
from mainstay.documents.snapshot import Snapshot
from mainstay.doors.http import Request, Response
from mainstay.doors.office.public.public_links import NOINDEX_HEADERS, SecretLinkPages
from mainstay.doors.office.sign_in.public_pages import PublicPages
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.rendering import render_template
from mainstay.identity.links import LinkKind, LinkMaker
from mainstay.vocabulary.actor import Actor


@dataclass(frozen=True, slots=True)
class PublicInvoicePages:
    """The public page of an invoice and its files."""

    public_pages: PublicPages
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        path, guard = "/i/{token}", self._link_pages.guard
        return [
            Route("GET", path, guard(self.show)),
            Route("GET", f"{path}/pdf", guard(self.download_pdf)),
            Route("GET", f"{path}/ubl", guard(self.download_ubl)),
            Route("POST", f"{path}/seen", guard(self.mark_seen)),
        ]

    async def show(self, request: Request, actor: Actor) -> Response:
        """Show the invoice. Reading it changes nothing."""
        invoice = await self._link_pages.perform(request, actor, get_linked_invoice, _encode_input(actor))
        csrf, headers = self.public_pages.visitors.anonymous_token(request)
        return render_template(
            "invoice_public.html",
            headers=(*headers, *NOINDEX_HEADERS),
            csrf=csrf,
            here=f"/i/{self.link_maker.build_token(LinkKind.INVOICE, actor.linked_record or '')}",
            **_page_variables(invoice),
        )

    async def download_pdf(self, request: Request, actor: Actor) -> Response:
        """Return the PDF that was issued, or its copy that is marked as void."""
        options = {"copy": "void"} if query_parameters(request).get("copy") == "void" else {}
        return await self._link_pages.download_file(
            request, actor, get_linked_invoice_pdf, _encode_input(actor, options)
        )

    async def download_ubl(self, request: Request, actor: Actor) -> Response:
        """Return the e-invoice."""
        return await self._link_pages.download_file(request, actor, get_linked_invoice_ubl, _encode_input(actor))

    async def mark_seen(self, request: Request, actor: Actor) -> Response:
        """Record that the invoice was seen."""
        await self.public_pages.visitors.read_anonymous_form(request)
        await self._link_pages.perform(request, actor, see_linked_invoice, _encode_input(actor))
        return Response(204, b"", NOINDEX_HEADERS)

    @property
    def _link_pages(self) -> SecretLinkPages:
        return SecretLinkPages(self.public_pages, self.link_maker, LinkKind.INVOICE)


def _encode_input(actor: Actor, given: dict[str, str] | None = None) -> bytes:
    return orjson.dumps({"invoiceId": actor.linked_record, **(given or {})})


def _page_variables(invoice: LinkedInvoiceOut) -> dict[str, Any]:
    """Return the variables of the template, localised for the customer."""
    issued = Snapshot.model_validate(invoice.snapshot)
    # The amount still to be paid now, not the amount when the invoice was issued.
    totals = issued.totals.model_copy(update={"due": invoice.due})
    snapshot = issued.model_copy(update={"totals": totals})
    language, currency = invoice.language, snapshot.currency
    locale = Locale.for_snapshot(snapshot)
    values = {
        "paid": locale.format_money(invoice.paid, currency),
        "due": locale.format_money(invoice.due, currency),
        "day": locale.format_day(snapshot.due_on or snapshot.issued_on),
    }
    notice = notice_of(invoice.status)
    return {
        "invoice": invoice,
        "snapshot": snapshot,
        "language": language,
        "locale": locale,
        "t": partial(translate, language),
        "money": lambda amount: locale.format_money(amount, currency),
        "title": document_title_of(snapshot),
        "subtotal": locale.format_money(snapshot.subtotal, currency),
        "outcome": translate(language, notice.message_key, **values) if notice else None,
        "tone": notice.tone if notice else "",
        "payment": build_payment(snapshot, locale) if is_payable(invoice.status) else None,
        "is_void": is_void(invoice.status),
        "paid": locale.format_money(f"-{invoice.paid}", currency) if Decimal(invoice.paid) else None,
        "credited": locale.format_money(f"-{invoice.credited}", currency) if Decimal(invoice.credited) else None,
        "rates": snapshot.rates,
    }
