"""What every report has: its shape, its dates, who may ask for it and its filters."""

import pytest

from mainstay.business.reporting.model import (
    MAX_REPORT_ROWS,
    ReportName,
    format_row,
    make_column,
    make_table,
    to_percent,
)
from mainstay.business.reporting.operations import REPORTS, get_report
from mainstay.values.message import PROGRAM_FORMAT
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, Invalid, NotFound
from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at
from support.invoices import issue_invoice, make_invoice
from support.reports import make_required_inputs, name_totals, perform_report

REPORT = pytest.mark.parametrize("name", list(REPORTS))


@REPORT
def test_a_report_of_nothing_has_its_columns_and_no_more(cast: Cast, name: ReportName) -> None:
    made = perform_report(cast_at(cast), name, **make_required_inputs(cast, name))
    assert (made["object"], made["name"], made["currency"], made["until"]) == ("report", name, "GBP", "2026-11-16")
    assert made["from"] == (None if name in {"receivables", "payables"} else "2026-01-01")
    assert made["hasMore"] is False
    assert len(made["totals"]) == len(made["columns"])
    assert all(len(row) == len(made["columns"]) for row in made["rows"])
    assert all(note.endswith(".") for note in made["notes"])
    assert (made["rows"] == []) == (name not in {"statement", "revenue", "hours"})


@REPORT
def test_reports_are_for_the_office(cast: Cast, name: ReportName) -> None:
    given = make_required_inputs(cast, name)
    for role in (Role.OWNER, Role.ADMIN, Role.OFFICE):
        assert cast.perform(get_report, role, name=name, **given)["title"]
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        with pytest.raises(Forbidden):
            cast.perform(get_report, role, name=name, **given)


def test_the_year_begins_where_the_last_date_is(cast: Cast) -> None:
    assert perform_report(cast_at(cast), "revenue", until="2025-03-31")["from"] == "2025-01-01"
    # In the organisation's zone, the year has begun an hour ago.
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("UPDATE organisation SET time_zone = 'Europe/Berlin' WHERE id = :organisation")
    late = perform_report(cast_at(cast, "2026-12-31T23:30:00Z"), "revenue")
    assert (late["from"], late["until"]) == ("2027-01-01", "2027-01-01")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"from": "2026-02-01", "until": "2026-01-31"}, "until"),
        ({"from": "2010-01-01", "until": "2026-01-31"}, "until"),
        ({"from": "1999-12-31"}, "from"),
        ({"until": "9999-12-31"}, "until"),
        ({"until": "2026-02-30"}, "until"),
        ({"personId": "person_01JCDZ8Q4X0V9M2T6W3B7K5N1R"}, "personId"),
        ({"by": "month"}, "by"),
        ({"customerId": "Calder"}, "customerId"),
    ],
)
def test_what_cannot_be_reported_on_is_refused(cast: Cast, given: dict[str, object], field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        perform_report(cast_at(cast), "revenue", **given)
    assert [fault.field for fault in refusal.value.faults] == [field]


def test_what_a_report_does_not_heed_is_refused_with_what_it_takes(cast: Cast) -> None:
    with pytest.raises(Invalid, match="until: can't be used for this report, only customerId"):
        perform_report(cast, "receivables", until="2026-01-31")
    with pytest.raises(Invalid, match="name"):
        perform_report(cast, "profits")


def test_a_customer_or_a_person_of_another_organisation_is_not_found(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        perform_report(cast, "revenue", customerId=make_customer(other_cast))
    with pytest.raises(NotFound):
        perform_report(cast, "hours", personId=other_cast.people[Role.MEMBER])


def test_drafts_and_what_others_invoiced_are_in_no_report(cast: Cast, other_cast: Cast) -> None:
    cast, other_cast = cast_at(cast), cast_at(other_cast)
    make_invoice(cast)
    issue_invoice(other_cast)
    for name in REPORTS:
        assert {
            *{**name_totals(perform_report(cast, name, **make_required_inputs(cast, name))), "capacity": 0}.values()
        } <= {
            "0.00",
            0,
            None,
            "0.0",
        }


def test_of_more_rows_than_are_told_all_are_in_the_totals() -> None:
    columns = (
        make_column("job", "Job", "text"),
        make_column("margin", "Margin", "money"),
        make_column("left", "%", "percent"),
    )
    made = make_table(columns, [["J-1", 1, "1.0"]] * (MAX_REPORT_ROWS + 5), totals={"left": "7.0"})
    assert format_row(made.totals, columns, "GBP", PROGRAM_FORMAT) == [None, "10.05", "7.0"]
    assert format_row(made.totals, columns, "JPY", PROGRAM_FORMAT) == [None, "1005", "7.0"]


@pytest.mark.parametrize(
    ("part", "whole", "percent"),
    [
        (1, 3, "33.3"),
        (2, 3, "66.7"),
        (-1, 3, "-33.3"),
        (1, 2000, "0.1"),
        (1, 2001, "0.0"),
        (5, 5, "100.0"),
        (5, 0, None),
    ],
)
def test_a_share_has_one_decimal(part: int, whole: int, percent: str | None) -> None:
    assert to_percent(part, whole) == percent
