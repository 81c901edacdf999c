"""The reports of a month, all at once."""

import pytest

from mainstay.business.reporting.month_end import get_month_end_pack
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, Invalid
from support.cast import Cast
from support.hours import cast_at
from support.invoices import issue_invoice
from support.reports import perform_report


def test_it_has_the_reports_of_the_month(cast: Cast) -> None:
    for moment in ("2025-11-30T12:00:00Z", "2025-12-01T12:00:00Z", "2026-10-16T12:00:00Z"):
        issue_invoice(cast_at(cast, moment))
    cast = cast_at(cast)
    reports = cast.perform(get_month_end_pack, Role.OFFICE, month="2026-11")["reports"]
    month, year = ({"from": first, "until": "2026-11-30"} for first in ("2026-11-01", "2025-12-01"))
    assert reports == [
        perform_report(cast, "revenue", **year),
        perform_report(cast, "taxSummary", **month),
        perform_report(cast, "receivables"),
        perform_report(cast, "payables"),
        perform_report(cast, "jobProfit", **month),
        perform_report(cast, "hours", **month),
    ]
    assert len(reports[0]["rows"]) == 12


def test_only_the_office_gets_it_and_only_of_a_month(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        cast.perform(get_month_end_pack, Role.MEMBER, month="2026-11")
    for month in ("2026-13", "2026-11-01", ""):
        with pytest.raises(Invalid, match="month"):
            cast.perform(get_month_end_pack, month=month)
