"""What the firm of the demo bought: a year of orders and bills, the last of them in every state."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from mainstay.business.jobs.operations import list_jobs
from mainstay.business.pricelist.operations import list_price_items
from mainstay.business.purchasing.bills import record_bill, update_bill, void_bill
from mainstay.business.purchasing.ending import cancel_purchase_order, close_purchase_order
from mainstay.business.purchasing.operations import draft_purchase_order
from mainstay.business.purchasing.receiving import receive_goods
from mainstay.business.purchasing.sending import send_purchase_order
from mainstay.doors.cli.operator import Operator
from mainstay.doors.cli.telling import Outcome
from mainstay.kernel.operation import Operation
from mainstay.terms.actor import Actor

# How far each went, the oldest first: what is long past was nearly always paid, and of late there is one of each.
_PAST = ("pay", "pay", "pay", "pay", "cancel", "pay", "pay", "close", "pay", "void")
_OF_LATE = ("receive part", "approve", "bill part", "receive", "bill", "send", "receive", "approve", "send", "draft")
_ORDERS, _LATELY = 30, 20
_YEAR = 360
# What is done by each word, in its order; each goes on from the one before it.
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
    "approve": ("send", "receive", "bill", "approved"),
    "pay": ("send", "receive", "bill", "approved", "paid"),
}


def furnish(operator: Operator, desk: Actor, zone: str, today: date) -> None:
    """Put all of it there, as the office would have done it day by day."""
    jobs = operator.perform(list_jobs, desk, status="live", limit=100)["data"]
    items = operator.perform(list_price_items, desk, kind="material", limit=100)["data"]
    chance = Random(31)
    for number in range(_ORDERS):
        late = number >= _LATELY
        ends = _OF_LATE[number % len(_OF_LATE)] if late else _PAST[number % len(_PAST)]
        day = today - timedelta(days=max(_YEAR - number * _YEAR // _ORDERS, len(_STEPS[ends]) * 2))
        for_job = {"jobId": jobs[number % len(jobs)]["id"]} if late and jobs else {}
        Purchase(operator, desk, zone, day, number).go(_choice(chance, items) | for_job, _STEPS[ends])


@dataclass
class Purchase:
    """One order and what became of it, each step two days after the one before."""

    operator: Operator
    desk: Actor
    zone: str
    day: date
    number: int

    def go(self, ordered: dict[str, Any], steps: Sequence[str]) -> None:
        """Order it, and go these steps."""
        order = self._do(draft_purchase_order, **ordered)
        about, bill = {"purchaseOrderId": order["id"]}, ""
        for step in steps:
            self.day += timedelta(days=2)
            verb, _, part = step.partition(" ")
            if verb == "send":
                self._do(send_purchase_order, **about, deliver="none", confirmed=True)
            elif verb == "receive":
                lines = [{"lineId": one["lineId"], "quantity": _some(one, part)} for one in order["goods"]]
                self._do(receive_goods, **about, lines=lines, slip=f"LS {7400 + self.number}")
            elif verb == "bill":
                bill = self._bill(order, part)
            elif verb in {"approved", "paid"}:
                self._do(update_bill, billId=bill, status=verb)
            else:
                operation, named = _ENDS[verb]
                self._do(operation, **(about if named == "order" else {"billId": bill}), reason=_WHY, confirmed=True)

    def _bill(self, order: Outcome, part: str) -> str:
        lines = order["lines"][:1] if part else order["lines"]
        total = sum((Decimal(line["amount"]) for line in lines), Decimal(0)) * Decimal("1.2")
        told = {
            "supplierNumber": f"{self.day.year}-{4100 + self.number}",
            "on": self.day.isoformat(),
            "total": str(total.quantize(Decimal("0.01"))),
            "lines": [{"orderLineId": line["id"]} for line in lines],
        }
        return str(self._do(record_bill, purchaseOrderId=order["id"], **told)["id"])

    def _do(self, operation: Operation, **given: object) -> Outcome:
        moment = datetime.combine(self.day, time(9, self.number % 60), ZoneInfo(self.zone)).astimezone(UTC)
        stage = replace(self.operator.stage, clock=lambda: moment)
        return replace(self.operator, stage=stage).perform(operation, self.desk, **given)


_ENDS: dict[str, tuple[Operation, str]] = {
    "close": (close_purchase_order, "order"),
    "cancel": (cancel_purchase_order, "order"),
    "void": (void_bill, "bill"),
}
_WHY = "They have no more of it."


def _choice(chance: Random, items: Sequence[Outcome]) -> dict[str, Any]:
    """Some things that one supplier has, all at the usual tax."""
    usual = [item for item in items if item["supplierId"] and not item["taxRateId"]]
    supplier = chance.choice(usual)["supplierId"]
    theirs = [item for item in usual if item["supplierId"] == supplier]
    chosen = chance.sample(theirs, min(len(theirs), chance.randrange(2, 5)))
    lines = [{"itemId": item["id"], "quantity": str(2 * chance.randrange(1, 11))} for item in chosen]
    return {"supplierId": supplier, "lines": lines}


def _some(goods: Outcome, part: str) -> str:
    """All of a line, or half of it: there is an even number of each."""
    return str(Decimal(goods["quantity"]) / (2 if part else 1))
