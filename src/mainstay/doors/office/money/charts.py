"""Charts of reports: bars, and for months columns in their order. The table of the report has the exact figures."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mainstay.business.reporting.model import CellValue
from mainstay.doors.office.money.report_tables import ReportFigures, format_value
from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.message_format import PageFormat
from mainstay.values.message import Message

_MAX_BARS = 24
# The length of the longest bar. The others are in proportion.
_LONGEST_BAR = 1000


class _Figure(NamedTuple):
    """A figure to be drawn: its label, the address of the records behind it, and that of the other period."""

    label: str
    value: str
    to: str
    earlier: CellValue = None


class Bar(NamedTuple):
    """One bar: its label, its figure as text, its length, whether it is negative, and where it leads."""

    label: str
    text: str
    length: int
    is_less: bool
    to: str
    # The length of the bar of the period to compare with, and its figure as text.
    earlier_length: int
    earlier_text: str


class Chart(NamedTuple):
    """Some bars, and a sentence that describes them."""

    bars: list[Bar]
    alternative: str
    # Whether they are months in their order, which stand side by side.
    is_trend: bool
    longest_bar: int = _LONGEST_BAR


# For each report: the column that is drawn, and the column with the labels.
_DRAWN_COLUMNS = {
    "revenue": ("revenue", "month"),
    "jobProfit": ("margin", "job"),
    "hours": ("utilisation", "person"),
    "taxSummary": ("tax", "rate"),
    "payables": ("open", "supplier"),
}
# For these reports: the columns whose totals are drawn.
_AGE_COLUMNS = {"receivables": ("notDue", "late1To30", "late31To60", "late61To90", "lateOver90")}


def build_chart(figures: ReportFigures) -> Chart | None:
    """Return the chart of a report, or None if there is nothing to compare."""
    report, positions, display = figures.report, figures.positions, figures.display
    columns = {column.name: column for column in report.columns}

    def format_as(kind: str) -> Callable[[CellValue], str]:
        return lambda value: format_value(kind, value, report.currency, display)

    if age_columns := _AGE_COLUMNS.get(report.name):
        totals = [
            _Figure(
                display.language.translate(columns[name].label),
                str(report.totals[positions[name]]),
                figures.path_behind_total(name),
            )
            for name in age_columns
        ]
        return _draw(report.title, totals, format_as("money"), display, is_trend=False)
    if report.name not in _DRAWN_COLUMNS:
        return None
    value, label = _DRAWN_COLUMNS[report.name]
    is_trend, format_label = label == "month", format_as(columns[label].kind)
    # The comparison is of another column, if percentages are drawn.
    has_earlier = columns[value].kind == "money"
    drawn = [
        _Figure(
            format_label(row[positions[label]]),
            str(row[positions[value]]),
            figures.path_behind(row),
            figures.find_earlier_figure(number) if has_earlier else None,
        )
        for number, row in enumerate(report.rows)
        if row[positions[value]] is not None
    ]
    # Of months the last are drawn, of anything else the first.
    drawn = drawn[-_MAX_BARS:] if is_trend else drawn[:_MAX_BARS]
    return _draw(report.title, drawn, format_as(columns[value].kind), display, is_trend=is_trend)


def _draw(
    title: str,
    figures: Sequence[_Figure],
    format_figure: Callable[[CellValue], str],
    display: DisplaySettings,
    *,
    is_trend: bool,
) -> Chart | None:
    sizes = [_to_size(figure.value) for figure in figures]
    earlier_sizes = [_to_size(figure.earlier) for figure in figures]
    longest = max(map(abs, [*sizes, *earlier_sizes]), default=0)
    if not longest or len(figures) == 1:
        return None
    bars = [
        Bar(
            figure.label,
            format_figure(figure.value),
            abs(size) * _LONGEST_BAR // longest,
            size < 0,
            figure.to,
            abs(earlier) * _LONGEST_BAR // longest,
            "" if figure.earlier is None else format_figure(figure.earlier),
        )
        for figure, size, earlier in zip(figures, sizes, earlier_sizes, strict=True)
    ]
    highest, lowest = bars[sizes.index(max(sizes))], bars[sizes.index(min(sizes))]
    alternative = Message(
        "{title} as {count} bars: the highest is {highest} with {most}, the lowest {lowest} with {least}. The table"
        " below has every figure.",
        title=display.language.translate(title),
        count=len(bars),
        highest=highest.label,
        most=highest.text,
        lowest=lowest.label,
        least=lowest.text,
    )
    return Chart(bars, PageFormat(display).render(alternative), is_trend)


def _to_size(value: CellValue) -> int:
    """Return a figure without its decimal point, by which it is compared with others of the same kind."""
    return int(str(value).replace(".", "")) if value is not None else 0
