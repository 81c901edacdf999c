"""What two customers have in common that makes them possible duplicates."""

import pytest

from mainstay.values.duplicate_keys import SharedDetail, detail_of_key, duplicate_keys_of

ADDRESS: dict[str, str | None] = {"line1": "2 Weir Lane", "postalCode": "HX6 2AG", "city": "Sowerby Bridge"}


def find_common(one: frozenset[str], other: frozenset[str]) -> set[SharedDetail]:
    return {detail_of_key(key) for key in one & other}


def keys_of_name(name: str) -> frozenset[str]:
    return duplicate_keys_of(name, None, None, None, None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Calder Property Ltd", "calder  property limited"),
        ("Müller GmbH", "Muller"),
        ("O'Brien & Sons", "O\N{RIGHT SINGLE QUOTATION MARK}BRIEN Sons"),
        ("Limited", "limited"),
    ],
)
def test_names_are_alike_without_case_accents_and_legal_forms(one: str, other: str) -> None:
    assert find_common(keys_of_name(one), keys_of_name(other)) == {"name"}


@pytest.mark.parametrize(("one", "other"), [("Calder Property", "Calder Properties"), ("Ann Boyle", "Boyle Ann")])
def test_other_names_are_not(one: str, other: str) -> None:
    assert find_common(keys_of_name(one), keys_of_name(other)) == set()


@pytest.mark.parametrize("phone", ["+44 1422 555 0142", "01422 5550142", "(01422) 555-0142", "0044 1422 5550142"])
def test_a_phone_number_is_the_same_however_it_is_dialled(phone: str) -> None:
    one = duplicate_keys_of("A", None, "+44 1422 555 0142", None, None)
    assert find_common(one, duplicate_keys_of("B", None, phone, None, None)) == {"phone"}


def test_a_short_number_and_a_street_without_a_postcode_say_nothing() -> None:
    nothing = duplicate_keys_of("A", None, "999", "12", {"line1": "High Street", "postalCode": None})
    assert {detail_of_key(key) for key in nothing} == {"name"}


def test_addresses_and_numbers_are_compared_without_their_spelling() -> None:
    one = duplicate_keys_of("A", "Kim@Example.com", None, "GB 123 4567 89", ADDRESS)
    other = duplicate_keys_of(
        "B", "kim@EXAMPLE.com", None, "gb123456789", {"line1": "2, weir lane", "postalCode": "hx62ag"}
    )
    assert find_common(one, other) == {"email", "taxNumber", "address"}
