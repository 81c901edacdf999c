from mainstay.business.invoices.payments.recording import reverse_payment
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, void_issued
from support.quotes import make_default_tax_rate
from support.reports import name_rows, name_totals, perform_report


def test_each_month_is_told_with_what_it_brought(cast: Cast) -> None:
    make_default_tax_rate(cast)
    september, october, november = (cast_at(cast, f"2026-{month}-10T12:00:00Z") for month in ("09", "10", "11"))
    first = issue_invoice(september)
    credit_issued(october, first, amount="120")
    issue_invoice(october)
    pay_invoice(november, first)
    result = perform_report(november, "revenue", **{"from": "2026-08-15"})
    assert name_rows(result) == [
        _build_month("2026-08"),
        _build_month("2026-09", "1000.00", "0.00", "1000.00", "200.00"),
        _build_month("2026-10", "1000.00", "100.00", "900.00", "180.00"),
        _build_month("2026-11", paid="1080.00"),
    ]
    assert name_totals(result) == _build_month(None, "2000.00", "100.00", "1900.00", "380.00", "1080.00")


def test_what_is_taken_back_counts_where_that_was_done(cast: Cast) -> None:
    october, november = (
        cast_at(cast, f"2026-{month}-31T12:00:00Z".replace("11-31", "11-01")) for month in ("10", "11")
    )
    void_issued(november, issue_invoice(october))
    payment = pay_invoice(october, issue_invoice(october))
    november.perform(reverse_payment, Role.OFFICE, paymentId=payment["id"], reason="Bounced", confirmed=True)
    result = perform_report(november, "revenue", **{"from": "2026-10-01"})
    assert name_rows(result, "month", "invoiced", "paid") == [
        {"month": "2026-10", "invoiced": "2000.00", "paid": "1000.00"},
        {"month": "2026-11", "invoiced": "-1000.00", "paid": "-1000.00"},
    ]


def test_only_what_is_between_the_dates_counts_both_included(cast: Cast) -> None:
    for day in ("09", "10", "11", "12"):
        issue_invoice(cast_at(cast, f"2026-11-{day}T12:00:00Z"))
    result = perform_report(cast_at(cast), "revenue", **{"from": "2026-11-10", "until": "2026-11-11"})
    assert name_rows(result, "invoiced") == [{"invoiced": "2000.00"}]


def test_one_customer_can_be_asked_for(cast: Cast) -> None:
    cast = cast_at(cast)
    customer = make_customer(cast)
    first = issue_invoice(cast, make_invoice(cast, customerId=customer))
    pay_invoice(cast, first, "10")
    credit_issued(cast, first, amount="20")
    pay_invoice(cast, issue_invoice(cast))
    result = perform_report(cast, "revenue", customerId=customer)
    assert name_totals(result, "invoiced", "credited", "paid") == {
        "invoiced": "1000.00",
        "credited": "20.00",
        "paid": "10.00",
    }


def _build_month(
    month: str | None,
    invoiced: str = "0.00",
    credited: str = "0.00",
    revenue: str = "0.00",
    tax: str = "0.00",
    paid: str = "0.00",
) -> dict[str, object]:
    return {"month": month, "invoiced": invoiced, "credited": credited, "revenue": revenue, "tax": tax, "paid": paid}
