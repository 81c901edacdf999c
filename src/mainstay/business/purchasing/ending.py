"""Orders of which nothing more comes, or nothing at all."""

from pydantic import Field

from mainstay.business.purchasing import store
from mainstay.business.purchasing.asked import OrderId
from mainstay.business.purchasing.lines import quantity_text
from mainstay.business.purchasing.model import ListedOrder, Order
from mainstay.business.purchasing.store import ORDERS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Irrevocable
from mainstay.values.fields import Paragraph


class ClosePurchaseOrder(Irrevocable):
    """Which order, and why."""

    purchase_order_id: OrderId
    reason: Paragraph | None = Field(
        None, title="Why", description="Needed while something is still to come. The supplier does not read it."
    )


class CancelPurchaseOrder(Irrevocable):
    """Which order, and why."""

    purchase_order_id: OrderId
    reason: Paragraph | None = Field(None, title="Why", description="The supplier does not read it.")


@operation(
    right=Right.PURCHASING_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /purchase-orders/{purchase_order_id}/close",
    on=ORDERS,
    unless=ListedOrder.not_closable,
    done="The order is closed.",
)
def close_purchase_order(ctx: Context, given: ClosePurchaseOrder, order: Order) -> Order:
    """Close a purchase order.

    Nothing more comes of it; bills for what came can still be recorded. Nobody is mailed.
    """
    left = [one for one in order.order_lines if one.counts and one.open]
    if left and not given.reason:
        raise Invalid([Fault("reason", "is required: something of it is still to come")])
    ctx.summary = f"{order.called} is closed: nothing more comes of it."
    ctx.effects += [
        f"{quantity_text(one.open, one.line.unit)} of {_brief(one.line.description)} never come." for one in left
    ]
    ctx.warnings += [f"Nobody is mailed: tell {order.supplier_name} yourself."] if left else []
    return store.settle(ctx, order, {"status": "closed", "close_reason": given.reason})


@operation(
    right=Right.PURCHASING_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /purchase-orders/{purchase_order_id}/cancel",
    on=ORDERS,
    unless=ListedOrder.not_cancellable,
    done="The order is cancelled.",
)
def cancel_purchase_order(ctx: Context, given: CancelPurchaseOrder, order: Order) -> Order:
    """Cancel a purchase order, or drop a draft of one.

    Only while nothing of it was received or billed. Nobody is mailed.
    """
    ctx.summary = f"{order.called} is cancelled: nothing of it comes."
    if order.status != "draft":
        ctx.warnings.append(f"Nobody is mailed: tell {order.supplier_name} yourself.")
    return store.settle(ctx, order, {"status": "cancelled", "close_reason": given.reason})


OPERATIONS = (close_purchase_order, cancel_purchase_order)


def _brief(description: str) -> str:
    return description.splitlines()[0]
