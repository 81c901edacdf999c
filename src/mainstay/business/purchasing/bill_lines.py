"""The lines of bills, alone or of an order: how they are created, checked and totalled."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from mainstay.business.lines.edits import EditFields, LineFields
from mainstay.business.lines.model import Line
from mainstay.business.purchasing import materials, store
from mainstay.business.purchasing.inputs import CostBook, price_purchase
from mainstay.business.purchasing.lines import (
    BillLine,
    OrderLine,
    bill_columns,
    describe_unknown_line,
    quantity_message,
)
from mainstay.business.purchasing.model import Bill, Order
from mainstay.business.purchasing.store import BILLS, ORDERS
from mainstay.kernel.context import Context
from mainstay.values.message import Amount, CalendarDate, Message, message_of
from mainstay.values.money import amount_text, price_to_minor
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, Reason, raise_if_blocked

_ORDER_LINE_FIELD = Field(
    None,
    description="The order line that it bills: fills in the rest. A negative quantity credits returned goods.",
)


class NewBillLine(LineFields):
    """A line of a new bill; its price is before tax."""

    order_line_id: str | None = _ORDER_LINE_FIELD


class BillLineEdit(EditFields):
    """One change of the lines."""

    order_line_id: str | None = _ORDER_LINE_FIELD


class BillBook(CostBook):
    """Creates lines of bills from order lines, from the price list, or from the fields that were sent."""

    def __init__(self, ctx: Context, order: Order | None, billed: Mapping[str, int]) -> None:
        super().__init__(ctx)
        goods = [one for one in order.order_lines if one.is_counted] if order else []
        # The order lines by id, with the quantities that other bills bill.
        self.goods = {one.line.id: replace(one, billed=billed.get(one.line.id, 0)) for one in goods}
        # The order line that each created line bills, by the id of the created line.
        self.order_line_ids: dict[str, str | None] = {}

    def make_line(self, fields: dict[str, Any], path: str) -> Line:
        """Create a line from the fields that were sent; `path` locates it in the input."""
        order_line_id = fields.get("order_line_id")
        fields = {name: value for name, value in fields.items() if name != "order_line_id"}
        new_line = super().make_line(
            (self._fields_from_order(order_line_id, path) if order_line_id else {}) | fields, path
        )
        if order_line_id and not fields.get("item_id"):
            new_line = replace(new_line, item_id=self.goods[order_line_id].line.item_id)
        self.order_line_ids[new_line.id] = order_line_id
        return new_line

    def check_fields(self, fields: dict[str, Any], path: str) -> None:
        """Refuse fields that a line of a bill cannot have; a negative quantity is a credit."""
        if fields.get("kind", "item") != "item":
            raise Invalid([Fault(f"{path}.kind", Message("can't be on a bill: every line needs a price"))])
        super().check_fields({name: value for name, value in fields.items() if name != "quantity"}, path)
        if fields.get("quantity") == 0:
            raise Invalid([Fault(f"{path}.quantity", Message("is 0"))])

    def build_unbilled_lines(self) -> list[NewBillLine]:
        """Return inputs for lines that bill the rest of the order."""
        unbilled_ids = [record_id for record_id, one in self.goods.items() if one.unbilled]
        return [NewBillLine.model_validate({"orderLineId": record_id}) for record_id in unbilled_ids]

    def _fields_from_order(self, record_id: str, path: str) -> dict[str, Any]:
        if record_id not in self.goods:
            raise Invalid([Fault(f"{path}.orderLineId", describe_unknown_line(self.goods))])
        ordered = self.goods[record_id]
        line = ordered.line
        return {
            "description": line.description,
            "quantity": ordered.unbilled or line.quantity,
            "unit": line.unit,
            "unit_price": line.unit_price,
            "discount_percent": line.discount_percent,
            "tax_rate_id": line.tax_rate_id,
        }


def compute_bill_columns(ctx: Context, lines: Sequence[BillLine], currency: str, total: int) -> dict[str, Any]:
    """Compute the columns of a bill from its lines; refuse if the total differs from the one on the bill."""
    if not lines:
        raise Invalid([Fault("lines", Message("are required: add what the bill is for"))])
    columns = bill_columns(price_purchase(ctx, [one.line for one in lines], currency), lines)
    computed_total = int(columns["total"])
    try:
        stated_total = price_to_minor(total, currency)
    except ValueError as error:
        raise Invalid([Fault("total", message_of(error))]) from None
    if stated_total != computed_total:
        raise Invalid([Fault("total", _describe_difference(columns, currency))])
    return columns


def _describe_difference(columns: Mapping[str, Any], currency: str) -> Message:
    """Say that the lines add up to another total than the one on the bill."""
    net, tax, total = (Amount(amount_text(int(columns[name]), currency), currency) for name in ("net", "tax", "total"))
    return Message(
        "doesn't match the lines: they add up to {net} plus {tax} tax, {total} in total; correct them, or add a line"
        " for the difference",
        net=net,
        tax=tax,
        total=total,
    )


def check_billed_quantities(
    ctx: Context, lines: Sequence[BillLine], book: BillBook, *, allow_overbilling: bool
) -> None:
    """Refuse to credit more than was billed, or to bill more than was ordered unless that is allowed."""
    billed: Counter[str] = Counter()
    for index, bill_line in enumerate(lines):
        if bill_line.order_line_id is None:
            continue
        billed[bill_line.order_line_id] += bill_line.line.quantity
        ordered = book.goods[bill_line.order_line_id]
        if bill_line.line.quantity < 0 and ordered.billed + billed[bill_line.order_line_id] < 0:
            already_billed = quantity_message(ordered.billed, ordered.line.unit)
            problem = Message("credits more than was billed, which is {quantity}", quantity=already_billed)
            raise Invalid([Fault(f"lines.{index}.quantity", problem)])
    overbilled = [
        _describe_overbilling(ordered, billed[record_id])
        for record_id, ordered in book.goods.items()
        if billed[record_id] > 0 and ordered.billed + billed[record_id] > ordered.line.quantity
    ]
    if overbilled and not allow_overbilling:
        raise_if_blocked([_reason_against_overbilling(problem) for problem in overbilled])
    ctx.warnings += overbilled


def _reason_against_overbilling(problem: Message) -> Reason:
    return Reason(
        Message(
            "{problem} Correct the quantity, or allow more than was ordered.",
            problem=problem,
            for_programs=Message("To allow it, send `allowOverbilling`: true."),
        )
    )


def _describe_overbilling(ordered: OrderLine, billed: int) -> Message:
    line = ordered.line
    item, quantity = line.description.splitlines()[0], quantity_message(line.quantity, line.unit)
    billed_quantity = quantity_message(billed, line.unit)
    if ordered.billed:
        return Message(
            "You ordered {ordered} of {item}, {before} was already billed, and this bill is for {billed}.",
            ordered=quantity,
            item=item,
            before=quantity_message(ordered.billed, line.unit),
            billed=billed_quantity,
        )
    return Message(
        "You ordered {ordered} of {item}, but this bill is for {billed}.",
        ordered=quantity,
        item=item,
        billed=billed_quantity,
    )


def check_bill_number(ctx: Context, supplier_id: str, number: str, except_id: str = "") -> None:
    """Refuse a number if another bill of the supplier has it, and name that bill."""
    known: Bill | None = BILLS.find(
        ctx,
        "bill.supplier_id = :supplier AND bill.number_folded = :number AND bill.status <> 'void' AND bill.id <> :but",
        supplier=supplier_id,
        number=store.fold_number(number),
        but=except_id,
    )
    if known:
        raise Conflict(
            Message(
                "Bill {bill} dated {on} for {total} is already recorded. Edit that one, or check the number.",
                bill=known.display_name,
                on=CalendarDate(known.on),
                total=known.total_amount,
                for_programs=Message("Its billId is {bill_id}.", bill_id=known.id),
            )
        )


def check_not_credited(ctx: Context, bill: Bill) -> None:
    """Refuse to void a bill if something on it is credited."""
    if bill.purchase_order_id is None:
        return
    billed = store.sum_billed_quantities(ctx, bill.purchase_order_id, except_id=bill.id)
    if any(billed[one.order_line_id] < 0 for one in bill.bill_lines if one.order_line_id):
        text = Message("Another bill credits goods of {bill}. Void that one first.", bill=bill.display_name)
        raise_if_blocked([Reason(text, "list_bills")])


def update_after_bill(ctx: Context, bill: Bill) -> None:
    """Update the order of a bill and the material that it buys after the bill changed."""
    order = find_order(ctx, bill.purchase_order_id)
    if order:
        after = store.save_order(ctx, order, {})
        credited = {one.order_line_id for one in bill.bill_lines if one.order_line_id and one.line.quantity < 0}
        if credited and bill.status != "void":
            materials.check_return(ctx, after, credited)
        materials.update_materials_of_order(ctx, after)
    else:
        materials.update_materials_of_bill(ctx, bill.id)


def find_order(ctx: Context, order: str | None) -> Order | None:
    """Find the order that a bill belongs to."""
    return ORDERS.find(ctx, "purchase_order.id = :id", id=order) if order else None
