"""Invoices in every state with payments and credit notes, and a valid input for each of their operations."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mainstay.business.customers.operations import update_customer
from mainstay.business.hours.approval import review_hours, submit_hours
from mainstay.business.hours.operations import log_hours
from mainstay.business.invoices.drafting.operations import draft_invoice
from mainstay.business.invoices.issuing.crediting import credit_invoice, list_credit_notes
from mainstay.business.invoices.issuing.sending import send_invoice, void_invoice
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.reporting.statement_sending import send_statement
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.cast import Cast

ExampleInput = dict[str, object]

INVOICE_LINE: ExampleInput = {"description": "Combi boiler", "unitPrice": "890"}
RECIPIENTS = ["ann@calder.example"]


@dataclass(frozen=True)
class InvoiceSamples:
    """Invoices of one customer: the draft bills an hour, and the payment is for the one paid in part."""

    customer: str
    job: str
    draft: str
    sent: str
    part_paid: str
    paid: str
    credited: str
    void: str
    payment: str
    # Which is for no invoice.
    on_account: str
    credit_note: str
    statement: str
    billed: str
    unbilled: str


def make_invoice_samples(cast: Cast, customer: str, job: str) -> InvoiceSamples:
    """Make the samples."""
    _complete_addresses(cast, customer)
    billed, unbilled = (_make_approved_hour(cast, job) for _ in range(2))
    draft = str(cast.perform(draft_invoice, jobId=job, sources=[billed], lines=[INVOICE_LINE])["id"])
    sent, part_paid, paid, credited, void = (_issue_invoice(cast, customer) for _ in range(5))
    payment = cast.perform(record_payment, invoiceId=part_paid, amount="100", reference="Boiler")
    cast.perform(record_payment, invoiceId=paid, amount="1068")
    on_account = cast.perform(record_payment, customerId=customer, amount="50", allocations=[])
    common_input = {"deliver": "none", "reason": "Returned", "confirmed": True}
    cast.perform(credit_invoice, invoiceId=credited, **common_input)
    cast.perform(void_invoice, invoiceId=void, reason="A mistake", confirmed=True)
    notes: list[dict[str, Any]] = cast.perform(list_credit_notes)["data"]
    ids = (draft, sent, part_paid, paid, credited, void, str(payment["id"]), str(on_account["id"]))
    statement = cast.perform(send_statement, customerId=customer, deliver="none", confirmed=True)["id"]
    return InvoiceSamples(customer, job, *ids, str(notes[0]["id"]), str(statement), billed, unbilled)


def _complete_addresses(cast: Cast, customer: str) -> None:
    """Fill in all that an e-invoice needs of both sides, and an email address."""
    cast.perform(update_organisation, address={"country": "GB"}, taxNumber="GB123456789")
    cast.perform(update_customer, customerId=customer, billingAddress={"country": "GB"}, email=RECIPIENTS[0])


def _make_approved_hour(cast: Cast, job: str) -> str:
    today = local_date(cast.performer.clock(), "Europe/London").isoformat()
    hour = str(cast.perform(log_hours, Role.ADMIN, jobId=job, on=today, minutes=45)["id"])
    cast.perform(submit_hours, Role.ADMIN, timeEntryIds=[hour])
    cast.perform(review_hours, timeEntryIds=[hour], decision="approve")
    return hour


def _issue_invoice(cast: Cast, customer: str) -> str:
    invoice = str(cast.perform(draft_invoice, customerId=customer, title="New heating", lines=[INVOICE_LINE])["id"])
    cast.perform(send_invoice, invoiceId=invoice, deliver="none", confirmed=True)
    return invoice


def _sent_invoice_input(invoices: InvoiceSamples) -> ExampleInput:
    return {"invoiceId": invoices.sent}


INVOICE_EXAMPLES: dict[str, Callable[[InvoiceSamples], ExampleInput]] = {
    "list_invoices": lambda _: {},
    "get_invoice": lambda invoices: {"invoiceId": invoices.draft},
    "draft_invoice": lambda invoices: {"jobId": invoices.job, "unbilled": True, "lines": [INVOICE_LINE]},
    "update_invoice": lambda invoices: {"invoiceId": invoices.draft, "edits": [{"edit": "add", **INVOICE_LINE}]},
    "delete_draft_invoice": lambda invoices: {"invoiceId": invoices.draft, "confirmed": True},
    "send_invoice": lambda invoices: {"invoiceId": invoices.draft, "to": RECIPIENTS, "confirmed": True},
    "void_invoice": lambda invoices: {"invoiceId": invoices.sent, "reason": "A mistake", "confirmed": True},
    "send_reminder": lambda invoices: {"invoiceId": invoices.part_paid, "to": RECIPIENTS, "confirmed": True},
    "send_reminders": lambda invoices: {"invoiceIds": [invoices.part_paid, invoices.sent], "confirmed": True},
    "send_statement": lambda invoices: {"customerId": invoices.customer, "to": RECIPIENTS, "confirmed": True},
    "list_statements": lambda _: {},
    "get_statement": lambda invoices: {"statementId": invoices.statement},
    "get_statement_pdf": lambda invoices: {"statementId": invoices.statement},
    "credit_invoice": lambda invoices: {
        "invoiceId": invoices.part_paid,
        "amount": "50",
        "reason": "Scratched",
        "to": RECIPIENTS,
        "confirmed": True,
    },
    "list_credit_notes": lambda _: {},
    "get_credit_note": lambda invoices: {"creditNoteId": invoices.credit_note},
    "list_payments": lambda _: {},
    "find_paid_invoices": lambda _: {"entries": [{"on": "2026-11-03", "amount": "10", "text": "INV-0001"}]},
    "get_payment": lambda invoices: {"paymentId": invoices.payment},
    "record_payment": lambda invoices: {"invoiceId": invoices.sent, "amount": "900"},
    "allocate_payment": lambda invoices: {
        "paymentId": invoices.on_account,
        "allocations": [{"invoiceId": invoices.sent, "amount": "20"}],
    },
    "reverse_payment": lambda invoices: {"paymentId": invoices.payment, "reason": "Bounced", "confirmed": True},
    "get_invoice_proof": lambda invoices: {"invoiceId": invoices.draft},
    "get_reminder_proof": _sent_invoice_input,
    "get_credit_note_proof": lambda invoices: {"invoiceId": invoices.part_paid, "amount": "50"},
    "get_statement_proof": lambda invoices: {"customerId": invoices.customer},
    "get_invoice_pdf": _sent_invoice_input,
    "get_invoice_ubl": _sent_invoice_input,
    "get_credit_note_pdf": lambda invoices: {"creditNoteId": invoices.credit_note},
    "get_credit_note_ubl": lambda invoices: {"creditNoteId": invoices.credit_note},
    "get_linked_invoice": _sent_invoice_input,
    "get_linked_invoice_pdf": _sent_invoice_input,
    "get_linked_invoice_ubl": _sent_invoice_input,
    "see_linked_invoice": _sent_invoice_input,
}
