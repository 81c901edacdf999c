"""Bar charts of reports. The table of the report has the exact figures."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mainstay.business.reporting.model import ReportOut
from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.formatting import format_month
from mainstay.doors.pages.message_format import PageFormat
from mainstay.values.message import Message

# Formats a figure as text.
FigureFormat = Callable[[str], str]

_MAX_BARS = 24
# The length of the longest bar. The others are in proportion.
_LONGEST_BAR = 1000


class Bar(NamedTuple):
    """One bar: its label, its figure as text, its length, and whether the figure is negative."""

    label: str
    text: str
    length: int
    is_less: bool


class Chart(NamedTuple):
    """Some bars, and a sentence that describes them."""

    bars: list[Bar]
    alternative: str
    longest_bar: int = _LONGEST_BAR


# For each report: the column that is drawn, and the column with the labels.
_DRAWN_COLUMNS = {
    "revenue": ("revenue", "month"),
    "jobProfit": ("margin", "job"),
    "hours": ("utilisation", "person"),
    "taxSummary": ("tax", "rate"),
}
# For these reports: the columns whose totals are drawn.
_AGE_COLUMNS = {"receivables": ("notDue", "late1To30", "late31To60", "late61To90", "lateOver90")}


def build_chart(report: ReportOut, display: DisplaySettings) -> Chart | None:
    """Return the chart of a report, or None if there is nothing to compare."""
    columns = {column.name: column for column in report.columns}
    positions = {name: position for position, name in enumerate(columns)}
    if age_columns := _AGE_COLUMNS.get(report.name):
        figures = [
            (display.language.translate(columns[name].label), str(report.totals[positions[name]]))
            for name in age_columns
        ]
        return _chart_from_figures(report.title, figures, _amount_format(report, display), display)
    if report.name not in _DRAWN_COLUMNS:
        return None
    value, label = _DRAWN_COLUMNS[report.name]
    rows = [row for row in report.rows if row[positions[value]] is not None]
    # Of months the last are drawn, of anything else the first.
    drawn_rows = rows[-_MAX_BARS:] if label == "month" else rows[:_MAX_BARS]
    figures = [(_bar_label(label, str(row[positions[label]])), str(row[positions[value]])) for row in drawn_rows]
    return _chart_from_figures(
        report.title,
        figures,
        display.format_percent if columns[value].kind == "percent" else _amount_format(report, display),
        display,
    )


def _amount_format(report: ReportOut, display: DisplaySettings) -> FigureFormat:
    return lambda figure: display.format_amount(figure, report.currency)


def _bar_label(label: str, value: str) -> str:
    return format_month(value) if label == "month" else value


def _chart_from_figures(
    title: str, figures: Sequence[tuple[str, str]], format_figure: FigureFormat, display: DisplaySettings
) -> Chart | None:
    sizes = [int(figure.replace(".", "")) for _, figure in figures]
    longest = max(map(abs, sizes), default=0)
    if not longest or len(figures) == 1:
        return None
    bars = [
        Bar(label, format_figure(figure), abs(size) * _LONGEST_BAR // longest, size < 0)
        for (label, figure), size in zip(figures, sizes, strict=True)
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
    return Chart(bars, PageFormat(display).render(alternative))
