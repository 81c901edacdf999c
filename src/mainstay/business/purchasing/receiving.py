"""Goods that come, line by line."""

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import BaseModel, Field

from mainstay.business.lines.model import MOST_LINES
from mainstay.business.organisation.house import house_of
from mainstay.business.purchasing import materials, store
from mainstay.business.purchasing.asked import OrderId
from mainstay.business.purchasing.lines import OrderLine, quantity_text
from mainstay.business.purchasing.model import LINE, ListedOrder, Order
from mainstay.business.purchasing.store import ORDERS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Conflict, Fault, Invalid, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input
from mainstay.values.fields import KeptDay, Line, SignedQuantity
from mainstay.values.ids import new_id
from mainstay.values.models import GIVEN
from mainstay.values.money import price_text

_MOST_RECEIPTS = 200


class ReceivedLine(BaseModel):
    """How many of a line have come."""

    model_config = GIVEN

    line_id: str = Field(description="Which line.")
    quantity: SignedQuantity = Field(description="How many; a negative one corrects.")


class ReceiveGoods(Input):
    """Of which order, and what has come."""

    purchase_order_id: OrderId
    lines: list[ReceivedLine] = Field(
        min_length=1,
        max_length=MOST_LINES,
        title="What came",
        description="What has come.",
        examples=[[{"lineId": LINE["id"], "quantity": "20"}]],
    )
    on: KeptDay | None = Field(None, title="Came on", description="The date; today where nothing is said.")
    slip: Line | None = Field(None, title="Delivery note", description="The number on what came with it.")


@operation(
    right=Right.GOODS_RECEIVE,
    effect=Effect.CHANGE,
    rest="POST /purchase-orders/{purchase_order_id}/receive",
    on=ORDERS,
    unless=ListedOrder.not_receivable,
    done="The goods are received.",
)
def receive_goods(ctx: Context, given: ReceiveGoods, order: Order) -> Order:
    """Record that goods of a purchase order have come.

    Line by line, never more than was ordered; a negative quantity corrects. It is a cost of the job at once.
    """
    house = house_of(ctx)
    today = house.today(ctx).isoformat()
    on = given.on or today
    if on > today:
        raise Invalid([Fault("on", "lies ahead; goods are received when they have come")])
    refuse(house.if_closed(on))
    _check(given.lines, order.order_lines)
    if len(order.receipts) >= _MOST_RECEIPTS:
        raise Conflict(f"{order.number} has come in {_MOST_RECEIPTS} parts already. Close it and draft another one.")
    receipt: dict[str, Any] = {
        "id": new_id("receipt"),
        "on": on,
        "slip": given.slip,
        "lines": [{"lineId": one.line_id, "quantity": price_text(one.quantity)} for one in given.lines],
        "recordedAt": ctx.at,
        "recordedBy": orjson.loads(ctx.stamp),
    }
    after = store.settle(ctx, order, {"receipts": [*order.receipts, receipt]})
    back = {one.line_id for one in given.lines if one.quantity < 0}
    if back:
        materials.check_taken_back(ctx, after, back)
    materials.settle_order(ctx, after)
    if back:
        ctx.warnings += [
            f"Of {one.line.description}, {price_text(one.billed)} are billed, and {price_text(one.received)} have come."
            for one in after.order_lines
            if one.counts and one.received < one.billed
        ]
    return after


OPERATIONS = (receive_goods,)


def _check(received: Sequence[ReceivedLine], lines: Sequence[OrderLine]) -> None:
    """Refuse what is no line of the order, more than is open, and less than nothing."""
    goods = {one.line.id: one for one in lines if one.counts}
    come = {identity: one.received for identity, one in goods.items()}
    faults = []
    for place, one in enumerate(received):
        at = f"lines.{place}"
        if one.line_id not in goods:
            known = ", ".join(goods) or "none"
            faults.append(Fault(f"{at}.lineId", f"is no line of it that goods come of; there are: {known}"))
            continue
        line = goods[one.line_id].line
        before = come[one.line_id]
        come[one.line_id] += one.quantity
        told = f"{quantity_text(before, line.unit)} of {quantity_text(line.quantity, line.unit)} have come"
        if one.quantity == 0:
            faults.append(Fault(f"{at}.quantity", "is 0; leave the line out"))
        elif come[one.line_id] > line.quantity:
            faults.append(Fault(f"{at}.quantity", f"is more than is open: {told} before this"))
        elif come[one.line_id] < 0:
            faults.append(Fault(f"{at}.quantity", f"takes back more than came: {told} before this"))
    if faults:
        raise Invalid(faults)
