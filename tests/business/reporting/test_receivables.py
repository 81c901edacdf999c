from billing import an_invoice, credited, issued, paid, voided
from cast import Cast
from labour import at
from reporting import report, rows, totals
from trade import a_customer

LATE = ("notDue", "late1To30", "late31To60", "late61To90", "lateOver90")


def owed(cast: Cast, customer: str, on: str, price: str) -> dict[str, object]:
    """An invoice of a day that is due on that day."""
    day = at(cast, f"{on}T12:00:00Z")
    line = {"description": "Work", "unitPrice": price}
    return issued(day, an_invoice(day, customerId=customer, lines=[line], dueOn=on))


def test_what_is_open_stands_where_its_lateness_puts_it(cast: Cast) -> None:
    customer = a_customer(cast)
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
        owed(cast, customer, day, str(10**number))
    told = report(at(cast), "receivables")
    assert rows(told) == [
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
    cast = at(cast)
    first, second, third = (issued(cast, an_invoice(cast, customerId=a_customer(cast, name))) for name in "ABC")
    paid(cast, first, "400")
    credited(cast, second, amount="999.99")
    voided(cast, third)
    told = report(cast, "receivables")
    assert rows(told, "customer", "notDue", "open") == [
        {"customer": "A", "notDue": "600.00", "open": "600.00"},
        {"customer": "B", "notDue": "0.01", "open": "0.01"},
    ]
    assert totals(told, "open", "balance", "customer") == {"open": "600.01", "balance": "600.01", "customer": None}


def test_what_is_on_account_is_told_also_of_those_who_owe_nothing(cast: Cast) -> None:
    cast = at(cast)
    invoice = issued(cast)
    paid(cast, invoice, "1250.50")
    told = report(cast, "receivables")
    assert rows(told, "open", "onAccount", "balance") == [{"open": "0.00", "onAccount": "250.50", "balance": "-250.50"}]


def test_whoever_owes_most_comes_first_and_one_can_be_asked_for(cast: Cast) -> None:
    small, large = a_customer(cast, "Small"), a_customer(cast, "Large")
    owed(cast, small, "2026-11-01", "5")
    owed(cast, large, "2026-11-01", "7")
    assert [row["customer"] for row in rows(report(at(cast), "receivables"))] == ["Large", "Small"]
    assert [row["open"] for row in rows(report(at(cast), "receivables", customerId=small))] == ["5.00"]


def test_late_is_late_by_the_organisation_s_clocks(cast: Cast) -> None:
    owed(cast, a_customer(cast), "2026-11-16", "5")
    midnight = at(cast, "2026-11-17T00:00:00Z")
    assert rows(report(at(cast, "2026-11-16T23:59:59Z"), "receivables"), *LATE[:2]) == [
        {"notDue": "5.00", "late1To30": "0.00"}
    ]
    assert rows(report(midnight, "receivables"), *LATE[:2]) == [{"notDue": "0.00", "late1To30": "5.00"}]
