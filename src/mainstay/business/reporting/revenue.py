"""What was invoiced, credited and paid in each month."""

from mainstay.business.reporting.asked import Asked
from mainstay.business.reporting.books import CREDIT_NOTES, INVOICES, PAYMENTS, REVERSALS, VOIDS, month_of, sums
from mainstay.business.reporting.model import Cell, Table, column, table
from mainstay.kernel.context import Context

_COLUMNS = (
    column("month", "Month", "month"),
    column("invoiced", "Invoiced, net", "money"),
    column("credited", "Credited, net", "money"),
    column("revenue", "Revenue, net", "money"),
    column("tax", "Tax", "money"),
    column("paid", "Paid", "money"),
)


def revenue(ctx: Context, asked: Asked) -> Table:
    """What each month brought, also those that brought nothing."""
    invoiced, credited, tax, paid = (dict.fromkeys(asked.months, 0) for _ in range(4))
    for entries, into in ((INVOICES, invoiced), (VOIDS, invoiced), (CREDIT_NOTES, credited)):
        for month, net, taxed in sums(ctx, entries, asked, month_of(entries), "net", "tax"):
            into[str(month)] += int(net or 0) * (entries.sign if into is invoiced else 1)
            tax[str(month)] += int(taxed or 0) * entries.sign
    for entries in (PAYMENTS, REVERSALS):
        for month, amount in sums(ctx, entries, asked, month_of(entries), "amount"):
            paid[str(month)] += int(amount or 0) * entries.sign
    rows: list[list[Cell]] = [
        [month, invoiced[month], credited[month], invoiced[month] - credited[month], tax[month], paid[month]]
        for month in asked.months
    ]
    return table(_COLUMNS, rows, _NOTES)


_NOTES = (
    "By the date of each document, without drafts.",
    "An invoice that was made void is taken back in the month in which it was; so is a payment that was reversed.",
)
