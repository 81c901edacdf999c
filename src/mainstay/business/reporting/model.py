"""A report: a table of columns and rows, whatever it is about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, Field

from mainstay.terms.shapes import Shown
from mainstay.values.models import TOLD
from mainstay.values.money import amount_text
from mainstay.values.totals import rounded

Name = Literal["receivables", "statement", "revenue", "jobProfit", "hours", "taxSummary", "numberSeries"]
Kind = Literal["id", "text", "date", "month", "count", "minutes", "money", "percent"]
# What stands in a table: amounts as they are summed up, in minor units.
Cell = str | int | None

MOST_ROWS = 1000
_SUMMED = {"count", "minutes", "money"}
_DATE: dict[str, Any] = {"format": "date"}


class Column(BaseModel):
    """A column of a report."""

    model_config = TOLD

    name: str = Field(examples=["margin"])
    label: str = Field(description="What people call it.", examples=["Margin"])
    kind: Kind = Field(
        description="`id` is that of the record the row is about; `money` and `percent` are decimals as text, `date`"
        " is such as 2026-11-16 and `month` such as 2026-11, `minutes` and `count` are whole numbers.",
        examples=["money"],
    )


class ReportOut(Shown):
    """A report."""

    noun = "report"

    name: Name = Field(examples=["receivables"])
    title: str = Field(examples=["Receivables"])
    currency: str = Field(description="Of every amount in it.", examples=["GBP"])
    from_: str | None = Field(
        alias="from", description="Null where it is about a day.", examples=[None], json_schema_extra=_DATE
    )
    until: str = Field(examples=["2026-11-16"], json_schema_extra=_DATE)
    columns: list[Column] = Field(examples=[[{"name": "open", "label": "Open", "kind": "money"}]])
    rows: list[list[str | int | None]] = Field(
        description="One cell for each column, in their order.", examples=[[["1440.00"]]]
    )
    totals: list[str | int | None] = Field(
        description="Likewise, of all rows, also those that are not here.", examples=[["1440.00"]]
    )
    notes: list[str] = Field(description="What should be known to read it.", examples=[[]])
    has_more: bool = Field(description=f"Whether there are more rows than the first {MOST_ROWS}.", examples=[False])


@dataclass(frozen=True, slots=True)
class Table:
    """What a report says."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    totals: Sequence[Cell]
    notes: Sequence[str]


def column(name: str, label: str, kind: Kind) -> Column:
    """A column."""
    return Column(name=name, label=label, kind=kind)


def table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    notes: Sequence[str] = (),
    totals: Mapping[str, Cell] = MappingProxyType({}),
) -> Table:
    """A table with its totals: what can be summed up is, unless its total is told by the name of its column."""
    sums: list[Cell] = []
    for place, one in enumerate(columns):
        if one.name in totals:
            sums.append(totals[one.name])
        else:
            sums.append(sum(int(row[place] or 0) for row in rows) if one.kind in _SUMMED else None)
    return Table(columns, rows, sums, notes)


def share(part: int, whole: int) -> str | None:
    """How many percent a part is of something, with one decimal; None where that is nothing."""
    if whole <= 0:
        return None
    tenths = rounded(part * 1000, whole)
    return f"{'-' * (tenths < 0)}{abs(tenths) // 10}.{abs(tenths) % 10}"


def told(row: Sequence[Cell], columns: Sequence[Column], currency: str) -> list[Cell]:
    """A row as it is told: amounts as decimals."""
    return [
        amount_text(cell, currency) if one.kind == "money" and isinstance(cell, int) else cell
        for one, cell in zip(columns, row, strict=True)
    ]
