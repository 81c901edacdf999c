"""Quotes: the list, the page of each with its lines, the editor of those, and what a customer answered."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson

from mainstay.business.invoices.operations import draft_invoice, list_invoices
from mainstay.business.quotes.deciding import record_quote_decision
from mainstay.business.quotes.operations import draft_quote, get_quote, list_quotes, update_quote
from mainstay.business.quotes.sending import get_quote_pdf
from mainstay.doors.http import Response
from mainstay.doors.office.arrangement import Arrangement, Record, label_of, verb_of
from mainstay.doors.office.beside import Related
from mainstay.doors.office.desk import Desk, Guest, once_more, seen_version, status_of, wrong
from mainstay.doors.office.line_pages import LinePages
from mainstay.doors.office.room import Room
from mainstay.doors.pages.asking import asked_of, filled, given, ways_to
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.render import see_other
from mainstay.doors.papers import Papers
from mainstay.identity.links import Kind, LinkMaker
from mainstay.kernel.catalogue import admit
from mainstay.kernel.context import Envelope
from mainstay.terms.refusal import Refusal

_CHOSEN = "chosen "

QUOTES = Arrangement(
    title="Quotes",
    lead="What work would cost, and what customers answered.",
    path="/quotes",
    area="Quotes",
    gets=get_quote,
    lists=list_quotes,
    creates=draft_quote,
    called=lambda quote: f"{quote['number']} {quote['title']}",
    below=lambda quote: " · ".join(
        filter(None, (quote["customerName"], f"Revision {quote['revision']}" if quote["revision"] > 1 else ""))
    ),
    columns=("status", "total", "issuedOn", "validUntil"),
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
    skips=frozenset({"lines", "edits", "chosen"}),
    more="quote.html",
    related=(Related("Invoices", list_invoices, "quoteId", "/invoices", ("status", "total", "due")),),
    empty="No quotes yet. Draft the first one for a customer.",
    notes=True,
)


@dataclass(frozen=True)
class Quotes:
    """The pages."""

    desk: Desk
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Where they are."""
        enter, one = self.desk.signed_in, QUOTES.path_of("{id}")
        decision = f"{one}/{verb_of(record_quote_decision)}"
        return [
            *Room(self.desk, QUOTES, shows=self._shown).routes(),
            Route("GET", f"{one}/pdf", enter(self.pdf)),
            *LinePages(self.desk, QUOTES, update_quote, sells=True, options=True).routes(),
            Route("GET", decision, enter(self.ask_decision)),
            Route("POST", decision, enter(self.decide)),
        ]

    async def pdf(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """The PDF that was sent."""
        visitors = self.desk.visitors
        papers = Papers(visitors.stage, visitors.runner, visitors.files)
        asked = orjson.dumps({"quoteId": at["id"]})
        return await papers.answer(get_quote_pdf, guest.actor, asked, Envelope(guest.request.id))

    async def ask_decision(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """What is asked before an answer is recorded."""
        admit(record_quote_decision, guest.actor)
        quote = await self._fetch(guest, at)
        asked = self._asked(guest)
        return self._decision(guest, quote, filled(asked, {}, guest.time_zone))

    async def decide(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Record it, once it is confirmed."""
        fields = await self.desk.form(guest)
        quote = await self._fetch(guest, at)
        guest = guest.sending(fields)
        answers = given(self._asked(guest), fields, guest.time_zone) | {"quoteId": quote["id"]}
        answers["chosen"] = [name.removeprefix(_CHOSEN) for name in fields if name.startswith(_CHOSEN)]
        path = QUOTES.path_of(quote["id"])
        try:
            if fields.get("confirmed") == "yes":
                sent = answers | {"confirmed": True}
                await self.desk.perform(guest, record_quote_decision, sent, seen_version(fields))
                return see_other(f"{path}?done={record_quote_decision.name}")
            preview = await self.desk.perform(guest, record_quote_decision, answers)
        except Refusal as refusal:
            return self._decision(guest, quote, once_more(fields, refusal, quote["version"]), refusal)
        return self.desk.page(
            "confirm.html",
            guest,
            of=QUOTES,
            operation=record_quote_decision,
            deed=label_of(record_quote_decision),
            called=QUOTES.called(quote),
            path=path,
            version=quote["version"],
            fields=fields,
            preview=preview,
        )

    def _decision(
        self, guest: Guest, quote: Record, fields: Mapping[str, str], refusal: Refusal | None = None
    ) -> Response:
        asked, shown = self._asked(guest), wrong(refusal)
        return self.desk.page(
            "quote_decision.html",
            guest,
            status_of(refusal),
            of=QUOTES,
            operation=record_quote_decision,
            called=QUOTES.called(quote),
            path=QUOTES.path_of(quote["id"]),
            version=fields.get("version", quote["version"]),
            options=[line for line in quote["lines"] if line["optional"]],
            asked=asked,
            fields=defaultdict(str, fields),
            ways=ways_to(asked, shown.get("faults", {})),
            **shown,
        )

    async def _fetch(self, guest: Guest, at: Mapping[str, str]) -> Record:
        return await self.desk.perform(guest, get_quote, {"quoteId": at["id"]})

    def _asked(self, guest: Guest) -> list[Any]:
        return [one for one in asked_of(record_quote_decision, guest.actor.rights) if one.name not in QUOTES.skips]

    async def _shown(self, guest: Guest, quote: Record | None) -> dict[str, Any]:
        """What only a quote's page has: the address of the customer's page, and the way to bill what they accepted."""
        if quote is None:
            return {}
        billable = quote["acceptance"] is not None and guest.may(draft_invoice)
        return {
            "public": self.link_maker.address(Kind.QUOTE, quote["id"]) if quote["sentAt"] else None,
            "editable": update_quote.name in quote["availableActions"],
            "bills": f"/invoices/new?{urlencode({'quoteId': quote['id']})}" if billable else None,
        }
