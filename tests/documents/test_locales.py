"""Dates, numbers, money and addresses, as those write them who read them."""

import pytest

from mainstay.documents.locales import Locale, format_decimal_of_country, format_percent_of_country
from mainstay.documents.snapshot import AddressSnapshot
from mainstay.values.countries import COUNTRIES

NBSP, NARROW = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("language", "country", "day", "amount", "money", "percent"),
    [
        ("en", "GB", "3 November 2026", "\N{MINUS SIGN}1,234.50", "€1,234.50", "5.5%"),
        ("en", "US", "November 3, 2026", "\N{MINUS SIGN}1,234.50", "€1,234.50", "5.5%"),
        ("de", "DE", "3. November 2026", "\N{MINUS SIGN}1.234,50", f"1.234,50{NBSP}€", f"5,5{NBSP}%"),
        ("fr", "FR", "3 novembre 2026", f"\N{MINUS SIGN}1{NARROW}234,50", f"1{NARROW}234,50{NBSP}€", f"5,5{NBSP}%"),
        ("nl", "NL", "3 november 2026", "\N{MINUS SIGN}1.234,50", f"€{NBSP}1.234,50", "5,5%"),
        ("es", "ES", "3 de noviembre de 2026", "\N{MINUS SIGN}1.234,50", f"1.234,50{NBSP}€", f"5,5{NBSP}%"),
        # Who reads English in Germany expects English numbers.
        ("en", "DE", "3 November 2026", "\N{MINUS SIGN}1,234.50", "€1,234.50", "5.5%"),
        ("de", None, "3. November 2026", "\N{MINUS SIGN}1.234,50", f"1.234,50{NBSP}€", f"5,5{NBSP}%"),
    ],
)
def test_they_are_written_as_the_reader_writes_them(
    language: str, country: str | None, day: str, amount: str, money: str, percent: str
) -> None:
    locale = Locale(language, country)
    assert locale.format_day("2026-11-03") == day
    assert locale.format_amount("-1234.50", "EUR") == amount
    assert locale.format_money("1234.50", "EUR") == money
    assert locale.format_percent("5.5") == percent


@pytest.mark.parametrize(
    ("text", "currency", "amount", "price"),
    [
        ("1190", "JPY", "1,190", "1,190"),
        ("1.5", "KWD", "1.500", "1.500"),
        ("0.0049", "EUR", "0.00", "0.0049"),
        ("90071992547409.91", "EUR", "90,071,992,547,409.91", "90,071,992,547,409.91"),
    ],
)
def test_an_amount_has_its_currency_s_decimals_and_a_price_as_many_as_it_needs(
    text: str, currency: str, amount: str, price: str
) -> None:
    locale = Locale("en", "GB")
    assert (locale.format_amount(text, currency), locale.format_price(text, currency)) == (amount, price)


@pytest.mark.parametrize(
    ("language", "text", "currency", "money"),
    [
        ("en", "1190", "JPY", "JP¥1,190"),
        ("en", "1.5", "KWD", "KWD1.500"),
        # Nobody hands their parts over a counter; documents have them.
        ("en", "1190.55", "RSD", "RSD1,190.55"),
        ("de", "-1190.555", "IQD", f"\N{MINUS SIGN}1.190,555{NBSP}IQD"),
    ],
)
def test_an_amount_in_a_sentence_has_all_of_its_currency_s_decimals(
    language: str, text: str, currency: str, money: str
) -> None:
    assert Locale(language).format_money(text, currency) == money


def test_a_quantity_has_as_many_decimals_as_it_needs() -> None:
    assert [Locale("de").format_quantity(text) for text in ("12.0000", "2.5", "0.3333", "-1")] == [
        "12",
        "2,5",
        "0,3333",
        "\N{MINUS SIGN}1",
    ]


def test_days_that_follow_each_other_are_told_together() -> None:
    assert Locale("en").format_period("2026-11-09", "2026-11-09") == "9 November 2026"
    assert Locale("en").format_period("2026-11-09", "2026-11-10") == "9\N{EN DASH}10 Nov 2026"


@pytest.mark.parametrize(
    ("place", "lines"),
    [
        (
            AddressSnapshot(line1="Lindenallee 14", city="Bonn", postal_code="53113", country="DE"),
            ["Lindenallee 14", "53113 Bonn"],
        ),
        (
            AddressSnapshot(line1="2 Weir Lane", city="Sowerby Bridge", postal_code="HX6 2AG", country="GB"),
            ["2 Weir Lane", "Sowerby Bridge", "HX6 2AG", "Vereinigtes Königreich"],
        ),
        (
            AddressSnapshot(line1="1 Main St", city="Springfield", region="IL", postal_code="62701", country="US"),
            ["1 Main St", "Springfield, IL 62701", "Vereinigte Staaten"],
        ),
        (AddressSnapshot(city="Köln"), ["Köln"]),
        (None, []),
    ],
)
def test_an_address_is_written_as_its_country_does_and_names_another_country(
    place: AddressSnapshot | None, lines: list[str]
) -> None:
    assert Locale("de", "DE").format_address(place) == lines


@pytest.mark.parametrize(
    ("country", "expected"),
    [
        ("GB", "1,234,567.50"),
        ("US", "1,234,567.50"),
        ("DE", "1.234.567,50"),
        ("FR", f"1{NARROW}234{NARROW}567,50"),
        ("SE", f"1{NBSP}234{NBSP}567,50"),
        ("CH", "1\N{RIGHT SINGLE QUOTATION MARK}234\N{RIGHT SINGLE QUOTATION MARK}567.50"),
        ("IN", "12,34,567.50"),
        # No digits but those that everyone in an office reads.
        ("EG", "1,234,567.50"),
        ("AQ", "1,234,567.50"),
    ],
)
def test_a_decimal_is_written_as_its_country_does(country: str, expected: str) -> None:
    assert format_decimal_of_country("1234567.50", country) == expected


@pytest.mark.parametrize(
    ("country", "expected"),
    [("GB", "1,012.5%"), ("DE", f"1.012,5{NBSP}%"), ("TR", "%1.012,5"), ("NL", "1.012,5%")],
)
def test_a_percentage_is_written_as_its_country_does(country: str, expected: str) -> None:
    assert format_percent_of_country("1012.5", country) == expected


def test_a_decimal_keeps_its_decimals() -> None:
    given = ("0.5", "85.5005", "1000", "-1234.50", "-0.01", "99999999999999.99")
    assert [format_decimal_of_country(text, "DE") for text in given] == [
        "0,5",
        "85,5005",
        "1.000",
        "\N{MINUS SIGN}1.234,50",
        "\N{MINUS SIGN}0,01",
        "99.999.999.999.999,99",
    ]


def test_every_country_writes_numbers_somehow() -> None:
    for country in COUNTRIES:
        assert "".join(text for text in format_decimal_of_country("1234.50", country) if text.isdigit()) == "123450", (
            country
        )
