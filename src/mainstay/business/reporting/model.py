"""A report: a table of columns and rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, Field

from mainstay.values.message import Message, MessageFormat
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.values.money import amount_text
from mainstay.values.totals import round_fraction
from mainstay.vocabulary.schemas import Output

ReportName = Literal[
    "receivables",
    "payables",
    "statement",
    "revenue",
    "jobProfit",
    "hours",
    "taxSummary",
    "numberSeries",
    "documents",
    "timeEntries",
]
ColumnKind = Literal["id", "key", "text", "date", "month", "count", "minutes", "money", "percent"]
# A value in a table. Amounts are in minor units.
CellValue = str | int | None
# A label of the product is rendered for each door.
RowValue = CellValue | Message

MAX_REPORT_ROWS = 1000
# The operation that lists the records behind a figure, if they are of several kinds.
REPORT_OPERATION = "get_report"
_SUMMED_KINDS = {"count", "minutes", "money"}
_DATE: dict[str, Any] = {"format": "date"}


class Column(BaseModel):
    """A column of a report."""

    model_config = OUTPUT_CONFIG

    name: str = Field(examples=["margin"])
    label: str = Field(description="The label for people.", examples=["Margin"])
    kind: ColumnKind = Field(
        description="`id` is the ID of the row's record, `key` stands for the row in `behind`; `money` and `percent`"
        " are decimals as text, `date` is like 2026-11-16 and `month` like 2026-11, `minutes` and `count` are whole"
        " numbers.",
        examples=["money"],
    )


class RecordsBehind(BaseModel):
    """The operation that lists the records behind a figure."""

    model_config = OUTPUT_CONFIG

    operation: str = Field(examples=["get_report"])
    given: dict[str, str] = Field(description="The input for it.", examples=[{"name": "documents"}])
    columns: dict[str, str] = Field(
        description="More input, from columns of the row: the column by the name of the input.",
        examples=[{"month": "month"}],
    )


class ComparedPeriod(BaseModel):
    """The same report for the period to compare with."""

    model_config = OUTPUT_CONFIG

    from_: str = Field(alias="from", examples=["2025-01-01"], json_schema_extra=_DATE)
    until: str = Field(examples=["2025-11-16"], json_schema_extra=_DATE)
    rows: list[list[str | int | None]] = Field(description="In the same columns.", examples=[[["1200.00"]]])
    totals: list[str | int | None] = Field(examples=[["1200.00"]])


class ReportOut(Output):
    """A report."""

    noun = "report"

    name: ReportName = Field(examples=["receivables"])
    title: str = Field(examples=["Receivables"])
    currency: str = Field(description="The currency of all amounts.", examples=["GBP"])
    from_: str | None = Field(
        alias="from", description="Null if the report is about one day.", examples=[None], json_schema_extra=_DATE
    )
    until: str = Field(examples=["2026-11-16"], json_schema_extra=_DATE)
    columns: list[Column] = Field(examples=[[{"name": "open", "label": "Open", "kind": "money"}]])
    rows: list[list[str | int | None]] = Field(
        description="One cell for each column, in the same order.", examples=[[["1440.00"]]]
    )
    totals: list[str | int | None] = Field(
        description="The same for all rows, also those not returned.", examples=[["1440.00"]]
    )
    notes: list[str] = Field(description="What the figures include.", examples=[[]])
    behind: RecordsBehind | None = Field(
        description="The records behind each row; null if there is no such list.", examples=[None]
    )
    columns_behind: dict[str, RecordsBehind] = Field(
        description="The records behind totals, by column. With the `columns` of `behind`, behind a cell of a row.",
        examples=[{}],
    )
    compared: ComparedPeriod | None = Field(
        description="The period to compare with, if one was asked for.", examples=[None]
    )
    has_more: bool = Field(
        description=f"Whether there are more rows than the first {MAX_REPORT_ROWS}.", examples=[False]
    )


@dataclass(frozen=True, slots=True)
class ReportTable:
    """The content of a report."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[RowValue]]
    totals: Sequence[CellValue]
    notes: Sequence[Message]
    behind: RecordsBehind | None = None
    columns_behind: Mapping[str, RecordsBehind] = field(default_factory=dict)


def make_column(name: str, label: str, kind: ColumnKind) -> Column:
    """Return a column of a report."""
    return Column(name=name, label=label, kind=kind)


def make_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[RowValue]],
    notes: Sequence[Message] = (),
    totals: Mapping[str, CellValue] = MappingProxyType({}),
) -> ReportTable:
    """Return a table with its totals. Columns are summed up if they can be, unless `totals` contains their total."""
    sums: list[CellValue] = []
    for position, column in enumerate(columns):
        if column.name in totals:
            sums.append(totals[column.name])
        else:
            sums.append(sum(_to_int(row[position]) for row in rows) if column.kind in _SUMMED_KINDS else None)
    return ReportTable(columns, rows, sums, notes)


def to_percent(part: int, total: int) -> str | None:
    """Return a part as a percentage with one decimal, or None if the whole is not positive."""
    if total <= 0:
        return None
    tenths = round_fraction(part * 1000, total)
    return f"{'-' * (tenths < 0)}{abs(tenths) // 10}.{abs(tenths) % 10}"


def format_row(
    row: Sequence[RowValue], columns: Sequence[Column], currency: str, message_format: MessageFormat
) -> list[CellValue]:
    """Return a row with its amounts as decimal texts, and its labels as texts."""

    def format_cell(kind: ColumnKind, cell: RowValue) -> CellValue:
        if isinstance(cell, Message):
            return message_format.render(cell)
        return amount_text(cell, currency) if kind == "money" and isinstance(cell, int) else cell

    return [format_cell(one.kind, cell) for one, cell in zip(columns, row, strict=True)]


def _to_int(value: RowValue) -> int:
    return value if isinstance(value, int) else 0
