"""The report on the documents behind the figures of a period: each invoice, credit note and payment, with its sums."""

from typing import NamedTuple

from mainstay.business.reporting.document_taxes import read_taxed_amounts
from mainstay.business.reporting.entries import (
    CREDIT_NOTES,
    INVOICES,
    PAYMENTS,
    REVERSALS,
    VOIDS,
    BookEntries,
    find_first_entries,
    iterate_entries,
)
from mainstay.business.reporting.inputs import ReportQuery
from mainstay.business.reporting.model import MAX_REPORT_ROWS, ReportTable, RowValue, make_column, make_table
from mainstay.business.reporting.revenue import report_revenue
from mainstay.infrastructure.database import Row
from mainstay.kernel.context import Context
from mainstay.kernel.record_store import select_related
from mainstay.values.message import Message

_COLUMNS = (
    make_column("documentId", "Document ID", "id"),
    make_column("document", "Document", "text"),
    make_column("on", "Date", "date"),
    make_column("kind", "Kind", "text"),
    make_column("customer", "Customer", "text"),
    make_column("invoiced", "Invoiced, net", "money"),
    make_column("credited", "Credited, net", "money"),
    make_column("revenue", "Revenue, net", "money"),
    make_column("tax", "Tax", "money"),
    make_column("paid", "Received", "money"),
)
_AMOUNTS = ("invoiced", "credited", "revenue", "tax", "paid")


class _Source(NamedTuple):
    """One kind of entries: its label, where it is read, and the columns with its number and its amounts."""

    kind: Message
    entries: BookEntries
    number: str = "number"
    net: str = "net"
    tax: str = "tax"
    paid: str = "NULL"


# In their order within a day.
_SALES = (
    _Source(Message("Invoice"), INVOICES),
    _Source(Message("Invoice voided"), VOIDS),
    _Source(Message("Credit note"), CREDIT_NOTES),
)
_PAYMENTS = (
    _Source(Message("Payment"), PAYMENTS, "reference", "NULL", "NULL", "amount"),
    _Source(Message("Payment reversed"), REVERSALS, "reference", "NULL", "NULL", "amount"),
)


def report_documents(ctx: Context, query: ReportQuery) -> ReportTable:
    """Build the report on documents, earliest first. Their sums are those of the revenue report."""
    if query.tax:
        return _report_taxed(ctx, query, query.tax)
    rows: list[list[RowValue]] = []
    for source in (*_SALES, *_PAYMENTS):
        columns = (source.number, _customer_sql(source), source.net, source.tax, source.paid)
        for on, document, number, customer, *amounts in find_first_entries(
            ctx, source.entries, query, MAX_REPORT_ROWS + 1, *columns
        ):
            net, tax, paid = (int(amount or 0) for amount in amounts)
            rows.append(_to_row(source, (document, number, on, customer), net, tax, paid))
    # The sort keeps the order within a day.
    rows.sort(key=lambda row: str(row[2]))
    revenue = report_revenue(ctx, query)
    totals = dict(zip((column.name for column in revenue.columns), revenue.totals, strict=True))
    return make_table(_COLUMNS, rows, _NOTES, {name: totals[name] for name in _AMOUNTS})


def _report_taxed(ctx: Context, query: ReportQuery, tax_key: str) -> ReportTable:
    """Build the report on the documents behind a row of the tax summary, with the amounts of that row."""
    rows: list[list[RowValue]] = []
    for source in _SALES:
        columns = (source.number, _customer_sql(source), "taxes")
        for on, document, number, customer, taxes in iterate_entries(ctx, source.entries, query.entry_range, *columns):
            amounts = [amount for amount in read_taxed_amounts(taxes) if amount.key == tax_key]
            if amounts:
                net, tax = sum(amount.net for amount in amounts), sum(amount.tax for amount in amounts)
                rows.append(_to_row(source, (document, number, on, customer), net, tax, 0))
    rows.sort(key=lambda row: str(row[2]))
    return make_table(_COLUMNS, rows, _NOTES)


_NOTES = (
    Message("By document date, excluding drafts. Voided invoices and reversed payments are entries of their own."),
)


def _customer_sql(source: _Source) -> str:
    return select_related("customer.name", f"{source.entries.table}.customer_id")


def _to_row(source: _Source, document: Row, net: int, tax: int, paid: int) -> list[RowValue]:
    record_id, number, on, customer = document
    sign = source.entries.sign
    invoiced, credited = (0, net) if source.entries is CREDIT_NOTES else (sign * net, 0)
    amounts = invoiced, credited, invoiced - credited, sign * tax, sign * paid
    return [record_id, number or source.kind, on, source.kind, customer, *amounts]
