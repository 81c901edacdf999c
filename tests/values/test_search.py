import pytest
from pydantic import TypeAdapter, ValidationError

from mainstay.documents.locales import format_decimal_of_country
from mainstay.values.countries import COUNTRIES
from mainstay.values.search_words import (
    MAX_STORED_WORDS,
    SearchTerms,
    SearchText,
    combine_words,
    exact_number_word,
    make_title_rater,
    parse_search,
    prefix_end,
    words_of_address,
    words_of_digits,
    words_of_number,
    words_of_phone,
    words_of_postal_address,
    words_of_text,
)

TEXT: TypeAdapter[str] = TypeAdapter(SearchText)


def is_found(words: set[str], text: str) -> bool:
    sought = parse_search(text)
    assert sought

    def has(prefix: str) -> bool:
        return any(prefix <= word < prefix_end(prefix) for word in words)

    return all(any(map(has, word)) for word in sought.terms)


def test_words_have_no_case_no_accents_and_no_marks() -> None:
    assert words_of_text("Zoë  Brien-Müller, Straße_7") == {"zoe", "brien", "muller", "strasse", "7"}
    assert words_of_text(None) == words_of_text("…") == set()
    assert words_of_text("王伟 Ивано́в") == {"王伟", "иванов"}


@pytest.mark.parametrize("apostrophe", ["'", "\N{RIGHT SINGLE QUOTATION MARK}"])
def test_what_has_an_apostrophe_in_it_is_also_one_word(apostrophe: str) -> None:
    words = words_of_text(f"Aoife O{apostrophe}Brien, the landlord{apostrophe}s agent")
    assert words == {"aoife", "o", "brien", "obrien", "the", "landlord", "s", "landlords", "agent"}
    for text in ("obrien", "O'Brien", "O\N{RIGHT SINGLE QUOTATION MARK}Brien", "brien", "landlords", "landlord's"):
        assert is_found(words, text), text
    # Around a word, or after a number, it is none.
    assert words_of_text("the 'old' boiler, 6' long") == {"the", "old", "boiler", "6", "long"}


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("Müller", ["Mueller", "muller", "Müller", "Mu\N{COMBINING DIAERESIS}ller", "muell", "MUELLER"]),
        ("Mueller", ["Müller", "mueller", "Mu\N{COMBINING DIAERESIS}ller"]),
        ("Sørensen", ["Soerensen", "Sorensen", "Sørensen"]),
        ("Soerensen", ["Sørensen", "soerensen"]),
        ("Århus", ["Aarhus", "Arhus", "Århus"]),
        ("Jörg Käfer", ["Joerg Kaefer", "jorg kafer", "Jörg Käfer", "Jörg Kaefer"]),
    ],
)
def test_letters_with_marks_are_found_by_either_of_their_spellings(name: str, typed: list[str]) -> None:
    for text in typed:
        assert is_found(words_of_text(name), text), text


@pytest.mark.parametrize(
    ("typed", "other"), [("blue", "blu"), ("value", "valu"), ("guest", "gust"), ("queues", "quus")]
)
def test_what_only_looks_like_such_a_spelling_is_none(typed: str, other: str) -> None:
    assert not is_found({other}, typed)


def test_an_address_is_found_by_itself_by_its_domain_and_by_the_words_before_the_at() -> None:
    words = words_of_address("Tom.Ashworth@Hartley.example")
    for text in ("tom.ash", "ashworth", "TOM.ASHWORTH@HARTLEY.EXAMPLE", "tom.ashworth@h", "@hartley"):
        assert is_found(words, text), text
    for text in ("<tom.ashworth@hartley.example>,", "mailto:tom.ashworth@hartley.example", "(ashworth)", "@hartley."):
        assert is_found(words, text), text
    # The domain is shared by many: its words find nobody.
    for text in ("hartley", "example", "ashworth@", "@artley"):
        assert not is_found(words, text), text


STORED = ["+44 7700 900104", "+44 (0)7700 900104", "0044 7700 900104", "07700 900104", "07700/900-104", "7700900104"]
QUERIES = [
    "07700 900104",
    "+44 7700 900104",
    "+447700900104",
    "0044 7700 900 104",
    "447700900104",
    "7700900104",
    "(07700) 900-104",
    "07700 9",
    "0770",
    "900104",
    "0104",
]


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("asked", QUERIES)
def test_a_phone_number_is_found_in_any_spelling_and_by_either_end(stored: str, asked: str) -> None:
    assert is_found(words_of_phone(stored), asked)


@pytest.mark.parametrize("asked", ["07700 900105", "+44 7700 900105", "90010", "7701", "1110"])
def test_another_phone_number_is_another(asked: str) -> None:
    assert not any(is_found(words_of_phone(stored), asked) for stored in STORED)


def test_few_digits_are_no_phone_number() -> None:
    assert words_of_phone("112") == words_of_phone(None) == set()
    assert parse_search("112") == SearchTerms((("112",),))


@pytest.mark.parametrize("asked", ["1042", "0042", "0001"])
def test_a_few_digits_may_as_well_be_a_number_in_a_text(asked: str) -> None:
    assert is_found(words_of_text(f"J-{asked} Boiler"), asked)
    assert not is_found(words_of_text("J-7 Boiler") | words_of_phone("+44 7700 900107"), asked)


@pytest.mark.parametrize("number", ["2026-4127", "26/0001", "4500-1234-5678", "1951.68", "2026-04-12", "94105-1234"])
def test_a_number_with_marks_in_it_is_found_as_it_is_written(number: str) -> None:
    for words in (words_of_text(f"Our order {number}"), words_of_number(number)):
        assert is_found(words, number)
        assert is_found(words, number[:-1])
        assert not is_found(words, f"{number[:-1]}{(int(number[-1]) + 1) % 10}")
    # As the phone number it could be, it is found too.
    assert is_found(words_of_phone(number), number)


def test_one_sign_is_enough_where_it_stands_for_a_word() -> None:
    assert TEXT.validate_python("李") == "李"
    for text in ("h", "é", "7", "h & m"):
        with pytest.raises(ValidationError, match="too short"):
            TEXT.validate_python(text)


def test_a_number_is_not_found_by_the_zeros_before_it() -> None:
    # Behind its zeros, 0001 begins every number of a whole country.
    assert not is_found(words_of_phone("+1 202 555 0107"), "0001")


@pytest.mark.parametrize("text", ["J-0229", "j-229", "J229", "j0229", "229", "0229", "J 229"])
def test_a_number_is_found_with_and_without_its_letters_and_zeros(text: str) -> None:
    assert is_found(words_of_number("J-0229"), text)
    assert not is_found(words_of_number("J-2290") | words_of_number("J-0022"), "J-0229")
    assert exact_number_word(text) in words_of_number("J-0229")
    assert exact_number_word(text) not in words_of_number("J-2290") | words_of_number("J-0230")


@pytest.mark.parametrize("text", ["", "-", "#", " ", "--/"])
def test_what_has_no_letter_and_no_digit_is_no_number(text: str) -> None:
    assert exact_number_word(text) is None
    assert words_of_number(text) == set()
    assert "#" not in words_of_number("ABC")


def test_a_number_with_a_year_in_it_is_found_without_the_zeros_behind_it() -> None:
    assert exact_number_word("j-2027-12") in words_of_number("J-2027-0012")
    assert is_found(words_of_number("J-2027-0012"), "J-2027-12")


@pytest.mark.parametrize("text", ["HX6 2AG", "hx62ag", "hx6", "2ag", "weir lane hx6", "todmorden"])
def test_a_postal_address_is_found_by_its_words_and_its_postcode_in_one(text: str) -> None:
    place = {"line1": "2 Weir Lane", "line2": None, "city": "Todmorden", "postalCode": "HX6 2AG", "country": "GB"}
    assert is_found(words_of_postal_address(place), text)
    assert not is_found(words_of_postal_address(place), "gb")


def test_of_several_words_the_longest_comes_first_and_each_once() -> None:
    assert parse_search("tom ashworth gas tom") == SearchTerms((("ashworth",), ("tom",), ("gas",)))
    assert parse_search("a b c d e f g h") == SearchTerms(tuple((letter,) for letter in "abcdef"))
    assert parse_search("…") is None


def test_a_word_is_found_by_its_beginning_only() -> None:
    assert is_found(words_of_text("Ashworth"), "ash")
    assert is_found(words_of_text("Ashworth"), "ashworth")
    assert not is_found(words_of_text("Ashworth"), "worth")
    assert not is_found(words_of_text("Ashworth"), "ashworthy")


@pytest.mark.parametrize("text", ["to", "t ash", "ash t", "0770 9", "王伟", " tom ", "tom@x"])
def test_a_text_that_says_enough_is_taken(text: str) -> None:
    assert TEXT.validate_python(text) == text.strip()


@pytest.mark.parametrize("text", ["t", "t a", "…", "?!", "7", "@", "\u0301"])
def test_a_text_that_would_find_nearly_everyone_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="is too short"):
        TEXT.validate_python(text)


def test_a_record_that_says_very_much_is_found_by_some_of_it() -> None:
    assert len(combine_words({f"w{number}" for number in range(1000)})) == MAX_STORED_WORDS


@pytest.mark.parametrize(("written", "plain"), [("2,711.92", "2711.92"), ("1,250", "1250"), ("12,34", "12,34")])
def test_an_amount_is_looked_for_as_people_write_it(written: str, plain: str) -> None:
    assert parse_search(written) == parse_search(plain)


@pytest.mark.parametrize("amount", ["7.50", "99.90", "1440.00", "11760.50", "1176000.50"])
def test_an_amount_is_found_as_any_country_writes_it_with_its_currency(amount: str) -> None:
    words = words_of_text(amount) | words_of_digits(amount)
    for expected in {format_decimal_of_country(amount, country) for country in COUNTRIES}:
        for text in (expected, f"{expected} EUR", f"CHF {expected}", f"£{expected}", f"{expected}\N{NO-BREAK SPACE}€"):
            assert is_found(words, text), text
    for other in {format_decimal_of_country("1441.00", country) for country in COUNTRIES}:
        assert not is_found(words, other), other


@pytest.mark.parametrize("text", ["1.440 €", "€1 440", "1'440", "1,440 USD"])
def test_a_whole_amount_is_found_likewise(text: str) -> None:
    assert is_found(words_of_text("1440.00") | words_of_digits("1440.00"), text)


def test_three_letters_beside_a_number_are_looked_for_unless_they_are_a_currency() -> None:
    assert parse_search("PAT 12") == SearchTerms((("pat",), ("12",)))
    assert parse_search("12 pat") == SearchTerms((("pat",), ("12",)))


@pytest.mark.parametrize(
    ("text", "title", "far"),
    [
        ("calder", "Calder Property", 1),
        ("CÁLDER  pro", "Calder Property", 1),
        ("1,440.00 GBP", "1440.00 GBP of 2026-11-03", 1),
        ("property cal", "Calder Property", 2),
        ("boiler", "J-0001 Replace the boiler", 2),
        ("weir lane", "Calder Property", 3),
        ("calder weir", "Calder Property", 3),
        ("01422 555010", "Calder Property", 3),
        ("…", "Calder Property", 3),
    ],
)
def test_what_is_called_so_is_nearer_than_what_is_found_by_something_else(text: str, title: str, far: int) -> None:
    assert make_title_rater(text)(title) == far
