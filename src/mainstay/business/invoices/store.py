"""Where invoices are kept."""

from typing import Any, get_args

import orjson

from mainstay.backing.database import Value
from mainstay.business.invoices.model import MOST_SUMMED, Invoice, InvoiceTotals, ListedInvoice, Status
from mainstay.business.organisation.books import CLOSED_UNTIL
from mainstay.business.organisation.house import house_of
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.terms.listed import NEWEST, FoundBy, ListOrder
from mainstay.terms.shapes import ListInput
from mainstay.terms.wire import MoneyText
from mainstay.values.money import amount_text
from mainstay.values.search import kept_words, words_of_digits, words_of_number, words_of_text

_OF = "(SELECT {0}.{1} FROM {0} WHERE {0}.organisation_id = :organisation AND {0}.id = invoice.{0}_id)"
_OVERDUE = "invoice.owing = 1 AND coalesce(invoice.overdue_at, '9') <= :now"
_IN_TIME = "coalesce(invoice.overdue_at, '9') > :now"
# A date that is over lies before now, wherever it is over: so the index by dates finds them.
_OVERDUE_BY_DATE = f"{_OVERDUE} AND invoice.due_on <= :now"
_STATES = {name: f"invoice.standing = '{name}'" for name in get_args(Status)} | {
    "sent": f"invoice.standing = 'sent' AND {_IN_TIME}",
    "partPaid": f"invoice.standing = 'partPaid' AND {_IN_TIME}",
    "overdue": _OVERDUE_BY_DATE,
    "unpaid": "invoice.owing = 1",
}
# The state that people are told.
STATUS = f"CASE WHEN {_OVERDUE} THEN 'overdue' ELSE invoice.standing END"
_COLUMNS = {
    "status": STATUS,
    "customer_name": _OF.format("customer", "name"),
    "job_number": _OF.format("job", "number"),
    # Of what is void, nothing is to be paid.
    "due": "CASE WHEN invoice.status = 'void' THEN 0 ELSE invoice.due END",
}
_FACTS = {
    "closed_until": CLOSED_UNTIL,
    "deducted_on": "(SELECT coalesce(later.number, 'a draft for the same quote') FROM billed_source"
    " JOIN invoice AS later ON later.organisation_id = :organisation AND later.id = billed_source.invoice_id"
    " WHERE billed_source.organisation_id = :organisation AND billed_source.source_id = invoice.id)",
}


def _words(number: str | None, title: str | None, customer_name: str, currency: str, total: int) -> frozenset[str]:
    amount = amount_text(total, currency)
    said = words_of_text(f"{title or ''} {customer_name} {amount}")
    # Whoever looks for digits alone may mean an amount as well as a phone.
    return kept_words(words_of_number(number or ""), said, words_of_digits(amount))


_FOUND_BY = (FoundBy(("number", "title", "customer_name", "currency", "total"), _words),)

# Of the list, and of one: by that, its page knows what an order leaves out.
_ORDERS = {
    NEWEST: ListOrder("id", descending=True),
    "issued": ListOrder("issued_on", descending=True, without="a date of issue"),
    "due": ListOrder("due_on", without="a due date"),
}
# What only the rules of a whole invoice need to know.
_OF_ONE = ("supply_typed", "discount_shares", "snapshot", "pdf_sha256", "void_pdf_sha256", "ubl_sha256")
# One invoice, with all that is in it.
INVOICES = Listing(
    Invoice,
    source="invoice",
    what="invoice",
    prefix="invoice",
    id_field="invoice_id",
    number="number",
    columns=_COLUMNS
    | {
        "site_name": _OF.format("site", "name"),
        "quote_number": _OF.format("quote", "number"),
        "margin": "invoice.costed_net - invoice.cost",
    },
    facts=_FACTS | {name: f"invoice.{name}" for name in _OF_ONE},
    found_by=_FOUND_BY,
    orders=_ORDERS,
)
# Many, each without its lines.
LISTED = Listing(
    ListedInvoice,
    source="invoice",
    what="invoice",
    prefix="invoice",
    id_field="invoice_id",
    number="number",
    columns=_COLUMNS,
    facts=_FACTS,
    filters={
        "status": _STATES,
        "kind": "invoice.kind = :kind",
        "customer_id": "invoice.customer_id = :customer_id",
        "from_": "invoice.issued_on >= :from_",
        "until": "invoice.issued_on <= :until",
        "due_from": "invoice.due_on >= :due_from",
        "due_until": "invoice.due_on <= :due_until",
    },
    orders=_ORDERS,
    found_by=_FOUND_BY,
)


def totals_of(ctx: Context, given: ListInput, where: str, **bound: Value) -> InvoiceTotals:
    """Return what the invoices of a list come to together, unless there are very many of them."""
    currency = house_of(ctx).currency
    # A draft may be in a currency that the organisation had before.
    here = " AND ".join(filter(None, (where, "invoice.currency = :currency")))
    columns = ("invoice.total", _COLUMNS["due"])
    row = LISTED.sums(ctx, given, here, columns, MOST_SUMMED, currency=currency, **bound)
    if row is None:
        return InvoiceTotals(currency=currency, count=None, total=None, due=None)
    count, total, due = (int(value or 0) for value in row)
    total_text, due_text = (MoneyText(amount_text(amount, currency)) for amount in (total, due))
    return InvoiceTotals(currency=currency, count=count, total=total_text, due=due_text)


def credited_taxes(ctx: Context, invoice: str) -> list[list[dict[str, Any]]]:
    """What was credited of an invoice: of each credit note what is taxed at each rate."""
    rows = ctx.rows.all(
        "SELECT taxes FROM credit_note WHERE organisation_id = :organisation AND invoice_id = :invoice ORDER BY id",
        invoice=invoice,
    )
    return [orjson.loads(str(taxes)) for (taxes,) in rows]


def of_quote(ctx: Context, quote: str) -> list[Invoice]:
    """The invoices that were drafted or issued of a quote, without those that are void, oldest first."""
    return _that_stand(ctx, "invoice.quote_id = :of", quote)


def of_job(ctx: Context, job: str) -> list[Invoice]:
    """The same of a job."""
    return _that_stand(ctx, "invoice.job_id = :of", job)


def _that_stand(ctx: Context, condition: str, of: str) -> list[Invoice]:
    sql = f"{INVOICES.everything} AND {condition} AND invoice.status <> 'void' ORDER BY invoice.id"
    return [INVOICES.keep(row) for row in ctx.rows.all(sql, of=of)]
