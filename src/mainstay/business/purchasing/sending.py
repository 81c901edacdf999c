"""Sending a purchase order to the supplier, and its PDF."""

from functools import partial
from typing import Annotated, Any

from mainstay.business.issuing.document_emails import (
    Deliver,
    DocumentEmailInput,
    EmailedDocument,
    email_document,
    find_supplier_recipients,
    recipients_field,
)
from mainstay.business.issuing.document_files import (
    PDF,
    ProofOut,
    check_not_issued,
    create_print_task,
    document_file_of,
)
from mainstay.business.issuing.snapshotting import OrderParties as Ordered
from mainstay.business.issuing.snapshotting import SnapshotWithAmounts, take_order_snapshot
from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.business.pricelist.model import Supplier
from mainstay.business.pricelist.store import SUPPLIERS
from mainstay.business.purchasing.model import ListedOrder, Order
from mainstay.business.purchasing.store import ORDERS, OrderId
from mainstay.documents.locales import Locale
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_file
from mainstay.values.fields import Email
from mainstay.values.message import Message
from mainstay.values.money import amount_text
from mainstay.vocabulary.actor import API_AND_OFFICE, Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import raise_if_blocked
from mainstay.vocabulary.schemas import Input


class SendPurchaseOrder(DocumentEmailInput):
    """Which order, and how."""

    purchase_order_id: OrderId
    deliver: Deliver = "email"
    to: Annotated[list[Email] | None, recipients_field("the supplier's own")] = None


@operation(
    permission=Permission.PURCHASING_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /purchase-orders/{purchase_order_id}/send",
    on=ORDERS,
    blocked_by=ListedOrder.not_sendable,
    emails_outside=True,
    not_undone=Message("The order has been sent. Cancel or close it instead."),
    commits_amount=True,
    past_text="Purchase order sent",
)
def send_purchase_order(ctx: Context, given: SendPurchaseOrder, order: Order) -> Order:
    """Send purchase order.

    The email to the supplier includes the PDF. Once sent, the order is locked, and goods can be received.
    """
    settings = settings_of(ctx)
    supplier: Supplier = SUPPLIERS.fetch(ctx, order.supplier_id)
    recipients = find_supplier_recipients(supplier, given.to, given.deliver)
    instead = Message("Cancel it, and create another in {currency}.", currency=settings.currency)
    foreign = settings.reasons_if_foreign(order.currency, instead, "cancel_purchase_order")
    raise_if_blocked([*supplier.not_usable(), *order.not_issuable(), *foreign, *recipients.reasons])
    snapshot, priced = _take_purchase_snapshot(ctx, order, supplier, settings)
    after = ORDERS.save(
        ctx,
        order,
        {
            "status": "sent",
            "standing": "sent",
            "issued_on": snapshot.issued_on,
            "language": snapshot.language,
            "taxes": priced.taxes,
            "snapshot": snapshot.model_dump_json(by_alias=True, exclude_none=True),
            "sent_at": ctx.now_text,
        },
    )
    ctx.commit_amount(after.total, after.currency)
    ctx.add_task(create_print_task(after.id, after.number))
    ctx.summary = Message(
        "{order} will be sent to {supplier}: {total}.",
        order=after.number,
        supplier=after.supplier_name,
        total=after.total_amount,
    )
    if given.deliver == "none":
        ctx.effects.append(Message("No email will be sent. Place the order yourself."))
    email_document(ctx, EmailedDocument("order", after, given=given), recipients.to, partial(_email_values_of, after))
    return after


get_purchase_order_pdf = declare_file(
    ORDERS,
    document_file_of,
    "Get purchase order PDF. As it was sent. A draft has none.",
    Permission.PURCHASING_READ,
    api_path="GET /purchase-orders/{purchase_order_id}/pdf",
    doors=API_AND_OFFICE,
    returns_file=PDF,
)


@operation(permission=Permission.PURCHASING_READ, effect=Effect.READ, doors=frozenset({Door.OFFICE}), on=ORDERS)
def get_purchase_order_proof(ctx: Context, _given: Input, order: Order) -> ProofOut:
    """Preview purchase order PDF.

    Marked as a draft, and not stored.
    """
    check_not_issued(order)
    supplier: Supplier = SUPPLIERS.fetch(ctx, order.supplier_id)
    return ProofOut.from_snapshot(
        order.id, order.number, _take_purchase_snapshot(ctx, order, supplier, settings_of(ctx)).snapshot
    )


OPERATIONS = (send_purchase_order, get_purchase_order_pdf, get_purchase_order_proof)


def _take_purchase_snapshot(
    ctx: Context, order: Order, supplier: Supplier, settings: OrganisationSettings
) -> SnapshotWithAmounts:
    """Take the snapshot of an order as it would be sent today."""
    fields: dict[str, Any] = {
        "kind": "purchaseOrder",
        "number": order.number,
        "language": supplier.language or settings.language,
        "issuedOn": settings.today(ctx).isoformat(),
        "neededOn": order.needed_on,
        "notes": order.notes,
    }
    parties = Ordered(supplier, order.site_id, order.job_id, collected=order.deliver_to == "pickup")
    return take_order_snapshot(ctx, parties, [one.line for one in order.order_lines], order.pricing_terms, fields)


def _email_values_of(order: Order, locale: Locale) -> dict[str, str]:
    return {
        "supplier": order.supplier_name,
        "number": order.number,
        "total": locale.format_money(amount_text(order.total, order.currency), order.currency),
    }
