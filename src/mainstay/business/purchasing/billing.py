"""What a bill is made of: lines by themselves or of an order, what they come to, and what that means for the order."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from mainstay.business.lines.edits import EditFields, LineFields
from mainstay.business.lines.model import Line
from mainstay.business.purchasing import materials, store
from mainstay.business.purchasing.asked import CostBook, drawn
from mainstay.business.purchasing.lines import BillLine, OrderLine, bill_columns, quantity_text
from mainstay.business.purchasing.model import Bill, Order
from mainstay.business.purchasing.store import BILLS, ORDERS
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Conflict, Fault, Invalid, Reason, refuse
from mainstay.values.money import amount_text, in_minor

_OF_ORDER = Field(
    None,
    description="The line of the order that it bills: fills in the rest. A negative quantity credits what went back.",
)


class NewBillLine(LineFields):
    """A line of a new bill; its price is before tax."""

    order_line_id: str | None = _OF_ORDER


class BillLineEdit(EditFields):
    """One change of the lines."""

    order_line_id: str | None = _OF_ORDER


class BillBook(CostBook):
    """Makes lines of bills: of what was ordered, of the price list, or of what was sent."""

    def __init__(self, ctx: Context, order: Order | None, billed: Mapping[str, int]) -> None:
        super().__init__(ctx)
        goods = [one for one in order.order_lines if one.counts] if order else []
        # What of each line of the order other bills bill.
        self.goods = {one.line.id: replace(one, billed=billed.get(one.line.id, 0)) for one in goods}
        # What each line that was made bills, by its id.
        self.bills: dict[str, str | None] = {}

    def line(self, sent: dict[str, Any], at: str) -> Line:
        """A new line of what was sent, at this place of the input."""
        named = sent.get("order_line_id")
        sent = {name: value for name, value in sent.items() if name != "order_line_id"}
        made = super().line((self._of_order(named, at) if named else {}) | sent, at)
        if named and not sent.get("item_id"):
            made = replace(made, item_id=self.goods[named].line.item_id)
        self.bills[made.id] = named
        return made

    def check(self, sent: dict[str, Any], at: str) -> None:
        """Refuse what a line of a bill cannot have; less than none is credited."""
        if sent.get("kind", "item") != "item":
            raise Invalid([Fault(f"{at}.kind", "is not on bills: each line costs something")])
        super().check({name: value for name, value in sent.items() if name != "quantity"}, at)
        if sent.get("quantity") == 0:
            raise Invalid([Fault(f"{at}.quantity", "is 0")])

    def whole(self) -> list[NewBillLine]:
        """What bills all that is still to be billed of the order."""
        left = [identity for identity, one in self.goods.items() if one.unbilled]
        return [NewBillLine.model_validate({"orderLineId": identity}) for identity in left]

    def _of_order(self, identity: str, at: str) -> dict[str, Any]:
        if identity not in self.goods:
            known = ", ".join(self.goods) or "none"
            raise Invalid([Fault(f"{at}.orderLineId", f"is no line of the order; there are: {known}")])
        ordered = self.goods[identity]
        line = ordered.line
        return {
            "description": line.description,
            "quantity": ordered.unbilled or line.quantity,
            "unit": line.unit,
            "unit_price": line.unit_price,
            "discount_percent": line.discount_percent,
            "tax_rate_id": line.tax_rate_id,
        }


def reckon(ctx: Context, lines: Sequence[BillLine], currency: str, total: int) -> dict[str, Any]:
    """The columns that follow from the lines of a bill, if they come to what it says itself, told as a price."""
    if not lines:
        raise Invalid([Fault("lines", "is required: what it bills")])
    columns = bill_columns(drawn(ctx, [one.line for one in lines], currency), lines)
    comes_to = int(columns["total"])
    try:
        said = in_minor(total, currency)
    except ValueError as wrong:
        raise Invalid([Fault("total", str(wrong))]) from None
    if said != comes_to:
        net, tax, whole = (amount_text(int(columns[name]), currency) for name in ("net", "tax", "total"))
        told = f"the lines come to {net} and tax of {tax}, together {whole}"
        raise Invalid([Fault("total", f"is not that: {told}; correct them, or add a line for the difference")])
    return columns


def check_ordered(ctx: Context, lines: Sequence[BillLine], book: BillBook, *, allowed: bool) -> None:
    """Refuse to credit more than was billed; and to bill more than was ordered, unless someone has said it is right."""
    billed: Counter[str] = Counter()
    for place, one in enumerate(lines):
        if one.order_line_id is None:
            continue
        billed[one.order_line_id] += one.line.quantity
        ordered = book.goods[one.order_line_id]
        if one.line.quantity < 0 and ordered.billed + billed[one.order_line_id] < 0:
            told = f"credits more than was billed of it: {quantity_text(ordered.billed, ordered.line.unit)}"
            raise Invalid([Fault(f"lines.{place}.quantity", told)])
    over = [
        _told(ordered, billed[identity])
        for identity, ordered in book.goods.items()
        if billed[identity] > 0 and ordered.billed + billed[identity] > ordered.line.quantity
    ]
    if over and not allowed:
        refuse([Reason(f"{text} Correct it, or allow it (allowOverbilling).") for text in over])
    ctx.warnings += over


def _told(ordered: OrderLine, billed: int) -> str:
    line = ordered.line
    before = f", {quantity_text(ordered.billed, line.unit)} were billed before" if ordered.billed else ""
    return (
        f"{quantity_text(line.quantity, line.unit)} of {line.description.splitlines()[0]} were ordered{before}, and"
        f" this bills {quantity_text(billed, line.unit)}."
    )


def check_number(ctx: Context, supplier: str, number: str, but: str = "") -> None:
    """Refuse the number of a bill that is there already, and name that one."""
    known: Bill | None = BILLS.find(
        ctx,
        "bill.supplier_id = :supplier AND bill.number_folded = :number AND bill.status <> 'void' AND bill.id <> :but",
        supplier=supplier,
        number=store.folded_number(number),
        but=but,
    )
    if known:
        text = f"{known.called} of {known.on} over {known.total_text} is recorded already (billId {known.id})."
        raise Conflict(f"{text} Change that one, or look at the number again.")


def check_not_credited(ctx: Context, bill: Bill) -> None:
    """Refuse to void a bill if something on it is credited."""
    if bill.purchase_order_id is None:
        return
    billed = store.billed_of(ctx, bill.purchase_order_id, but=bill.id)
    if any(billed[one.order_line_id] < 0 for one in bill.bill_lines if one.order_line_id):
        refuse([Reason(f"What {bill.called} bills is credited by another bill. Void that one first.", "list_bills")])


def settle(ctx: Context, bill: Bill) -> None:
    """Let the order of a bill, and what was bought by it, follow from what it says now."""
    order = order_of(ctx, bill.purchase_order_id)
    if order:
        after = store.settle(ctx, order, {})
        credited = {one.order_line_id for one in bill.bill_lines if one.order_line_id and one.line.quantity < 0}
        if credited and bill.status != "void":
            materials.check_taken_back(ctx, after, credited)
        materials.settle_order(ctx, after)
    else:
        materials.settle_bill(ctx, bill.id)


def order_of(ctx: Context, order: str | None) -> Order | None:
    """The order that a bill is about."""
    return ORDERS.find(ctx, "purchase_order.id = :id", id=order) if order else None
