"""The report on what was taxed at each rate, for the tax return."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mainstay.business.reporting.document_taxes import TaxedAmount, read_taxed_amounts
from mainstay.business.reporting.entries import CREDIT_NOTES, INVOICES, VOIDS, iterate_entries
from mainstay.business.reporting.inputs import ReportQuery
from mainstay.business.reporting.model import (
    REPORT_OPERATION,
    CellValue,
    RecordsBehind,
    ReportTable,
    RowValue,
    make_column,
    make_table,
)
from mainstay.kernel.context import Context
from mainstay.values.choices import to_label
from mainstay.values.message import Message

_MONTH = make_column("month", "Month", "month")
_COLUMNS = (
    make_column("taxKey", "Tax key", "key"),
    make_column("rate", "Tax rate", "text"),
    make_column("category", "Category", "text"),
    make_column("part", "Tax", "text"),
    make_column("percent", "Percentage", "percent"),
    make_column("invoicedNet", "Invoiced, net", "money"),
    make_column("invoicedTax", "Invoiced, tax", "money"),
    make_column("creditedNet", "Credited, net", "money"),
    make_column("creditedTax", "Credited, tax", "money"),
    make_column("net", "Net", "money"),
    make_column("tax", "Tax", "money"),
)


@dataclass(slots=True)
class _TaxSums:
    """The sums of one row."""

    latest: TaxedAmount
    invoiced_net: int = 0
    invoiced_tax: int = 0
    credited_net: int = 0
    credited_tax: int = 0


def report_taxes(ctx: Context, query: ReportQuery) -> ReportTable:
    """Build the report on taxes by rate and part, for the whole range or for each month."""
    by_month = query.by == "month"
    sums: dict[tuple[str, str], _TaxSums] = {}
    for entries in (INVOICES, VOIDS, CREDIT_NOTES):
        for on, _, taxes in iterate_entries(ctx, entries, query.entry_range, "taxes"):
            month = str(on)[:7] if by_month else ""
            for amount in read_taxed_amounts(taxes):
                row = sums.setdefault((month, amount.key), _TaxSums(amount))
                row.latest = amount
                if entries is CREDIT_NOTES:
                    row.credited_net += amount.net
                    row.credited_tax += amount.tax
                else:
                    row.invoiced_net += entries.sign * amount.net
                    row.invoiced_tax += entries.sign * amount.tax
    ordered = sorted(
        sums.items(), key=lambda item: (item[0][0], item[1].latest.rate, item[1].latest.part_number, item[0])
    )
    columns = (_MONTH, *_COLUMNS) if by_month else _COLUMNS
    rows = [[*([key[0]] if by_month else []), *_to_row(amount)] for key, amount in ordered]
    first_parts = [amount for _, amount in ordered if amount.latest.part_number == 1]
    part_notes = [_SEVERAL_PARTS] if len(first_parts) < len(ordered) else []
    columns_of_row = {"tax": "taxKey"} | ({"month": "month"} if by_month else {})
    behind = RecordsBehind(operation=REPORT_OPERATION, given=query.behind("documents"), columns=columns_of_row)
    return replace(make_table(columns, rows, [*_NOTES, *part_notes], _sum_net(first_parts)), behind=behind)


_NOTES = (
    Message("By the date of each invoice and credit note, whether paid or not."),
    Message("Voided invoices are deducted on the date on which they were voided."),
)
_SEVERAL_PARTS = Message("A rate with several taxes has a row for each of them. Its net counts once in the totals.")


def _to_row(tax_sums: _TaxSums) -> list[RowValue]:
    latest = tax_sums.latest
    category = Message.from_template(to_label(latest.category)) if latest.category else None
    sums = tax_sums.invoiced_net, tax_sums.invoiced_tax, tax_sums.credited_net, tax_sums.credited_tax
    net, tax = tax_sums.invoiced_net - tax_sums.credited_net, tax_sums.invoiced_tax - tax_sums.credited_tax
    return [latest.key, latest.rate, category, latest.part, latest.percent, *sums, net, tax]


def _sum_net(first_parts: Sequence[_TaxSums]) -> dict[str, CellValue]:
    invoiced, credited = (
        sum(tax_sums.invoiced_net for tax_sums in first_parts),
        sum(tax_sums.credited_net for tax_sums in first_parts),
    )
    return {"invoicedNet": invoiced, "creditedNet": credited, "net": invoiced - credited}
