"""The cards of the start page: what waits, in three groups, and the revenue of twelve months as bars."""

from collections.abc import Iterable
from typing import NamedTuple

from mainstay.business.overview.model import Need, NeedGroup, RevenueNow
from mainstay.doors.office.kit.office_pages import format_count
from mainstay.doors.pages.formatting import format_month
from mainstay.vocabulary.list_queries import COUNT_LIMIT

_GROUP_TITLES: dict[NeedGroup, str] = {"money": "Money", "work": "Work", "people": "People"}
_MAX_ROWS = 6
# The drawing of the bars, in its own units: the distance of two bars, the width of one, and the height of the highest.
_BAR_DISTANCE, _BAR_WIDTH, _HIGHEST_BAR = 28, 20, 72


class NeedRow(NamedTuple):
    """Records that wait: how many, what they are, and how much or who."""

    need: Need
    count_text: str
    path: str


class NeedCard(NamedTuple):
    """One group of what waits."""

    name: str
    title: str
    rows: list[NeedRow]


class RevenueBar(NamedTuple):
    """The revenue of one month, and its bar."""

    month: str
    letter: str
    amount: str
    x: int
    y: int
    height: int
    is_now: bool
    is_less: bool


class RevenueCard(NamedTuple):
    """The revenue of twelve months."""

    this_month: str
    last_month: str
    path: str
    bars: list[RevenueBar]
    width: int = 12 * _BAR_DISTANCE
    height: int = _HIGHEST_BAR + 20
    bar_width: int = _BAR_WIDTH


def group_needs(needs: Iterable[Need], base_url: str) -> list[NeedCard]:
    """Return what waits in its groups, each with at most six rows: what is late, and then the most pressing."""
    rows = [NeedRow(need, format_count(need.count), need.url.removeprefix(base_url)) for need in needs]
    cards = [
        NeedCard(group, title, [row for row in rows if row.need.group == group][:_MAX_ROWS])
        for group, title in _GROUP_TITLES.items()
    ]
    return [card for card in cards if card.rows]


def count_late(needs: Iterable[Need]) -> int:
    """Return how many records are late; those of a kind are counted up to 99."""
    return sum(min(need.count, COUNT_LIMIT - 1) for need in needs if need.late)


def build_revenue(revenue: RevenueNow, base_url: str) -> RevenueCard | None:
    """Return the revenue with its bars, or None if there was none in twelve months."""
    sizes = [int(month.revenue.replace(".", "")) for month in revenue.months]
    highest = max(map(abs, sizes), default=0)
    if not highest:
        return None
    bars = []
    for position, (month, size) in enumerate(zip(revenue.months, sizes, strict=True)):
        height = abs(size) * _HIGHEST_BAR // highest
        name = format_month(month.month)
        is_now = position == len(sizes) - 1
        bars.append(
            RevenueBar(
                name,
                name[:1],
                month.revenue,
                position * _BAR_DISTANCE + (_BAR_DISTANCE - _BAR_WIDTH) // 2,
                _HIGHEST_BAR - height,
                height,
                is_now,
                size < 0,
            )
        )
    return RevenueCard(revenue.this_month, revenue.last_month, revenue.url.removeprefix(base_url), bars)
