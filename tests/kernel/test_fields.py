"""The types of input fields, and the words of their faults."""

import json
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import StringConstraints, TypeAdapter

from mainstay.values.fields import (
    WITHOUT_DUPLICATES,
    Colour,
    Country,
    Currency,
    Email,
    Moment,
    Paragraph,
    Price,
    StoredDay,
    TextLine,
    TimeZone,
    WebAddress,
    make_id_validator,
    omittable_field,
)
from mainstay.values.ids import new_id
from mainstay.values.money import price_text
from mainstay.vocabulary.refusal import Invalid
from mainstay.vocabulary.schemas import Input
from mainstay.vocabulary.validation import parse_input


class Fields(Input):
    line: TextLine = "x"
    paragraph: Paragraph = "x"
    email: Email = "x@x"
    colour: Colour = "#000000"
    price: Price | None = None
    country: Country = "GB"
    currency: Currency = "GBP"
    time_zone: TimeZone = "UTC"
    left_out: TextLine = omittable_field()
    person: Annotated[str | None, make_id_validator("person")] = None
    event: Annotated[str | None, make_id_validator("evt", "an event")] = None
    address: WebAddress = "https://example.com"
    moment: Moment = "2026-11-15T10:30:50Z"
    day: StoredDay = "2026-11-15"
    words: Annotated[list[TextLine], WITHOUT_DUPLICATES] = omittable_field()


def accept_value(name: str, value: object) -> object:
    accepted = parse_input(Fields, json.dumps({name: value}).encode())
    (value_read,) = accepted.sent_fields().values()
    return value_read


def problem_of(name: str, value: object) -> str:
    with pytest.raises(Invalid) as refusal:
        accept_value(name, value)
    (fault,) = refusal.value.faults
    assert fault.field == name
    return fault.problem


EMPTY = "is empty"
DECIMAL = "is not a number such as 85.50, from 0, with at most four decimals"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("  Beam & Sons\t", "Beam & Sons"),
        ("Zoë ☂ 木 👷🏽", "Zoë ☂ 木 👷🏽"),
        ("x" * 200, "x" * 200),
        (" " + "☂" * 200 + " ", "☂" * 200),
        ("{0} %s ' \" \\", "{0} %s ' \" \\"),
        ("x\n", "x"),
    ],
)
def test_a_line_is_kept_without_the_space_around_it(text: str, kept: str) -> None:
    assert accept_value("line", text) == kept


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_an_empty_line_is_refused(text: str) -> None:
    assert problem_of("line", text) == EMPTY


@pytest.mark.parametrize("character", ["\0", "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\x9f", "\u2028", "\u2029"])
def test_a_line_holds_no_control_character(character: str) -> None:
    assert problem_of("line", f"a{character}b") == "contains a tab, a line break or another control character"


def test_a_line_has_200_characters_at_most() -> None:
    assert problem_of("line", "x" * 201) == "is longer than 200 characters"


def test_a_paragraph_keeps_its_lines_and_nothing_else_of_control() -> None:
    assert accept_value("paragraph", "1 High Street\nLeeds\n") == "1 High Street\nLeeds"
    for character in ("\0", "\r", "\t", "\x1b", "\x85", "\u2028"):
        assert problem_of("paragraph", f"a{character}b") == "contains a tab or another control character"


def test_a_paragraph_has_2000_characters_at_most() -> None:
    assert accept_value("paragraph", "x" * 2000) == "x" * 2000
    assert problem_of("paragraph", "x" * 2001) == "is longer than 2000 characters"


@pytest.mark.parametrize("text", ["a@b", "Nina.O'Neil+x@new.example", "zoë@bücher.example", "x@[127.0.0.1]"])
def test_an_address_of_any_network_is_taken(text: str) -> None:
    assert accept_value("email", text) == text


def test_an_address_is_kept_without_the_space_around_it() -> None:
    assert accept_value("email", " a@b ") == "a@b"


@pytest.mark.parametrize("text", ["", "a", "@", "a@", "@b"])
def test_what_has_not_the_shape_of_an_address_is_refused(text: str) -> None:
    assert problem_of("email", text) == "is not an email address such as kim@example.com"


def test_an_address_that_can_never_be_mailed_is_refused_with_the_reason() -> None:
    assert problem_of("email", "a..b@new.example") == "has a misplaced dot before the @"


def test_an_address_has_254_characters_at_most() -> None:
    longest = f"a@{'y.' * 125}yy"
    assert accept_value("email", longest) == longest
    assert problem_of("email", longest + "y") == "is longer than 254 characters"


def test_the_pattern_of_addresses_refuses_nothing_valid_and_is_read_by_plain_engines_too() -> None:
    shown = Fields.model_json_schema()["properties"]["email"]
    # Pydantic's own engine knows no more than RE2: neither looking around nor going back.
    plain = TypeAdapter(Annotated[str, StringConstraints(pattern=shown["pattern"])])
    for text in ("a@b", "Nina.O'Neil+x@new.example", "zoë@bücher.example", "x@[IPv6:::1]"):
        assert plain.validate_python(text) == accept_value("email", text)


@pytest.mark.parametrize("text", ["#3366c", "#3366ccc", "3366cc", "#3366cg", " #3366cc", "#3366cc\n", ""])
def test_a_colour_has_one_form(text: str) -> None:
    assert accept_value("colour", "#3366cc") == accept_value("colour", "#3366Cc") == "#3366cc"
    assert problem_of("colour", text) == "is not a colour such as #3366cc"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("0", 0),
        (0, 0),
        ("85.50", 855_000),
        (85.5, 855_000),
        ("0.0001", 1),
        (0.0001, 1),
        (32, 320_000),
        ("900719925474.0991", 2**53 - 1),
        ("-0", 0),
        (None, None),
    ],
)
def test_a_price_is_kept_exactly(value: object, kept: int | None) -> None:
    assert accept_value("price", value) == kept


@pytest.mark.parametrize(
    "value",
    [
        "-0.0001",
        -1,
        "1.00001",
        1.00001,
        "1e3",
        1e22,
        0.00001,
        "",
        " 1",
        "1,5",
        ".5",
        "5.",
        "1_000",
        "٣",
        "NaN",
        "Infinity",
        True,
        [],
        {},
        "0." + "9" * 5000,
    ],
)
def test_what_is_no_price_is_refused(value: object) -> None:
    assert problem_of("price", value) == DECIMAL


@pytest.mark.parametrize("value", ["900719925474.0992", 10**12, 10**30, "9" * 5000])
def test_a_price_that_is_too_large_is_told_how_large_it_may_be(value: object) -> None:
    assert problem_of("price", value) == "is too large; the maximum is 900719925474"


@given(st.integers(0, 2**53 - 1))
def test_every_price_that_is_shown_can_be_given_back(stored: int) -> None:
    assert accept_value("price", price_text(stored)) == stored


@given(st.integers(0, 10**15))
def test_a_price_written_as_a_number_is_the_same_as_in_text(stored: int) -> None:
    text = price_text(stored)
    accepted = parse_input(Fields, b'{"price":%s}' % text.encode())
    assert accepted.sent_fields() == {"price": stored}


@pytest.mark.parametrize(("name", "good"), [("country", "DE"), ("currency", "EUR"), ("timeZone", "Europe/Berlin")])
def test_codes_are_known_ones(name: str, good: str) -> None:
    words = {
        "country": "is not a country code such as GB",
        "currency": "is not a currency code such as EUR",
        "timeZone": "is not a time zone such as Europe/Berlin",
    }
    assert accept_value(name, good) == good
    for bad in (good.lower(), f" {good}", f"{good}\n", "", "ZZ", "XXX", "Mars/Base", "../../etc/passwd", "Factory"):
        assert problem_of(name, bad) == words[name]


@pytest.mark.parametrize(
    "name", ["line", "paragraph", "email", "colour", "country", "currency", "timeZone", "leftOut", "address", "moment"]
)
def test_text_is_text(name: str) -> None:
    for value in (None, 1, True, ["x"], {"x": 1}):
        assert problem_of(name, value) == "is not text"


@pytest.mark.parametrize("text", ["\u200b", " \u2060\ufeff ", "\u202e"])
def test_what_nobody_sees_is_empty(text: str) -> None:
    assert (problem_of("line", text), problem_of("paragraph", text)) == ("is empty", "is empty")
    assert accept_value("line", f"{text}x".strip()) == f"{text}x".strip()


def test_a_word_is_kept_once_as_it_was_first_written() -> None:
    assert accept_value("words", ["Gas", "boilers", "gas", "GAS", "Straße", "STRASSE"]) == ["Gas", "boilers", "Straße"]


def test_a_day_that_is_kept_lies_in_this_century() -> None:
    for good in ("2000-01-01", "2026-11-15", "2099-12-31"):
        assert accept_value("day", good) == good
    for bad in ("0001-01-01", "1999-12-31", "2100-01-01", "9999-12-31"):
        assert problem_of("day", bad) == "is outside the years 2000 to 2099"
    assert problem_of("day", "2026-02-30") == "is not a date such as 2026-11-15"


def test_what_may_be_left_out_is_then_not_among_what_was_sent() -> None:
    assert parse_input(Fields, b"{}").sent_fields() == {}


def test_an_id_is_of_its_kind() -> None:
    good = new_id("person")
    assert accept_value("person", good) == good
    assert accept_value("person", None) is None
    for bad in ("", "person_", good.lower(), good[:-1], good + "0", f" {good}", new_id("key"), "person_" + "U" * 26):
        assert problem_of("person", bad) == "is not the id of a person"
    assert accept_value("event", new_id("evt")) is not None
    assert problem_of("event", good) == "is not the id of an event"


def test_a_web_address_has_the_shape_of_one() -> None:
    long = "https://example.com/" + "x" * 1980
    for good in ("https://example.com", "HTTPS://EXAMPLE.COM/Path?x=%20#y", "http://[::1]:8080/", long):
        assert accept_value("address", f" {good} ") == good
    for bad in (
        "",
        "example.com",
        "//example.com",
        "ftp://example.com",
        "https://",
        "https://a b",
        "https://a\x00",
        "javascript:x",
    ):
        assert problem_of("address", bad) == "is not an address such as https://example.com/webhooks"
    assert problem_of("address", long + "x") == "is longer than 2000 characters"


def test_a_moment_is_kept_in_utc_whatever_its_offset() -> None:
    assert accept_value("moment", "2026-11-15T11:30:50+01:00") == "2026-11-15T10:30:50.000Z"
    assert accept_value("moment", "2026-11-15t10:30:50.123456z") == "2026-11-15T10:30:50.123Z"
    for bad in ("", "2026-11-15", "2026-11-15T10:30:50", "2026-02-29T10:30:50Z", "0001-01-01T00:00:00+10:00", "now"):
        assert problem_of("moment", bad) == "is not a moment such as 2026-11-15T10:30:50Z"
