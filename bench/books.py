"""The money of a firm: invoices, what was paid, suppliers and orders, as many as asked for, written in bulk.

What the lines of each come to is reckoned by the product; a few kinds of documents are taken by turns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import Any, NamedTuple

from bench.bulk import Bulk

from mainstay.business.invoices.payment import PAYMENTS
from mainstay.business.invoices.store import INVOICES
from mainstay.business.lines.edits import NewLine, made
from mainstay.business.lines.model import Terms
from mainstay.business.lines.pricing import PriceBook, drawn
from mainstay.business.organisation import numbering
from mainstay.business.pricelist.store import SUPPLIERS
from mainstay.business.purchasing.asked import CostBook, NewOrderLine
from mainstay.business.purchasing.asked import drawn as drawn_order
from mainstay.business.purchasing.lines import order_columns
from mainstay.business.purchasing.store import ORDERS
from mainstay.kernel.context import Context
from mainstay.terms.keeping import stored
from mainstay.values.money import amount_text
from mainstay.values.totals import Discount

CURRENCY = "GBP"
TAXES: dict[str, Any] = {
    "name": "VAT 20 %",
    "components": [{"name": "VAT", "percent": "20"}],
    "isDefault": True,
}
_SUPPLIERS = 30
_KINDS = 7
_LINES = 3
_TO_PAY = timedelta(days=14)
# Of fifty invoices and orders so many are at each state: even in a small firm, as many as a list counts. Of the orders,
# someone with two fifths of the jobs sees as many: there are never fewer than it takes.
_INVOICES = {"draft": 6, "sent": 7, "overdue": 7, "partPaid": 6, "paid": 12, "credited": 6, "void": 6}
_ORDERS = {
    "draft": 6,
    "sent": 6,
    "partReceived": 6,
    "received": 6,
    "partBilled": 6,
    "billed": 8,
    "closed": 6,
    "cancelled": 6,
}
_FEWEST_ORDERS = 2_500
_METHODS = ("bank", "bank", "bank", "card", "cash", "cheque", "other")
_KINDS_OF_INVOICE = ("standard", "standard", "standard", "deposit", "progress", "final")
_A_YEAR = 364


class Billed(NamedTuple):
    """For whom an invoice or an order is, and for what job."""

    customer: str
    customer_name: str
    job: str
    job_title: str


class Shapes(NamedTuple):
    """What follows from the lines of a few invoices and orders."""

    invoices: Sequence[Mapping[str, Any]]
    orders: Sequence[Mapping[str, Any]]


def shapes(ctx: Context) -> Shapes:
    """Reckon them, for an organisation that has its taxes."""
    terms = Terms(CURRENCY, inclusive=False, discount=Discount())
    invoices, orders = [], []
    for kind in range(_KINDS):
        sent = [
            {"description": f"Work of the day {line}", "unit": "h", "unitPrice": f"{45 + 10 * kind + line}.50"}
            for line in range(_LINES)
        ]
        sold = made([NewLine.model_validate(line) for line in sent], PriceBook(ctx, inclusive=False))
        bought = made([NewOrderLine.model_validate(line) for line in sent], CostBook(ctx))
        invoices.append(_stored(drawn(ctx, sold, terms)))
        orders.append(_stored(order_columns(drawn_order(ctx, bought, CURRENCY))))
    return Shapes(invoices, orders)


def _stored(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Written out once for all that have them."""
    return {name: stored(value) for name, value in columns.items()}


@dataclass
class Books:
    """Documents of one firm, all of them for these jobs, by turns."""

    bulk: Bulk
    size: int
    today: date
    jobs: Sequence[Billed]
    shapes: Shapes
    suppliers: list[tuple[str, str]] = field(default_factory=list)
    _numbers: int = 0

    def make(self) -> None:
        """Write them."""
        self.suppliers = [self._supplier(number) for number in range(_SUPPLIERS)]
        invoices, orders = _mixed(_INVOICES, self.size), _mixed(_ORDERS, self.orders)
        for number in range(self.size):
            self._invoice(number, invoices[number], self.jobs[number % len(self.jobs)])
        for number in range(self.orders):
            self._order(number, orders[number], self.jobs[number % len(self.jobs)])

    @property
    def orders(self) -> int:
        """How many."""
        return max(self.size, _FEWEST_ORDERS)

    def finish(self, ctx: Context) -> None:
        """Let numbers go on behind those that were given."""
        for kind, given in (("invoice", self._numbers), ("purchaseOrder", self.orders)):
            numbering.save(ctx, kind, numbering.USUAL[kind]._replace(next=given + 1))

    def _supplier(self, number: int) -> tuple[str, str]:
        name = f"Pennine Supplies {number}"
        about = {"name": name, "email": f"sales@pennine-{number}.example", "phone": f"+44 1484 {number:06}"}
        return self.bulk.record(SUPPLIERS, about | {"account_number": f"A{number}", "status": "active"}), name

    def _invoice(self, number: int, state: str, billed: Billed) -> None:
        shape = self.shapes.invoices[number % _KINDS]
        total = int(shape["total"])
        paid = total if state == "paid" else total // 2 if state == "partPaid" else 0
        credited = total if state == "credited" else 0
        about = {
            "kind": _KINDS_OF_INVOICE[number % len(_KINDS_OF_INVOICE)],
            "customer_id": billed.customer,
            "job_id": billed.job,
            "title": billed.job_title,
            "currency": CURRENCY,
            "prices_include_tax": False,
            "status": state if state in {"draft", "void"} else "issued",
            "standing": "sent" if state == "overdue" else state,
            "owing": state in {"sent", "overdue", "partPaid"},
            "paid": paid,
            "credited": credited,
            "void_reason": "It was for another customer." if state == "void" else None,
            **shape,
            "due": total - paid - credited,
            **self._dates(number, state),
        }
        invoice = self.bulk.record(INVOICES, about, customer_name=billed.customer_name)
        self._payment(number, about, invoice, billed)

    def _dates(self, number: int, state: str) -> dict[str, Any]:
        """When it was issued and is due, and its number; a draft has none of it."""
        if state == "draft":
            names = ("number", "issued_on", "due_on", "overdue_at", "sent_at", "voided_at", "voided_on")
            return {**dict.fromkeys(names), "told_overdue": False}
        self._numbers += 1
        in_time = state in {"sent", "partPaid"}
        ago = number % 10 if in_time else 20 + number * 11 % (_A_YEAR - 20)
        issued = self.today - timedelta(days=ago)
        moment = f"{issued}T09:00:00.000Z"
        return {
            "number": numbering.USUAL["invoice"]._replace(next=self._numbers).number(),
            "issued_on": issued.isoformat(),
            "due_on": (issued + _TO_PAY).isoformat(),
            "overdue_at": f"{issued + _TO_PAY + timedelta(days=1)}T00:00:00.000Z",
            "sent_at": moment,
            "voided_at": moment if state == "void" else None,
            "voided_on": issued.isoformat() if state == "void" else None,
            # People were told long ago.
            "told_overdue": not in_time,
        }

    def _payment(self, number: int, invoice: Mapping[str, Any], identity: str, billed: Billed) -> None:
        """One for each invoice: for it as far as it is paid, else on account or reversed."""
        allocated = int(invoice["paid"])
        amount = allocated or int(invoice["total"])
        on_account = not allocated and number % 3 == 0
        share = {
            "invoiceId": identity,
            "invoiceNumber": invoice["number"],
            "amount": amount_text(amount, CURRENCY),
        }
        on = (self.today - timedelta(days=number * 11 % _A_YEAR)).isoformat()
        is_reversed = not allocated and not on_account
        about = {
            "customer_id": billed.customer,
            "on_date": on,
            "currency": CURRENCY,
            "amount": amount,
            "method": _METHODS[number % len(_METHODS)],
            "reference": invoice["number"],
            "allocations": [share] if allocated else [],
            "unallocated": 0 if allocated else amount,
            "status": "reversed" if is_reversed else "recorded",
            "reversed_at": f"{on}T09:00:00.000Z" if is_reversed else None,
            "reversed_on": on if is_reversed else None,
        }
        payment = self.bulk.record(PAYMENTS, about, customer_name=billed.customer_name)
        if allocated:
            self.bulk.row("allocation", {"payment_id": payment, "invoice_id": identity, "amount": amount})

    def _order(self, number: int, state: str, billed: Billed) -> None:
        supplier, name = self.suppliers[number % _SUPPLIERS]
        issued = self.today - timedelta(days=number * 11 % _A_YEAR)
        about = {
            "number": numbering.USUAL["purchaseOrder"]._replace(next=number + 1).number(),
            "supplier_id": supplier,
            "job_id": billed.job,
            "deliver_to": "office",
            "needed_on": None if number % 9 == 0 else (issued + _TO_PAY).isoformat(),
            "issued_on": None if state == "draft" else issued.isoformat(),
            "currency": CURRENCY,
            "status": state if state in {"draft", "closed", "cancelled"} else "sent",
            "standing": state,
            **self.shapes.orders[number % _KINDS],
        }
        self.bulk.record(ORDERS, about, supplier_name=name, job_title=billed.job_title)


def _mixed(counts: Mapping[str, int], size: int) -> list[str]:
    """Each state as often as it counts, in no order that has to do with the jobs."""
    told = [state for state, count in counts.items() for _ in range(count)] * -(-size // 50)
    Random(2026).shuffle(told)
    return told
