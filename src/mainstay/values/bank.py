"""Bank accounts that money is paid into."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from mainstay.values.fields import TextLine
from mainstay.values.message import Message
from mainstay.values.part_changes import RecordPart

_IBAN = re.compile(r"[A-Za-z]{2}[0-9]{2}[A-Za-z0-9]{11,30}")
_BIC = re.compile(r"[A-Za-z]{6}[A-Za-z0-9]{2}(?:[A-Za-z0-9]{3})?")
# An IBAN has at most 34 characters, but people type it in groups with blanks between them.
_TYPED_IBAN = StringConstraints(max_length=80)


def group_iban(iban: str) -> str:
    """Return an IBAN in groups of four characters, as people read it."""
    return " ".join(re.findall(".{1,4}", iban))


def _check_iban(text: str) -> str:
    plain = _remove_blanks(text)
    if not _IBAN.fullmatch(plain):
        raise ValueError(Message("is not an IBAN such as DE89 3704 0044 0532 0130 00"))
    # ISO 13616: the first four characters move to the end, and letters count from 10 on.
    rearranged = plain[4:] + plain[:4]
    if int("".join(str(int(letter, 36)) for letter in rearranged)) % 97 != 1:
        raise ValueError(Message("is not valid; check its letters and digits"))
    return plain


def _check_bic(text: str) -> str:
    plain = _remove_blanks(text)
    if not _BIC.fullmatch(plain):
        raise ValueError(Message("is not a BIC such as COBADEFF, with 8 or 11 letters and digits"))
    return plain


def _remove_blanks(text: str) -> str:
    """Return the text without the blanks that people type. Text that is not ASCII stays as it is and is refused."""
    plain = "".join(text.split())
    return plain.upper() if plain.isascii() else plain


class Bank(RecordPart):
    """An account, by its IBAN or as its country tells accounts."""

    name: TextLine | None = Field(None, title="Bank", description="E.g. Calder Bank.")
    iban: Annotated[str, _TYPED_IBAN, AfterValidator(_check_iban)] | None = Field(
        None, title="IBAN", description="With or without spaces."
    )
    bic: Annotated[str, _TYPED_IBAN, AfterValidator(_check_bic)] | None = Field(
        None, title="BIC", description="8 or 11 letters and digits."
    )
    account: TextLine | None = Field(None, title="Account number", description="If there is no IBAN.")
    sort_code: TextLine | None = Field(None, description="If there is no BIC.")

    @model_validator(mode="after")
    def _check_not_empty(self) -> "Bank":
        if not any(self.model_dump().values()):
            raise ValueError(Message("is empty", for_programs=Message("send null to clear it")))
        return self
