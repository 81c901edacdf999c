"""Closing and cancelling purchase orders."""

from pydantic import Field

from mainstay.business.purchasing import store
from mainstay.business.purchasing.lines import quantity_message
from mainstay.business.purchasing.model import ListedOrder, Order
from mainstay.business.purchasing.store import ORDERS, OrderId
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import Paragraph
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import IrreversibleInput


class ClosePurchaseOrder(IrreversibleInput):
    """Which order, and why."""

    purchase_order_id: OrderId
    reason: Paragraph | None = Field(
        None, title="Reason", description="Required if goods are still to come. Not shown to the supplier."
    )


class CancelPurchaseOrder(IrreversibleInput):
    """Which order, and why."""

    purchase_order_id: OrderId
    reason: Paragraph | None = Field(None, title="Reason", description="Not shown to the supplier.")


@operation(
    permission=Permission.PURCHASING_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /purchase-orders/{purchase_order_id}/close",
    on=ORDERS,
    blocked_by=ListedOrder.not_closable,
    not_undone=Message("Create another order for what is still needed."),
    past_text="Purchase order closed",
)
def close_purchase_order(ctx: Context, given: ClosePurchaseOrder, order: Order) -> Order:
    """Close purchase order.

    No more goods are expected; bills for what was received can still be recorded. No email is sent.
    """
    still_open = [one for one in order.order_lines if one.is_counted and one.open]
    if still_open and not given.reason:
        raise Invalid([Fault("reason", Message("is required because goods are still to come"))])
    ctx.summary = Message("{order} will be closed: no more goods are expected.", order=order.display_name)
    ctx.effects += [
        Message(
            "{quantity} of {item} won't be delivered.",
            item=one.line.description.splitlines()[0],
            quantity=quantity_message(one.open, one.line.unit),
        )
        for one in still_open
    ]
    ctx.warnings += [_describe_missing_email(order)] if still_open else []
    return store.save_order(ctx, order, {"status": "closed", "close_reason": given.reason})


@operation(
    permission=Permission.PURCHASING_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /purchase-orders/{purchase_order_id}/cancel",
    on=ORDERS,
    blocked_by=ListedOrder.not_cancellable,
    not_undone=Message("Create the order again."),
    past_text="Purchase order cancelled",
)
def cancel_purchase_order(ctx: Context, given: CancelPurchaseOrder, order: Order) -> Order:
    """Cancel purchase order.

    You can cancel an order, sent or draft, until goods are received or billed. No email is sent.
    """
    ctx.summary = Message("{order} will be cancelled.", order=order.display_name)
    if order.status != "draft":
        ctx.warnings.append(_describe_missing_email(order))
    return store.save_order(ctx, order, {"status": "cancelled", "close_reason": given.reason})


OPERATIONS = (close_purchase_order, cancel_purchase_order)


def _describe_missing_email(order: Order) -> Message:
    return Message("No email will be sent. Let {supplier} know yourself.", supplier=order.supplier_name)
