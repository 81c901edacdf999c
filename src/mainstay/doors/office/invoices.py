"""Invoices: the list, the page of each with its lines and payments, the files of it, and what is credited."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson

from mainstay.business.invoices.crediting import credit_invoice, get_credit_note, list_credit_notes
from mainstay.business.invoices.operations import draft_invoice, get_invoice, list_invoices, update_invoice
from mainstay.business.invoices.papers import (
    get_credit_note_pdf,
    get_credit_note_ubl,
    get_invoice_pdf,
    get_invoice_ubl,
    spelled,
)
from mainstay.business.invoices.paying import get_payment, list_payments, record_payment
from mainstay.business.invoices.sending import send_reminder
from mainstay.doors.http import Response
from mainstay.doors.office.arrangement import Action, Arrangement, Record, label_of, verb_of
from mainstay.doors.office.beside import Related
from mainstay.doors.office.desk import Desk, Guest, once_more, seen_version, status_of, wrong
from mainstay.doors.office.line_pages import LinePages
from mainstay.doors.office.room import Room
from mainstay.doors.pages.asking import asked_of, filled, given, ways_to
from mainstay.doors.pages.door import Route, View
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import see_other
from mainstay.doors.papers import Papers
from mainstay.identity.links import Kind, LinkMaker
from mainstay.kernel.catalogue import admit
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import Refusal
from mainstay.values.written import plain_price

_QUANTITY = "quantity "
_KINDS = {"deposit": "Deposit", "progress": "Progress", "final": "Final invoice"}

INVOICES = Arrangement(
    title="Invoices",
    lead="What was billed, and what of it is paid.",
    path="/invoices",
    area="Invoices",
    gets=get_invoice,
    lists=list_invoices,
    creates=draft_invoice,
    called=lambda invoice: " ".join(
        filter(None, (invoice["number"] or "Draft", invoice["title"] or f"for {invoice['customerName']}"))
    ),
    below=lambda invoice: " · ".join(
        filter(None, (invoice["customerName"], _KINDS.get(invoice["kind"]), invoice["jobNumber"]))
    ),
    columns=("status", "total", "due", "issuedOn", "dueOn"),
    facts=(
        "customerName",
        "siteName",
        "issuedOn",
        "dueOn",
        "sentAt",
        "viewedAt",
        "remindedAt",
        "voidedAt",
        "voidReason",
        "notes",
    ),
    tabs={"all": "All", "draft": "Drafts", "unpaid": "Unpaid", "overdue": "Overdue", "paid": "Paid"}
    | {"credited": "Credited", "void": "Void"},
    skips=frozenset({"lines", "edits", "sources", "quoteLines"}),
    above="invoices_above.html",
    more="invoice.html",
    related=(
        Related(
            "Payments",
            list_payments,
            "invoiceId",
            "/payments",
            ("on", "amount", "method", "status"),
            record_payment,
            "/payments/new",
        ),
        Related("Credit notes", list_credit_notes, "invoiceId", "/credit-notes", ("issuedOn", "total", "reason")),
    ),
    empty="No invoices yet. Draft the first one, for a customer, a job or an accepted quote.",
    notes=True,
)
PAYMENTS = Arrangement(
    title="Payments",
    lead="What customers paid, and what of it is for no invoice yet.",
    path="/payments",
    area="Invoices",
    gets=get_payment,
    lists=list_payments,
    creates=record_payment,
    called=lambda payment: f"{payment['amount']} {payment['currency']}",
    below=lambda payment: str(payment["customerName"]),
    columns=("on", "method", "reference", "unallocated", "status"),
    facts=(
        "customerName",
        "on",
        "method",
        "reference",
        "note",
        "unallocated",
        "reversedAt",
        "reverseReason",
        "externalRef",
    ),
    tabs={"all": "All", "onAccount": "On account", "reversed": "Reversed"},
    order="date",
    above="invoices_above.html",
    more="payment.html",
    empty="No payments yet. Record one here, or on the page of its invoice.",
    notes=True,
)

CREDIT_NOTES = Arrangement(
    title="Credit notes",
    lead="What was taken back of invoices.",
    path="/credit-notes",
    area="Invoices",
    gets=get_credit_note,
    lists=list_credit_notes,
    called=lambda note: str(note["number"]),
    below=lambda note: f"{note['customerName']} · {note['invoiceNumber']}",
    columns=("issuedOn", "total", "reason"),
    facts=("customerName", "issuedOn", "reason"),
    above="invoices_above.html",
    more="credit_note.html",
    empty="No credit notes yet. They are made on the page of an invoice.",
    notes=True,
)


@dataclass(frozen=True)
class Invoices:
    """The pages."""

    desk: Desk
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Where they are."""
        enter, one = self.desk.signed_in, INVOICES.path_of("{id}")
        credit = f"{one}/{verb_of(credit_invoice)}"
        note = CREDIT_NOTES.path_of("{id}")
        return [
            *Room(self.desk, INVOICES, shows=self._shown).routes(),
            *LinePages(self.desk, INVOICES, update_invoice, sells=True).routes(),
            *Room(self.desk, PAYMENTS).routes(),
            *Room(self.desk, CREDIT_NOTES, shows=self._credit_note).routes(),
            Route("GET", f"{one}/pdf", self._file(get_invoice_pdf, "invoiceId")),
            Route("GET", f"{one}/ubl", self._file(get_invoice_ubl, "invoiceId")),
            Route("GET", f"{note}/pdf", self._file(get_credit_note_pdf, "creditNoteId")),
            Route("GET", f"{note}/ubl", self._file(get_credit_note_ubl, "creditNoteId")),
            Route("GET", credit, enter(self.ask_credit)),
            Route("POST", credit, enter(self.credit)),
        ]

    async def ask_credit(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """What is asked before something is credited."""
        admit(credit_invoice, guest.actor)
        invoice = await self._fetch(guest, at)
        return self._crediting(guest, invoice, filled(self._asked(guest), {}, guest.time_zone))

    async def credit(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Credit it, once it is confirmed."""
        fields = await self.desk.form(guest)
        invoice = await self._fetch(guest, at)
        guest = guest.sending(fields)
        answers = given(self._asked(guest), fields, guest.time_zone) | {"invoiceId": invoice["id"]}
        answers["lines"] = _lines(fields) or None
        path = INVOICES.path_of(invoice["id"])
        try:
            if fields.get("confirmed") == "yes":
                sent = answers | {"confirmed": True}
                await self.desk.perform(guest, credit_invoice, sent, seen_version(fields))
                return see_other(f"{path}?done={credit_invoice.name}")
            preview = await self.desk.perform(guest, credit_invoice, answers)
        except Refusal as refusal:
            return self._crediting(guest, invoice, once_more(fields, refusal, invoice["version"]), refusal)
        return self.desk.page(
            "confirm.html",
            guest,
            of=INVOICES,
            operation=credit_invoice,
            deed=label_of(credit_invoice),
            called=INVOICES.called(invoice),
            path=path,
            version=invoice["version"],
            fields=fields,
            preview=preview,
        )

    def _crediting(
        self, guest: Guest, invoice: Record, fields: Mapping[str, str], refusal: Refusal | None = None
    ) -> Response:
        asked, shown = self._asked(guest), wrong(refusal)
        return self.desk.page(
            "invoice_credit.html",
            guest,
            status_of(refusal),
            of=INVOICES,
            operation=credit_invoice,
            called=INVOICES.called(invoice),
            path=INVOICES.path_of(invoice["id"]),
            version=fields.get("version", invoice["version"]),
            invoice=invoice,
            asked=asked,
            fields=defaultdict(str, fields),
            ways=ways_to(asked, shown.get("faults", {})),
            **shown,
        )

    def _file(self, operation: Operation, named: str) -> View:
        """A file of a document."""

        async def show(guest: Guest, at: Mapping[str, str]) -> Response:
            visitors = self.desk.visitors
            papers = Papers(visitors.stage, visitors.runner, visitors.files)
            copied = {name: text for name, text in query_words(guest.request).items() if name == "copy"}
            asked = orjson.dumps({named: at["id"], **copied})
            return await papers.answer(operation, guest.actor, asked, Envelope(guest.request.id))

        return self.desk.signed_in(show)

    def _asked(self, guest: Guest) -> list[Any]:
        return [one for one in asked_of(credit_invoice, guest.actor.rights) if one.name != "lines"]

    async def _fetch(self, guest: Guest, at: Mapping[str, str]) -> Record:
        return await self.desk.perform(guest, get_invoice, {"invoiceId": at["id"]})

    async def _shown(self, guest: Guest, invoice: Record | None) -> dict[str, Any]:
        """What only an invoice's page has: its files, the address of the customer's page, and paying it first."""
        if invoice is None:
            return {}
        payable = send_reminder.name in invoice["availableActions"] and guest.may(record_payment)
        pays = Action("Record a payment", f"/payments/new?{urlencode({'invoiceId': invoice['id']})}")
        return {
            "public": self.link_maker.address(Kind.INVOICE, invoice["id"]) if invoice["sentAt"] else None,
            "editable": update_invoice.name in invoice["availableActions"],
            "actions": [*([pays] if payable else []), *INVOICES.actions(self.desk, invoice)],
            "is_void": invoice["voidedAt"] is not None,
            "has_xml": _has_xml(invoice),
            "lacking": [spelled(name) for name in (invoice["eInvoice"] or {}).get("missing", [])],
        }

    async def _credit_note(self, _guest: Guest, note: Record | None) -> dict[str, Any]:
        return {"has_xml": _has_xml(note)} if note else {}


def _has_xml(document: Record) -> bool:
    """Whether it is an e-invoice as well."""
    return bool((document["eInvoice"] or {}).get("status") == "included")


def _lines(fields: Mapping[str, str]) -> list[dict[str, str]]:
    """The lines of which a quantity was typed."""
    return [
        {"lineId": name.removeprefix(_QUANTITY), "quantity": plain_price(text.strip())}
        for name, text in fields.items()
        if name.startswith(_QUANTITY) and text.strip()
    ]
