"""What was bought for jobs by an order and its bills: reckoned from what came and what was billed; pure.

Of each line of an order there is a row for what was received and not billed yet, at the price of the order; of each
line of a bill one for what was billed, which takes the place of what was received. What is on an invoice stays as it
is: then a bill for the same goods adds only what it costs more or less. Of goods that went back to the supplier after
they were billed there is a row of their own: they cost what they were billed at until the supplier credits them, and no
customer is billed for them.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mainstay.business.lines.model import Line
from mainstay.business.purchasing.lines import OrderLine, quantity_text, read_bill_lines
from mainstay.business.purchasing.model import Order
from mainstay.terms.refusal import Reason
from mainstay.values.money import CURRENCIES, in_parts, parse_price
from mainstay.values.totals import Charge, Rate, rounded

UNTAXED = Rate("", ())
# The kind of row for goods that were billed and went back.
RETURNED = "returned"


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
    """What of a line is on invoices, and so has its cost already; what is there as received, a bill covers."""

    quantity: int = 0
    cost: int = 0

    def cover(self, quantity: int) -> tuple[int, int]:
        """Take so many out of it, with their share of the cost; as many as there are."""
        taken = min(quantity, self.quantity)
        cost = rounded(self.cost * taken, self.quantity) if taken else 0
        self.quantity, self.cost = self.quantity - taken, self.cost - cost
        return taken, cost


class Movement(NamedTuple):
    """How many of a line of an order came and went, each counted by itself, and were billed and credited."""

    came: int
    went: int
    billed: int
    credited: int

    @property
    def returned(self) -> int:
        """How many went back, as the receipts say or a credit note; often both mean the same goods."""
        # What was billed before it came may still come: then a receipt below zero only corrects what was counted.
        still_to_come = max(self.billed - self.came, 0)
        return max(self.went - still_to_come, self.credited)

    @property
    def returned_unbilled(self) -> int:
        """How many of those the supplier had not billed."""
        return min(self.returned - self.credited, max(self.came - self.billed, 0))

    @property
    def left(self) -> int:
        """How many are for the customer."""
        return max(self.came, self.billed) - self.returned


def bought(order: Order | None, bills: Sequence[Billed], frozen: Sequence[Row]) -> Iterator[Bought]:
    """The rows there should be, beside those that are on invoices."""
    invoiced: defaultdict[str, _Invoiced] = defaultdict(_Invoiced)
    own: defaultdict[str, _Invoiced] = defaultdict(_Invoiced)
    for row in frozen:
        of = invoiced if row.kind == "orderLine" else own
        of[row.line].quantity += row.quantity
        of[row.line].cost += row.cost
    movements = _movements(order, bills) if order else {}
    returned = Counter({line: one.returned - one.returned_unbilled for line, one in movements.items()})
    for bill in bills:
        yield from _of_bill(bill, own, invoiced, returned)
    if order:
        yield from _of_order(order, movements, invoiced)


def not_taken_back(
    order: Order, lines: Collection[str], bills: Sequence[Billed], frozen: Sequence[Row]
) -> list[Reason]:
    """Why not as many of these lines can go back: more of them are on invoices than would be left."""
    bill_for = {one.line.id: one.order_line_id for bill in bills for one in read_bill_lines(bill.lines)}
    as_received, invoiced = Counter[str](), Counter[str]()
    for row in frozen:
        invoiced[bill_for.get(row.line) or row.line] += row.quantity
        if row.kind == "orderLine":
            as_received[row.line] += row.quantity
    goods = {one.line.id: one for one in order.order_lines if one.line.id in lines}
    movements = _movements(order, [bill for bill in bills if bill.counts])
    return [
        Reason(
            f"{quantity_text(invoiced[identity], one.line.unit)} of {one.line.description.splitlines()[0]}"
            " are on an invoice. Void or credit that invoice first."
        )
        for identity, one in goods.items()
        if one.received < as_received[identity] or movements[identity].left < invoiced[identity]
    ]


def _movements(order: Order, bills: Sequence[Billed]) -> dict[str, Movement]:
    billed, credited = Counter[str](), Counter[str]()
    for bill in bills:
        for one in read_bill_lines(bill.lines):
            counted = billed if one.line.quantity > 0 else credited
            counted[one.order_line_id or ""] += abs(one.line.quantity)
    came, went = Counter[str](), Counter[str]()
    for receipt in order.receipts:
        for line in receipt["lines"]:
            quantity = parse_price(line["quantity"])
            (came if quantity > 0 else went)[line["lineId"]] += abs(quantity)
    return {
        of: Movement(came[of], went[of], billed[of], min(credited[of], billed[of]))
        for of in (one.line.id for one in order.order_lines if one.counts)
    }


def _of_bill(
    bill: Billed, own: Mapping[str, _Invoiced], invoiced: Mapping[str, _Invoiced], returned: Counter[str]
) -> Iterator[Bought]:
    """The rows of a bill; what went back is taken off `returned` as it is found on lines."""
    for one in read_bill_lines(bill.lines):
        line, frozen, goods = one.line, own[one.line.id], one.order_line_id or ""
        open_ = line.quantity - frozen.quantity
        taken, cost = invoiced[goods].cover(max(open_, 0))
        quantity, cost = open_ - taken, _cost(line, line.quantity, bill.currency) - frozen.cost - cost
        back = min(returned[goods], max(quantity, 0))
        returned[goods] -= back
        cost_of_back = rounded(cost * back, quantity) if back else 0
        if bill.job and back:
            yield Bought(RETURNED, bill.id, bill.job, bill.on, line, back, cost_of_back)
        left = quantity - back, cost - cost_of_back
        if bill.job and any(left):
            yield Bought("billLine", bill.id, bill.job, bill.on, line, *left)


def _of_order(order: Order, movements: Mapping[str, Movement], invoiced: Mapping[str, _Invoiced]) -> Iterator[Bought]:
    for goods in order.order_lines:
        if not (order.job_id and goods.counts):
            continue
        moved = movements[goods.line.id]
        quantity = max(moved.came - moved.billed, 0) - moved.returned_unbilled - invoiced[goods.line.id].quantity
        if quantity > 0:
            cost = _cost(goods.line, quantity, order.currency)
            yield Bought("orderLine", order.id, order.job_id, _came_on(order, goods), goods.line, quantity, cost)


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
