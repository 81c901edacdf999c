"""The operations on payments: list, get, record, allocate and reverse."""

from collections.abc import Sequence
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
    PaymentId,
    PaymentMethod,
    PaymentMethodField,
    PaymentOut,
    PaymentStatusFilter,
)
from mainstay.business.invoices.store import INVOICES
from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.changes.undo import Inverse
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import Act, name_record
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.values.descriptions import describe
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
from mainstay.values.message import Amount, CalendarDate, FieldName, Message, message_of
from mainstay.values.model_config import INPUT_CONFIG
from mainstay.values.money import MAX_STORED, amount_text, price_to_minor
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input, IrreversibleInput, LastDay, ListInput, PageResult
from mainstay.vocabulary.toolsets import Toolset

_MAX_INVOICES = 100
# Only unpaid invoices are suggested, because nothing can be allocated to others.
_UNPAID_INVOICE = RecordReference(prefix="invoice", status="unpaid")


class AllocationInput(BaseModel):
    """How much of a payment is for an invoice."""

    model_config = INPUT_CONFIG

    invoice_id: Annotated[str, _UNPAID_INVOICE] = Field(title="Invoice", description=describe("[[By ID or number.]]"))
    amount: Price = Field(description='E.g. "250.00"; "0" removes the allocation.')


class ListPayments(ListInput):
    """The payments to list."""

    starting_after: Annotated[str | None, make_id_validator("payment")] = STARTING_AFTER
    status: PaymentStatusFilter | None = Field(
        None, description=describe("Only payments with this status. [[`onAccount`: not fully allocated to invoices.]]")
    )
    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description="Only payments by this customer."
    )
    invoice_id: Annotated[str | None, RecordReference(prefix="invoice")] = Field(
        None, title="Invoice", description=describe("[[Only payments for this invoice, by ID or number.]]")
    )
    method: PaymentMethod | None = Field(None, description="Only payments by this method.")
    from_: Day | None = Field(None, alias="from", title="From", description="Paid on or after this date.")
    until: LastDay | None = Field(None, description="Paid on or before this date.")
    text: SearchText | None = Field(
        None, title="Search", description="Amount, or words in the reference or the customer's name."
    )
    order: Literal["newest", "date"] = Field(
        "newest", description=describe("[[Last recorded first, or last `date` paid first.]]")
    )

    def fixed_order(self) -> str | None:
        """Return the order that fits a filter by date."""
        return "date" if self.from_ or self.until else None


class RecordPayment(Input):
    """The payment."""

    invoice_id: Annotated[str | None, _UNPAID_INVOICE] = Field(
        None, title="Invoice", description=describe("[[The invoice that was paid, by ID or number.]]")
    )
    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description=describe("Filled in from the invoice. [[Required without it.]]")
    )
    amount: Price = Field(description="E.g. 250.00.")
    on: StoredDay | None = Field(None, title="Paid on", description="Default: today.")
    method: PaymentMethodField = "bank"
    reference: TextLine | None = Field(None, description="The customer's payment reference, e.g. INV-0207.")
    note: Paragraph | None = Field(None, description="Office only.")
    allocations: list[AllocationInput] | None = Field(
        None,
        max_length=_MAX_INVOICES,
        title="Invoices paid",
        description=describe(
            "Leave empty to pay the earliest due invoices first. [[An empty list (`[]`) leaves it all on account.]]"
        ),
    )
    external_ref: TextLine | None = Field(
        None, title="External ID", description="ID at your bank or in your accounting software. Must be unique."
    )


class AllocatePayment(Input):
    """The payment and its allocations."""

    payment_id: PaymentId
    allocations: list[AllocationInput] = Field(
        max_length=_MAX_INVOICES,
        description="How much goes to each invoice. Other invoices stay as they are.",
        examples=[[{"invoiceId": "INV-0207", "amount": "250.00"}]],
    )


class ReversePayment(IrreversibleInput):
    """The payment, and the reason."""

    payment_id: PaymentId
    reason: Paragraph = Field(title="Reason", description="E.g. The cheque bounced.")
    on: StoredDay | None = Field(
        None, title="Reversed on", description="The date in the books, e.g. from your bank statement. Default: today."
    )


@operation(permission=Permission.INVOICES_READ, effect=Effect.READ, api_path="GET /payments")
def list_payments(ctx: Context, given: ListPayments) -> PageResult[PaymentOut]:
    """List payments.

    Money received from customers, with the invoices it paid and what is left on account.
    """
    if given.invoice_id is None:
        return PAYMENTS.page(ctx, given)
    invoice: Invoice = INVOICES.fetch(ctx, given.invoice_id)
    return PAYMENTS.page(ctx, given, _FOR_INVOICE, uses_index=False, invoice=invoice.id)


_FOR_INVOICE = (
    "payment.id IN (SELECT payment_id FROM allocation WHERE organisation_id = :organisation AND invoice_id = :invoice)"
)


get_payment = declare_get(
    PAYMENTS,
    "Get payment. With the invoices that it pays.",
    Permission.INVOICES_READ,
    api_path="GET /payments/{payment_id}",
    extra_toolset=Toolset.SINGLE_RECORDS,
)


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /payments",
    not_undone=Message("Reverse the payment instead."),
    commits_amount=True,
    past_text="Payment recorded",
)
def record_payment(ctx: Context, given: RecordPayment) -> Payment:
    """Record payment.

    A customer paid: for one invoice, for several, or for those due first. Any overpayment stays on the customer's
    account.
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
    ctx.commit_amount(payment.amount, payment.currency)
    _warn_of_duplicate(ctx, payment)
    wanted, known = _choose_allocations(ctx, given, payment, invoice)
    return _warn_of_unallocated(ctx, allocate_to_invoices(ctx, payment, wanted, known))


def _restore_allocations(act: Act) -> Sequence[Inverse]:
    """Allocate to each invoice again what it had before."""
    before: Payment = act.before
    after: Payment = act.after
    allocations = [
        {"invoiceId": invoice, "amount": amount_text(before.shares.get(invoice, 0), before.currency)}
        for invoice in after.shares | before.shares
        if after.shares.get(invoice) != before.shares.get(invoice)
    ]
    return [Inverse(act.operation, name_record(act) | {"allocations": allocations})] if allocations else []


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /payments/{payment_id}/allocate",
    on=PAYMENTS,
    blocked_by=Payment.not_allocatable,
    undone_by=_restore_allocations,
    past_text="Payment allocated",
)
def allocate_payment(ctx: Context, given: AllocatePayment, payment: Payment) -> Payment:
    """Allocate payment.

    Choose the invoices that a payment, or money on account, pays. [[An amount of `0` removes an allocation.]]
    """
    wanted, known = _read_allocations(ctx, given.allocations, payment.currency)
    return allocate_to_invoices(ctx, payment, payment.shares | wanted, known)


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /payments/{payment_id}/reverse",
    on=PAYMENTS,
    blocked_by=Payment.not_reversible,
    not_undone=Message("Record the payment again."),
    commits_amount=True,
    past_text="Payment reversed",
)
def reverse_payment(ctx: Context, given: ReversePayment, payment: Payment) -> Payment:
    """Reverse payment.

    For a payment that bounced or was recorded by mistake. Its invoices become unpaid again, and the reversal is booked
    on its own date, so earlier figures don't change.
    """
    on = _check_reversal_date(ctx, given, payment)
    ctx.commit_amount(payment.amount, payment.currency)
    ctx.summary = Message(
        "The {payment} by {customer} will be reversed.",
        payment=payment.name_in_sentences,
        customer=payment.customer_name,
    )
    ctx.effects.extend(
        Message(
            "{amount} of {invoice} will be unpaid again.",
            amount=Amount(one["amount"], payment.currency),
            invoice=one["invoiceNumber"],
        )
        for one in payment.allocations
    )
    after = allocate_to_invoices(ctx, payment, {})
    changes = {"status": "reversed", "reverse_reason": given.reason, "reversed_at": ctx.now_text, "reversed_on": on}
    return PAYMENTS.save(ctx, after, changes)


OPERATIONS = (list_payments, get_payment, record_payment, allocate_payment, reverse_payment)


def _fetch_payer(ctx: Context, given: RecordPayment, invoice: Invoice | None) -> Customer:
    customer_id = given.customer_id or (invoice.customer_id if invoice else None)
    if customer_id is None:
        raise Invalid([Fault("customerId", Message("is required without {field}", field=FieldName("invoiceId")))])
    customer: Customer = CUSTOMERS.fetch(ctx, customer_id)
    # An archived customer may still pay.
    raise_if_blocked(customer.reasons_if_merged())
    if invoice and invoice.customer_id != customer_id:
        hint = Message("list_invoices lists the invoices of a customer")
        raise Invalid([Fault("invoiceId", Message("is for another customer", for_programs=hint))])
    if invoice and given.allocations is not None:
        message = Message("can't be combined with {field}", field=FieldName("invoiceId"))
        raise Invalid([Fault("allocations", message)])
    return customer


def _to_minor_units(price: int, currency: str, field: str) -> int:
    try:
        minor = price_to_minor(price, currency)
    except ValueError as error:
        raise Invalid([Fault(field, message_of(error))]) from None
    if field == "amount" and minor <= 0:
        raise Invalid([Fault(field, Message("must be more than zero"))])
    if field == "amount" and minor > MAX_STORED:
        raise Invalid([Fault(field, Message("is too large"))])
    return minor


def _check_payment_date(ctx: Context, given: RecordPayment, settings: OrganisationSettings) -> str:
    today = settings.today(ctx).isoformat()
    on = given.on or today
    if on > today:
        raise Invalid([Fault("on", Message("is in the future: record a payment when it has arrived"))])
    raise_if_blocked(settings.reasons_if_closed(on))
    return on


def _check_reversal_date(ctx: Context, given: ReversePayment, payment: Payment) -> str:
    """Return the date on which a payment is reversed: not in closed books, and not before it was paid."""
    settings = settings_of(ctx)
    today = settings.today(ctx).isoformat()
    on = given.on or today
    if on > today:
        raise Invalid([Fault("on", Message("is in the future: choose today or an earlier date"))])
    if on < payment.on:
        message = Message("is before the date of the payment, {paid_on}", paid_on=CalendarDate(payment.on))
        raise Invalid([Fault("on", message)])
    raise_if_blocked(settings.reasons_if_closed(on))
    return on


def _check_external_ref(ctx: Context, ref: str | None) -> str | None:
    if ref and (known := PAYMENTS.find(ctx, HAS_EXTERNAL_REF, ref=ref)):
        message = Message(
            "already belongs to the {payment}",
            payment=known.name_in_sentences,
            for_programs=Message("it is {payment_id}", payment_id=known.id),
        )
        raise Invalid([Fault("externalRef", message)])
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
            raise Invalid([Fault(f"allocations.{index}.invoiceId", Message("is listed twice"))])
        shares[invoice.id] = _to_minor_units(allocation.amount, currency, f"allocations.{index}.amount")
        known[invoice.id] = invoice
    return _Allocations(shares, known)


def _warn_of_duplicate(ctx: Context, payment: Payment) -> None:
    is_same = "payment.customer_id = :customer AND payment.on_date = :on AND payment.amount = :amount"
    bound: dict[str, Any] = {"customer": payment.customer_id, "on": payment.on, "amount": payment.amount}
    if PAYMENTS.find(ctx, f"{is_same} AND payment.status = 'recorded' AND payment.id <> :id", id=payment.id, **bound):
        ctx.warnings.append(
            Message(
                "This may be a duplicate: {customer} already has a payment with the same amount and date.",
                customer=payment.customer_name,
            )
        )


def _warn_of_unallocated(ctx: Context, payment: Payment) -> Payment:
    if payment.unallocated:
        ctx.warnings.append(
            Message(
                "{amount} stays on account for {customer}.",
                amount=Amount(amount_text(payment.unallocated, payment.currency), payment.currency),
                customer=payment.customer_name,
            )
        )
    return payment
