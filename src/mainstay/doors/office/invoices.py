"""Invoices: the list, the page of each with its lines and payments, the files of it, and what is credited."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from mainstay.business.invoices.crediting import credit_invoice, get_credit_note, list_credit_notes
from mainstay.business.invoices.model import is_e_invoice, is_payable, is_void
from mainstay.business.invoices.operations import draft_invoice, get_invoice, list_invoices, update_invoice
from mainstay.business.invoices.papers import spelled
from mainstay.business.invoices.paying import get_payment, list_payments, record_payment
from mainstay.business.invoices.reminding import send_reminders
from mainstay.business.invoices.sending import get_invoice_proof, send_invoice, send_reminder
from mainstay.business.issuing.printed import is_issued
from mainstay.doors.office.arrangement import DELIVERED, Action, Arrangement, FormPart
from mainstay.doors.office.beside import Related
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.drafts import led
from mainstay.doors.office.line_pages import LinePages
from mainstay.doors.office.picking import Picking
from mainstay.doors.office.proofs import Proofs
from mainstay.doors.office.references import AsTold
from mainstay.doors.office.room import Room
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.showing import Here
from mainstay.doors.pages.words import side_by_side, whole
from mainstay.identity.links import Kind, LinkMaker

_QUANTITY = "quantity "
_KINDS = {"deposit": "Deposit", "progress": "Progress", "final": "Final invoice"}


def _credited(_invoice: AsTold, fields: Mapping[str, str], here: Here) -> dict[str, object]:
    """The lines of which a quantity was typed; all that is left, where none was."""
    lines = [
        {"lineId": name.removeprefix(_QUANTITY), "quantity": here.read(text)}
        for name, text in fields.items()
        if name.startswith(_QUANTITY) and text.strip()
    ]
    return {"lines": lines or None}


def _paying(invoice: Mapping[str, Any]) -> dict[str, str]:
    """What is known of a payment of an invoice, unless another of the same customer's was paid."""
    return {"customerId": invoice["customerId"], "amount": invoice["due"]}


INVOICES = Arrangement(
    title="Invoices",
    lead="What was billed, and what of it is paid.",
    path="/invoices",
    area="Invoices",
    gets=get_invoice,
    lists=list_invoices,
    creates=draft_invoice,
    called=lambda invoice: side_by_side(
        invoice["number"] or "Draft", invoice["title"] or f"for {whole(invoice['customerName'])}"
    ),
    below=lambda invoice: side_by_side(
        invoice["customerName"], _KINDS.get(invoice["kind"]), invoice["jobNumber"], between=" · "
    ),
    columns=("status", "total", "due", "issuedOn", "dueOn"),
    yields=("issuedOn",),
    facts=(
        "customerName",
        "siteName",
        "issuedOn",
        "dueOn",
        "suppliedFrom",
        "suppliedUntil",
        "sentAt",
        "viewedAt",
        "remindedAt",
        "voidedAt",
        "voidReason",
        "notes",
    ),
    tabs={"all": "All", "draft": "Drafts", "unpaid": "Unpaid", "overdue": "Overdue", "paid": "Paid"}
    | {"credited": "Credited", "void": "Void"},
    choices={"deliver": DELIVERED},
    skips=frozenset({"lines", "edits", "sources", "quoteLines"}),
    above="invoices_above.html",
    more="invoice.html",
    parts={
        draft_invoice.name: FormPart("picked_lines.html"),
        credit_invoice.name: FormPart("credited_lines.html", _credited),
    },
    related=(
        Related(
            "Payments",
            list_payments,
            "invoiceId",
            "/payments",
            ("on", "amount", "method", "status"),
            record_payment,
            "/payments/new",
            lambda invoice: _paying(invoice) if is_payable(invoice["status"]) else None,
        ),
        Related("Credit notes", list_credit_notes, "invoiceId", "/credit-notes", ("issuedOn", "total", "reason")),
    ),
    reminders={send_invoice.name: "document_way.html", send_reminder.name: "document_way.html"},
    empty="No invoices yet. Draft the first one, for a customer, a job or an accepted quote.",
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
    by_amount=True,
    below=lambda payment: str(payment["customerName"]),
    columns=("on", "method", "reference", "unallocated", "status"),
    apart=("on",),
    yields=("method",),
    facts=(
        "customerName",
        "on",
        "method",
        "reference",
        "note",
        "unallocated",
        "reversedOn",
        "reverseReason",
        "externalRef",
    ),
    tabs={"all": "All", "onAccount": "On account", "reversed": "Reversed"},
    order="date",
    above="invoices_above.html",
    more="payment.html",
    empty="No payments yet. Record one here, or on the page of its invoice.",
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
    facts=("customerName", "issuedOn", "suppliedFrom", "suppliedUntil", "reason"),
    above="invoices_above.html",
    more="credit_note.html",
    empty="No credit notes yet. They are made on the page of an invoice.",
)


@dataclass(frozen=True)
class Invoices:
    """The pages."""

    desk: Desk
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Where they are."""
        picking = Picking(self.desk, INVOICES)
        return [
            *Room(self.desk, INVOICES, shows=self._shown, adds=picking.adds, beside=picking.shown).routes(),
            *picking.routes(),
            *Proofs(self.desk, INVOICES, get_invoice_proof).routes(),
            *LinePages(self.desk, INVOICES, update_invoice, sells=True).routes(),
            *Room(self.desk, PAYMENTS).routes(),
            *Room(self.desk, CREDIT_NOTES, shows=self._credit_note).routes(),
        ]

    async def _shown(self, guest: Guest, invoice: AsTold | None) -> dict[str, Any]:
        """What only an invoice's page has: its files, the address of the customer's page, and paying it first."""
        if invoice is None:
            return {"reminds": guest.may(send_reminders)}
        payable = is_payable(invoice["status"]) and guest.may(record_payment)
        actions = INVOICES.actions(self.desk, invoice)
        pays = Action(
            "Record a payment", f"/payments/new?{urlencode({'invoiceId': invoice['id'], **_paying(invoice)})}"
        )
        return {
            "public": self.link_maker.address(Kind.INVOICE, invoice["id"]) if is_issued(invoice) else None,
            "editable": update_invoice.name in invoice["availableActions"],
            "actions": [*([pays] if payable else []), *led(INVOICES, invoice, actions, send_invoice)],
            "is_void": is_void(invoice["status"]),
            "has_xml": is_e_invoice(invoice["eInvoice"]),
            "lacking": [spelled(name) for name in (invoice["eInvoice"] or {}).get("missing", [])],
        }

    async def _credit_note(self, _guest: Guest, note: AsTold | None) -> dict[str, Any]:
        return {"has_xml": is_e_invoice(note["eInvoice"])} if note else {}
