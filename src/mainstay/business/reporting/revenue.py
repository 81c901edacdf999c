"""The report on what was invoiced, credited and paid in each month."""

from dataclasses import replace

from mainstay.business.reporting.entries import (
    CREDIT_NOTES,
    INVOICES,
    PAYMENTS,
    REVERSALS,
    VOIDS,
    sum_entries,
    to_month_sql,
)
from mainstay.business.reporting.inputs import ReportQuery
from mainstay.business.reporting.model import (
    REPORT_OPERATION,
    CellValue,
    RecordsBehind,
    ReportTable,
    make_column,
    make_table,
)
from mainstay.kernel.context import Context
from mainstay.values.message import Message

_COLUMNS = (
    make_column("month", "Month", "month"),
    make_column("invoiced", "Invoiced, net", "money"),
    make_column("credited", "Credited, net", "money"),
    make_column("revenue", "Revenue, net", "money"),
    make_column("tax", "Tax", "money"),
    make_column("paid", "Received", "money"),
)


def report_revenue(ctx: Context, query: ReportQuery) -> ReportTable:
    """Build the report on revenue by month. Months without any are included."""
    invoiced, credited, tax, paid = (dict.fromkeys(query.months, 0) for _ in range(4))
    for entries, net_by_month in ((INVOICES, invoiced), (VOIDS, invoiced), (CREDIT_NOTES, credited)):
        for month, net, taxed in sum_entries(ctx, entries, query, to_month_sql(entries), "net", "tax"):
            net_by_month[str(month)] += int(net or 0) * (entries.sign if net_by_month is invoiced else 1)
            tax[str(month)] += int(taxed or 0) * entries.sign
    for entries in (PAYMENTS, REVERSALS):
        for month, amount in sum_entries(ctx, entries, query, to_month_sql(entries), "amount"):
            paid[str(month)] += int(amount or 0) * entries.sign
    rows: list[list[CellValue]] = [
        [month, invoiced[month], credited[month], invoiced[month] - credited[month], tax[month], paid[month]]
        for month in query.months
    ]
    behind = RecordsBehind(operation=REPORT_OPERATION, given=query.behind("documents"), columns={"month": "month"})
    return replace(make_table(_COLUMNS, rows, _NOTES), behind=behind)


_NOTES = (
    Message("By document date, excluding drafts."),
    Message("Voided invoices and reversed payments are deducted in the month in which they were voided or reversed."),
)
