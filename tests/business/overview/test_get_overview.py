"""What needs someone, where it is about money: how many, what they come to, and what lists exactly those."""

from typing import Any

import pytest

from billing import an_invoice, credited, issued, paid, voided
from cast import Cast
from labour import at
from mainstay.business.invoices.operations import list_invoices
from mainstay.business.invoices.paying import list_payments
from mainstay.business.overview import store
from mainstay.business.overview.operations import get_overview
from mainstay.business.reporting.operations import get_report
from mainstay.terms.rights import Role
from quoting import a_draft, sent, usual_tax
from reporting import report, rows

LISTS = {one.name: one for one in (list_invoices, list_payments)}
MONEY = ("Overdue invoices", "Invoices to send", "Payments on account", "Unpaid invoices")


def needs(cast: Cast, role: Role = Role.OFFICE) -> dict[str, dict[str, Any]]:
    return {need["what"]: need for need in cast.perform(get_overview, role)["needs"]}


def test_what_waits_for_money_is_told_with_what_it_comes_to(cast: Cast) -> None:
    usual_tax(cast)
    october, november = at(cast, "2026-10-01T12:00:00Z"), at(cast)
    paid(october, issued(october), "200")
    issued(november)
    an_invoice(november)
    paid(november, issued(november), "1250.25")
    voided(november, issued(november))
    told = needs(november)
    assert {what: (told[what]["count"], told[what]["amount"]) for what in MONEY} == {
        "Overdue invoices": (1, "1000.00"),
        "Invoices to send": (1, "1200.00"),
        "Payments on account": (1, "50.25"),
        "Unpaid invoices": (2, "2200.00"),
    }
    for what in MONEY:
        listed = november.perform(LISTS[told[what]["operation"]], Role.OFFICE, **told[what]["given"])
        assert len(listed["data"]) == told[what]["count"]
    assert told["Overdue invoices"]["url"].endswith("/invoices?status=overdue")


def test_overdue_is_overdue_from_the_organisation_s_midnight(cast: Cast) -> None:
    invoice = issued(at(cast, "2026-11-01T12:00:00Z"))
    assert invoice["dueOn"] == "2026-11-15"
    assert "Overdue invoices" not in needs(at(cast, "2026-11-15T23:59:59Z"))
    assert needs(at(cast, "2026-11-16T00:00:00Z"))["Overdue invoices"]["amount"] == "1000.00"


def test_what_is_no_money_has_no_amount(cast: Cast) -> None:
    sent(cast, a_draft(cast), deliver="none")
    waiting = needs(cast)["Quotes waiting for an answer"]
    assert (waiting["count"], waiting["amount"]) == (1, None)


def test_this_month_is_told_beside_the_last_as_the_report_does(cast: Cast) -> None:
    usual_tax(cast)
    september, october, november = (at(cast, f"2026-{month}-16T12:00:00Z") for month in ("09", "10", "11"))
    for day in (september, october, october, november):
        last = issued(day)
    credited(november, last, amount="120")
    voided(november, issued(october))
    told = november.perform(get_overview, Role.OFFICE)
    assert told["currency"] == "GBP"
    assert (told["revenue"]["lastMonth"], told["revenue"]["thisMonth"]) == ("3000.00", "-100.00")
    assert told["revenue"]["url"].endswith("/reports/revenue?from=2026-10-01&until=2026-11-16")
    assert told["revenue"]["operation"] == get_report.name
    given = told["revenue"]["given"]
    assert [row["revenue"] for row in rows(report(november, **given))] == ["3000.00", "-100.00"]


def test_the_first_and_the_last_of_a_month_belong_to_it(cast: Cast) -> None:
    amounts = {"2026-09-30": "1", "2026-10-01": "10", "2026-10-31": "100", "2026-11-01": "1000"}
    for day, amount in amounts.items():
        then = at(cast, f"{day}T12:00:00Z")
        issued(then, an_invoice(then, lines=[{"description": "Work", "unitPrice": amount}]))
    for today in ("2026-11-01", "2026-11-30"):
        told = at(cast, f"{today}T18:00:00Z").perform(get_overview, Role.OFFICE)["revenue"]
        assert (told["lastMonth"], told["thisMonth"]) == ("110.00", "1000.00")


def test_the_month_is_that_of_the_organisation_s_clocks(cast: Cast) -> None:
    issued(at(cast, "2026-10-31T12:00:00Z"))
    for moment, expected in (("2026-10-31T23:59:59Z", "1000.00"), ("2026-11-01T00:00:00Z", "0.00")):
        told = at(cast, moment).perform(get_overview, Role.OFFICE)["revenue"]
        assert told["thisMonth"] == expected


@pytest.mark.parametrize("role", [Role.MEMBER])
def test_who_sees_no_invoices_is_told_nothing_of_money(cast: Cast, role: Role) -> None:
    cast = at(cast)
    issued(at(cast, "2026-10-01T12:00:00Z"))
    an_invoice(cast)
    told = cast.perform(get_overview, role)
    assert told["revenue"] is None
    assert {need["what"] for need in told["needs"]} & {*MONEY} == set()


def test_nobody_waits_for_the_sum_of_very_many(cast: Cast) -> None:
    cast = at(cast)
    paid(cast, issued(cast), "1001")
    double(cast, range(10))
    assert needs(cast)["Payments on account"]["amount"] == f"{2**10}.00"
    double(cast, range(10, 11))
    many = needs(cast)["Payments on account"]
    assert (many["count"], many["amount"]) == (100, None)


def double(cast: Cast, times: range) -> None:
    """Let there be twice as many payments, so many times."""
    names = "created_at, created_by, updated_at, updated_by, version, customer_id, on_date, currency, amount, method"
    names += ", allocations, unallocated, status"
    with cast.stage.database.changing(cast.organisation) as handle:
        for number in times:
            handle.run(
                f"INSERT INTO payment (organisation_id, id, {names}) SELECT organisation_id, id || :more, {names}"
                " FROM payment WHERE organisation_id = :organisation",
                more=f"{number:02d}",
            )


def test_what_is_too_much_to_be_summed_up_while_someone_waits_is_left_to_the_reports(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        issued(cast)
    told = cast.perform(get_overview, Role.OFFICE)
    assert told["revenue"]["thisMonth"] == "2000.00"
    assert [need["amount"] for need in told["needs"] if need["what"] == "Unpaid invoices"] == ["2000.00"]
    for bound in ("_SUMMED", "_SUMMED_OF_MONTH"):
        monkeypatch.setattr(store, bound, 1)
    told = cast.perform(get_overview, Role.OFFICE)
    assert told["revenue"] is None
    assert [(need["count"], need["amount"]) for need in told["needs"] if need["what"] == "Unpaid invoices"] == [
        (2, None)
    ]
