"""Where purchase orders and bills are kept, and who sees which."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, get_args

import orjson

from mainstay.business.purchasing.lines import come, read_order_lines
from mainstay.business.purchasing.model import Bill, ListedBill, ListedOrder, Order, OrderStatus, standing_of
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.terms.listed import NEWEST, FoundBy, ListOrder, Own
from mainstay.terms.rights import Right
from mainstay.values.money import amount_text, parse_price
from mainstay.values.search import kept_words, words_of_digits, words_of_number, words_of_text
from mainstay.values.words import unaccented

_MINE = "mine.organisation_id = :organisation AND mine.person_id = :me"


def name_of_supplier(table: str) -> str:
    """The name of a document's supplier, as a column."""
    return (
        "(SELECT supplier.name FROM supplier WHERE supplier.organisation_id = :organisation"
        f" AND supplier.id = {table}.supplier_id)"
    )


def of_job(table: str, column: str) -> str:
    """What is known of a document's job, as a column."""
    return f"(SELECT job.{column} FROM job WHERE job.organisation_id = :organisation AND job.id = {table}.job_id)"


_COLUMNS = {
    "status": "purchase_order.standing",
    "supplier_name": name_of_supplier("purchase_order"),
    "job_number": of_job("purchase_order", "number"),
    "job_title": of_job("purchase_order", "title"),
}
# Whoever does not see all purchasing sees what is to come for the jobs they see.
_OWN = Own(
    # Their few jobs say which orders are looked at: each engine keeps to this order.
    within="SELECT bought.id FROM own_job AS mine CROSS JOIN purchase_order AS bought"
    f" WHERE {_MINE} AND bought.organisation_id = :organisation AND bought.job_id = mine.id"
    " AND bought.status <> 'draft'",
    each="purchase_order.status <> 'draft'"
    f" AND EXISTS (SELECT 1 FROM own_job AS mine WHERE {_MINE} AND mine.id = purchase_order.job_id)",
    through=f"SELECT mine.id FROM own_job AS mine WHERE {_MINE}",
    unless=Right.PURCHASING_READ,
)


def _words(number: str, supplier_name: str, job_title: str | None) -> frozenset[str]:
    return kept_words(words_of_number(number), words_of_text(f"{supplier_name} {job_title or ''}"))


_FOUND_BY = (FoundBy(("number", "supplier_name", "job_title"), _words),)

# Of the list, and of one: by that, its page knows what an order leaves out.
_ORDERS = {
    NEWEST: ListOrder("id", descending=True),
    "needed": ListOrder("needed_on", without="a date on which they are needed"),
}
# One order, with all that is in it.
ORDERS = Listing(
    Order,
    source="purchase_order",
    what="purchase order",
    prefix="po",
    id_field="purchase_order_id",
    number="number",
    columns=_COLUMNS
    | {
        "site_name": "(SELECT site.name FROM site WHERE site.organisation_id = :organisation"
        " AND site.id = purchase_order.site_id)"
    },
    facts={"snapshot": "purchase_order.snapshot", "pdf_sha256": "purchase_order.pdf_sha256"},
    own=_OWN,
    found_by=_FOUND_BY,
    orders=_ORDERS,
)
# Many, each without its lines.
LISTED_ORDERS = Listing(
    ListedOrder,
    source="purchase_order",
    what="purchase order",
    prefix="po",
    id_field="purchase_order_id",
    number="number",
    columns=_COLUMNS,
    own=_OWN,
    filters={
        "status": {name: f"purchase_order.standing = '{name}'" for name in get_args(OrderStatus)},
        "supplier_id": "purchase_order.supplier_id = :supplier_id",
    },
    orders=_ORDERS,
    found_by=_FOUND_BY,
)


_COLUMNS_OF_BILL = {
    "supplier_name": name_of_supplier("bill"),
    "purchase_order_number": "(SELECT purchase_order.number FROM purchase_order"
    " WHERE purchase_order.organisation_id = :organisation AND purchase_order.id = bill.purchase_order_id)",
    "job_number": of_job("bill", "number"),
    "on": "bill.on_date",
}


def _words_of_bill(supplier_number: str, supplier_name: str, currency: str, total: int) -> frozenset[str]:
    amount = amount_text(total, currency)
    # Whoever looks for digits alone may mean an amount as well as a phone.
    said = words_of_text(f"{supplier_number} {supplier_name} {amount}")
    return kept_words(said, words_of_number(supplier_number), words_of_digits(amount))


_BILL_FOUND_BY = (FoundBy(("supplier_number", "supplier_name", "currency", "total"), _words_of_bill),)


def _folded(values: dict[str, Any]) -> dict[str, Any]:
    number = values.get("supplier_number")
    return values | ({} if number is None else {"number_folded": folded_number(number)})


def folded_number(number: str) -> str:
    """The number of a bill as it is compared, and no other bill has it: however it is written, it is the same."""
    plain = unaccented(number)
    return "".join(letter for letter in plain if letter.isalnum()) or plain


# Of the list, and of one: by that, its page knows what an order leaves out.
_BILL_ORDERS = {
    NEWEST: ListOrder("id", descending=True),
    "dated": ListOrder("on_date", descending=True),
    "due": ListOrder("due_on", without="a due date"),
}
# One bill, with all that is in it.
BILLS = Listing(
    Bill,
    source="bill",
    what="bill",
    prefix="bill",
    id_field="bill_id",
    columns=_COLUMNS_OF_BILL,
    found_by=_BILL_FOUND_BY,
    derived=_folded,
    orders=_BILL_ORDERS,
)
# Many, each without its lines.
LISTED_BILLS = Listing(
    ListedBill,
    source="bill",
    what="bill",
    prefix="bill",
    id_field="bill_id",
    columns=_COLUMNS_OF_BILL,
    filters={
        "status": "bill.status = :status",
        "supplier_id": "bill.supplier_id = :supplier_id",
        "from_": "bill.on_date >= :from_",
        "until": "bill.on_date <= :until",
    },
    orders=_BILL_ORDERS,
    found_by=_BILL_FOUND_BY,
)


def settle(ctx: Context, order: Order, changes: Mapping[str, Any]) -> Order:
    """Write what changes of an order, with what follows: what came and was billed of each line, and so its status."""
    received = _received(changes.get("receipts", order.receipts))
    follows = come(order.lines, received, billed_of(ctx, order.id))
    ended = order.status if order.status in {"draft", "closed", "cancelled"} else "sent"
    standing = standing_of(changes.get("status", ended), read_order_lines(follows["lines"]))
    return ORDERS.save(ctx, order, {**changes, **follows, "standing": standing})


def billed_of(ctx: Context, order: str, but: str = "") -> Counter[str]:
    """How many of each line of an order its bills bill, by the ids of the lines; perhaps without one of the bills."""
    rows = ctx.rows.all(
        "SELECT lines FROM bill WHERE organisation_id = :organisation AND purchase_order_id = :purchase_order"
        " AND status <> 'void' AND id <> :but",
        purchase_order=order,
        but=but,
    )
    billed: Counter[str] = Counter()
    for (lines,) in rows:
        for line in orjson.loads(str(lines)):
            if line["orderLineId"]:
                billed[line["orderLineId"]] += parse_price(line["quantity"])
    return billed


def _received(receipts: list[dict[str, Any]]) -> Counter[str]:
    received: Counter[str] = Counter()
    for receipt in receipts:
        for line in receipt["lines"]:
            received[line["lineId"]] += parse_price(line["quantity"])
    return received
