"""What was bought for jobs by an order and its bills: reckoned from what came and what was billed; pure.

Of each line of an order there is a row for what was received and not billed yet, at the price of the order; of each
line of a bill one for what was billed, which takes the place of what was received. What is on an invoice stays as it
is: then a bill for the same goods adds only what it costs more or less.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mainstay.business.lines.model import Line
from mainstay.business.purchasing.lines import OrderLine, quantity_text, read_bill_lines
from mainstay.business.purchasing.model import Order
from mainstay.terms.refusal import Reason, refuse
from mainstay.values.money import CURRENCIES, in_parts
from mainstay.values.totals import Charge, Rate, rounded

UNTAXED = Rate("", ())


class Billed(NamedTuple):
    """A bill, and whether it counts: one that is void does not."""

    id: str
    job: str | None
    on: str
    currency: str
    lines: list[dict[str, Any]]
    counts: bool


class Row(NamedTuple):
    """A row that is there."""

    id: str
    line: str
    kind: str
    quantity: int
    cost: int
    billed: bool


class Bought(NamedTuple):
    """A row that should be there: so many of a line, at what they cost."""

    kind: str
    document: str
    job: str
    on: str
    line: Line
    quantity: int
    cost: int


@dataclass
class _Invoiced:
    """What of a line of an order is on invoices as received, and so has its cost already; a bill covers it."""

    quantity: int = 0
    cost: int = 0

    def cover(self, quantity: int) -> tuple[int, int]:
        """Take so many out of it, with their share of the cost; as many as there are."""
        taken = min(quantity, self.quantity)
        cost = rounded(self.cost * taken, self.quantity) if taken else 0
        self.quantity, self.cost = self.quantity - taken, self.cost - cost
        return taken, cost


def bought(order: Order | None, bills: Sequence[Billed], frozen: Sequence[Row]) -> Iterator[Bought]:
    """The rows there should be, beside those that are on invoices."""
    invoiced: defaultdict[str, _Invoiced] = defaultdict(_Invoiced)
    for row in frozen:
        if row.kind == "orderLine":
            invoiced[row.line].quantity += row.quantity
            invoiced[row.line].cost += row.cost
    if order:
        _check_received(order, invoiced)
    of_bills = {row.line: row.quantity for row in frozen if row.kind == "billLine"}
    for bill in bills:
        yield from _of_bill(bill, of_bills, invoiced)
    if order:
        yield from _of_order(order, invoiced)


def _of_bill(bill: Billed, frozen: Mapping[str, int], invoiced: Mapping[str, _Invoiced]) -> Iterator[Bought]:
    for one in read_bill_lines(bill.lines):
        line, covered = one.line, invoiced[one.order_line_id or ""]
        if line.id in frozen:
            covered.cover(line.quantity - frozen[line.id])
            continue
        taken, cost = covered.cover(max(line.quantity, 0))
        left = line.quantity - taken, _cost(line, line.quantity, bill.currency) - cost
        if bill.job and any(left):
            yield Bought("billLine", bill.id, bill.job, bill.on, line, *left)


def _of_order(order: Order, invoiced: Mapping[str, _Invoiced]) -> Iterator[Bought]:
    for goods in order.order_lines:
        quantity = goods.received - goods.billed - invoiced[goods.line.id].quantity
        if order.job_id and goods.counts and quantity > 0:
            cost = _cost(goods.line, quantity, order.currency)
            yield Bought("orderLine", order.id, order.job_id, _came_on(order, goods), goods.line, quantity, cost)


def _check_received(order: Order, invoiced: Mapping[str, _Invoiced]) -> None:
    """Refuse to take back what is on an invoice."""
    refuse(
        [
            Reason(
                f"{quantity_text(invoiced[one.line.id].quantity, one.line.unit)} of"
                f" {one.line.description.splitlines()[0]} are on an invoice. Void or credit that invoice first."
            )
            for one in order.order_lines
            if one.line.id in invoiced and one.received < invoiced[one.line.id].quantity
        ]
    )


def _came_on(order: Order, goods: OrderLine) -> str:
    """When some of a line came last."""
    return max(
        str(receipt["on"]) for receipt in order.receipts for line in receipt["lines"] if line["lineId"] == goods.line.id
    )


def _cost(line: Line, quantity: int, currency: str) -> int:
    """What so many of a line cost, in ten-thousandths, rounded as on a bill."""
    decimals = CURRENCIES[currency]
    charge = Charge(quantity, line.unit_price, UNTAXED, line.discount_percent)
    return in_parts(charge.amount(decimals), currency)
