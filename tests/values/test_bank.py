"""Bank accounts: an IBAN with a valid checksum, a BIC of the right length, or what a country uses instead."""

import pytest
from pydantic import ValidationError

from mainstay.values.bank import Bank, group_iban


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("gb82west12345698765432", "GB82WEST12345698765432"),
        (" FR14 2004 1010 0505 0001 3M02 606 ", "FR1420041010050500013M02606"),
        ("NO93\u00a08601\u00a01117\u00a0947", "NO9386011117947"),
        ("MT84MALT011000012345MTLCAST001S", "MT84MALT011000012345MTLCAST001S"),
        ("LC55HEMM000100010012001200023015", "LC55HEMM000100010012001200023015"),
    ],
)
def test_an_iban_is_kept_without_blanks(given: str, kept: str) -> None:
    assert Bank(iban=given).iban == kept


@pytest.mark.parametrize(
    "given",
    [
        "DE89370400440532013001",  # the last digit is another
        "DE89370400440532103000",  # two digits are turned around
        "DE88370400440532013000",
        "GB82WEST1234569876543",
    ],
)
def test_an_iban_that_does_not_add_up_is_refused(given: str) -> None:
    with pytest.raises(ValidationError, match="is not valid; check its letters and digits"):
        Bank(iban=given)


@pytest.mark.parametrize(
    "given", ["", " ", "DE", "8937", "DE89-3704-0044-0532-0130-00", "D\u0415" * 12, "DE8\u0669" * 5]
)
def test_what_does_not_look_like_an_iban_is_refused(given: str) -> None:
    with pytest.raises(ValidationError, match="is not an IBAN such as DE89 3704 0044 0532 0130 00"):
        Bank(iban=given)


@pytest.mark.parametrize(("given", "kept"), [("COBADEFF", "COBADEFF"), ("coba de ff 370", "COBADEFF370")])
def test_a_bic_has_8_or_11_letters_and_digits(given: str, kept: str) -> None:
    assert Bank(bic=given).bic == kept


@pytest.mark.parametrize(
    "given", ["", "COBADEF", "COBADEFFX", "COBADEFF37", "COBADEFF3700", "1234DEFF", "COBADEF\u00df"]
)
def test_what_is_no_bic_is_refused(given: str) -> None:
    with pytest.raises(ValidationError, match="is not a BIC such as COBADEFF"):
        Bank(bic=given)


def test_an_account_may_be_told_otherwise() -> None:
    values = {"account": "12345678", "sortCode": "12-34-56"}
    assert Bank.model_validate(values).model_dump(by_alias=True, exclude_none=True) == values


def test_an_account_of_which_nothing_is_said_is_none() -> None:
    with pytest.raises(ValidationError, match="is empty; send null to clear it"):
        Bank()


def test_an_iban_is_read_in_groups() -> None:
    assert group_iban("NO9386011117947") == "NO93 8601 1117 947"
