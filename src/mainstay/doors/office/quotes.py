"""Quotes: the list, the page of each with its lines, the editor of those, and what a customer answered."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from mainstay.business.invoices.operations import draft_invoice, list_invoices
from mainstay.business.issuing.printed import is_issued
from mainstay.business.quotes.deciding import record_quote_decision
from mainstay.business.quotes.operations import draft_quote, get_quote, list_quotes, update_quote
from mainstay.business.quotes.sending import get_quote_proof, send_quote
from mainstay.doors.office.arrangement import DELIVERED, Arrangement, FormPart
from mainstay.doors.office.beside import Related
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.drafts import led
from mainstay.doors.office.line_pages import LinePages
from mainstay.doors.office.proofs import Proofs
from mainstay.doors.office.references import AsTold
from mainstay.doors.office.room import Room
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.showing import Here
from mainstay.doors.pages.words import side_by_side
from mainstay.identity.links import Kind, LinkMaker

_CHOSEN = "chosen "


def _chosen(_quote: AsTold, fields: Mapping[str, str], _here: Here) -> dict[str, object]:
    """The options that were ticked."""
    return {"chosen": [name.removeprefix(_CHOSEN) for name in fields if name.startswith(_CHOSEN)]}


QUOTES = Arrangement(
    title="Quotes",
    lead="What work would cost, and what customers answered.",
    path="/quotes",
    area="Quotes",
    gets=get_quote,
    lists=list_quotes,
    creates=draft_quote,
    called=lambda quote: side_by_side(quote["number"], quote["title"]),
    below=lambda quote: side_by_side(
        quote["customerName"], f"Revision {quote['revision']}" if quote["revision"] > 1 else "", between=" · "
    ),
    columns=("status", "total", "issuedOn", "validUntil"),
    yields=("issuedOn",),
    facts=(
        "customerName",
        "siteName",
        "jobNumber",
        "issuedOn",
        "validUntil",
        "sentAt",
        "viewedAt",
        "decidedAt",
        "declineReason",
        "withdrawReason",
        "terms",
    ),
    tabs={"all": "All", "draft": "Drafts", "sent": "Waiting", "expired": "Expired", "accepted": "Accepted"}
    | {"declined": "Declined", "withdrawn": "Withdrawn", "superseded": "Replaced"},
    choices={"deliver": DELIVERED},
    skips=frozenset({"lines", "edits", "chosen"}),
    more="quote.html",
    reminders={send_quote.name: "document_way.html"},
    parts={record_quote_decision.name: FormPart("chosen_options.html", _chosen)},
    related=(Related("Invoices", list_invoices, "quoteId", "/invoices", ("status", "total", "due")),),
    empty="No quotes yet. Draft the first one for a customer.",
)


@dataclass(frozen=True)
class Quotes:
    """The pages."""

    desk: Desk
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            *Room(self.desk, QUOTES, shows=self._shown).routes(),
            *Proofs(self.desk, QUOTES, get_quote_proof).routes(),
            *LinePages(self.desk, QUOTES, update_quote, sells=True, options=True).routes(),
        ]

    async def _shown(self, guest: Guest, quote: AsTold | None) -> dict[str, Any]:
        """What only a quote's page has: the address of the customer's page, and the way to bill what they accepted."""
        if quote is None:
            return {}
        billable = quote["acceptance"] is not None and guest.may(draft_invoice)
        return {
            "public": self.link_maker.address(Kind.QUOTE, quote["id"]) if is_issued(quote) else None,
            "actions": led(QUOTES, quote, QUOTES.actions(self.desk, quote), send_quote),
            "editable": update_quote.name in quote["availableActions"],
            "bills": f"/invoices/new?{urlencode({'quoteId': quote['id']})}" if billable else None,
        }
