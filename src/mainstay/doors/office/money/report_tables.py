"""The table of a report: its cells with links to the records behind them, and the comparison with another period."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlencode

from mainstay.business.reporting.model import CellValue, Column, RecordsBehind, ReportOut, to_percent
from mainstay.business.reporting.operations import get_report
from mainstay.doors.office.kit.office_pages import OfficePages
from mainstay.doors.pages.display import EMPTY_TEXT, DisplaySettings
from mainstay.doors.pages.formatting import format_date, format_month
from mainstay.doors.pages.page_language import translate_text
from mainstay.values.durations import hours_text

REPORTS_PATH = "/reports"
# Columns that nobody reads: they identify the row.
HIDDEN_KINDS = frozenset({"id", "key"})
# For each report that can be compared: the column that is.
_COMPARED_COLUMNS = {"revenue": "revenue", "jobProfit": "margin", "hours": "worked", "taxSummary": "tax"}
# For each report: the column that leads to the records behind its row.
_LINKED_COLUMNS = {
    "revenue": "month",
    "taxSummary": "rate",
    "receivables": "open",
    "payables": "open",
}

FigureRow = Sequence[CellValue]


class ReportCell(NamedTuple):
    """A formatted cell of a report."""

    label: str
    text: str
    is_number: bool
    to: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether the cell has no value. Phones leave it out."""
        return self.text == EMPTY_TEXT


@dataclass(frozen=True)
class ReportFigures:
    """Formats the figures of one report for a person."""

    office: OfficePages
    report: ReportOut
    display: DisplaySettings

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The position of each column by its name."""
        return {column.name: position for position, column in enumerate(self.report.columns)}

    def build_rows(self) -> list[list[ReportCell]]:
        """Return the cells of each row; if the report is compared, with the figure of the other period."""
        earlier = self._find_earlier_rows()
        return [
            [*self._build_cells(row, is_total=False), *self._compare(row, earlier[number])]
            for number, row in enumerate(self.report.rows)
        ]

    def build_totals(self) -> list[ReportCell]:
        """Return the cells of the totals. The total of a column that is not summed is empty."""
        earlier = self.report.compared.totals if self.report.compared else None
        cells = [*self._build_cells(self.report.totals, is_total=True), *self._compare(self.report.totals, earlier)]
        return [cell._replace(text="") if cell.is_empty else cell for cell in cells]

    def path_behind(self, row: FigureRow) -> str:
        """Return the address of the records behind a row, or an empty text."""
        behind = self.report.behind
        if behind is None:
            return ""
        more = {name: row[self.positions[column]] for name, column in behind.columns.items()}
        return "" if None in more.values() else self._path_of_records(behind, more)

    def path_behind_cell(self, column: str, row: FigureRow) -> str:
        """Return the address of the records behind a cell of a row, or an empty text."""
        behind, whole_row = self.report.columns_behind.get(column), self.report.behind
        figure = row[self.positions[column]]
        if behind is None or whole_row is None or not any(digit in "123456789" for digit in str(figure)):
            return ""
        more = {name: row[self.positions[of]] for name, of in whole_row.columns.items()}
        return self._path_of_records(behind, more)

    def path_behind_total(self, column: str) -> str:
        """Return the address of the records behind the total of a column, or an empty text."""
        behind = self.report.columns_behind.get(column)
        return self._path_of_records(behind, {}) if behind else ""

    def find_earlier_figure(self, number: int) -> CellValue:
        """Return the compared figure of the other period, for the row with this number."""
        row = self._find_earlier_rows()[number]
        return row[self._compared_position] if row and self._compared_position is not None else None

    def _path_of_records(self, behind: RecordsBehind, more: Mapping[str, CellValue]) -> str:
        given = {**behind.given, **more}
        operation = self.office.operations[behind.operation]
        if operation is get_report:
            return f"{REPORTS_PATH}/{given.pop('name')}?{urlencode(given)}"
        if operation.returns_page and operation.output.office_path:
            return f"{operation.output.office_path.removesuffix('/{id}')}?{urlencode(given)}"
        [record_id] = given.values()
        return self.office.path_of(str(record_id))

    @cached_property
    def _compared_position(self) -> int | None:
        return self.positions.get(_COMPARED_COLUMNS.get(self.report.name, ""))

    def _find_earlier_rows(self) -> list[FigureRow | None]:
        """Return for each row that of the other period: of months by their order, of anything else by what it is."""
        compared, rows = self.report.compared, self.report.rows
        if compared is None:
            return [None] * len(rows)
        if self.report.columns[0].kind == "month":
            found: list[FigureRow | None] = [*compared.rows[: len(rows)]]
            return found + [None] * (len(rows) - len(found))
        by_first = {row[0]: row for row in compared.rows}
        return [by_first.get(row[0]) for row in rows]

    def _build_cells(self, row: FigureRow, *, is_total: bool) -> list[ReportCell]:
        """Return the cells of a row. A column that identifies the row is not shown; an id is the link of the next."""
        cells = []
        path = ""
        for column, value in zip(self.report.columns, row, strict=True):
            if column.kind in HIDDEN_KINDS:
                path = self.office.path_of(str(value)) if value and column.kind == "id" else ""
                continue
            if is_total:
                path = self.path_behind_total(column.name)
            elif column.name in self.report.columns_behind:
                path = self.path_behind_cell(column.name, row)
            elif column.name == _LINKED_COLUMNS.get(self.report.name):
                path = self.path_behind(row)
            cells.append(self._build_cell(column, value, path))
            path = ""
        return cells

    def _build_cell(self, column: Column, value: CellValue, path: str) -> ReportCell:
        text = format_value(column.kind, value, self.report.currency, self.display)
        return ReportCell(column.label, text, column.kind not in _TEXT_FORMATS, path)

    def _compare(self, row: FigureRow, earlier: FigureRow | None) -> list[ReportCell]:
        """Return the figure of the other period, and the change, if the report is compared."""
        position = self._compared_position
        if self.report.compared is None or position is None:
            return []
        column, value = self.report.columns[position], earlier[position] if earlier else None
        change = _percent_between(value, row[position])
        return [
            ReportCell(
                translate_text("Before"),
                format_value(column.kind, value, self.report.currency, self.display),
                is_number=True,
            ),
            ReportCell(
                translate_text("Change"), self.display.format_percent(change) if change else EMPTY_TEXT, is_number=True
            ),
        ]


def _percent_between(earlier: CellValue, later: CellValue) -> str | None:
    """Return the change from one figure to another in percent, if the first is not zero."""
    if earlier is None or later is None:
        return None
    before, now = (int(str(value).replace(".", "")) for value in (earlier, later))
    return to_percent(now - before, abs(before))


def format_value(kind: str, value: Any, currency: str, display: DisplaySettings) -> str:
    """Format a value for people."""
    if value is None:
        return EMPTY_TEXT
    if kind == "money":
        return display.format_amount(value, currency)
    if kind == "percent":
        return display.format_percent(value)
    if kind == "minutes":
        return hours_text(value)
    return _TEXT_FORMATS.get(kind, str)(value)


# Formats of values that are not aligned as numbers.
_TEXT_FORMATS: dict[str, Callable[[str], str]] = {"text": str, "date": format_date, "month": format_month}
