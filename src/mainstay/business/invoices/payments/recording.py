"""The operations on payments: list, get, record, allocate and reverse."""

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.invoices.model import Invoice
from mainstay.business.invoices.payments.allocation import allocate_to_invoices
from mainstay.business.invoices.payments.payment import (
    HAS_EXTERNAL_REF,
    PAYMENTS,
    Payment,
    PaymentMethod,
    PaymentMethodField,
    PaymentOut,
    PaymentStatusFilter,
)
from mainstay.business.invoices.store import INVOICES
from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import (
    STARTING_AFTER,
    Day,
    Paragraph,
    Price,
    RecordReference,
    StoredDay,
    TextLine,
    make_id_validator,
)
from mainstay.values.model_config import INPUT_CONFIG
from mainstay.values.money import MAX_STORED, amount_text, price_to_minor
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.actor import API_AND_OFFICE
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input, IrreversibleInput, LastDay, ListInput, PageResult

_MAX_INVOICES = 100
# Only unpaid invoices are suggested, because nothing can be allocated to others.
_UNPAID_INVOICE = RecordReference(prefix="invoice", status="unpaid")
_PaymentId = Annotated[str, Field(title="Payment", description="The payment's id.")]


class AllocationInput(BaseModel):
    """How much of a payment is for an invoice."""

    model_config = INPUT_CONFIG

    invoice_id: Annotated[str, _UNPAID_INVOICE] = Field(title="Invoice", description="By id or number.")
    amount: Price = Field(description='Such as "250.00"; "0" lets it go.')


class ListPayments(ListInput):
    """Which payments to list."""

    starting_after: Annotated[str | None, make_id_validator("payment")] = STARTING_AFTER
    status: PaymentStatusFilter | None = Field(
        None, description="Only these; `onAccount` are those of which something is for no invoice yet."
    )
    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description="Only of this customer."
    )
    invoice_id: Annotated[str | None, RecordReference(prefix="invoice")] = Field(
        None, title="Invoice", description="Only for this invoice, by id or number."
    )
    method: PaymentMethod | None = Field(None, description="Only paid in this way.")
    from_: Day | None = Field(None, alias="from", title="From", description="Only of this date or later.")
    until: LastDay | None = Field(None, description="Only of this date or earlier.")
    text: SearchText | None = Field(None, title="Search", description="Amount, or words of reference or customer.")
    order: Literal["newest", "date"] = Field("newest", description="Last recorded first, or by the `date` paid.")

    def fixed_order(self) -> str | None:
        """Return the order that fits a filter by date."""
        return "date" if self.from_ or self.until else None


class GetPayment(Input):
    """Which payment."""

    payment_id: _PaymentId


class RecordPayment(Input):
    """Who paid, how much, when, how, and what for."""

    invoice_id: Annotated[str | None, _UNPAID_INVOICE] = Field(
        None, title="Invoice", description="What was paid, by id or number; what is more stays on account."
    )
    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description="Who paid; known by the invoice where one is named."
    )
    amount: Price = Field(description='Such as "250.00".')
    on: StoredDay | None = Field(None, title="Paid on", description="Today where nothing is said.")
    method: PaymentMethodField = "bank"
    reference: TextLine | None = Field(None, description="What the customer wrote, such as the number of the invoice.")
    note: Paragraph | None = Field(None, description="For the office alone.")
    allocations: list[AllocationInput] | None = Field(
        None,
        max_length=_MAX_INVOICES,
        title="For several invoices",
        description="For which invoices; without any, those due first. An empty list (`[]`) leaves it on account.",
    )
    external_ref: TextLine | None = Field(
        None, title="Reference elsewhere", description="What a bank or another system calls it; each once."
    )


class AllocatePayment(Input):
    """Which payment, and for which invoices it is."""

    payment_id: _PaymentId
    allocations: list[AllocationInput] = Field(
        max_length=_MAX_INVOICES,
        description="How much is for which invoice; those not named stay.",
        examples=[[{"invoiceId": "INV-0207", "amount": "250.00"}]],
    )


class ReversePayment(IrreversibleInput):
    """Which payment, and why."""

    payment_id: _PaymentId
    reason: Paragraph = Field(title="Why", description="Such as a cheque that bounced.")
    on: StoredDay | None = Field(
        None, title="Reversed on", description="The date in the books, such as the bank's; today if not sent."
    )


@operation(permission=Permission.INVOICES_READ, effect=Effect.READ, api_path="GET /payments")
def list_payments(ctx: Context, given: ListPayments) -> PageResult[PaymentOut]:
    """List payments of customers.

    With the invoices they are for, and what is left on account.
    """
    if given.invoice_id is None:
        return PAYMENTS.page(ctx, given)
    invoice: Invoice = INVOICES.fetch(ctx, given.invoice_id)
    return PAYMENTS.page(ctx, given, _FOR_INVOICE, uses_index=False, invoice=invoice.id)


_FOR_INVOICE = (
    "payment.id IN (SELECT payment_id FROM allocation WHERE organisation_id = :organisation AND invoice_id = :invoice)"
)


@operation(
    permission=Permission.INVOICES_READ,
    effect=Effect.READ,
    api_path="GET /payments/{payment_id}",
    single_statement=True,
    on=PAYMENTS,
    doors=API_AND_OFFICE,
)
def get_payment(_ctx: Context, _given: GetPayment, payment: Payment) -> Payment:
    """Get a payment.

    With the invoices it is for.
    """
    return payment


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /payments",
    # It also changes the invoices that it pays.
    only_adds=False,
    done_message="The payment is recorded.",
)
def record_payment(ctx: Context, given: RecordPayment) -> Payment:
    """Record that a customer paid.

    For one invoice, for several, or for those due first; what is more than is due stays on the customer's account.
    """
    settings = settings_of(ctx)
    invoice: Invoice | None = INVOICES.fetch(ctx, given.invoice_id) if given.invoice_id else None
    customer = _fetch_payer(ctx, given, invoice)
    amount = _to_minor_units(given.amount, settings.currency, "amount")
    on = _check_payment_date(ctx, given, settings)
    payment = PAYMENTS.insert(
        ctx,
        {
            "customer_id": customer.id,
            "on_date": on,
            "currency": settings.currency,
            "amount": amount,
            "method": given.method,
            "reference": given.reference,
            "note": given.note,
            "allocations": [],
            "unallocated": amount,
            "status": "recorded",
            "external_ref": _check_external_ref(ctx, given.external_ref),
        },
    )
    _warn_of_duplicate(ctx, payment)
    wanted, known = _choose_allocations(ctx, given, payment, invoice)
    return _warn_of_unallocated(ctx, allocate_to_invoices(ctx, payment, wanted, known))


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /payments/{payment_id}/allocate",
    on=PAYMENTS,
    blocked_by=Payment.not_allocatable,
    done_message="The payment is put to these invoices.",
)
def allocate_payment(ctx: Context, given: AllocatePayment, payment: Payment) -> Payment:
    """Put a payment to invoices, or take it off.

    Also what a customer has on account.
    """
    wanted, known = _read_allocations(ctx, given.allocations, payment.currency)
    return allocate_to_invoices(ctx, payment, payment.shares | wanted, known)


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /payments/{payment_id}/reverse",
    on=PAYMENTS,
    blocked_by=Payment.not_reversible,
    done_message="The payment is reversed.",
)
def reverse_payment(ctx: Context, given: ReversePayment, payment: Payment) -> Payment:
    """Take back a payment that did not come, or was recorded by mistake.

    The invoices that it was for are to be paid again. The books of the day on which it was paid stay as they are: it is
    taken back on a date of its own.
    """
    on = _check_reversal_date(ctx, given, payment)
    ctx.summary = f"The payment {payment.display_name} by {payment.customer_name} is reversed."
    ctx.effects.extend(
        f"{one['invoiceNumber']} is to be paid again: {one['amount']} {payment.currency}."
        for one in payment.allocations
    )
    after = allocate_to_invoices(ctx, payment, {})
    changes = {"status": "reversed", "reverse_reason": given.reason, "reversed_at": ctx.now_text, "reversed_on": on}
    return PAYMENTS.save(ctx, after, changes)


OPERATIONS = (list_payments, get_payment, record_payment, allocate_payment, reverse_payment)


def _fetch_payer(ctx: Context, given: RecordPayment, invoice: Invoice | None) -> Customer:
    customer_id = given.customer_id or (invoice.customer_id if invoice else None)
    if customer_id is None:
        raise Invalid([Fault("customerId", "is required without invoiceId: who paid")])
    customer: Customer = CUSTOMERS.fetch(ctx, customer_id)
    # An archived customer may still pay.
    raise_if_blocked(customer.reasons_if_merged())
    if invoice and invoice.customer_id != customer_id:
        raise Invalid([Fault("invoiceId", "is an invoice for another customer; list_invoices tells this one's")])
    if invoice and given.allocations is not None:
        raise Invalid([Fault("allocations", "is not sent with invoiceId: either one invoice, or several")])
    return customer


def _to_minor_units(price: int, currency: str, field: str) -> int:
    try:
        minor = price_to_minor(price, currency)
    except ValueError as error:
        raise Invalid([Fault(field, str(error))]) from None
    if field == "amount" and not 0 < minor <= MAX_STORED:
        raise Invalid([Fault(field, "is not more than nothing")])
    return minor


def _check_payment_date(ctx: Context, given: RecordPayment, settings: OrganisationSettings) -> str:
    today = settings.today(ctx).isoformat()
    on = given.on or today
    if on > today:
        raise Invalid([Fault("on", "lies ahead; a payment is recorded when it has come")])
    raise_if_blocked(settings.reasons_if_closed(on))
    return on


def _check_reversal_date(ctx: Context, given: ReversePayment, payment: Payment) -> str:
    """Return the date on which a payment is reversed: not in closed books, and not before it was paid."""
    settings = settings_of(ctx)
    today = settings.today(ctx).isoformat()
    on = given.on or today
    if on > today:
        raise Invalid([Fault("on", "is ahead; send today or an earlier date")])
    if on < payment.on:
        raise Invalid([Fault("on", f"is before the payment, which is of {payment.on}")])
    raise_if_blocked(settings.reasons_if_closed(on))
    return on


def _check_external_ref(ctx: Context, ref: str | None) -> str | None:
    if ref and (known := PAYMENTS.find(ctx, HAS_EXTERNAL_REF, ref=ref)):
        raise Invalid([Fault("externalRef", f"is known already, of the payment {known.display_name} ({known.id})")])
    return ref


class _Allocations(NamedTuple):
    """The amounts by invoice id, and the invoices that were fetched already."""

    shares: dict[str, int]
    known: dict[str, Invoice]


def _choose_allocations(ctx: Context, given: RecordPayment, payment: Payment, invoice: Invoice | None) -> _Allocations:
    if given.allocations is not None:
        return _read_allocations(ctx, given.allocations, payment.currency)
    if invoice:
        raise_if_blocked(invoice.not_payable())
        return _Allocations({invoice.id: min(payment.amount, invoice.due)}, {invoice.id: invoice})
    rows = ctx.db.all(
        "SELECT id, due FROM invoice WHERE organisation_id = :organisation AND customer_id = :customer AND owing = 1"
        f" ORDER BY due_on, id LIMIT {_MAX_INVOICES}",
        customer=payment.customer_id,
    )
    wanted, unallocated = {}, payment.amount
    for record_id, due in rows:
        wanted[str(record_id)] = share = min(int(due or 0), unallocated)
        unallocated -= share
    return _Allocations(wanted, {})


def _read_allocations(ctx: Context, allocations: list[AllocationInput], currency: str) -> _Allocations:
    shares: dict[str, int] = {}
    known: dict[str, Invoice] = {}
    for index, allocation in enumerate(allocations):
        invoice = INVOICES.fetch(ctx, allocation.invoice_id)
        if invoice.id in known:
            raise Invalid([Fault(f"allocations.{index}.invoiceId", "is named twice")])
        shares[invoice.id] = _to_minor_units(allocation.amount, currency, f"allocations.{index}.amount")
        known[invoice.id] = invoice
    return _Allocations(shares, known)


def _warn_of_duplicate(ctx: Context, payment: Payment) -> None:
    is_same = "payment.customer_id = :customer AND payment.on_date = :on AND payment.amount = :amount"
    bound: dict[str, Any] = {"customer": payment.customer_id, "on": payment.on, "amount": payment.amount}
    if PAYMENTS.find(ctx, f"{is_same} AND payment.status = 'recorded' AND payment.id <> :id", id=payment.id, **bound):
        ctx.warnings.append("Another payment of the same amount and date by them is recorded already. Is it the same?")


def _warn_of_unallocated(ctx: Context, payment: Payment) -> Payment:
    if payment.unallocated:
        unallocated_text = f"{amount_text(payment.unallocated, payment.currency)} {payment.currency}"
        ctx.warnings.append(
            f"{unallocated_text} of it is for no invoice, and stays on the account of {payment.customer_name}."
        )
    return payment
