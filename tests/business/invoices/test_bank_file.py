import pytest

from mainstay.business.invoices.payments.bank_file import IncomingPayment, UnreadableStatement, read_incoming_payments

TABLE = ["Date", "Description", "Amount"]


def number_rows(*cells: list[str]) -> list[tuple[int, list[str]]]:
    return list(enumerate(cells, start=2))


@pytest.mark.parametrize(
    ("headings", "cells", "entry"),
    [
        (
            ["Date", "Description", "Amount"],
            ["2026-11-03", "CALDER PROPERTY INV-0007", "1,440.00"],
            IncomingPayment("2026-11-03", "1440.00", "CALDER PROPERTY INV-0007"),
        ),
        (
            ["Buchungstag", "Beguenstigter/Zahlungspflichtiger", "Verwendungszweck", "Betrag"],
            ["03.11.26", "Müller Bau", "RE 7", "1.440,00"],
            IncomingPayment("2026-11-03", "1440.00", "Müller Bau RE 7"),
        ),
        (
            ["Date", "Type", "Description", "Paid out", "Paid in", "Balance"],
            ["03/11/2026", "FPI", "Ann Boyle", "", "£12.50", "300"],
            IncomingPayment("2026-11-03", "12.50", "Ann Boyle"),
        ),
        (
            ["Date", "Libellé", "Débit", "Crédit"],
            ["3/11/2026", "VIR DUPONT", "", "1 250,50"],
            IncomingPayment("2026-11-03", "1250.50", "VIR DUPONT"),
        ),
    ],
)
def test_what_came_in_is_read_whatever_bank_wrote_it(
    headings: list[str], cells: list[str], entry: IncomingPayment
) -> None:
    assert read_incoming_payments(headings, number_rows(cells), "GB", "GBP") == [entry]


OUTGOING = (
    *("-900.00", "900.00-", "\u2212900.00", "\u2013900.00", "(900.00)", "£ (900.00)", "GBP -900.00", "900.00 DR"),
    *("900.00 D", "900,00 S", "Debit 900", "0.00", "0", "", "-"),
)


@pytest.mark.parametrize("written", OUTGOING)
def test_what_went_out_or_is_nothing_is_left_out(written: str) -> None:
    assert read_incoming_payments(TABLE, number_rows(["2026-11-03", "Rent", written]), "GB", "GBP") == []


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        ("+900.00", "900.00"),
        ("900.00 CR", "900.00"),
        ("900,00 H", "900.00"),
        ("Rs.900", "900"),
        ("900,-", "900"),
        ("900.00 (GBP)", "900.00"),
        (".50", "0.50"),
    ],
)
def test_what_came_in_is_known_however_its_amount_is_written(written: str, amount: str) -> None:
    assert read_incoming_payments(TABLE, number_rows(["2026-11-03", "Ann", written]), "GB", "GBP") == [
        IncomingPayment("2026-11-03", amount, "Ann")
    ]


@pytest.mark.parametrize(("country", "currency"), [("GB", "GBP"), ("DE", "EUR")])
def test_the_column_says_which_sign_is_the_decimal_one(country: str, currency: str) -> None:
    table = number_rows(*(["2026-11-03", "Ann", written] for written in ("12,50", "1.234")))
    assert [entry.amount for entry in read_incoming_payments(TABLE, table, country, currency)] == ["12.50", "1234"]


def test_where_the_column_does_not_tell_people_write_as_in_their_country() -> None:
    table = number_rows(["2026-11-03", "Ann", "1.234"])
    assert [entry.amount for entry in read_incoming_payments(TABLE, table, "DE", "EUR")] == ["1234"]
    assert read_incoming_payments(TABLE, table, "GB", "GBP")[0].problem


def test_an_amount_in_another_currency_is_not_recorded() -> None:
    table = number_rows(
        ["2026-11-03", "Ann", "\u20ac 5.00"], ["2026-11-04", "Bob", "S$900.00"], ["2026-11-05", "Cy", "7 GBP"]
    )
    ann, bob, cy = read_incoming_payments(TABLE, table, "GB", "GBP")
    assert str(ann.problem) == "The amount is in \u20ac, not in GBP. Record the payment by hand."
    assert str(bob.problem) == "The amount is in $, not in GBP. Record the payment by hand."
    assert (cy.amount, cy.problem) == ("7", None)
    assert [entry.problem for entry in read_incoming_payments(TABLE, table[1:2], "SG", "SGD")] == [None]


@pytest.mark.parametrize(
    ("headings", "sent", "received"),
    [
        (["Datum", "Naam", "Af Bij", "Bedrag (EUR)"], "Af", "Bij"),
        (["Datum", "Naam", "Type", "Bedrag (EUR)"], "DEBIT", "CREDIT"),
        (["Buchungstag", "Verwendungszweck", "Soll/Haben", "Betrag"], "S", "H"),
        (["Buchungstag", "Verwendungszweck", "Soll/Haben", "Betrag"], "Soll", "Haben"),
        (["Buchungstag", "Verwendungszweck", "", "Umsatz"], "S", "H"),
        (["Date", "Description", "D/C", "Amount"], "D", "C"),
        (["Date", "Description", "Dr/Cr", "Amount"], "DR", "CR"),
        (["Date", "Description", "Credit Debit Indicator", "Amount"], "DBIT", "CRDT"),
        (["Date", "Description", "Sign", "Amount"], "-", "+"),
        # What is no sign of the way it went.
        (["Date", "Description", "Direction", "Amount"], "OUT", "D"),
    ],
)
def test_a_column_may_say_which_way_money_went(headings: list[str], sent: str, received: str) -> None:
    cells = number_rows(["2026-11-03", "Rent", sent, "900,00"], ["2026-11-04", "Ann", received, "50,00"])
    assert read_incoming_payments(headings, cells, "DE", "EUR") == [IncomingPayment("2026-11-04", "50.00", "Ann")]


def test_a_column_of_both_ways_may_hold_the_amounts() -> None:
    cells = number_rows(["2026-11-03", "Rent", "-900,00"], ["2026-11-04", "Ann", "50,00"])
    read = read_incoming_payments(["Buchungstag", "Verwendungszweck", "Soll/Haben"], cells, "DE", "EUR")
    assert read == [IncomingPayment("2026-11-04", "50.00", "Ann")]


def test_where_nothing_came_in_another_column_is_not_taken_for_it() -> None:
    headings = ["Date", "Description", "Paid out", "Paid in", "Transaction amount"]
    assert (
        read_incoming_payments(headings, number_rows(["2026-11-03", "Rent", "900.00", "", "900.00"]), "GB", "GBP") == []
    )


def test_the_date_is_not_taken_for_the_amount() -> None:
    read = read_incoming_payments(
        ["Value date", "Description", "Value (GBP)"], number_rows(["2026/11/03", "Ann", "5"]), "GB", "GBP"
    )
    assert read == [IncomingPayment("2026-11-03", "5", "Ann")]


def test_what_nobody_sees_in_a_text_is_left_out() -> None:
    [read] = read_incoming_payments(TABLE, number_rows(["2026-11-03", "Ann\x01Boyle\u200b\n INV", "5"]), "GB", "GBP")
    assert read.text == "Ann Boyle INV"


def test_where_the_month_comes_first_it_is_read_first() -> None:
    cells = ["11/03/2026", "Ann", "5"]
    assert read_incoming_payments(TABLE, number_rows(cells), "US", "USD")[0].on == "2026-11-03"
    assert read_incoming_payments(TABLE, number_rows(cells), "GB", "GBP")[0].on == "2026-03-11"


@pytest.mark.parametrize(
    ("headings", "cells", "told"),
    [
        (["When", "What", "Amount"], ["2026-11-03", "Ann", "5"], "No column found for the date and the description"),
        (["Date", "Description"], ["2026-11-03", "Ann"], "No column found for the amount"),
    ],
)
def test_what_cannot_be_read_is_told(headings: list[str], cells: list[str], told: str) -> None:
    with pytest.raises(UnreadableStatement, match=told):
        read_incoming_payments(headings, number_rows(cells), "GB", "GBP")


@pytest.mark.parametrize(
    ("on", "amount", "why"),
    [
        ("yesterday", "5", "The date can't be read"),
        ("31/02/2026", "5", "The date can't be read"),
        ("", "5", "The date can't be read"),
        ("2026-11-03", "0.005", "The amount has more than 2 decimals."),
        ("2026-11-03", "1.234", "The amount has more than 2 decimals."),
        ("2026-11-03", "1.23456", "At most 4 decimals are allowed."),
        ("2026-11-03", "9" * 20, "The number is too large."),
        ("2026-11-03", "9" * 50, "The number is too large."),
        ("2026-11-03", "1." + "0" * 50, "The number is too long."),
        ("2026-11-03", "1E5", "Write a plain decimal number"),
        ("2026-11-03", "1E999999999", "Write a plain decimal number"),
        ("2026-11-03", "pending", "Write a plain decimal number"),
        ("2026-11-03", "\u0665", "Write a plain decimal number"),
    ],
)
def test_a_row_that_cannot_be_read_is_told_and_the_others_are_read(on: str, amount: str, why: str) -> None:
    bad, good = read_incoming_payments(TABLE, number_rows([on, "Ann", amount], ["2026-11-04", "Ben", "5"]), "GB", "GBP")
    assert (bad.on, bad.amount, bad.text) == (on, amount, "Ann")
    assert str(bad.problem).startswith(why)
    assert good == IncomingPayment("2026-11-04", "5", "Ben")


@pytest.mark.parametrize(("country", "written"), [("GB", "1,234"), ("US", "1,234"), ("DE", "1.234"), ("NL", "1.234")])
def test_a_thousand_is_written_as_in_the_country(country: str, written: str) -> None:
    [read] = read_incoming_payments(TABLE, number_rows(["2026-11-11", "Ann", written]), country, "EUR")
    assert (read.amount, read.problem) == ("1234", None)
