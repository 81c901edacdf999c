"""What is behind the figures of reports: the documents of a month or of a tax, and time entries."""

from decimal import Decimal
from typing import Any

import pytest

from mainstay.business.reporting.operations import get_report
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.hours import cast_at, make_time_entry
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, void_issued
from support.reports import make_rate_with_parts, name_rows, name_totals, perform_report

AMOUNTS = ("invoiced", "credited", "revenue", "tax", "paid")
YEAR = {"from": "2026-01-01", "until": "2026-12-31"}


def make_year(cast: Cast) -> str:
    """Let two months have documents of each kind; return the id of a rate with two parts."""
    october, november = cast_at(cast, "2026-10-16T12:00:00Z"), cast_at(cast)
    rate, low = make_rate_with_parts(cast, "Full", GST="5", PST="7"), make_rate_with_parts(cast, "Low", VAT="5")
    lines = [{"description": "Work", "unitPrice": "100", "taxRateId": one} for one in (rate, low)]
    first = issue_invoice(october, make_invoice(october, lines=lines))
    issue_invoice(october, make_invoice(october, lines=lines[:1]))
    pay_invoice(november, first, "50", reference="Thanks")
    credit_issued(november, first, amount="20")
    void_issued(november, issue_invoice(october, make_invoice(october, lines=lines)))
    return rate


def sum_rows(rows: list[dict[str, Any]], *names: str) -> dict[str, str]:
    return {name: f"{sum((Decimal(row[name] or 0) for row in rows), Decimal(0)):.2f}" for name in names}


def read_behind(cast: Cast, report: dict[str, Any], row: list[Any]) -> dict[str, Any]:
    """Perform the report behind a row."""
    behind = report["behind"]
    assert behind["operation"] == get_report.name
    cells = dict(zip((column["name"] for column in report["columns"]), row, strict=True))
    return cast.perform(
        get_report,
        Role.OFFICE,
        **behind["given"],
        **{name: cells[column] for name, column in behind["columns"].items()},
    )


def test_the_documents_of_a_month_are_those_of_its_revenue(cast: Cast) -> None:
    make_year(cast)
    revenue = perform_report(cast_at(cast), "revenue", **YEAR)
    kinds = []
    for row, figures in zip(revenue["rows"], name_rows(revenue, *AMOUNTS), strict=True):
        documents = read_behind(cast_at(cast), revenue, row)
        assert name_totals(documents, *AMOUNTS) == figures
        rows = name_rows(documents)
        assert sum_rows(rows, *AMOUNTS) == figures
        assert documents["from"][:7] == documents["until"][:7] == row[0]
        kinds += [one["kind"] for one in rows]
    assert kinds == ["Invoice"] * 3 + ["Invoice voided", "Credit note", "Payment"]


@pytest.mark.parametrize("by", ["range", "month"])
def test_the_documents_of_a_tax_are_those_of_its_row(cast: Cast, by: str) -> None:
    make_year(cast)
    taxes = perform_report(cast_at(cast), "taxSummary", by=by, **YEAR)
    assert len(taxes["rows"]) == (3 if by == "range" else 6)
    for row, figures in zip(taxes["rows"], name_rows(taxes), strict=True):
        rows = name_rows(read_behind(cast_at(cast), taxes, row))
        assert rows
        assert sum_rows(rows, "revenue", "tax") == {"revenue": figures["net"], "tax": figures["tax"]}


def test_the_entries_of_a_person_are_those_of_their_hours(cast: Cast) -> None:
    for role, status in ((Role.MEMBER, "draft"), (Role.MEMBER, "rejected"), (Role.OFFICE, "submitted")):
        make_time_entry(cast, role, status=status, minutes=50)
    hours = perform_report(cast_at(cast), "hours", **YEAR)
    names = ("worked", "billable", "billed")
    for row, figures in zip(hours["rows"], name_rows(hours, *names), strict=True):
        entries = read_behind(cast_at(cast), hours, row)
        assert name_totals(entries, *names) == figures
        assert sum(one["worked"] for one in name_rows(entries)) == figures["worked"]


def test_a_month_outside_of_the_dates_is_refused(cast: Cast) -> None:
    with pytest.raises(Invalid, match="is not within the dates"):
        perform_report(cast, "documents", month="2025-12", **YEAR)
    cut = perform_report(cast, "documents", month="2026-10", **{"from": "2026-10-10", "until": "2026-12-31"})
    assert (cut["from"], cut["until"]) == ("2026-10-10", "2026-10-31")
