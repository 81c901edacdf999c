"""The tasks of the overview about money: how many, their sum, and the list that shows exactly those."""

from typing import Any

import pytest

from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.invoices.payments.recording import list_payments
from mainstay.business.overview import store
from mainstay.business.overview.operations import get_overview
from mainstay.business.reporting.operations import get_report
from mainstay.business.schedule.leave import request_time_off
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.hours import cast_at, make_time_entry
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, void_issued
from support.quotes import issue_quote, make_default_tax_rate, make_quote
from support.reports import name_rows, perform_report

LISTS = {one.name: one for one in (list_invoices, list_payments)}
MONEY = ("Overdue invoices", "Invoices to send", "Payments on account", "Unpaid invoices")


def needs_by_name(cast: Cast, role: Role = Role.OFFICE) -> dict[str, dict[str, Any]]:
    return {need["what"]: need for need in cast.perform(get_overview, role)["needs"]}


def test_what_waits_for_money_is_told_with_what_it_comes_to(cast: Cast) -> None:
    make_default_tax_rate(cast)
    october, november = cast_at(cast, "2026-10-01T12:00:00Z"), cast_at(cast)
    pay_invoice(october, issue_invoice(october), "200")
    issue_invoice(november)
    make_invoice(november)
    pay_invoice(november, issue_invoice(november), "1250.25")
    void_issued(november, issue_invoice(november))
    result = needs_by_name(november)
    assert {what: (result[what]["count"], result[what]["amount"]) for what in MONEY} == {
        "Overdue invoices": (1, "1000.00"),
        "Invoices to send": (1, "1200.00"),
        "Payments on account": (1, "50.25"),
        "Unpaid invoices": (2, "2200.00"),
    }
    for what in MONEY:
        listed = november.perform(LISTS[result[what]["operation"]], Role.OFFICE, **result[what]["given"])
        assert len(listed["data"]) == result[what]["count"]
    assert result["Overdue invoices"]["url"].endswith("/invoices?status=overdue")


def test_overdue_is_overdue_from_the_organisation_s_midnight(cast: Cast) -> None:
    invoice = issue_invoice(cast_at(cast, "2026-11-01T12:00:00Z"))
    assert invoice["dueOn"] == "2026-11-15"
    assert "Overdue invoices" not in needs_by_name(cast_at(cast, "2026-11-15T23:59:59Z"))
    assert needs_by_name(cast_at(cast, "2026-11-16T00:00:00Z"))["Overdue invoices"]["amount"] == "1000.00"


def test_hours_have_minutes_and_people_names(cast: Cast) -> None:
    issue_quote(cast, make_quote(cast), deliver="none")
    make_time_entry(cast, status="submitted")
    cast.perform(request_time_off, Role.MEMBER, **{"from": "2038-01-12"})
    needs = needs_by_name(cast)
    found = {what: (need["count"], need["amount"], need["minutes"], need["names"]) for what, need in needs.items()}
    assert found == {
        "Quotes waiting for an answer": (1, "1000.00", None, []),
        "Time entries to approve": (1, None, 60, []),
        "Time off to approve": (1, None, None, ["Mia Member"]),
    }


def test_this_month_is_told_beside_the_last_as_the_report_does(cast: Cast) -> None:
    make_default_tax_rate(cast)
    september, october, november = (cast_at(cast, f"2026-{month}-16T12:00:00Z") for month in ("09", "10", "11"))
    for day in (september, october, october, november):
        last = issue_invoice(day)
    credit_issued(november, last, amount="120")
    void_issued(november, issue_invoice(october))
    result = november.perform(get_overview, Role.OFFICE)
    assert result["currency"] == "GBP"
    assert (result["revenue"]["lastMonth"], result["revenue"]["thisMonth"]) == ("3000.00", "-100.00")
    assert result["revenue"]["url"].endswith("/reports/revenue?from=2026-10-01&until=2026-11-16")
    assert result["revenue"]["operation"] == get_report.name
    given = result["revenue"]["given"]
    assert [row["revenue"] for row in name_rows(perform_report(november, **given))] == ["3000.00", "-100.00"]


def test_the_first_and_the_last_of_a_month_belong_to_it(cast: Cast) -> None:
    amounts = {"2026-09-30": "1", "2026-10-01": "10", "2026-10-31": "100", "2026-11-01": "1000"}
    for day, amount in amounts.items():
        then = cast_at(cast, f"{day}T12:00:00Z")
        issue_invoice(then, make_invoice(then, lines=[{"description": "Work", "unitPrice": amount}]))
    for today in ("2026-11-01", "2026-11-30"):
        result = cast_at(cast, f"{today}T18:00:00Z").perform(get_overview, Role.OFFICE)["revenue"]
        assert (result["lastMonth"], result["thisMonth"]) == ("110.00", "1000.00")


def test_the_month_is_that_of_the_organisation_s_clocks(cast: Cast) -> None:
    issue_invoice(cast_at(cast, "2026-10-31T12:00:00Z"))
    for moment, expected in (("2026-10-31T23:59:59Z", "1000.00"), ("2026-11-01T00:00:00Z", "0.00")):
        result = cast_at(cast, moment).perform(get_overview, Role.OFFICE)["revenue"]
        assert result["thisMonth"] == expected


@pytest.mark.parametrize("role", [Role.MEMBER])
def test_who_sees_no_invoices_is_told_nothing_of_money(cast: Cast, role: Role) -> None:
    cast = cast_at(cast)
    issue_invoice(cast_at(cast, "2026-10-01T12:00:00Z"))
    make_invoice(cast)
    result = cast.perform(get_overview, role)
    assert result["revenue"] is None
    assert {need["what"] for need in result["needs"]} & {*MONEY} == set()


def test_nobody_waits_for_the_sum_of_very_many(cast: Cast) -> None:
    cast = cast_at(cast)
    pay_invoice(cast, issue_invoice(cast), "1001")
    double_payments(cast, range(10))
    assert needs_by_name(cast)["Payments on account"]["amount"] == f"{2**10}.00"
    double_payments(cast, range(10, 11))
    many = needs_by_name(cast)["Payments on account"]
    assert (many["count"], many["amount"]) == (100, None)


def double_payments(cast: Cast, times: range) -> None:
    """Double the number of payments, so many times."""
    names = "created_at, created_by, updated_at, updated_by, version, customer_id, on_date, currency, amount, method"
    names += ", allocations, unallocated, status"
    with cast.performer.database.write_transaction(cast.organisation) as db:
        for number in times:
            db.run(
                f"INSERT INTO payment (organisation_id, id, {names}) SELECT organisation_id, id || :more, {names}"
                " FROM payment WHERE organisation_id = :organisation",
                more=f"{number:02d}",
            )


def test_what_is_too_much_to_be_summed_up_while_someone_waits_is_left_to_the_reports(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        issue_invoice(cast)
    result = cast.perform(get_overview, Role.OFFICE)
    assert result["revenue"]["thisMonth"] == "2000.00"
    assert [need["amount"] for need in result["needs"] if need["what"] == "Unpaid invoices"] == ["2000.00"]
    for bound in ("_SUMMED", "_SUMMED_OF_YEAR"):
        monkeypatch.setattr(store, bound, 1)
    result = cast.perform(get_overview, Role.OFFICE)
    assert result["revenue"] is None
    assert [(need["count"], need["amount"]) for need in result["needs"] if need["what"] == "Unpaid invoices"] == [
        (2, None)
    ]
