import pytest

from mainstay.business.invoices.bank_file import Entry, Unreadable, came_in


def rows(*cells: list[str]) -> list[tuple[int, list[str]]]:
    return list(enumerate(cells, start=2))


@pytest.mark.parametrize(
    ("headings", "cells", "entry"),
    [
        (
            ["Date", "Description", "Amount"],
            ["2026-11-03", "CALDER PROPERTY INV-0007", "1,440.00"],
            Entry("2026-11-03", "1440.00", "CALDER PROPERTY INV-0007"),
        ),
        (
            ["Buchungstag", "Beguenstigter/Zahlungspflichtiger", "Verwendungszweck", "Betrag"],
            ["03.11.26", "Müller Bau", "RE 7", "1.440,00"],
            Entry("2026-11-03", "1440.00", "Müller Bau RE 7"),
        ),
        (
            ["Date", "Type", "Description", "Paid out", "Paid in", "Balance"],
            ["03/11/2026", "FPI", "Ann Boyle", "", "£12.50", "300"],
            Entry("2026-11-03", "12.50", "Ann Boyle"),
        ),
        (
            ["Date", "Libellé", "Débit", "Crédit"],
            ["3/11/2026", "VIR DUPONT", "", "1 250,50"],
            Entry("2026-11-03", "1250.50", "VIR DUPONT"),
        ),
    ],
)
def test_what_came_in_is_read_whatever_bank_wrote_it(headings: list[str], cells: list[str], entry: Entry) -> None:
    assert came_in(headings, rows(cells), "GB") == [entry]


def test_what_went_out_is_left_out() -> None:
    headings = ["Date", "Description", "Amount"]
    assert came_in(headings, rows(["2026-11-03", "Rent", "-900.00"], ["2026-11-03", "Nil", "0.00"]), "GB") == []


def test_where_the_month_comes_first_it_is_read_first() -> None:
    cells = ["11/03/2026", "Ann", "5"]
    assert came_in(["Date", "Description", "Amount"], rows(cells), "US")[0].on == "2026-11-03"
    assert came_in(["Date", "Description", "Amount"], rows(cells), "GB")[0].on == "2026-03-11"


@pytest.mark.parametrize(
    ("headings", "cells", "told"),
    [
        (["When", "What", "Amount"], ["2026-11-03", "Ann", "5"], "No column was found for the date and a text"),
        (["Date", "Description"], ["2026-11-03", "Ann"], "No column was found for the amount"),
        (
            ["Date", "Description", "Amount"],
            ["yesterday", "Ann", "5"],
            "Row 2 has no date that can be read: 'yest",
        ),
        (["Date", "Description", "Amount"], ["31/02/2026", "Ann", "5"], "Row 2 has no date that can be read"),
    ],
)
def test_what_cannot_be_read_is_told(headings: list[str], cells: list[str], told: str) -> None:
    with pytest.raises(Unreadable, match=told):
        came_in(headings, rows(cells), "GB")
