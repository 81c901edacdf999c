"""Sending an order to the supplier."""

from functools import partial
from typing import Any

from mainstay.business.issuing.freezing import Frozen, freeze_order
from mainstay.business.issuing.freezing import Order as Ordered
from mainstay.business.issuing.mailing import DELIVER, Deliver, Enclosed, addressed, mail, supplier_s
from mainstay.business.issuing.printed import PDF, PaperOut, ProofOut, paper_of, printing, refuse_proof_of_issued
from mainstay.business.organisation.house import House, house_of
from mainstay.business.pricelist.model import Supplier
from mainstay.business.pricelist.store import SUPPLIERS
from mainstay.business.purchasing.asked import OrderId
from mainstay.business.purchasing.model import ListedOrder, Order
from mainstay.business.purchasing.store import ORDERS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.paper.locales import Locale
from mainstay.terms.actor import NO_TOOL, Door
from mainstay.terms.refusal import refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Irrevocable
from mainstay.values.fields import Email
from mainstay.values.money import amount_text


class SendPurchaseOrder(Irrevocable):
    """Which order, and how."""

    purchase_order_id: OrderId
    deliver: Deliver = DELIVER
    to: list[Email] | None = addressed("the supplier's own")


class GetPurchaseOrderPdf(Input):
    """Which order."""

    purchase_order_id: OrderId


class GetPurchaseOrderProof(Input):
    """Which order."""

    purchase_order_id: OrderId


@operation(
    right=Right.PURCHASING_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /purchase-orders/{purchase_order_id}/send",
    on=ORDERS,
    unless=ListedOrder.not_sendable,
    mails=True,
    done="The order is sent.",
)
def send_purchase_order(ctx: Context, given: SendPurchaseOrder, order: Order) -> Order:
    """Send a purchase order to the supplier.

    Where it is mailed, the mail has its PDF. From then on it stays as it is, and its goods can be received.
    """
    house = house_of(ctx)
    supplier: Supplier = SUPPLIERS.fetch(ctx, order.supplier_id)
    recipients = supplier_s(supplier, given.to, given.deliver)
    instead = f"Cancel it, and draft another in {house.currency}."
    foreign = house.if_foreign(order.currency, instead, "cancel_purchase_order")
    refuse([*supplier.not_usable(), *order.not_ordered(), *foreign, *recipients.against])
    snapshot, drawn = _frozen(ctx, order, supplier, house)
    after = ORDERS.save(
        ctx,
        order,
        {
            "status": "sent",
            "standing": "sent",
            "issued_on": snapshot.issued_on,
            "language": snapshot.language,
            "taxes": drawn.taxes,
            "snapshot": snapshot.model_dump_json(by_alias=True, exclude_none=True),
            "sent_at": ctx.at,
        },
    )
    ctx.post(printing(after.id, after.number))
    ctx.summary = f"{after.number} goes to {after.supplier_name}: {after.total_text}."
    if given.deliver == "none":
        ctx.effects.append("Nobody is mailed: order it yourself.")
    mail(ctx, Enclosed("order", after), recipients.to, partial(_told_values, after))
    return after


@operation(
    right=Right.PURCHASING_READ,
    effect=Effect.READ,
    rest="GET /purchase-orders/{purchase_order_id}/pdf",
    offered=NO_TOOL,
    on=ORDERS,
    gives=PDF,
)
def get_purchase_order_pdf(_ctx: Context, _given: GetPurchaseOrderPdf, order: Order) -> PaperOut:
    """Get the PDF of a purchase order.

    As it was sent: always the same bytes. A draft has none.
    """
    return paper_of(order)


@operation(right=Right.PURCHASING_READ, effect=Effect.READ, offered=frozenset({Door.OFFICE}), on=ORDERS)
def get_purchase_order_proof(ctx: Context, _given: GetPurchaseOrderProof, order: Order) -> ProofOut:
    """Get a draft of an order as it would be printed.

    Stamped as a draft, and kept nowhere.
    """
    refuse_proof_of_issued(order)
    supplier: Supplier = SUPPLIERS.fetch(ctx, order.supplier_id)
    return ProofOut.of(order.id, order.number, _frozen(ctx, order, supplier, house_of(ctx)).snapshot)


OPERATIONS = (send_purchase_order, get_purchase_order_pdf, get_purchase_order_proof)


def _frozen(ctx: Context, order: Order, supplier: Supplier, house: House) -> Frozen:
    """All that an order says, as it would be sent today."""
    told: dict[str, Any] = {
        "kind": "purchaseOrder",
        "number": order.number,
        "language": supplier.language or house.language,
        "issuedOn": house.today(ctx).isoformat(),
        "neededOn": order.needed_on,
        "notes": order.notes,
    }
    ordered = Ordered(supplier, order.site_id, order.job_id, collected=order.deliver_to == "pickup")
    return freeze_order(ctx, ordered, [one.line for one in order.order_lines], order.reckoned, told)


def _told_values(order: Order, locale: Locale) -> dict[str, str]:
    return {
        "supplier": order.supplier_name,
        "number": order.number,
        "total": locale.money(amount_text(order.total, order.currency), order.currency),
    }
