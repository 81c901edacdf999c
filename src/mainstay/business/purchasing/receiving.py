"""Recording the goods of a purchase order as they are received, line by line."""

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import BaseModel, Field

from mainstay.business.lines.model import MAX_LINES
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.purchasing import materials, store
from mainstay.business.purchasing.lines import OrderLine, describe_unknown_line, quantity_message
from mainstay.business.purchasing.model import EXAMPLE_ORDER_LINE, ListedOrder, Order
from mainstay.business.purchasing.store import ORDERS, OrderId
from mainstay.changes.undo import Inverse
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import Act, name_record
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import SignedQuantity, StoredDay, TextLine
from mainstay.values.ids import new_id
from mainstay.values.message import Message
from mainstay.values.model_config import INPUT_CONFIG
from mainstay.values.money import price_text
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input

_MAX_RECEIPTS = 200


class ReceivedLine(BaseModel):
    """The quantity received of a line."""

    model_config = INPUT_CONFIG

    line_id: str = Field(description="The order line's ID.")
    quantity: SignedQuantity = Field(description="How many. Negative for a return or a correction.")


class ReceiveGoods(Input):
    """Which order, and what was received."""

    purchase_order_id: OrderId
    lines: list[ReceivedLine] = Field(
        min_length=1,
        max_length=MAX_LINES,
        title="Received",
        description="The lines received, with their quantities.",
        examples=[[{"lineId": EXAMPLE_ORDER_LINE["id"], "quantity": "20"}]],
    )
    on: StoredDay | None = Field(None, title="Received on", description="Default: today.")
    slip: TextLine | None = Field(None, title="Delivery note", description="The number on the delivery note.")


def _return_goods(act: Act) -> Sequence[Inverse]:
    """Receive the same goods again with the opposite quantities, on the same date."""
    lines = [{"lineId": one.line_id, "quantity": price_text(-one.quantity)} for one in act.given.lines]
    values = {"lines": lines, "on": act.after.receipts[-1]["on"], "slip": act.given.slip}
    return [Inverse(act.operation, name_record(act) | values)]


@operation(
    permission=Permission.GOODS_RECEIVE,
    effect=Effect.CHANGE,
    api_path="POST /purchase-orders/{purchase_order_id}/receive",
    on=ORDERS,
    blocked_by=ListedOrder.not_receivable,
    undone_by=_return_goods,
    past_text="Goods received",
)
def receive_goods(ctx: Context, given: ReceiveGoods, order: Order) -> Order:
    """Receive goods.

    Enter what was delivered, up to the quantity ordered; it is added to the job's costs. For a return or a correction,
    enter a negative quantity.
    """
    settings = settings_of(ctx)
    today = settings.today(ctx).isoformat()
    on = given.on or today
    if on > today:
        raise Invalid([Fault("on", Message("is in the future"))])
    raise_if_blocked(settings.reasons_if_closed(on))
    _check_received(given.lines, order.order_lines)
    if len(order.receipts) >= _MAX_RECEIPTS:
        raise Conflict(
            Message(
                "{order} already has {limit} deliveries. Close it and create another order.",
                order=order.number,
                limit=_MAX_RECEIPTS,
            )
        )
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
            Message(
                "{billed} of {item} billed, but only {received} received.",
                item=order_line.line.description.splitlines()[0],
                billed=quantity_message(order_line.billed, order_line.line.unit),
                received=quantity_message(order_line.received, order_line.line.unit),
            )
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
        line_path = f"lines.{index}"
        if received_line.line_id not in goods:
            faults.append(Fault(f"{line_path}.lineId", describe_unknown_line(goods)))
            continue
        line = goods[received_line.line_id].line
        before = quantity_message(received_quantities[received_line.line_id], line.unit)
        ordered = quantity_message(line.quantity, line.unit)
        received_quantities[received_line.line_id] += received_line.quantity
        if received_line.quantity == 0:
            faults.append(Fault(f"{line_path}.quantity", Message("is 0; leave the line out")))
        elif received_quantities[received_line.line_id] > line.quantity:
            problem = Message(
                "is more than is still to come: {before} of {ordered} already received", before=before, ordered=ordered
            )
            faults.append(Fault(f"{line_path}.quantity", problem))
        elif received_quantities[received_line.line_id] < 0:
            problem = Message(
                "returns more than was received: {before} of {ordered} so far", before=before, ordered=ordered
            )
            faults.append(Fault(f"{line_path}.quantity", problem))
    if faults:
        raise Invalid(faults)
