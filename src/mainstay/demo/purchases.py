"""The purchases of the demo: a year of orders and bills, the latest in every state."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from mainstay.business.jobs.operations import list_jobs
from mainstay.business.pricelist.operations import list_price_items
from mainstay.business.purchasing.bills import record_bill, update_bill, void_bill
from mainstay.business.purchasing.closing import cancel_purchase_order, close_purchase_order
from mainstay.business.purchasing.operations import draft_purchase_order
from mainstay.business.purchasing.receiving import receive_goods
from mainstay.business.purchasing.sending import send_purchase_order
from mainstay.demo.performing import DemoPerformer
from mainstay.kernel.operation import Operation
from mainstay.values.json_object import JsonObject
from mainstay.vocabulary.actor import Actor

# The last step of each order, the oldest first: nearly all old orders are paid; the recent ones end in every state.
_OLD_LAST_STEPS = ("pay", "pay", "pay", "pay", "cancel", "pay", "pay", "close", "pay", "void")
_RECENT_LAST_STEPS = (
    "receive part",
    "approve",
    "bill part",
    "receive",
    "bill",
    "send",
    "receive",
    "approve",
    "send",
    "draft",
)
_ORDER_COUNT, _OLD_ORDER_COUNT = 30, 20
# How many days ago the oldest order was drafted.
_MAX_AGE_DAYS = 360
_DAYS_PER_STEP = 2
# The steps of an order by its last one.
_STEPS: dict[str, tuple[str, ...]] = {
    "draft": (),
    "send": ("send",),
    "cancel": ("send", "cancel"),
    "receive part": ("send", "receive part"),
    "close": ("send", "receive part", "close"),
    "receive": ("send", "receive"),
    "bill part": ("send", "receive", "bill part"),
    "bill": ("send", "receive", "bill"),
    "void": ("send", "receive", "bill", "void"),
    "approve": ("send", "receive", "bill", "approve"),
    "pay": ("send", "receive", "bill", "approve", "pay"),
}
# The statuses of a bill after the steps that set them.
_BILL_STATUSES = {"approve": "approved", "pay": "paid"}
# The operations of the steps that end an order.
_CLOSING_OPERATIONS = {"close": close_purchase_order, "cancel": cancel_purchase_order}
_CLOSING_REASON = "They have no more of it."


def make_purchases(performer: DemoPerformer, office: Actor, zone: str, today: date) -> Iterator[int]:
    """Create all orders and bills as the office, dated over the past year; yield 0 jobs after each."""
    jobs = performer.perform(list_jobs, office, status="live", limit=100)["data"]
    items = performer.perform(list_price_items, office, kind="material", limit=100)["data"]
    rng = Random(31)
    for number in range(_ORDER_COUNT):
        is_recent = number >= _OLD_ORDER_COUNT
        last_steps = _RECENT_LAST_STEPS if is_recent else _OLD_LAST_STEPS
        steps = _STEPS[last_steps[number % len(last_steps)]]
        age_days = max(_MAX_AGE_DAYS - number * _MAX_AGE_DAYS // _ORDER_COUNT, len(steps) * _DAYS_PER_STEP)
        job_input = {"jobId": jobs[number % len(jobs)]["id"]} if is_recent and jobs else {}
        purchase = DemoPurchase(performer, office, zone, today - timedelta(days=age_days), number)
        purchase.carry_out(_choose_order_input(rng, items) | job_input, steps)
        yield 0


@dataclass
class DemoPurchase:
    """One order with its steps, each some days after the one before."""

    performer: DemoPerformer
    office: Actor
    zone: str
    # The day of the latest step.
    day: date
    # Its place among the orders; the numbers of its documents follow from it.
    number: int

    def carry_out(self, draft_input: dict[str, Any], steps: Sequence[str]) -> None:
        """Draft the order and carry out these steps."""
        order = self._perform(draft_purchase_order, **draft_input)
        order_input, bill_id = {"purchaseOrderId": order["id"]}, ""
        for step in steps:
            self.day += timedelta(days=_DAYS_PER_STEP)
            if step == "send":
                self._perform(send_purchase_order, **order_input, deliver="none", confirmed=True)
            elif step in {"receive", "receive part"}:
                self._receive_goods(order, is_partial=step == "receive part")
            elif step in {"bill", "bill part"}:
                bill_id = self._record_bill(order, is_partial=step == "bill part")
            elif step in _BILL_STATUSES:
                self._perform(update_bill, billId=bill_id, status=_BILL_STATUSES[step])
            elif step == "void":
                self._perform(void_bill, billId=bill_id, reason=_CLOSING_REASON, confirmed=True)
            else:
                self._perform(_CLOSING_OPERATIONS[step], **order_input, reason=_CLOSING_REASON, confirmed=True)

    def _receive_goods(self, order: JsonObject, *, is_partial: bool) -> None:
        """Receive all goods of an order, or half of each; the quantities are even, so half of one is a whole number."""
        lines = [
            {"lineId": line["lineId"], "quantity": str(Decimal(line["quantity"]) / (2 if is_partial else 1))}
            for line in order["goods"]
        ]
        slip = f"LS {7400 + self.number}"
        self._perform(receive_goods, purchaseOrderId=order["id"], lines=lines, slip=slip)

    def _record_bill(self, order: JsonObject, *, is_partial: bool) -> str:
        """Record a bill for all lines of an order, or for the first one, and return the bill's id."""
        lines = order["lines"][:1] if is_partial else order["lines"]
        total = sum((Decimal(line["amount"]) for line in lines), Decimal(0)) * Decimal("1.2")
        fields = {
            "supplierNumber": f"{self.day.year}-{4100 + self.number}",
            "on": self.day.isoformat(),
            "total": str(total.quantize(Decimal("0.01"))),
            "lines": [{"orderLineId": line["id"]} for line in lines],
        }
        return str(self._perform(record_bill, purchaseOrderId=order["id"], **fields)["id"])

    def _perform(self, operation: Operation, **given: object) -> JsonObject:
        moment = datetime.combine(self.day, time(9, self.number % 60), ZoneInfo(self.zone)).astimezone(UTC)
        return self.performer.perform_at(moment, operation, self.office, **given)


def _choose_order_input(rng: Random, items: Sequence[JsonObject]) -> dict[str, Any]:
    """Choose a supplier and some of its items, all at the default tax rate, and return them as input."""
    default_rated = [item for item in items if item["supplierId"] and not item["taxRateId"]]
    supplier = rng.choice(default_rated)["supplierId"]
    theirs = [item for item in default_rated if item["supplierId"] == supplier]
    chosen = rng.sample(theirs, min(len(theirs), rng.randrange(2, 5)))
    lines = [{"itemId": item["id"], "quantity": str(2 * rng.randrange(1, 11))} for item in chosen]
    return {"supplierId": supplier, "lines": lines}
