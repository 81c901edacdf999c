"""The money of a firm: invoices, what was paid, suppliers and orders, as many as asked for, written in bulk.

What the lines of each come to is reckoned by the product; a few kinds of documents are taken by turns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import Any, NamedTuple

from bench.bulk import BulkWriter

from mainstay.business.invoices.payments.payment import PAYMENTS
from mainstay.business.invoices.store import INVOICES
from mainstay.business.lines.edits import NewLine, make_lines
from mainstay.business.lines.model import PricingTerms
from mainstay.business.lines.pricing import PriceBook, compute_sales_columns
from mainstay.business.organisation import numbering
from mainstay.business.pricelist.store import SUPPLIERS
from mainstay.business.purchasing.inputs import CostBook, NewOrderLine
from mainstay.business.purchasing.inputs import price_purchase as drawn_order
from mainstay.business.purchasing.lines import order_columns
from mainstay.business.purchasing.store import ORDERS
from mainstay.kernel.context import Context
from mainstay.values.money import amount_text
from mainstay.values.totals import Discount
from mainstay.vocabulary.rows import to_stored

CURRENCY = "GBP"
TAX_RATE: dict[str, Any] = {
    "name": "VAT 20 %",
    "components": [{"name": "VAT", "percent": "20"}],
    "isDefault": True,
}
_SUPPLIER_COUNT = 30
_SHAPE_COUNT = 7
_LINES_EACH = 3
_PAYMENT_TERM = timedelta(days=14)
# Of fifty invoices and orders so many are at each state: even in a small firm, as many as a list counts. Of the orders,
# someone with two fifths of the jobs sees as many: there are never fewer than it takes.
_INVOICES_BY_STATE = {"draft": 6, "sent": 7, "overdue": 7, "partPaid": 6, "paid": 12, "credited": 6, "void": 6}
_ORDERS_BY_STATE = {
    "draft": 6,
    "sent": 6,
    "partReceived": 6,
    "received": 6,
    "partBilled": 6,
    "billed": 8,
    "closed": 6,
    "cancelled": 6,
}
_MIN_ORDERS = 2_500
_PAYMENT_METHODS = ("bank", "bank", "bank", "card", "cash", "cheque", "other")
_INVOICE_KINDS = ("standard", "standard", "standard", "deposit", "progress", "final")
_DAYS_OF_A_YEAR = 364


class BilledJob(NamedTuple):
    """For whom an invoice or an order is, and for what job."""

    customer: str
    customer_name: str
    job: str
    job_title: str


class DocumentShapes(NamedTuple):
    """The columns that follow from the lines of a few invoices and orders."""

    invoices: Sequence[Mapping[str, Any]]
    orders: Sequence[Mapping[str, Any]]


def make_shapes(ctx: Context) -> DocumentShapes:
    """Compute the columns of invoices and orders, for an organisation that has its tax rate."""
    terms = PricingTerms(CURRENCY, inclusive=False, discount=Discount())
    invoices, orders = [], []
    for kind in range(_SHAPE_COUNT):
        sent = [
            {"description": f"Work of the day {line}", "unit": "h", "unitPrice": f"{45 + 10 * kind + line}.50"}
            for line in range(_LINES_EACH)
        ]
        sales_lines = make_lines([NewLine.model_validate(line) for line in sent], PriceBook(ctx, inclusive=False))
        order_lines = make_lines([NewOrderLine.model_validate(line) for line in sent], CostBook(ctx))
        invoices.append(_to_stored(compute_sales_columns(ctx, sales_lines, terms)))
        orders.append(_to_stored(order_columns(drawn_order(ctx, order_lines, CURRENCY))))
    return DocumentShapes(invoices, orders)


def _to_stored(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Convert values for the database once for all rows that have them."""
    return {name: to_stored(value) for name, value in columns.items()}


@dataclass
class DocumentWriter:
    """Writes the documents of one firm, for these jobs by turns."""

    bulk: BulkWriter
    size: int
    today: date
    jobs: Sequence[BilledJob]
    shapes: DocumentShapes
    suppliers: list[tuple[str, str]] = field(default_factory=list)
    _last_number: int = 0

    def write_documents(self) -> None:
        """Write suppliers, invoices and orders."""
        self.suppliers = [self._write_supplier(number) for number in range(_SUPPLIER_COUNT)]
        invoices, orders = (
            _shuffle_states(_INVOICES_BY_STATE, self.size),
            _shuffle_states(_ORDERS_BY_STATE, self.order_count),
        )
        for number in range(self.size):
            self._write_invoice(number, invoices[number], self.jobs[number % len(self.jobs)])
        for number in range(self.order_count):
            self._write_order(number, orders[number], self.jobs[number % len(self.jobs)])

    @property
    def order_count(self) -> int:
        """How many."""
        return max(self.size, _MIN_ORDERS)

    def set_next_numbers(self, ctx: Context) -> None:
        """Have numbering go on after the numbers used here."""
        for kind, given in (("invoice", self._last_number), ("purchaseOrder", self.order_count)):
            numbering.save_series(ctx, kind, numbering.DEFAULT_SERIES[kind]._replace(next=given + 1))

    def _write_supplier(self, number: int) -> tuple[str, str]:
        name = f"Pennine Supplies {number}"
        about = {"name": name, "email": f"sales@pennine-{number}.example", "phone": f"+44 1484 {number:06}"}
        return self.bulk.add_record(SUPPLIERS, about | {"account_number": f"A{number}", "status": "active"}), name

    def _write_invoice(self, number: int, state: str, billed: BilledJob) -> None:
        shape = self.shapes.invoices[number % _SHAPE_COUNT]
        total = int(shape["total"])
        paid = total if state == "paid" else total // 2 if state == "partPaid" else 0
        credited = total if state == "credited" else 0
        about = {
            "kind": _INVOICE_KINDS[number % len(_INVOICE_KINDS)],
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
            **self._make_dates(number, state),
        }
        invoice = self.bulk.add_record(INVOICES, about, customer_name=billed.customer_name)
        self._write_payment(number, about, invoice, billed)

    def _make_dates(self, number: int, state: str) -> dict[str, Any]:
        """Return the number and the dates of an invoice; a draft has none."""
        if state == "draft":
            names = ("number", "issued_on", "due_on", "overdue_at", "sent_at", "voided_at", "voided_on")
            return {**dict.fromkeys(names), "told_overdue": False}
        self._last_number += 1
        in_time = state in {"sent", "partPaid"}
        ago = number % 10 if in_time else 20 + number * 11 % (_DAYS_OF_A_YEAR - 20)
        issued = self.today - timedelta(days=ago)
        moment = f"{issued}T09:00:00.000Z"
        return {
            "number": numbering.DEFAULT_SERIES["invoice"]._replace(next=self._last_number).format_next(),
            "issued_on": issued.isoformat(),
            "due_on": (issued + _PAYMENT_TERM).isoformat(),
            "overdue_at": f"{issued + _PAYMENT_TERM + timedelta(days=1)}T00:00:00.000Z",
            "sent_at": moment,
            "voided_at": moment if state == "void" else None,
            "voided_on": issued.isoformat() if state == "void" else None,
            # People were told long ago.
            "told_overdue": not in_time,
        }

    def _write_payment(self, number: int, invoice: Mapping[str, Any], record_id: str, billed: BilledJob) -> None:
        """Write a payment for each invoice: of the paid amount, or else on account or reversed."""
        allocated = int(invoice["paid"])
        amount = allocated or int(invoice["total"])
        on_account = not allocated and number % 3 == 0
        share = {
            "invoiceId": record_id,
            "invoiceNumber": invoice["number"],
            "amount": amount_text(amount, CURRENCY),
        }
        on = (self.today - timedelta(days=number * 11 % _DAYS_OF_A_YEAR)).isoformat()
        is_reversed = not allocated and not on_account
        about = {
            "customer_id": billed.customer,
            "on_date": on,
            "currency": CURRENCY,
            "amount": amount,
            "method": _PAYMENT_METHODS[number % len(_PAYMENT_METHODS)],
            "reference": invoice["number"],
            "allocations": [share] if allocated else [],
            "unallocated": 0 if allocated else amount,
            "status": "reversed" if is_reversed else "recorded",
            "reversed_at": f"{on}T09:00:00.000Z" if is_reversed else None,
            "reversed_on": on if is_reversed else None,
        }
        payment = self.bulk.add_record(PAYMENTS, about, customer_name=billed.customer_name)
        if allocated:
            self.bulk.add_row("allocation", {"payment_id": payment, "invoice_id": record_id, "amount": amount})

    def _write_order(self, number: int, state: str, billed: BilledJob) -> None:
        supplier, name = self.suppliers[number % _SUPPLIER_COUNT]
        issued = self.today - timedelta(days=number * 11 % _DAYS_OF_A_YEAR)
        about = {
            "number": numbering.DEFAULT_SERIES["purchaseOrder"]._replace(next=number + 1).format_next(),
            "supplier_id": supplier,
            "job_id": billed.job,
            "deliver_to": "office",
            "needed_on": None if number % 9 == 0 else (issued + _PAYMENT_TERM).isoformat(),
            "issued_on": None if state == "draft" else issued.isoformat(),
            "currency": CURRENCY,
            "status": state if state in {"draft", "closed", "cancelled"} else "sent",
            "standing": state,
            **self.shapes.orders[number % _SHAPE_COUNT],
        }
        self.bulk.add_record(ORDERS, about, supplier_name=name, job_title=billed.job_title)


def _shuffle_states(counts: Mapping[str, int], size: int) -> list[str]:
    """Return the states in these proportions, in a random order."""
    states = [state for state, count in counts.items() for _ in range(count)] * -(-size // 50)
    Random(2026).shuffle(states)
    return states
