"""The stores of purchase orders and bills, and who sees which orders."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, get_args

import orjson
from pydantic import Field

from mainstay.business.purchasing.lines import goods_columns, read_order_lines
from mainstay.business.purchasing.model import Bill, ListedBill, ListedOrder, Order, OrderStatus, order_status_of
from mainstay.kernel.context import Context
from mainstay.kernel.kind import Kind
from mainstay.kernel.record_store import select_related
from mainstay.values.choices import remove_accents
from mainstay.values.fields import make_id_validator
from mainstay.values.money import amount_text, parse_price
from mainstay.values.search_words import combine_words, words_of_digits, words_of_number, words_of_text
from mainstay.vocabulary.list_queries import NEWEST, ListOrder, SearchFields, Visibility
from mainstay.vocabulary.permissions import Permission

_IS_MY_JOB = "mine.organisation_id = :organisation AND mine.person_id = :me"


# People without access to purchasing see the sent orders for the jobs that they see.
_VISIBILITY = Visibility(
    # CROSS JOIN makes both engines start with the few jobs of the person instead of all orders.
    ids_query="SELECT bought.id FROM own_job AS mine CROSS JOIN purchase_order AS bought"
    f" WHERE {_IS_MY_JOB} AND bought.organisation_id = :organisation AND bought.job_id = mine.id"
    " AND bought.status <> 'draft'",
    row_condition="purchase_order.status <> 'draft'"
    f" AND EXISTS (SELECT 1 FROM own_job AS mine WHERE {_IS_MY_JOB} AND mine.id = purchase_order.job_id)",
    count_query=f"SELECT mine.id FROM own_job AS mine WHERE {_IS_MY_JOB}",
    unrestricted_with=Permission.PURCHASING_READ,
)


def _search_words_of_order(number: str, supplier_name: str, job_title: str | None) -> frozenset[str]:
    return combine_words(words_of_number(number), words_of_text(f"{supplier_name} {job_title or ''}"))


OrderId = Annotated[str, Field(title="Purchase order", description="The order's ID or number.")]
# Single orders, with their lines.
ORDERS = Kind(
    Order,
    source="purchase_order",
    id_type=OrderId,
    heading="Orders",
    area="Purchasing",
    prefix="po",
    number_column="number",
    columns={
        "status": "purchase_order.standing",
        "supplier_name": select_related("supplier.name", "purchase_order.supplier_id"),
        "job_number": select_related("job.number", "purchase_order.job_id"),
        "job_title": select_related("job.title", "purchase_order.job_id"),
        "site_name": select_related("site.name", "purchase_order.site_id"),
    },
    visibility=_VISIBILITY,
    filters={
        "status": {name: f"purchase_order.standing = '{name}'" for name in get_args(OrderStatus)},
        "supplier_id": "purchase_order.supplier_id = :supplier_id",
    },
    orders={
        NEWEST: ListOrder("id", descending=True),
        "needed": ListOrder("needed_on", missing_label="a needed-by date"),
    },
    search_fields=(SearchFields(("number", "supplier_name", "job_title"), _search_words_of_order),),
)
# Lists of orders, each without its lines.
LISTED_ORDERS = ORDERS.show_as(ListedOrder)


def _search_words_of_bill(supplier_number: str, supplier_name: str, currency: str, total: int) -> frozenset[str]:
    amount = amount_text(total, currency)
    # Digits alone may mean an amount as well as a phone number.
    words = words_of_text(f"{supplier_number} {supplier_name} {amount}")
    return combine_words(words, words_of_number(supplier_number), words_of_digits(amount))


def _add_folded_number(values: dict[str, Any]) -> dict[str, Any]:
    number = values.get("supplier_number")
    return values | ({} if number is None else {"number_folded": fold_number(number)})


def fold_number(number: str) -> str:
    """Return a bill's number in the form that is compared, without accents, spaces and punctuation."""
    plain = remove_accents(number)
    return "".join(letter for letter in plain if letter.isalnum()) or plain


BillId = Annotated[str, make_id_validator("bill"), Field(title="Bill", description="The bill's ID.")]
# Single bills, with their lines.
BILLS = Kind(
    Bill,
    source="bill",
    id_type=BillId,
    area="Purchasing",
    columns={
        "supplier_name": select_related("supplier.name", "bill.supplier_id"),
        "purchase_order_number": select_related("purchase_order.number", "bill.purchase_order_id"),
        "job_number": select_related("job.number", "bill.job_id"),
        "on": "bill.on_date",
    },
    equal_filters=("status", "supplier_id"),
    dates_column="on_date",
    orders={
        NEWEST: ListOrder("id", descending=True),
        "dated": ListOrder("on_date", descending=True),
        "due": ListOrder("due_on", missing_label="a due date"),
    },
    search_fields=(SearchFields(("supplier_number", "supplier_name", "currency", "total"), _search_words_of_bill),),
    derive_columns=_add_folded_number,
)
# Lists of bills, each without its lines.
LISTED_BILLS = BILLS.show_as(ListedBill)


def save_order(ctx: Context, order: Order, changes: Mapping[str, Any]) -> Order:
    """Save changes of an order, and update the received and billed quantities of its lines and its status."""
    received = _sum_received_quantities(changes.get("receipts", order.receipts))
    line_columns = goods_columns(order.lines, received, sum_billed_quantities(ctx, order.id))
    stored_status = order.status if order.status in {"draft", "closed", "cancelled"} else "sent"
    shown_status = order_status_of(changes.get("status", stored_status), read_order_lines(line_columns["lines"]))
    return ORDERS.save(ctx, order, {**changes, **line_columns, "standing": shown_status})


def sum_billed_quantities(ctx: Context, order: str, except_id: str = "") -> Counter[str]:
    """Add up the quantities that bills bill of an order, by order line id; leave out the bill `except_id`."""
    rows = ctx.db.all(
        "SELECT lines FROM bill WHERE organisation_id = :organisation AND purchase_order_id = :purchase_order"
        " AND status <> 'void' AND id <> :but",
        purchase_order=order,
        but=except_id,
    )
    billed: Counter[str] = Counter()
    for (lines,) in rows:
        for line in orjson.loads(str(lines)):
            if line["orderLineId"]:
                billed[line["orderLineId"]] += parse_price(line["quantity"])
    return billed


def _sum_received_quantities(receipts: list[dict[str, Any]]) -> Counter[str]:
    received: Counter[str] = Counter()
    for receipt in receipts:
        for line in receipt["lines"]:
            received[line["lineId"]] += parse_price(line["quantity"])
    return received
