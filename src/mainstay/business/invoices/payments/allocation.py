"""Allocates payments to invoices, and releases them. Only this module changes what is paid of an invoice."""

from collections.abc import Mapping

from mainstay.business.invoices.events import InvoicePaid, InvoicePartPaid, InvoiceUpdated
from mainstay.business.invoices.model import Invoice
from mainstay.business.invoices.payments import settlement
from mainstay.business.invoices.payments.payment import PAYMENTS, Payment
from mainstay.business.invoices.store import INVOICES
from mainstay.kernel.context import Context
from mainstay.values.message import Amount, Message
from mainstay.values.money import amount_text
from mainstay.vocabulary.refusal import Fault, Invalid, raise_if_blocked


def allocate_to_invoices(
    ctx: Context, payment: Payment, wanted: Mapping[str, int], known: Mapping[str, Invoice] | None = None
) -> Payment:
    """Allocate a payment to these invoices, with amounts in minor units; other invoices are released.

    `known` are invoices that were fetched already, by id.
    """
    before = payment.shares
    numbers = {one["invoiceId"]: one["invoiceNumber"] for one in payment.allocations}
    changed = []
    for record_id in sorted({*before, *wanted}):
        difference = wanted.get(record_id, 0) - before.get(record_id, 0)
        if difference:
            invoice: Invoice = (known or {}).get(record_id) or INVOICES.fetch(ctx, record_id)
            _check_allocation(invoice, payment, difference)
            numbers[record_id] = invoice.short_name
            _store_allocation(ctx, payment.id, record_id, wanted.get(record_id, 0))
            changed.append((settlement.settle_invoice(ctx, invoice, paid=difference), invoice))
    settlement.update_billing_of_jobs(ctx, [after for after, _ in changed])
    for after, invoice in changed:
        _emit_change(ctx, after, invoice)
    return _save_payment(ctx, payment, wanted, numbers)


def release_surplus(ctx: Context, invoice: Invoice, surplus: int) -> None:
    """Release a surplus that was paid on an invoice to the customer's account, the newest payments first."""
    rows = ctx.db.all(
        "SELECT payment_id, amount FROM allocation WHERE organisation_id = :organisation AND invoice_id = :invoice"
        " ORDER BY payment_id DESC",
        invoice=invoice.id,
    )
    for record_id, amount in rows:
        released = min(int(amount or 0), surplus)
        if released <= 0:
            return
        payment: Payment = PAYMENTS.fetch(ctx, str(record_id))
        shares = payment.shares
        shares[invoice.id] -= released
        _store_allocation(ctx, payment.id, invoice.id, shares[invoice.id])
        _save_payment(ctx, payment, shares, {one["invoiceId"]: one["invoiceNumber"] for one in payment.allocations})
        surplus -= released


def _check_allocation(invoice: Invoice, payment: Payment, difference: int) -> None:
    if invoice.customer_id != payment.customer_id:
        message = Message(
            "include {invoice}, which is for another customer, {customer}",
            invoice=invoice.name_in_messages,
            customer=invoice.customer_name,
            for_programs=Message("list_invoices lists the invoices of a customer"),
        )
        raise Invalid([Fault("allocations", message)])
    if difference > 0:
        raise_if_blocked(invoice.not_payable())
        if invoice.currency != payment.currency:
            message = Message(
                "include {invoice}, which is in {invoice_currency}, but the payment is in {currency}: credit the"
                " invoice and send another in {currency}",
                invoice=invoice.short_name,
                invoice_currency=invoice.currency,
                currency=payment.currency,
            )
            raise Invalid([Fault("allocations", message)])
        if difference > invoice.due:
            message = Message(
                "put {amount} on {invoice}, but only {due} is due",
                amount=Amount(amount_text(difference, invoice.currency), invoice.currency),
                invoice=invoice.short_name,
                due=invoice.due_amount,
            )
            raise Invalid([Fault("allocations", message)])


def _store_allocation(ctx: Context, payment_id: str, invoice_id: str, amount: int) -> None:
    condition = "organisation_id = :organisation AND payment_id = :payment AND invoice_id = :invoice"
    if not amount:
        ctx.db.run(f"DELETE FROM allocation WHERE {condition}", payment=payment_id, invoice=invoice_id)
        return
    ctx.db.run(
        "INSERT INTO allocation (organisation_id, payment_id, invoice_id, amount)"
        " VALUES (:organisation, :payment, :invoice, :amount)"
        " ON CONFLICT (organisation_id, payment_id, invoice_id) DO UPDATE SET amount = :amount",
        payment=payment_id,
        invoice=invoice_id,
        amount=amount,
    )


def _save_payment(ctx: Context, payment: Payment, shares: Mapping[str, int], numbers: Mapping[str, str]) -> Payment:
    allocated = {record_id: amount for record_id, amount in shares.items() if amount}
    unallocated = payment.amount - sum(allocated.values())
    if unallocated < 0:
        message = Message(
            "add up to {excess} more than was paid",
            excess=Amount(amount_text(-unallocated, payment.currency), payment.currency),
        )
        raise Invalid([Fault("allocations", message)])
    allocations = [
        {"invoiceId": record_id, "invoiceNumber": numbers[record_id], "amount": amount_text(amount, payment.currency)}
        for record_id, amount in allocated.items()
    ]
    return PAYMENTS.save(ctx, payment, {"allocations": allocations, "unallocated": unallocated})


def _emit_change(ctx: Context, after: Invoice, before: Invoice) -> None:
    """Emit the event for what changed on an invoice."""
    if after.paid < before.paid:
        ctx.emit(InvoiceUpdated(after, before))
    elif after.status == "paid":
        ctx.emit(InvoicePaid(after, before))
    else:
        ctx.emit(InvoicePartPaid(after, before))
