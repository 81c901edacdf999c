"""Recording the goods of a purchase order as they are received, line by line."""

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import BaseModel, Field

from mainstay.business.lines.model import MAX_LINES
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.purchasing import materials, store
from mainstay.business.purchasing.inputs import OrderId
from mainstay.business.purchasing.lines import OrderLine, quantity_text
from mainstay.business.purchasing.model import EXAMPLE_ORDER_LINE, ListedOrder, Order
from mainstay.business.purchasing.store import ORDERS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import SignedQuantity, StoredDay, TextLine
from mainstay.values.ids import new_id
from mainstay.values.model_config import INPUT_CONFIG
from mainstay.values.money import price_text
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input

_MAX_RECEIPTS = 200


class ReceivedLine(BaseModel):
    """How many of a line have come."""

    model_config = INPUT_CONFIG

    line_id: str = Field(description="Which line.")
    quantity: SignedQuantity = Field(description="How many; a negative one corrects.")


class ReceiveGoods(Input):
    """Of which order, and what has come."""

    purchase_order_id: OrderId
    lines: list[ReceivedLine] = Field(
        min_length=1,
        max_length=MAX_LINES,
        title="What came",
        description="What has come.",
        examples=[[{"lineId": EXAMPLE_ORDER_LINE["id"], "quantity": "20"}]],
    )
    on: StoredDay | None = Field(None, title="Came on", description="The date; today where nothing is said.")
    slip: TextLine | None = Field(None, title="Delivery note", description="The number on what came with it.")


@operation(
    permission=Permission.GOODS_RECEIVE,
    effect=Effect.CHANGE,
    api_path="POST /purchase-orders/{purchase_order_id}/receive",
    on=ORDERS,
    blocked_by=ListedOrder.not_receivable,
    done_message="The goods are received.",
)
def receive_goods(ctx: Context, given: ReceiveGoods, order: Order) -> Order:
    """Record that goods of a purchase order have come.

    Line by line, never more than was ordered; a negative quantity corrects. It is a cost of the job at once.
    """
    settings = settings_of(ctx)
    today = settings.today(ctx).isoformat()
    on = given.on or today
    if on > today:
        raise Invalid([Fault("on", "lies ahead; goods are received when they have come")])
    raise_if_blocked(settings.reasons_if_closed(on))
    _check_received(given.lines, order.order_lines)
    if len(order.receipts) >= _MAX_RECEIPTS:
        raise Conflict(f"{order.number} has come in {_MAX_RECEIPTS} parts already. Close it and draft another one.")
    receipt: dict[str, Any] = {
        "id": new_id("receipt"),
        "on": on,
        "slip": given.slip,
        "lines": [{"lineId": one.line_id, "quantity": price_text(one.quantity)} for one in given.lines],
        "recordedAt": ctx.now_text,
        "recordedBy": orjson.loads(ctx.stamp),
    }
    after = store.save_order(ctx, order, {"receipts": [*order.receipts, receipt]})
    returned_ids = {one.line_id for one in given.lines if one.quantity < 0}
    if returned_ids:
        materials.check_return(ctx, after, returned_ids)
    materials.update_materials_of_order(ctx, after)
    if returned_ids:
        ctx.warnings += [
            f"Of {order_line.line.description}, {price_text(order_line.billed)} are billed,"
            f" and {price_text(order_line.received)} have come."
            for order_line in after.order_lines
            if order_line.is_counted and order_line.received < order_line.billed
        ]
    return after


OPERATIONS = (receive_goods,)


def _check_received(received: Sequence[ReceivedLine], lines: Sequence[OrderLine]) -> None:
    """Refuse unknown lines, more than is still open, and corrections of more than was received."""
    goods = {one.line.id: one for one in lines if one.is_counted}
    received_quantities = {record_id: one.received for record_id, one in goods.items()}
    faults = []
    for index, received_line in enumerate(received):
        at = f"lines.{index}"
        if received_line.line_id not in goods:
            known = ", ".join(goods) or "none"
            faults.append(Fault(f"{at}.lineId", f"is no line of it that goods come of; there are: {known}"))
            continue
        line = goods[received_line.line_id].line
        received_before = received_quantities[received_line.line_id]
        received_quantities[received_line.line_id] += received_line.quantity
        text = f"{quantity_text(received_before, line.unit)} of {quantity_text(line.quantity, line.unit)} have come"
        if received_line.quantity == 0:
            faults.append(Fault(f"{at}.quantity", "is 0; leave the line out"))
        elif received_quantities[received_line.line_id] > line.quantity:
            faults.append(Fault(f"{at}.quantity", f"is more than is open: {text} before this"))
        elif received_quantities[received_line.line_id] < 0:
            faults.append(Fault(f"{at}.quantity", f"takes back more than came: {text} before this"))
    if faults:
        raise Invalid(faults)
