"""Closing and cancelling purchase orders."""

from pydantic import Field

from mainstay.business.purchasing import store
from mainstay.business.purchasing.inputs import OrderId
from mainstay.business.purchasing.lines import quantity_text
from mainstay.business.purchasing.model import ListedOrder, Order
from mainstay.business.purchasing.store import ORDERS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import Paragraph
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import IrreversibleInput


class ClosePurchaseOrder(IrreversibleInput):
    """Which order, and why."""

    purchase_order_id: OrderId
    reason: Paragraph | None = Field(
        None, title="Why", description="Needed while something is still to come. The supplier does not read it."
    )


class CancelPurchaseOrder(IrreversibleInput):
    """Which order, and why."""

    purchase_order_id: OrderId
    reason: Paragraph | None = Field(None, title="Why", description="The supplier does not read it.")


@operation(
    permission=Permission.PURCHASING_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /purchase-orders/{purchase_order_id}/close",
    on=ORDERS,
    blocked_by=ListedOrder.not_closable,
    done_message="The order is closed.",
)
def close_purchase_order(ctx: Context, given: ClosePurchaseOrder, order: Order) -> Order:
    """Close a purchase order.

    Nothing more comes of it; bills for what came can still be recorded. Nobody is mailed.
    """
    still_open = [one for one in order.order_lines if one.is_counted and one.open]
    if still_open and not given.reason:
        raise Invalid([Fault("reason", "is required: something of it is still to come")])
    ctx.summary = f"{order.display_name} is closed: nothing more comes of it."
    ctx.effects += [
        f"{quantity_text(one.open, one.line.unit)} of {_first_line_of(one.line.description)} never come."
        for one in still_open
    ]
    ctx.warnings += [f"Nobody is mailed: tell {order.supplier_name} yourself."] if still_open else []
    return store.save_order(ctx, order, {"status": "closed", "close_reason": given.reason})


@operation(
    permission=Permission.PURCHASING_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /purchase-orders/{purchase_order_id}/cancel",
    on=ORDERS,
    blocked_by=ListedOrder.not_cancellable,
    done_message="The order is cancelled.",
)
def cancel_purchase_order(ctx: Context, given: CancelPurchaseOrder, order: Order) -> Order:
    """Cancel a purchase order, or drop a draft of one.

    Only while nothing of it was received or billed. Nobody is mailed.
    """
    ctx.summary = f"{order.display_name} is cancelled: nothing of it comes."
    if order.status != "draft":
        ctx.warnings.append(f"Nobody is mailed: tell {order.supplier_name} yourself.")
    return store.save_order(ctx, order, {"status": "cancelled", "close_reason": given.reason})


OPERATIONS = (close_purchase_order, cancel_purchase_order)


def _first_line_of(description: str) -> str:
    return description.splitlines()[0]
