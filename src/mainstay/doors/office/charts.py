"""Bars beside a report: what the eye takes in at once, while its table has the figures."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mainstay.doors.pages.showing import Here
from mainstay.doors.pages.words import month_words

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
    places = {column["name"]: place for place, column in enumerate(report["columns"])}
    if ages := _AGES.get(report["name"]):
        labels = {column["name"]: column["label"] for column in report["columns"]}
        figures = [(labels[name], report["totals"][places[name]]) for name in ages]
    elif report["name"] in _DRAWN:
        value, label = (places[name] for name in _DRAWN[report["name"]])
        figures = [(row[label], row[value]) for row in report["rows"] if row[value] is not None]
        if _DRAWN[report["name"]][1] == "month":
            figures = [(month_words(month), figure) for month, figure in figures[-_MOST_BARS:]]
    else:
        return None
    return _chart(report["title"], figures[:_MOST_BARS], here)


def _chart(title: str, figures: Sequence[tuple[str, str]], here: Here) -> Chart | None:
    sizes = [int(figure.replace(".", "")) for _, figure in figures]
    longest = max(map(abs, sizes), default=0)
    if not longest or len(figures) == 1:
        return None
    bars = [
        Bar(label, here.amount(figure), abs(size) * _WHOLE // longest, size < 0)
        for (label, figure), size in zip(figures, sizes, strict=True)
    ]
    highest, lowest = bars[sizes.index(max(sizes))], bars[sizes.index(min(sizes))]
    told = f"{title} as {len(bars)} bars: the most is {highest.label} with {highest.text}"
    return Chart(bars, f"{told}, the least {lowest.label} with {lowest.text}. The table below has every figure.")
