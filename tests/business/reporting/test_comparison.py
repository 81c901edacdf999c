"""With which period a report is compared, and what it tells of that."""

from datetime import date

import pytest

from mainstay.business.reporting.periods import Comparison, find_compared_period
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.hours import cast_at
from support.invoices import issue_invoice
from support.reports import perform_report


@pytest.mark.parametrize(
    ("comparison", "period", "expected"),
    [
        ("periodBefore", ("2026-10-01", "2026-10-31"), ("2026-09-01", "2026-09-30")),
        ("periodBefore", ("2026-11-01", "2026-11-16"), ("2026-10-01", "2026-10-16")),
        ("periodBefore", ("2026-01-01", "2026-03-31"), ("2025-10-01", "2025-12-31")),
        ("periodBefore", ("2026-03-01", "2026-03-30"), ("2026-02-01", "2026-02-28")),
        ("periodBefore", ("2026-11-09", "2026-11-15"), ("2026-11-02", "2026-11-08")),
        ("yearBefore", ("2026-10-01", "2026-10-31"), ("2025-10-01", "2025-10-31")),
        ("yearBefore", ("2024-02-29", "2024-02-29"), ("2023-02-28", "2023-02-28")),
        ("yearBefore", ("2025-02-01", "2025-02-28"), ("2024-02-01", "2024-02-29")),
    ],
)
def test_a_period_is_compared_with_one_as_long(
    comparison: Comparison, period: tuple[str, str], expected: tuple[str, str]
) -> None:
    first, last = map(date.fromisoformat, period)
    assert tuple(day.isoformat() for day in find_compared_period(first, last, comparison)) == expected


def test_the_other_period_is_the_report_of_that_period(cast: Cast) -> None:
    for month, count in (("09", 2), ("10", 1)):
        for _ in range(count):
            issue_invoice(cast_at(cast, f"2026-{month}-16T12:00:00Z"))
    period = {"from": "2026-10-01", "until": "2026-10-31"}
    report = perform_report(cast_at(cast), "revenue", compareWith="periodBefore", **period)
    other = perform_report(cast_at(cast), "revenue", **{"from": "2026-09-01", "until": "2026-09-30"})
    assert report["compared"] == {name: other[name] for name in ("from", "until", "rows", "totals")}
    assert perform_report(cast_at(cast), "revenue", **period)["compared"] is None
    with pytest.raises(Invalid, match="compareWith"):
        perform_report(cast, "receivables", compareWith="yearBefore")
