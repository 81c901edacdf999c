"""Bars beside a report: what the eye takes in at once, while its table has the figures."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from mainstay.doors.pages.showing import Here
from mainstay.doors.pages.words import month_words

# How a figure is written.
Write = Callable[[Here, str], str]

_MOST_BARS = 24
# How long the longest bar is; the others are a share of it.
_WHOLE = 1000


class Bar(NamedTuple):
    """One bar: what it stands for, how much that is, and how long it is."""

    label: str
    text: str
    length: int
    is_less: bool


class Chart(NamedTuple):
    """Some bars, and the same in a sentence."""

    bars: list[Bar]
    alternative: str
    whole: int = _WHOLE


# Of each report the column that is drawn, and the one that says what each bar stands for.
_DRAWN = {
    "revenue": ("revenue", "month"),
    "jobProfit": ("margin", "job"),
    "hours": ("utilisation", "person"),
    "taxSummary": ("tax", "rate"),
}
# Of this one, the totals of these columns.
_AGES = {"receivables": ("notDue", "late1To30", "late31To60", "late61To90", "lateOver90")}


def chart_of(report: Mapping[str, Any], here: Here) -> Chart | None:
    """The bars of a report; none, where there is nothing to compare."""
    columns = {column["name"]: column for column in report["columns"]}
    places = {name: place for place, name in enumerate(columns)}
    if ages := _AGES.get(report["name"]):
        figures = [(columns[name]["label"], report["totals"][places[name]]) for name in ages]
        return _chart(report["title"], figures, Here.money, here)
    if report["name"] not in _DRAWN:
        return None
    value, label = _DRAWN[report["name"]]
    rows = [row for row in report["rows"] if row[places[value]] is not None]
    # The last months, and of anything else what comes first.
    drawn = rows[-_MOST_BARS:] if label == "month" else rows[:_MOST_BARS]
    figures = [(_called(label, row[places[label]]), row[places[value]]) for row in drawn]
    return _chart(report["title"], figures, percent if columns[value]["kind"] == "percent" else Here.money, here)


def percent(here: Here, figure: str) -> str:
    """A percentage, as it is written where whoever looks is."""
    return f"{here.number(figure)}\N{NO-BREAK SPACE}%"


def _called(label: str, told: str) -> str:
    return month_words(told) if label == "month" else told


def _chart(title: str, figures: Sequence[tuple[str, str]], write: Write, here: Here) -> Chart | None:
    sizes = [int(figure.replace(".", "")) for _, figure in figures]
    longest = max(map(abs, sizes), default=0)
    if not longest or len(figures) == 1:
        return None
    bars = [
        Bar(label, write(here, figure), abs(size) * _WHOLE // longest, size < 0)
        for (label, figure), size in zip(figures, sizes, strict=True)
    ]
    highest, lowest = bars[sizes.index(max(sizes))], bars[sizes.index(min(sizes))]
    told = f"{title} as {len(bars)} bars: the most is {highest.label} with {highest.text}"
    return Chart(bars, f"{told}, the least {lowest.label} with {lowest.text}. The table below has every figure.")
