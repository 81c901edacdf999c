"""What can be done with payments."""

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.invoices.allocating import allocate
from mainstay.business.invoices.model import Invoice
from mainstay.business.invoices.payment import CALLED_SO, PAYMENTS, Method, MethodField, Narrowed, Payment, PaymentOut
from mainstay.business.invoices.store import INVOICES
from mainstay.business.organisation.house import House, house_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import NO_TOOL
from mainstay.terms.refusal import Fault, Invalid, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Irrevocable, LastDay, ListInput, Page
from mainstay.values.fields import LAST_SEEN, Day, KeptDay, Line, Paragraph, Price, Reference, id_of
from mainstay.values.models import GIVEN
from mainstay.values.money import LARGEST, amount_text, in_minor
from mainstay.values.search import SearchText

_MOST_INVOICES = 100
# Nothing can be put to an invoice of which nothing is to be paid.
_TO_PAY = Reference(to="invoice", status="unpaid")
_PaymentId = Annotated[str, Field(title="Payment", description="The payment's id.")]


class Allocated(BaseModel):
    """How much of a payment is for an invoice."""

    model_config = GIVEN

    invoice_id: Annotated[str, _TO_PAY] = Field(title="Invoice", description="By id or number.")
    amount: Price = Field(description='Such as "250.00"; "0" lets it go.')


class ListPayments(ListInput):
    """Which payments to list."""

    starting_after: Annotated[str | None, id_of("payment")] = LAST_SEEN
    status: Narrowed | None = Field(
        None, description="Only these; `onAccount` are those of which something is for no invoice yet."
    )
    customer_id: Annotated[str | None, id_of("customer")] = Field(
        None, title="Customer", description="Only of this customer."
    )
    invoice_id: Annotated[str | None, Reference(to="invoice")] = Field(
        None, title="Invoice", description="Only for this invoice, by id or number."
    )
    method: Method | None = Field(None, description="Only paid in this way.")
    from_: Day | None = Field(None, alias="from", title="From", description="Only of this date or later.")
    until: LastDay | None = Field(None, description="Only of this date or earlier.")
    text: SearchText | None = Field(None, title="Search", description="Amount, or words of reference or customer.")
    order: Literal["newest", "date"] = Field("newest", description="Last recorded first, or by the `date` paid.")

    def fixed_order(self) -> str | None:
        """Return the order of the date by which the payments are narrowed."""
        return "date" if self.from_ or self.until else None


class GetPayment(Input):
    """Which payment."""

    payment_id: _PaymentId


class RecordPayment(Input):
    """Who paid, how much, when, how, and what for."""

    invoice_id: Annotated[str | None, _TO_PAY] = Field(
        None, title="Invoice", description="What was paid, by id or number; what is more stays on account."
    )
    customer_id: Annotated[str | None, id_of("customer")] = Field(
        None, title="Customer", description="Who paid; known by the invoice where one is named."
    )
    amount: Price = Field(description='Such as "250.00".')
    on: KeptDay | None = Field(None, title="Paid on", description="Today where nothing is said.")
    method: MethodField = "bank"
    reference: Line | None = Field(None, description="What the customer wrote, such as the number of the invoice.")
    note: Paragraph | None = Field(None, description="For the office alone.")
    allocations: list[Allocated] | None = Field(
        None,
        max_length=_MOST_INVOICES,
        title="For several invoices",
        description="For which invoices; without any, those due first. An empty list (`[]`) leaves it on account.",
    )
    external_ref: Line | None = Field(
        None, title="Reference elsewhere", description="What a bank or another system calls it; each once."
    )


class AllocatePayment(Input):
    """Which payment, and for which invoices it is."""

    payment_id: _PaymentId
    allocations: list[Allocated] = Field(
        max_length=_MOST_INVOICES,
        description="How much is for which invoice; those not named stay.",
        examples=[[{"invoiceId": "INV-0207", "amount": "250.00"}]],
    )


class ReversePayment(Irrevocable):
    """Which payment, and why."""

    payment_id: _PaymentId
    reason: Paragraph = Field(title="Why", description="Such as a cheque that bounced.")
    on: KeptDay | None = Field(
        None, title="Reversed on", description="The date in the books, such as the bank's; today if not sent."
    )


@operation(right=Right.INVOICES_READ, effect=Effect.READ, rest="GET /payments")
def list_payments(ctx: Context, given: ListPayments) -> Page[PaymentOut]:
    """List payments of customers.

    With the invoices they are for, and what is left on account.
    """
    if given.invoice_id is None:
        return PAYMENTS.page(ctx, given)
    invoice: Invoice = INVOICES.fetch(ctx, given.invoice_id)
    return PAYMENTS.page(ctx, given, _FOR_INVOICE, walks=False, invoice=invoice.id)


_FOR_INVOICE = (
    "payment.id IN (SELECT payment_id FROM allocation WHERE organisation_id = :organisation AND invoice_id = :invoice)"
)


@operation(
    right=Right.INVOICES_READ,
    effect=Effect.READ,
    rest="GET /payments/{payment_id}",
    glances=True,
    on=PAYMENTS,
    offered=NO_TOOL,
)
def get_payment(_ctx: Context, _given: GetPayment, payment: Payment) -> Payment:
    """Get a payment.

    With the invoices it is for.
    """
    return payment


@operation(
    right=Right.INVOICES_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /payments",
    # The invoices that it is for are paid by it.
    only_adds=False,
    done="The payment is recorded.",
)
def record_payment(ctx: Context, given: RecordPayment) -> Payment:
    """Record that a customer paid.

    For one invoice, for several, or for those due first; what is more than is due stays on the customer's account.
    """
    house = house_of(ctx)
    invoice: Invoice | None = INVOICES.fetch(ctx, given.invoice_id) if given.invoice_id else None
    customer = _customer_of(ctx, given, invoice)
    amount = _amount(given.amount, house.currency, "amount")
    on = _paid_on(ctx, given, house)
    payment = PAYMENTS.insert(
        ctx,
        {
            "customer_id": customer.id,
            "on_date": on,
            "currency": house.currency,
            "amount": amount,
            "method": given.method,
            "reference": given.reference,
            "note": given.note,
            "allocations": [],
            "unallocated": amount,
            "status": "recorded",
            "external_ref": _unknown_ref(ctx, given.external_ref),
        },
    )
    _warn_of_another(ctx, payment)
    wanted, known = _wanted(ctx, given, payment, invoice)
    return _told(ctx, allocate(ctx, payment, wanted, known))


@operation(
    right=Right.INVOICES_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /payments/{payment_id}/allocate",
    on=PAYMENTS,
    unless=Payment.not_allocatable,
    done="The payment is put to these invoices.",
)
def allocate_payment(ctx: Context, given: AllocatePayment, payment: Payment) -> Payment:
    """Put a payment to invoices, or take it off.

    Also what a customer has on account.
    """
    wanted, known = _named(ctx, given.allocations, payment.currency)
    return allocate(ctx, payment, payment.shares | wanted, known)


@operation(
    right=Right.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /payments/{payment_id}/reverse",
    on=PAYMENTS,
    unless=Payment.not_reversible,
    done="The payment is reversed.",
)
def reverse_payment(ctx: Context, given: ReversePayment, payment: Payment) -> Payment:
    """Take back a payment that did not come, or was recorded by mistake.

    The invoices that it was for are to be paid again. The books of the day on which it was paid stay as they are: it is
    taken back on a date of its own.
    """
    on = _reversed_on(ctx, given, payment)
    ctx.summary = f"The payment {payment.called} by {payment.customer_name} is reversed."
    ctx.effects.extend(
        f"{one['invoiceNumber']} is to be paid again: {one['amount']} {payment.currency}."
        for one in payment.allocations
    )
    after = allocate(ctx, payment, {})
    gone = {"status": "reversed", "reverse_reason": given.reason, "reversed_at": ctx.at, "reversed_on": on}
    return PAYMENTS.save(ctx, after, gone)


OPERATIONS = (list_payments, get_payment, record_payment, allocate_payment, reverse_payment)


def _customer_of(ctx: Context, given: RecordPayment, invoice: Invoice | None) -> Customer:
    named = given.customer_id or (invoice.customer_id if invoice else None)
    if named is None:
        raise Invalid([Fault("customerId", "is required without invoiceId: who paid")])
    customer: Customer = CUSTOMERS.fetch(ctx, named)
    # Whoever is archived may still pay.
    refuse(customer.if_merged())
    if invoice and invoice.customer_id != named:
        raise Invalid([Fault("invoiceId", "is an invoice for another customer; list_invoices tells this one's")])
    if invoice and given.allocations is not None:
        raise Invalid([Fault("allocations", "is not sent with invoiceId: either one invoice, or several")])
    return customer


def _amount(price: int, currency: str, field: str) -> int:
    try:
        minor = in_minor(price, currency)
    except ValueError as wrong:
        raise Invalid([Fault(field, str(wrong))]) from None
    if field == "amount" and not 0 < minor <= LARGEST:
        raise Invalid([Fault(field, "is not more than nothing")])
    return minor


def _paid_on(ctx: Context, given: RecordPayment, house: House) -> str:
    today = house.today(ctx).isoformat()
    on = given.on or today
    if on > today:
        raise Invalid([Fault("on", "lies ahead; a payment is recorded when it has come")])
    refuse(house.if_closed(on))
    return on


def _reversed_on(ctx: Context, given: ReversePayment, payment: Payment) -> str:
    """Return the date on which a payment is taken back: in the open part of the books, and not before it was paid."""
    house = house_of(ctx)
    today = house.today(ctx).isoformat()
    on = given.on or today
    if on > today:
        raise Invalid([Fault("on", "is ahead; send today or an earlier date")])
    if on < payment.on:
        raise Invalid([Fault("on", f"is before the payment, which is of {payment.on}")])
    refuse(house.if_closed(on))
    return on


def _unknown_ref(ctx: Context, ref: str | None) -> str | None:
    if ref and (known := PAYMENTS.find(ctx, CALLED_SO, ref=ref)):
        raise Invalid([Fault("externalRef", f"is known already, of the payment {known.called} ({known.id})")])
    return ref


class _Wanted(NamedTuple):
    """How much is for which invoice, and those invoices that are at hand already."""

    shares: dict[str, int]
    known: dict[str, Invoice]


def _wanted(ctx: Context, given: RecordPayment, payment: Payment, invoice: Invoice | None) -> _Wanted:
    if given.allocations is not None:
        return _named(ctx, given.allocations, payment.currency)
    if invoice:
        refuse(invoice.not_payable())
        return _Wanted({invoice.id: min(payment.amount, invoice.due)}, {invoice.id: invoice})
    rows = ctx.rows.all(
        "SELECT id, due FROM invoice WHERE organisation_id = :organisation AND customer_id = :customer AND owing = 1"
        f" ORDER BY due_on, id LIMIT {_MOST_INVOICES}",
        customer=payment.customer_id,
    )
    wanted, left = {}, payment.amount
    for identity, due in rows:
        wanted[str(identity)] = share = min(int(due or 0), left)
        left -= share
    return _Wanted(wanted, {})


def _named(ctx: Context, allocations: list[Allocated], currency: str) -> _Wanted:
    shares: dict[str, int] = {}
    known: dict[str, Invoice] = {}
    for place, one in enumerate(allocations):
        invoice = INVOICES.fetch(ctx, one.invoice_id)
        if invoice.id in known:
            raise Invalid([Fault(f"allocations.{place}.invoiceId", "is named twice")])
        shares[invoice.id] = _amount(one.amount, currency, f"allocations.{place}.amount")
        known[invoice.id] = invoice
    return _Wanted(shares, known)


def _warn_of_another(ctx: Context, payment: Payment) -> None:
    same = "payment.customer_id = :customer AND payment.on_date = :on AND payment.amount = :amount"
    bound: dict[str, Any] = {"customer": payment.customer_id, "on": payment.on, "amount": payment.amount}
    if PAYMENTS.find(ctx, f"{same} AND payment.status = 'recorded' AND payment.id <> :id", id=payment.id, **bound):
        ctx.warnings.append("Another payment of the same amount and date by them is recorded already. Is it the same?")


def _told(ctx: Context, payment: Payment) -> Payment:
    if payment.unallocated:
        left = f"{amount_text(payment.unallocated, payment.currency)} {payment.currency}"
        ctx.warnings.append(f"{left} of it is for no invoice, and stays on the account of {payment.customer_name}.")
    return payment
