"""Reminding customers of several unpaid invoices at once."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from mainstay.business.invoices.model import Invoice
from mainstay.business.invoices.sending import AGAIN, remind
from mainstay.business.invoices.store import INVOICES
from mainstay.business.organisation.house import house_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Blocked, Fault, Invalid, Reason, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Irrevocable, Shown
from mainstay.terms.wire import MoneyText
from mainstay.values.fields import Reference
from mainstay.values.models import TOLD
from mainstay.values.money import amount_text

MOST_AT_ONCE = 50


class SendReminders(Irrevocable):
    """Of which invoices."""

    invoice_ids: list[Annotated[str, Reference(to="invoice", status="unpaid")]] = Field(
        min_length=1,
        max_length=MOST_AT_ONCE,
        title="Invoices",
        description=f"The unpaid invoices, by their ids or numbers; {MOST_AT_ONCE} at most.",
        examples=[["INV-0207", "INV-0211"]],
    )
    again: bool = AGAIN


class RemindedInvoice(BaseModel):
    """An invoice of which its customer was reminded."""

    model_config = TOLD

    id: str
    number: str
    customer_id: str
    customer_name: str
    due: MoneyText
    reminders: int = Field(description="How often the customer was reminded of it.")


class RemindersOut(Shown):
    """The reminders that were sent together."""

    noun = "reminders"

    currency: str
    due: MoneyText = Field(description="What is to be paid of all of them.")
    invoices: list[RemindedInvoice]


@operation(
    right=Right.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /invoices/remind",
    only_adds=False,
    mails=True,
    done="The reminders are on their way.",
)
def send_reminders(ctx: Context, given: SendReminders) -> RemindersOut:
    """Send payment reminders for several unpaid or overdue invoices at once.

    All or none: if one cannot be sent, the preview names it with the reason and nothing is sent. Each invoice goes in
    an email of its own, with its PDF; send_statement lists all that a customer owes in one.
    """
    invoices = _fetch_each(ctx, given.invoice_ids)
    refuse([reason for invoice in invoices for reason in _named(invoice, invoice.not_remindable(ctx.actor))])
    reminded, against = [], []
    for invoice in invoices:
        try:
            reminded.append(remind(ctx, invoice, again=given.again, brief=True))
        except Blocked as blocked:
            against += _named(invoice, blocked.reasons)
    _summarise(ctx, invoices)
    refuse(against)
    currency = house_of(ctx).currency
    return RemindersOut(
        object=RemindersOut.noun,
        currency=currency,
        due=MoneyText(amount_text(sum(invoice.due for invoice in reminded), currency)),
        invoices=[_describe_reminded(invoice) for invoice in reminded],
    )


OPERATIONS = (send_reminders,)


def _fetch_each(ctx: Context, identities: Sequence[str]) -> list[Invoice]:
    """Return the invoices of these ids or numbers, none of which may be named twice."""
    invoices: dict[str, Invoice] = {}
    for place, identity in enumerate(identities):
        invoice: Invoice = INVOICES.fetch(ctx, identity)
        if invoice.id in invoices:
            raise Invalid([Fault(f"invoiceIds.{place}", "is named twice")])
        invoices[invoice.id] = invoice
    return list(invoices.values())


def _named(invoice: Invoice, reasons: Sequence[Reason]) -> list[Reason]:
    """Return these reasons, each with the invoice that it is about."""
    return [
        reason._replace(text=f"{invoice.called}: {reason.text}", at=reason.at or (reason.unblock and invoice.id))
        for reason in reasons
    ]


def _summarise(ctx: Context, invoices: Sequence[Invoice]) -> None:
    """Tell in the preview how many customers are reminded of how much, and who gets several emails."""
    currency = house_of(ctx).currency
    due = f"{amount_text(sum(invoice.due for invoice in invoices), currency)} {currency}"
    of_each = Counter(invoice.customer_id for invoice in invoices)
    names = {invoice.customer_id: invoice.customer_name for invoice in invoices}
    ctx.summary = f"Reminders of {len(invoices)} invoices go to {len(of_each)} customers: {due} is to be paid."
    ctx.warnings += [
        f"{names[customer]} gets {number} emails, one for each invoice. send_statement lists all of them in one."
        for customer, number in of_each.items()
        if number > 1
    ]


def _describe_reminded(invoice: Invoice) -> RemindedInvoice:
    return RemindedInvoice(
        id=invoice.id,
        number=invoice.named,
        customer_id=invoice.customer_id,
        customer_name=invoice.customer_name,
        due=MoneyText(amount_text(invoice.due, invoice.currency)),
        reminders=invoice.reminders,
    )
