"""The store of invoices: how they are read, searched and summed."""

from typing import Annotated, Any, get_args

import orjson
from pydantic import Field

from mainstay.business.invoices.model import MAX_SUMMED, Invoice, InvoiceStatus, InvoiceTotals, ListedInvoice
from mainstay.business.organisation.closed_books import CLOSED_UNTIL_SQL
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.infrastructure.database import Value
from mainstay.kernel.context import Context
from mainstay.kernel.kind import Kind
from mainstay.kernel.record_store import select_related
from mainstay.values.descriptions import describe
from mainstay.values.money import amount_text
from mainstay.values.search_words import combine_words, words_of_digits, words_of_number, words_of_text
from mainstay.vocabulary.list_queries import NEWEST, ListOrder, SearchFields
from mainstay.vocabulary.record_json import MoneyText
from mainstay.vocabulary.schemas import ListInput

_OVERDUE = "invoice.owing = 1 AND coalesce(invoice.overdue_at, '9') <= :now"
_IN_TIME = "coalesce(invoice.overdue_at, '9') > :now"
# An invoice that is overdue in any time zone has a due date before now, so the index by due date can be used.
_OVERDUE_BY_DATE = f"{_OVERDUE} AND invoice.due_on <= :now"
_STATUS_FILTERS = {name: f"invoice.standing = '{name}'" for name in get_args(InvoiceStatus)} | {
    "sent": f"invoice.standing = 'sent' AND {_IN_TIME}",
    "partPaid": f"invoice.standing = 'partPaid' AND {_IN_TIME}",
    "overdue": _OVERDUE_BY_DATE,
    "unpaid": "invoice.owing = 1",
}
# The status that people see.
STATUS = f"CASE WHEN {_OVERDUE} THEN 'overdue' ELSE invoice.standing END"


def _search_words_of(
    number: str | None, title: str | None, customer_name: str, currency: str, total: int
) -> frozenset[str]:
    amount = amount_text(total, currency)
    words = words_of_text(f"{title or ''} {customer_name} {amount}")
    # Digits alone may mean an amount as well as a phone number.
    return combine_words(words_of_number(number or ""), words, words_of_digits(amount))


InvoiceId = Annotated[str, Field(title="Invoice", description=describe("[[The invoice's ID or number.]]"))]
# Single invoices, with their lines.
INVOICES = Kind(
    Invoice,
    source="invoice",
    id_type=InvoiceId,
    area="Invoices",
    number_column="number",
    columns={
        "status": STATUS,
        "customer_name": select_related("customer.name", "invoice.customer_id"),
        "job_number": select_related("job.number", "invoice.job_id"),
        "site_name": select_related("site.name", "invoice.site_id"),
        "quote_number": select_related("quote.number", "invoice.quote_id"),
        # A void invoice has nothing left to pay.
        "due": "CASE WHEN invoice.status = 'void' THEN 0 ELSE invoice.due END",
        "margin": "invoice.costed_net - invoice.cost",
        "closed_until": CLOSED_UNTIL_SQL,
        "deducted_on": "(SELECT coalesce(later.number, '') FROM billed_source"
        " JOIN invoice AS later ON later.organisation_id = :organisation AND later.id = billed_source.invoice_id"
        " WHERE billed_source.organisation_id = :organisation AND billed_source.source_id = invoice.id)",
    },
    equal_filters=("kind", "customer_id"),
    dates_column="issued_on",
    filters={
        "status": _STATUS_FILTERS,
        "due_from": "invoice.due_on >= :due_from",
        "due_until": "invoice.due_on <= :due_until",
    },
    orders={
        NEWEST: ListOrder("id", descending=True),
        "issued": ListOrder("issued_on", descending=True, missing_label="an issue date"),
        "due": ListOrder("due_on", missing_label="a due date"),
    },
    search_fields=(SearchFields(("number", "title", "customer_name", "currency", "total"), _search_words_of),),
)
# Lists of invoices, each without its lines.
LISTED_INVOICES = INVOICES.show_as(ListedInvoice)


def sum_invoices(ctx: Context, given: ListInput, where: str, **bound: Value) -> InvoiceTotals:
    """Return the totals of the invoices in a list, unless there are very many of them."""
    currency = settings_of(ctx).currency
    # A draft may be in a currency that the organisation used before.
    in_currency = " AND ".join(filter(None, (where, "invoice.currency = :currency")))
    columns = ("invoice.total", INVOICES.columns["due"])
    row = LISTED_INVOICES.sum_columns(ctx, given, in_currency, columns, MAX_SUMMED, currency=currency, **bound)
    if row is None:
        return InvoiceTotals(currency=currency, count=None, total=None, due=None)
    count, total, due = (int(value or 0) for value in row)
    total_text, due_text = (MoneyText(amount_text(amount, currency)) for amount in (total, due))
    return InvoiceTotals(currency=currency, count=count, total=total_text, due=due_text)


def find_credited_taxes(ctx: Context, invoice_id: str) -> list[list[dict[str, Any]]]:
    """Return the taxes of each credit note of an invoice."""
    rows = ctx.db.all(
        "SELECT taxes FROM credit_note WHERE organisation_id = :organisation AND invoice_id = :invoice ORDER BY id",
        invoice=invoice_id,
    )
    return [orjson.loads(str(taxes)) for (taxes,) in rows]


def find_invoices_of_quote(ctx: Context, quote_id: str) -> list[Invoice]:
    """Find the invoices and drafts for a quote, without void ones, oldest first."""
    return _find_not_void(ctx, "invoice.quote_id = :of", quote_id)


def find_invoices_of_job(ctx: Context, job_id: str) -> list[Invoice]:
    """Find the invoices and drafts for a job, without void ones, oldest first."""
    return _find_not_void(ctx, "invoice.job_id = :of", job_id)


def _find_not_void(ctx: Context, condition: str, record_id: str) -> list[Invoice]:
    sql = f"{INVOICES.select_all} AND {condition} AND invoice.status <> 'void' ORDER BY invoice.id"
    return [INVOICES.from_row(row) for row in ctx.db.all(sql, of=record_id)]
