"""Where money is paid to."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from mainstay.values.fields import Line
from mainstay.values.parts import Part

_IBAN = re.compile(r"[A-Za-z]{2}[0-9]{2}[A-Za-z0-9]{11,30}")
_BIC = re.compile(r"[A-Za-z]{6}[A-Za-z0-9]{2}(?:[A-Za-z0-9]{3})?")
# People write what has at most 34 letters in groups, with blanks between.
_WRITTEN = StringConstraints(max_length=80)


def in_groups(iban: str) -> str:
    """An IBAN as people read it: in groups of four."""
    return " ".join(re.findall(".{1,4}", iban))


def _iban(text: str) -> str:
    plain = _closed_up(text)
    if not _IBAN.fullmatch(plain):
        raise ValueError("is not an IBAN such as DE89 3704 0044 0532 0130 00")
    # As ISO 13616 says: the first four come last, and letters count from 10 on.
    turned = plain[4:] + plain[:4]
    if int("".join(str(int(letter, 36)) for letter in turned)) % 97 != 1:
        raise ValueError("is not an IBAN: a letter or digit of it is wrong")
    return plain


def _bic(text: str) -> str:
    plain = _closed_up(text)
    if not _BIC.fullmatch(plain):
        raise ValueError("is not a BIC such as COBADEFF, of 8 or 11 letters and digits")
    return plain


def _closed_up(text: str) -> str:
    """Without the blanks that people write; what is no ASCII stays as it is, and is refused."""
    plain = "".join(text.split())
    return plain.upper() if plain.isascii() else plain


class Bank(Part):
    """An account, by its IBAN or as its country tells accounts."""

    name: Line | None = Field(None, title="Bank", description="Such as Calder Bank.")
    iban: Annotated[str, _WRITTEN, AfterValidator(_iban)] | None = Field(
        None, title="IBAN", description="With or without blanks."
    )
    bic: Annotated[str, _WRITTEN, AfterValidator(_bic)] | None = Field(
        None, title="BIC", description="8 or 11 letters and digits."
    )
    account: Line | None = Field(None, title="Account number", description="Where there is no IBAN.")
    sort_code: Line | None = Field(None, description="Of the bank, where there is no BIC.")

    @model_validator(mode="after")
    def _says_something(self) -> "Bank":
        if not any(self.model_dump().values()):
            raise ValueError("is empty; send null to clear it")
        return self
