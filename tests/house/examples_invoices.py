"""Invoices in every state with what was paid and credited, and for each of their operations an input that it takes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cast import Cast
from mainstay.business.customers.operations import update_customer
from mainstay.business.hours.operations import log_hours
from mainstay.business.hours.review import review_hours, submit_hours
from mainstay.business.invoices.crediting import credit_invoice, list_credit_notes
from mainstay.business.invoices.operations import draft_invoice
from mainstay.business.invoices.paying import record_payment
from mainstay.business.invoices.sending import send_invoice, void_invoice
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.reporting.statement_sending import send_statement
from mainstay.terms.rights import Role
from mainstay.values.moments import local_date

Given = dict[str, object]

LINE: Given = {"description": "Combi boiler", "unitPrice": "890"}
TO = ["ann@calder.example"]


@dataclass(frozen=True)
class Invoices:
    """Those of one customer: the draft bills an hour, and the payment is for the one that is paid in part."""

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


def furnish_invoices(cast: Cast, customer: str, job: str) -> Invoices:
    """Make them."""
    _name_both(cast, customer)
    billed, unbilled = (_approved_hour(cast, job) for _ in range(2))
    draft = str(cast.perform(draft_invoice, jobId=job, sources=[billed], lines=[LINE])["id"])
    sent, part_paid, paid, credited, void = (_issued(cast, customer) for _ in range(5))
    payment = cast.perform(record_payment, invoiceId=part_paid, amount="100", reference="Boiler")
    cast.perform(record_payment, invoiceId=paid, amount="1068")
    on_account = cast.perform(record_payment, customerId=customer, amount="50", allocations=[])
    known = {"deliver": "none", "reason": "Returned", "confirmed": True}
    cast.perform(credit_invoice, invoiceId=credited, **known)
    cast.perform(void_invoice, invoiceId=void, reason="A mistake", confirmed=True)
    notes: list[dict[str, Any]] = cast.perform(list_credit_notes)["data"]
    made = (draft, sent, part_paid, paid, credited, void, str(payment["id"]), str(on_account["id"]))
    statement = cast.perform(send_statement, customerId=customer, deliver="none", confirmed=True)["id"]
    return Invoices(customer, job, *made, str(notes[0]["id"]), str(statement), billed, unbilled)


def _name_both(cast: Cast, customer: str) -> None:
    """Let there be all that an e-invoice has to say of both sides, and an address for emails."""
    cast.perform(update_organisation, address={"country": "GB"}, taxNumber="GB123456789")
    cast.perform(update_customer, customerId=customer, billingAddress={"country": "GB"}, email=TO[0])


def _approved_hour(cast: Cast, job: str) -> str:
    today = local_date(cast.stage.clock(), "Europe/London").isoformat()
    hour = str(cast.perform(log_hours, Role.ADMIN, jobId=job, on=today, minutes=45)["id"])
    cast.perform(submit_hours, Role.ADMIN, timeEntryIds=[hour])
    cast.perform(review_hours, timeEntryIds=[hour], decision="approve")
    return hour


def _issued(cast: Cast, customer: str) -> str:
    invoice = str(cast.perform(draft_invoice, customerId=customer, title="New heating", lines=[LINE])["id"])
    cast.perform(send_invoice, invoiceId=invoice, deliver="none", confirmed=True)
    return invoice


def _linked(invoices: Invoices) -> Given:
    return {"invoiceId": invoices.sent}


INVOICE_EXAMPLES: dict[str, Callable[[Invoices], Given]] = {
    "list_invoices": lambda _: {},
    "get_invoice": lambda invoices: {"invoiceId": invoices.draft},
    "draft_invoice": lambda invoices: {"jobId": invoices.job, "unbilled": True, "lines": [LINE]},
    "update_invoice": lambda invoices: {"invoiceId": invoices.draft, "edits": [{"edit": "add", **LINE}]},
    "delete_draft_invoice": lambda invoices: {"invoiceId": invoices.draft, "confirmed": True},
    "send_invoice": lambda invoices: {"invoiceId": invoices.draft, "to": TO, "confirmed": True},
    "void_invoice": lambda invoices: {"invoiceId": invoices.sent, "reason": "A mistake", "confirmed": True},
    "send_reminder": lambda invoices: {"invoiceId": invoices.part_paid, "to": TO, "confirmed": True},
    "send_reminders": lambda invoices: {"invoiceIds": [invoices.part_paid, invoices.sent], "confirmed": True},
    "send_statement": lambda invoices: {"customerId": invoices.customer, "to": TO, "confirmed": True},
    "list_statements": lambda _: {},
    "get_statement": lambda invoices: {"statementId": invoices.statement},
    "get_statement_pdf": lambda invoices: {"statementId": invoices.statement},
    "credit_invoice": lambda invoices: {
        "invoiceId": invoices.part_paid,
        "amount": "50",
        "reason": "Scratched",
        "to": TO,
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
    "get_invoice_pdf": _linked,
    "get_invoice_ubl": _linked,
    "get_credit_note_pdf": lambda invoices: {"creditNoteId": invoices.credit_note},
    "get_credit_note_ubl": lambda invoices: {"creditNoteId": invoices.credit_note},
    "get_linked_invoice": _linked,
    "get_linked_invoice_pdf": _linked,
    "get_linked_invoice_ubl": _linked,
    "see_linked_invoice": _linked,
}
