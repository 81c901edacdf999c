"""Invoices, payments and credit notes: their lists and pages, and the line editor of invoices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.invoices.drafting.operations import draft_invoice, update_invoice
from mainstay.business.invoices.issuing.credit_note import CREDIT_NOTES, CreditNoteOut
from mainstay.business.invoices.issuing.crediting import credit_invoice
from mainstay.business.invoices.issuing.document_files import describe_missing_field
from mainstay.business.invoices.issuing.proofs import get_credit_note_proof, get_reminder_proof
from mainstay.business.invoices.issuing.reminders import send_reminders
from mainstay.business.invoices.issuing.sending import get_invoice_proof, send_invoice, send_reminder
from mainstay.business.invoices.model import InvoiceOut, is_e_invoice, is_payable, is_void
from mainstay.business.invoices.payments.payment import PAYMENTS
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.invoices.store import INVOICES
from mainstay.business.issuing.document_files import is_issued
from mainstay.business.jobs.store import JOBS
from mainstay.business.quotes.store import QUOTES
from mainstay.doors.office.kit.document_actions import order_draft_actions
from mainstay.doors.office.kit.line_editor import LinePages
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import DELIVERY_CHOICES, Action, FormPart, RecordLayout, SelectionAction
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.related_lists import RelatedList
from mainstay.doors.office.money.billable_choice import CHOSEN_FIELDS, BillableChoice
from mainstay.doors.office.money.draft_previews import DraftPreviewPages
from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import isolate_rtl, join_isolated
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.identity.links import LinkKind, LinkMaker
from mainstay.values.message import Amount, Message

_QUANTITY_PREFIX = "quantity "
_KIND_LABELS = {"deposit": Message("Deposit"), "progress": Message("Progress"), "final": Message("Final invoice")}


def _invoice_title(invoice: InvoiceOut) -> str:
    """Return the number and the title of an invoice, or whom it is for."""
    title = invoice.title or translate_text("for {customer}", customer=isolate_rtl(invoice.customer_name))
    if invoice.number is None:
        return join_isolated(translate_text("Draft"), title, separator=": ")
    return join_isolated(invoice.number, title)


def _invoice_subtitle(invoice: InvoiceOut) -> str:
    """Return the customer, the kind if it is not a usual invoice, and the job."""
    kind = _KIND_LABELS.get(invoice.kind)
    label = current_language().translate(kind.template) if kind else ""
    return join_isolated(invoice.customer_name, label, invoice.job_number, separator=" · ")


def _read_credited_lines(fields: Mapping[str, str], display: DisplaySettings) -> dict[str, object]:
    """Return the lines with a typed quantity, as input. If there are none, everything that remains is credited."""
    lines = [
        {"lineId": name.removeprefix(_QUANTITY_PREFIX), "quantity": display.parse_number(text)}
        for name, text in fields.items()
        if name.startswith(_QUANTITY_PREFIX) and text.strip()
    ]
    return {"lines": lines or None}


def _payment_fields(invoice: InvoiceOut) -> dict[str, str]:
    """Return the fields that are filled in for a payment of an invoice."""
    return {"customerId": invoice.customer_id, "amount": invoice.due}


INVOICES_LAYOUT = RecordLayout(
    kind=INVOICES,
    lead="What you have invoiced, and what customers still owe.",
    create_operation=draft_invoice,
    send_operation=send_invoice,
    first_fields=("customerId", "jobId", "title", "dueOn", "siteId"),
    title_of=_invoice_title,
    subtitle_of=_invoice_subtitle,
    columns=("status", "total", "due", "issuedOn", "dueOn"),
    optional_columns=("issuedOn",),
    facts=(
        "customerName",
        "siteName",
        "jobNumber",
        "quoteNumber",
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
    choices={"deliver": DELIVERY_CHOICES},
    skipped_fields=frozenset({"lines", "edits", "sources", "quoteLines"}),
    list_header="invoices_header.html",
    page_body="invoice.html",
    form_parts={
        draft_invoice.name: FormPart(
            "picked_lines.html", opening="bill_choices.html", summary="invoice_summary.html", own_fields=CHOSEN_FIELDS
        ),
        credit_invoice.name: FormPart(
            "credited_lines.html", lambda _invoice, fields, display: _read_credited_lines(fields, display)
        ),
    },
    form_headers={send_invoice.name: "document_links.html", send_reminder.name: "document_links.html"},
    previews={send_invoice.name: "draft", send_reminder.name: "reminder", credit_invoice.name: "credit-note"},
    form_leads={
        draft_invoice.name: "",
        send_reminder.name: "The customer gets the PDF and the link by email again.",
    },
    form_buttons={draft_invoice.name: "Create draft"},
    selection_actions=(
        SelectionAction(
            send_reminder,
            "Remind",
            notice=lambda count: Message("{count} reminder sent.", plural="{count} reminders sent.", count=count),
        ),
        SelectionAction(
            send_invoice,
            "Send",
            notice=lambda count: Message("{count} invoice issued.", plural="{count} invoices issued.", count=count),
        ),
    ),
    summed_field="due",
    empty_text="No invoices yet. Create the first one for a customer, a job or an accepted quote.",
    shown_on=(
        RelatedList(CUSTOMERS, "customerId", ("status", "total", "due", "dueOn"), can_add=True),
        RelatedList(JOBS, "jobId", ("total", "status"), is_side=True),
        RelatedList(QUOTES, "quoteId", ("total", "status"), is_side=True),
    ),
)
PAYMENTS_LAYOUT = RecordLayout(
    kind=PAYMENTS,
    lead="Payments from customers, and money on account: not allocated to an invoice yet.",
    create_operation=record_payment,
    first_fields=("customerId", "invoiceId", "amount", "on", "method", "reference"),
    title_of=lambda payment: Amount(payment.amount, payment.currency),
    subtitle_of=lambda payment: str(payment.customer_name),
    columns=("on", "method", "reference", "unallocated", "status"),
    phone_columns=("on",),
    optional_columns=("method",),
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
    list_header="invoices_header.html",
    page_body="payment.html",
    form_leads={record_payment.name: "Anything overpaid stays on the customer's account."},
    empty_text="No payments yet. Record one here or on its invoice.",
    shown_on=(
        RelatedList(CUSTOMERS, "customerId", ("amount", "on"), can_add=True, is_side=True),
        RelatedList(
            INVOICES,
            "invoiceId",
            ("amount", "status"),
            can_add=True,
            is_side=True,
            prefill=lambda invoice: _payment_fields(invoice) if is_payable(invoice.status) else None,
        ),
    ),
)

CREDIT_NOTES_LAYOUT = RecordLayout(
    kind=CREDIT_NOTES,
    lead="Invoices that were credited in full or in part.",
    title_of=lambda note: str(note.number),
    subtitle_of=lambda note: f"{note.customer_name} · {note.invoice_number}",
    columns=("issuedOn", "total", "reason"),
    facts=("customerName", "issuedOn", "suppliedFrom", "suppliedUntil", "reason"),
    list_header="invoices_header.html",
    page_body="credit_note.html",
    empty_text="No credit notes yet. Create one from an invoice.",
    shown_on=(RelatedList(INVOICES, "invoiceId", ("total",), is_side=True),),
)


@dataclass(frozen=True)
class InvoicePages:
    """The pages of invoices, payments and credit notes."""

    office: OfficePages
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        billable_choice = BillableChoice(self.office, INVOICES_LAYOUT)
        return [
            *RecordPages(
                self.office,
                INVOICES_LAYOUT,
                add_variables=self._page_variables,
                add_input=billable_choice.read_choice,
                add_form_variables=billable_choice.form_variables,
            ).routes(),
            *billable_choice.routes(),
            *DraftPreviewPages(self.office, INVOICES_LAYOUT, get_invoice_proof).routes(),
            *DraftPreviewPages(self.office, INVOICES_LAYOUT, get_reminder_proof, "reminder").routes(),
            *DraftPreviewPages(
                self.office, INVOICES_LAYOUT, get_credit_note_proof, "credit-note", _read_credited_lines
            ).routes(),
            *LinePages(self.office, INVOICES_LAYOUT, update_invoice, is_sales=True).routes(),
            *RecordPages(self.office, CREDIT_NOTES_LAYOUT, add_variables=self._credit_note_variables).routes(),
        ]

    async def _page_variables(self, request: OfficeRequest, invoice: InvoiceOut | None) -> dict[str, Any]:
        """Return what only an invoice's page has: its files, the customer's link, and a button to record a payment."""
        if invoice is None:
            return {"reminds": request.can_perform(send_reminders)}
        can_pay = is_payable(invoice.status) and request.can_perform(record_payment)
        actions = INVOICES_LAYOUT.actions_of(self.office, invoice)
        pay_action = Action(
            "Record payment",
            f"{PAYMENTS.new_path}?{urlencode({'invoiceId': invoice.id, **_payment_fields(invoice)})}",
            is_next=True,
            opens_dialog=True,
        )
        return {
            "public": self.link_maker.build_url(LinkKind.INVOICE, invoice.id) if is_issued(invoice) else None,
            "editable": update_invoice.name in invoice.available_actions,
            "actions": [
                *([pay_action] if can_pay else []),
                *order_draft_actions(INVOICES_LAYOUT, invoice, actions),
            ],
            "is_void": is_void(invoice.status),
            "has_xml": is_e_invoice(invoice.e_invoice),
            "missing": _describe_missing_fields(request, invoice.e_invoice.missing if invoice.e_invoice else ()),
        }

    async def _credit_note_variables(self, _request: OfficeRequest, note: CreditNoteOut | None) -> dict[str, Any]:
        return {"has_xml": is_e_invoice(note.e_invoice)} if note else {}


def _describe_missing_fields(request: OfficeRequest, names: Sequence[str]) -> str:
    """Say what an issued invoice would have needed to be an e-invoice, if anything was missing."""
    message = Message(
        "This is not an e-invoice. Missing when it was issued: {fields}.",
        fields=[describe_missing_field(name) for name in names],
    )
    return PageFormat(request.display).render(message) if names else ""
