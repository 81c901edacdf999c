"""Computes the material of jobs from an order and its bills: what was received and what was billed; pure.

Each line of an order gets a row for the goods that were received and not billed yet, at the order's price. Each line of
a bill gets a row for the goods that it bills, which replaces the row of the received goods. A row that is on an invoice
does not change: a bill for the same goods then only adds the difference in cost. Goods that went back to the supplier
after they were billed get a row of their own: they cost what was billed until the supplier credits them, and no
customer is billed for them.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mainstay.business.lines.model import Line
from mainstay.business.purchasing.lines import OrderLine, quantity_message, read_bill_lines
from mainstay.business.purchasing.model import Order
from mainstay.values.message import Message
from mainstay.values.money import CURRENCIES, minor_to_price, parse_price
from mainstay.values.totals import Charge, Rate, round_fraction
from mainstay.vocabulary.refusal import Reason

UNTAXED = Rate("", ())
# The kind of the rows for goods that went back after they were billed.
RETURNED = "returned"


class BillWithLines(NamedTuple):
    """A bill with its lines; a void bill does not count."""

    id: str
    job: str | None
    on: str
    currency: str
    lines: list[dict[str, Any]]
    is_counted: bool


class MaterialRow(NamedTuple):
    """A stored row of material."""

    id: str
    line: str
    kind: str
    quantity: int
    cost: int
    billed: bool


class WantedMaterial(NamedTuple):
    """A row of material that should be stored: a quantity of a line, and what it costs."""

    kind: str
    document: str
    job: str
    on: str
    line: Line
    quantity: int
    cost: int


@dataclass
class _InvoicedQuantity:
    """The quantity of a line that is on invoices, and its cost. A bill for the same goods uses it up."""

    quantity: int = 0
    cost: int = 0

    def cover(self, quantity: int) -> tuple[int, int]:
        """Use up to this quantity of it; return what was used, with its share of the cost."""
        taken = min(quantity, self.quantity)
        cost = round_fraction(self.cost * taken, self.quantity) if taken else 0
        self.quantity, self.cost = self.quantity - taken, self.cost - cost
        return taken, cost


class GoodsMovement(NamedTuple):
    """The quantities of an order line that were received, taken back, billed and credited, each on its own."""

    received: int
    taken_back: int
    billed: int
    credited: int

    @property
    def returned(self) -> int:
        """The quantity that went back by the receipts or by credit notes, which often mean the same goods."""
        # Goods that are billed but not received may still come. A negative receipt then only corrects an earlier one.
        still_to_come = max(self.billed - self.received, 0)
        return max(self.taken_back - still_to_come, self.credited)

    @property
    def returned_unbilled(self) -> int:
        """The part of the returned quantity that the supplier had not billed."""
        return min(self.returned - self.credited, max(self.received - self.billed, 0))

    @property
    def remaining(self) -> int:
        """The quantity that stays for the customer."""
        return max(self.received, self.billed) - self.returned


def compute_materials(
    order: Order | None, bills: Sequence[BillWithLines], invoiced_rows: Sequence[MaterialRow]
) -> Iterator[WantedMaterial]:
    """Compute the rows of material that should be stored besides those that are on invoices."""
    invoiced_as_received: defaultdict[str, _InvoicedQuantity] = defaultdict(_InvoicedQuantity)
    invoiced_as_billed: defaultdict[str, _InvoicedQuantity] = defaultdict(_InvoicedQuantity)
    for row in invoiced_rows:
        quantities = invoiced_as_received if row.kind == "orderLine" else invoiced_as_billed
        quantities[row.line].quantity += row.quantity
        quantities[row.line].cost += row.cost
    movements = _count_movements(order, bills) if order else {}
    returned = Counter({line: one.returned - one.returned_unbilled for line, one in movements.items()})
    for bill in bills:
        yield from _compute_bill_materials(bill, invoiced_as_billed, invoiced_as_received, returned)
    if order:
        yield from _compute_order_materials(order, movements, invoiced_as_received)


def reasons_against_return(
    order: Order, lines: Collection[str], bills: Sequence[BillWithLines], invoiced_rows: Sequence[MaterialRow]
) -> list[Reason]:
    """Return the reasons why these lines cannot be taken back: more is on invoices than would remain."""
    bill_for = {
        bill_line.line.id: bill_line.order_line_id for bill in bills for bill_line in read_bill_lines(bill.lines)
    }
    as_received, invoiced = Counter[str](), Counter[str]()
    for row in invoiced_rows:
        invoiced[bill_for.get(row.line) or row.line] += row.quantity
        if row.kind == "orderLine":
            as_received[row.line] += row.quantity
    goods = {order_line.line.id: order_line for order_line in order.order_lines if order_line.line.id in lines}
    movements = _count_movements(order, [bill for bill in bills if bill.is_counted])
    return [
        Reason(
            Message(
                "{quantity} of {item} is on an invoice. Void or credit that invoice first.",
                item=order_line.line.description.splitlines()[0],
                quantity=quantity_message(invoiced[record_id], order_line.line.unit),
            )
        )
        for record_id, order_line in goods.items()
        if order_line.received < as_received[record_id] or movements[record_id].remaining < invoiced[record_id]
    ]


def _count_movements(order: Order, bills: Sequence[BillWithLines]) -> dict[str, GoodsMovement]:
    billed, credited = Counter[str](), Counter[str]()
    for bill in bills:
        for bill_line in read_bill_lines(bill.lines):
            quantities = billed if bill_line.line.quantity > 0 else credited
            quantities[bill_line.order_line_id or ""] += abs(bill_line.line.quantity)
    received, taken_back = Counter[str](), Counter[str]()
    for receipt in order.receipts:
        for line in receipt["lines"]:
            quantity = parse_price(line["quantity"])
            (received if quantity > 0 else taken_back)[line["lineId"]] += abs(quantity)
    return {
        line_id: GoodsMovement(
            received[line_id], taken_back[line_id], billed[line_id], min(credited[line_id], billed[line_id])
        )
        for line_id in (one.line.id for one in order.order_lines if one.is_counted)
    }


def _compute_bill_materials(
    bill: BillWithLines,
    invoiced_as_billed: Mapping[str, _InvoicedQuantity],
    invoiced_as_received: Mapping[str, _InvoicedQuantity],
    returned: Counter[str],
) -> Iterator[WantedMaterial]:
    """Compute the rows of a bill; subtract from `returned` what its lines account for."""
    for bill_line in read_bill_lines(bill.lines):
        line, goods = bill_line.line, bill_line.order_line_id or ""
        already_invoiced = invoiced_as_billed[line.id]
        uninvoiced = line.quantity - already_invoiced.quantity
        covered, cost = invoiced_as_received[goods].cover(max(uninvoiced, 0))
        quantity, cost = (
            uninvoiced - covered,
            _compute_cost(line, line.quantity, bill.currency) - already_invoiced.cost - cost,
        )
        returned_quantity = min(returned[goods], max(quantity, 0))
        returned[goods] -= returned_quantity
        returned_cost = round_fraction(cost * returned_quantity, quantity) if returned_quantity else 0
        if bill.job and returned_quantity:
            yield WantedMaterial(RETURNED, bill.id, bill.job, bill.on, line, returned_quantity, returned_cost)
        rest = quantity - returned_quantity, cost - returned_cost
        if bill.job and any(rest):
            yield WantedMaterial("billLine", bill.id, bill.job, bill.on, line, *rest)


def _compute_order_materials(
    order: Order, movements: Mapping[str, GoodsMovement], invoiced_as_received: Mapping[str, _InvoicedQuantity]
) -> Iterator[WantedMaterial]:
    for goods in order.order_lines:
        if not (order.job_id and goods.is_counted):
            continue
        movement = movements[goods.line.id]
        quantity = (
            max(movement.received - movement.billed, 0)
            - movement.returned_unbilled
            - invoiced_as_received[goods.line.id].quantity
        )
        if quantity > 0:
            cost = _compute_cost(goods.line, quantity, order.currency)
            yield WantedMaterial(
                "orderLine", order.id, order.job_id, _last_received_on(order, goods), goods.line, quantity, cost
            )


def _last_received_on(order: Order, goods: OrderLine) -> str:
    """Return the date of the last receipt with this line."""
    return max(
        str(receipt["on"]) for receipt in order.receipts for line in receipt["lines"] if line["lineId"] == goods.line.id
    )


def _compute_cost(line: Line, quantity: int, currency: str) -> int:
    """Return what a quantity of a line costs, in ten-thousandths, rounded as on a bill."""
    decimals = CURRENCIES[currency]
    charge = Charge(quantity, line.unit_price, UNTAXED, line.discount_percent)
    return minor_to_price(charge.calculate_amount(decimals), currency)
