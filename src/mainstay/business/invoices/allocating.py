"""Puts payments to invoices, and takes them off again: what is paid of an invoice changes here alone."""

from collections.abc import Mapping

from mainstay.business.invoices import settling
from mainstay.business.invoices.events import InvoicePaid, InvoicePartPaid, InvoiceUpdated
from mainstay.business.invoices.model import Invoice
from mainstay.business.invoices.payment import PAYMENTS, Payment
from mainstay.business.invoices.store import INVOICES
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Fault, Invalid, refuse
from mainstay.values.money import amount_text


def allocate(
    ctx: Context, payment: Payment, wanted: Mapping[str, int], known: Mapping[str, Invoice] | None = None
) -> Payment:
    """Let a payment be for these invoices, with so much each, in minor units; those with nothing are let go.

    `known` are invoices that are at hand already, by their ids.
    """
    before = payment.shares
    numbers = {one["invoiceId"]: one["invoiceNumber"] for one in payment.allocations}
    settled = []
    for identity in sorted({*before, *wanted}):
        more = wanted.get(identity, 0) - before.get(identity, 0)
        if more:
            invoice: Invoice = (known or {}).get(identity) or INVOICES.fetch(ctx, identity)
            _check(invoice, payment, more)
            numbers[identity] = invoice.named
            _keep(ctx, payment.id, identity, wanted.get(identity, 0))
            settled.append((settling.settle(ctx, invoice, paid=more), invoice))
    settling.hand_down_all(ctx, [after for after, _ in settled])
    for after, invoice in settled:
        _tell(ctx, after, invoice)
    return _save(ctx, payment, wanted, numbers)


def release(ctx: Context, invoice: Invoice, surplus: int) -> None:
    """Let so much of what was paid on an invoice be on the customer's account again, the newest payments first."""
    rows = ctx.rows.all(
        "SELECT payment_id, amount FROM allocation WHERE organisation_id = :organisation AND invoice_id = :invoice"
        " ORDER BY payment_id DESC",
        invoice=invoice.id,
    )
    for identity, amount in rows:
        less = min(int(amount or 0), surplus)
        if less <= 0:
            return
        payment: Payment = PAYMENTS.fetch(ctx, str(identity))
        shares = payment.shares
        shares[invoice.id] -= less
        _keep(ctx, payment.id, invoice.id, shares[invoice.id])
        _save(ctx, payment, shares, {one["invoiceId"]: one["invoiceNumber"] for one in payment.allocations})
        surplus -= less


def _check(invoice: Invoice, payment: Payment, more: int) -> None:
    if invoice.customer_id != payment.customer_id:
        told = f"{invoice.named} is for another customer, {invoice.customer_name}"
        raise Invalid([Fault("allocations", f"{told}; list_invoices tells this one's")])
    if more > 0:
        refuse(invoice.not_payable())
        if invoice.currency != payment.currency:
            told = f"{invoice.named} is in {invoice.currency}, and the payment in {payment.currency}"
            raise Invalid([Fault("allocations", f"{told}; credit it, and send another in {payment.currency}")])
        if more > invoice.due:
            written = amount_text(more, invoice.currency)
            raise Invalid(
                [Fault("allocations", f"puts {written} to {invoice.named}, of which {invoice.due_text} is due")]
            )


def _keep(ctx: Context, payment: str, invoice: str, amount: int) -> None:
    named = "organisation_id = :organisation AND payment_id = :payment AND invoice_id = :invoice"
    if not amount:
        ctx.rows.run(f"DELETE FROM allocation WHERE {named}", payment=payment, invoice=invoice)
        return
    ctx.rows.run(
        "INSERT INTO allocation (organisation_id, payment_id, invoice_id, amount)"
        " VALUES (:organisation, :payment, :invoice, :amount)"
        " ON CONFLICT (organisation_id, payment_id, invoice_id) DO UPDATE SET amount = :amount",
        payment=payment,
        invoice=invoice,
        amount=amount,
    )


def _save(ctx: Context, payment: Payment, shares: Mapping[str, int], numbers: Mapping[str, str]) -> Payment:
    kept = {identity: amount for identity, amount in shares.items() if amount}
    left = payment.amount - sum(kept.values())
    if left < 0:
        over = amount_text(-left, payment.currency)
        raise Invalid([Fault("allocations", f"come to {over} more than was paid")])
    allocations = [
        {"invoiceId": identity, "invoiceNumber": numbers[identity], "amount": amount_text(amount, payment.currency)}
        for identity, amount in kept.items()
    ]
    return PAYMENTS.save(ctx, payment, {"allocations": allocations, "unallocated": left})


def _tell(ctx: Context, after: Invoice, before: Invoice) -> None:
    """Tell what became of an invoice."""
    if after.paid < before.paid:
        ctx.record(InvoiceUpdated(after, before))
    elif after.status == "paid":
        ctx.record(InvoicePaid(after, before))
    else:
        ctx.record(InvoicePartPaid(after, before))
