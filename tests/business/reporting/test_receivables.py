from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, void_issued
from support.reports import name_rows, name_totals, perform_report

AGE_COLUMNS = ("notDue", "late1To30", "late31To60", "late61To90", "lateOver90")


def issue_due_on(cast: Cast, customer: str, on: str, price: str) -> dict[str, object]:
    """Issue an invoice that is due on the same day."""
    day = cast_at(cast, f"{on}T12:00:00Z")
    line = {"description": "Work", "unitPrice": price}
    return issue_invoice(day, make_invoice(day, customerId=customer, lines=[line], dueOn=on))


def test_what_is_open_stands_where_its_lateness_puts_it(cast: Cast) -> None:
    customer = make_customer(cast)
    # Today is 16 November; each pair is the last day of one column and the first of the next.
    days = (
        "2026-11-16",
        "2026-11-15",
        "2026-10-17",
        "2026-10-16",
        "2026-09-17",
        "2026-09-16",
        "2026-08-18",
        "2026-08-17",
    )
    for number, day in enumerate(days):
        issue_due_on(cast, customer, day, str(10**number))
    result = perform_report(cast_at(cast), "receivables")
    assert name_rows(result) == [
        {
            "customerId": customer,
            "customer": "Calder Property",
            "notDue": "1.00",
            "late1To30": "110.00",
            "late31To60": "11000.00",
            "late61To90": "1100000.00",
            "lateOver90": "10000000.00",
            "open": "11111111.00",
            "onAccount": "0.00",
            "balance": "11111111.00",
        }
    ]


def test_what_is_paid_credited_or_void_is_not_owed(cast: Cast) -> None:
    cast = cast_at(cast)
    first, second, third = (
        issue_invoice(cast, make_invoice(cast, customerId=make_customer(cast, name))) for name in "ABC"
    )
    pay_invoice(cast, first, "400")
    credit_issued(cast, second, amount="999.99")
    void_issued(cast, third)
    result = perform_report(cast, "receivables")
    assert name_rows(result, "customer", "notDue", "open") == [
        {"customer": "A", "notDue": "600.00", "open": "600.00"},
        {"customer": "B", "notDue": "0.01", "open": "0.01"},
    ]
    assert name_totals(result, "open", "balance", "customer") == {
        "open": "600.01",
        "balance": "600.01",
        "customer": None,
    }


def test_what_is_on_account_is_told_also_of_those_who_owe_nothing(cast: Cast) -> None:
    cast = cast_at(cast)
    invoice = issue_invoice(cast)
    pay_invoice(cast, invoice, "1250.50")
    result = perform_report(cast, "receivables")
    assert name_rows(result, "open", "onAccount", "balance") == [
        {"open": "0.00", "onAccount": "250.50", "balance": "-250.50"}
    ]


def test_whoever_owes_most_comes_first_and_one_can_be_asked_for(cast: Cast) -> None:
    small, large = make_customer(cast, "Small"), make_customer(cast, "Large")
    issue_due_on(cast, small, "2026-11-01", "5")
    issue_due_on(cast, large, "2026-11-01", "7")
    assert [row["customer"] for row in name_rows(perform_report(cast_at(cast), "receivables"))] == ["Large", "Small"]
    assert [row["open"] for row in name_rows(perform_report(cast_at(cast), "receivables", customerId=small))] == [
        "5.00"
    ]


def test_late_is_late_by_the_organisation_s_clocks(cast: Cast) -> None:
    issue_due_on(cast, make_customer(cast), "2026-11-16", "5")
    midnight = cast_at(cast, "2026-11-17T00:00:00Z")
    assert name_rows(perform_report(cast_at(cast, "2026-11-16T23:59:59Z"), "receivables"), *AGE_COLUMNS[:2]) == [
        {"notDue": "5.00", "late1To30": "0.00"}
    ]
    assert name_rows(perform_report(midnight, "receivables"), *AGE_COLUMNS[:2]) == [
        {"notDue": "0.00", "late1To30": "5.00"}
    ]
