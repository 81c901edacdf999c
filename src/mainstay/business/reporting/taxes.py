"""What was taxed at each rate: for the tax return."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mainstay.business.reporting.asked import Asked
from mainstay.business.reporting.books import CREDIT_NOTES, INVOICES, VOIDS, each
from mainstay.business.reporting.model import Cell, Table, column, table
from mainstay.business.reporting.taxed import Taxed, taxed
from mainstay.kernel.context import Context
from mainstay.values.words import words_of

_MONTH = column("month", "Month", "month")
_COLUMNS = (
    column("rate", "Tax rate", "text"),
    column("category", "Category", "text"),
    column("part", "Part", "text"),
    column("percent", "Percent", "percent"),
    column("invoicedNet", "Invoiced, net", "money"),
    column("invoicedTax", "Invoiced, tax", "money"),
    column("creditedNet", "Credited, net", "money"),
    column("creditedTax", "Credited, tax", "money"),
    column("net", "Net", "money"),
    column("tax", "Tax", "money"),
)


@dataclass(slots=True)
class _Sum:
    """What is summed up of one row."""

    last: Taxed
    invoiced_net: int = 0
    invoiced_tax: int = 0
    credited_net: int = 0
    credited_tax: int = 0


def tax_summary(ctx: Context, asked: Asked) -> Table:
    """What was taxed, by rate and part; of the whole range or of each month."""
    by_month = asked.by == "month"
    found: dict[tuple[Any, ...], _Sum] = {}
    for entries in (INVOICES, VOIDS, CREDIT_NOTES):
        for on, _, taxes in each(ctx, entries, asked.stretch, "taxes"):
            month = str(on)[:7] if by_month else ""
            for one in taxed(taxes):
                # A part may be called otherwise by now; its place stays.
                row = found.setdefault((month, one.rate_id or "", one.place, one.percent), _Sum(one))
                row.last = one
                if entries is CREDIT_NOTES:
                    row.credited_net += one.net
                    row.credited_tax += one.tax
                else:
                    row.invoiced_net += entries.sign * one.net
                    row.invoiced_tax += entries.sign * one.tax
    ordered = sorted(found.items(), key=lambda item: (item[0][0], item[1].last.rate, item[1].last.place, item[0]))
    columns = (_MONTH, *_COLUMNS) if by_month else _COLUMNS
    rows = [[*([key[0]] if by_month else []), *_row(one)] for key, one in ordered]
    once = [one for _, one in ordered if one.last.place == 1]
    several = [_SEVERAL] if len(once) < len(ordered) else []
    return table(columns, rows, [*_NOTES, *several], _net_totals(once))


_NOTES = (
    "By the date of each invoice and credit note, whenever it was paid.",
    "An invoice that was made void is taken back on the date on which that was done.",
)
_SEVERAL = "A rate with several parts has a row for each; its net counts once in the totals."


def _row(one: _Sum) -> list[Cell]:
    last = one.last
    category = words_of(last.category) if last.category else None
    sums = one.invoiced_net, one.invoiced_tax, one.credited_net, one.credited_tax
    net, tax = one.invoiced_net - one.credited_net, one.invoiced_tax - one.credited_tax
    return [last.rate, category, last.part, last.percent, *sums, net, tax]


def _net_totals(once: Sequence[_Sum]) -> dict[str, Cell]:
    invoiced, credited = sum(one.invoiced_net for one in once), sum(one.credited_net for one in once)
    return {"invoicedNet": invoiced, "creditedNet": credited, "net": invoiced - credited}
