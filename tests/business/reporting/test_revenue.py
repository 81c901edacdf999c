from billing import an_invoice, credited, issued, paid, voided
from cast import Cast
from labour import at
from mainstay.business.invoices.paying import reverse_payment
from mainstay.terms.rights import Role
from quoting import usual_tax
from reporting import report, rows, totals
from trade import a_customer


def test_each_month_is_told_with_what_it_brought(cast: Cast) -> None:
    usual_tax(cast)
    september, october, november = (at(cast, f"2026-{month}-10T12:00:00Z") for month in ("09", "10", "11"))
    first = issued(september)
    credited(october, first, amount="120")
    issued(october)
    paid(november, first)
    told = report(november, "revenue", **{"from": "2026-08-15"})
    assert rows(told) == [
        _month("2026-08"),
        _month("2026-09", "1000.00", "0.00", "1000.00", "200.00"),
        _month("2026-10", "1000.00", "100.00", "900.00", "180.00"),
        _month("2026-11", paid="1080.00"),
    ]
    assert totals(told) == _month(None, "2000.00", "100.00", "1900.00", "380.00", "1080.00")


def test_what_is_taken_back_counts_where_that_was_done(cast: Cast) -> None:
    october, november = (at(cast, f"2026-{month}-31T12:00:00Z".replace("11-31", "11-01")) for month in ("10", "11"))
    voided(november, issued(october))
    payment = paid(october, issued(october))
    november.perform(reverse_payment, Role.OFFICE, paymentId=payment["id"], reason="Bounced", confirmed=True)
    told = report(november, "revenue", **{"from": "2026-10-01"})
    assert rows(told, "month", "invoiced", "paid") == [
        {"month": "2026-10", "invoiced": "2000.00", "paid": "1000.00"},
        {"month": "2026-11", "invoiced": "-1000.00", "paid": "-1000.00"},
    ]


def test_only_what_is_between_the_dates_counts_both_included(cast: Cast) -> None:
    for day in ("09", "10", "11", "12"):
        issued(at(cast, f"2026-11-{day}T12:00:00Z"))
    told = report(at(cast), "revenue", **{"from": "2026-11-10", "until": "2026-11-11"})
    assert rows(told, "invoiced") == [{"invoiced": "2000.00"}]


def test_one_customer_can_be_asked_for(cast: Cast) -> None:
    cast = at(cast)
    customer = a_customer(cast)
    first = issued(cast, an_invoice(cast, customerId=customer))
    paid(cast, first, "10")
    credited(cast, first, amount="20")
    paid(cast, issued(cast))
    told = report(cast, "revenue", customerId=customer)
    assert totals(told, "invoiced", "credited", "paid") == {
        "invoiced": "1000.00",
        "credited": "20.00",
        "paid": "10.00",
    }


def _month(
    month: str | None,
    invoiced: str = "0.00",
    credited: str = "0.00",
    revenue: str = "0.00",
    tax: str = "0.00",
    paid: str = "0.00",
) -> dict[str, object]:
    return {"month": month, "invoiced": invoiced, "credited": credited, "revenue": revenue, "tax": tax, "paid": paid}
