"""Sending reminders of several unpaid invoices at once."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from mainstay.business.invoices.issuing.sending import AGAIN_FIELD, remind_customer
from mainstay.business.invoices.model import Invoice
from mainstay.business.invoices.store import INVOICES
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.descriptions import describe
from mainstay.values.fields import RecordReference
from mainstay.values.message import Amount, Message
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.values.money import amount_text
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.record_json import MoneyText
from mainstay.vocabulary.refusal import Blocked, Fault, Invalid, Reason, raise_if_blocked
from mainstay.vocabulary.schemas import IrreversibleInput, Output

MAX_REMINDERS = 50


class SendReminders(IrreversibleInput):
    """The invoices."""

    invoice_ids: list[Annotated[str, RecordReference(prefix="invoice", status="unpaid")]] = Field(
        min_length=1,
        max_length=MAX_REMINDERS,
        title="Invoices",
        description=describe(f"[[Unpaid invoices, by ID or number; {MAX_REMINDERS} at most.]]"),
        examples=[["INV-0207", "INV-0211"]],
    )
    again: bool = AGAIN_FIELD


class RemindedInvoice(BaseModel):
    """An invoice that the customer was reminded of."""

    model_config = OUTPUT_CONFIG

    id: str
    number: str
    customer_id: str
    customer_name: str
    due: MoneyText
    reminders: int = Field(description="How many reminders were sent for it.")


class RemindersOut(Output):
    """The reminders that were sent together."""

    noun = "reminders"

    currency: str
    due: MoneyText = Field(description="What customers owe on all of them.")
    invoices: list[RemindedInvoice]


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /invoices/remind",
    only_adds=False,
    emails_outside=True,
    done_message="Reminders sent.",
    not_undone=Message("The reminders have been sent."),
    past_text="Reminder sent",
)
def send_reminders(ctx: Context, given: SendReminders) -> RemindersOut:
    """Send reminders.

    [[Chase several unpaid or overdue invoices at once, each with its own email and PDF; send_statement lists all
    that a customer owes in one email.]] All or none: if one can't be sent, the preview says why and nothing is
    sent.
    """
    invoices = _fetch_each(ctx, given.invoice_ids)
    raise_if_blocked(
        [reason for invoice in invoices for reason in _add_invoice_name(invoice, invoice.not_remindable(ctx.actor))]
    )
    reminded, reasons = [], []
    for invoice in invoices:
        try:
            reminded.append(remind_customer(ctx, invoice, again=given.again, brief=True))
        except Blocked as blocked:
            reasons += _add_invoice_name(invoice, blocked.reasons)
    _summarise(ctx, invoices)
    raise_if_blocked(reasons)
    currency = settings_of(ctx).currency
    return RemindersOut(
        object=RemindersOut.noun,
        currency=currency,
        due=MoneyText(amount_text(sum(invoice.due for invoice in reminded), currency)),
        invoices=[_describe_reminded(invoice) for invoice in reminded],
    )


OPERATIONS = (send_reminders,)


def _fetch_each(ctx: Context, record_ids: Sequence[str]) -> list[Invoice]:
    """Fetch the invoices with these ids or numbers; refuse one that is named twice."""
    invoices: dict[str, Invoice] = {}
    for index, record_id in enumerate(record_ids):
        invoice: Invoice = INVOICES.fetch(ctx, record_id)
        if invoice.id in invoices:
            raise Invalid([Fault(f"invoiceIds.{index}", Message("is listed twice"))])
        invoices[invoice.id] = invoice
    return list(invoices.values())


def _add_invoice_name(invoice: Invoice, reasons: Sequence[Reason]) -> list[Reason]:
    """Add the invoice to the text of each reason."""
    return [
        reason._replace(
            message=Message("{invoice}: {reason}", invoice=invoice.name_in_messages, reason=reason.message),
            unblocking_record_id=reason.unblocking_record_id or (invoice.id if reason.unblocking_actions else None),
        )
        for reason in reasons
    ]


def _summarise(ctx: Context, invoices: Sequence[Invoice]) -> None:
    """Put into the preview how many customers are reminded of how much, and who gets several emails."""
    currency = settings_of(ctx).currency
    counts = Counter(invoice.customer_id for invoice in invoices)
    names = {invoice.customer_id: invoice.customer_name for invoice in invoices}
    ctx.summary = Message(
        "Reminders for {invoices} will be sent to {customers}: {due} to pay.",
        invoices=Message("{count} invoice", plural="{count} invoices", count=len(invoices)),
        customers=Message("{count} customer", plural="{count} customers", count=len(counts)),
        due=Amount(amount_text(sum(invoice.due for invoice in invoices), currency), currency),
    )
    ctx.warnings += [
        Message(
            "{customer} gets {number} emails, one for each invoice. A statement lists them all in one email.",
            customer=names[customer],
            number=number,
            for_programs=Message("To send one statement instead, call send_statement."),
        )
        for customer, number in counts.items()
        if number > 1
    ]


def _describe_reminded(invoice: Invoice) -> RemindedInvoice:
    return RemindedInvoice(
        id=invoice.id,
        number=invoice.short_name,
        customer_id=invoice.customer_id,
        customer_name=invoice.customer_name,
        due=MoneyText(amount_text(invoice.due, invoice.currency)),
        reminders=invoice.reminders,
    )
