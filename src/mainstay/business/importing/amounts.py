"""Detects how the amounts in a file are written: their currency, and the decimal sign of each column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mainstay.values.message import Message, message_of
from mainstay.values.typed_prices import (
    detect_column_format,
    find_foreign_currency,
    normalise_amount,
    normalise_number,
    remove_currency,
)
from mainstay.vocabulary.refusal import Fault, Invalid

# The fields that hold an amount, of all kinds of records.
AMOUNT_FIELDS = ("budget", "sellPrice", "costPrice")
DECIMAL_SIGNS = (".", ",")


class AmbiguousColumn(NamedTuple):
    """A column whose decimal sign cannot be detected, with an example and its row."""

    row: int
    example: str


@dataclass(frozen=True, slots=True)
class AmountFormat:
    """The format of the amounts in one file of one organisation."""

    # The country and the currency of the organisation.
    country: str | None = None
    currency: str | None = None
    # The decimal sign of each column, by field; None if its numbers show none, or both.
    decimal_signs: Mapping[str, str | None] = field(default_factory=dict)
    # The columns that can be read in two ways, by field, until someone chooses the decimal sign.
    ambiguous_columns: Mapping[str, AmbiguousColumn] = field(default_factory=dict)

    def parse(self, name: str, text: str) -> str:
        """Return an amount as a plain decimal.

        A text that is no amount is returned unchanged. The operation refuses it later.
        """
        if self.currency and (foreign := find_foreign_currency(text, self.currency)):
            problem = Message(
                "is in {currency}, but your amounts are in {own_currency}; convert it, or correct the currency"
                " symbol: {text}",
                currency=foreign,
                own_currency=self.currency,
                text=text,
            )
            raise Invalid([Fault(name, problem)])
        number = remove_currency(text)
        if name in self.ambiguous_columns and self.country:
            # This amount is only checked. The column is a fault, so nothing is imported.
            return normalise_amount(number, self.country)
        try:
            return normalise_number(number, self.decimal_signs.get(name))
        except ValueError as error:
            problem = Message("{problem}; write it as one of these", problem=message_of(error))
            raise Invalid([Fault(name, problem)]) from None


def detect_amount_format(
    rows: Sequence[tuple[int, Sequence[str]]],
    mapping: Mapping[str, int],
    chosen_signs: Mapping[str, str],
    country: str | None,
    currency: str | None,
) -> AmountFormat:
    """Detect how the amounts of a file are written, unless someone has chosen the decimal signs."""
    decimal_signs: dict[str, str | None] = {}
    ambiguous_columns: dict[str, AmbiguousColumn] = {}
    for name in AMOUNT_FIELDS:
        if name not in mapping:
            continue
        column = [(row, remove_currency(cells[mapping[name]])) for row, cells in rows]
        detected = detect_column_format(text for _, text in column)
        decimal_signs[name] = detected.decimal_sign
        if detected.ambiguous_number is None:
            continue
        if name in chosen_signs:
            decimal_signs[name] = chosen_signs[name]
        else:
            first_row = next(row for row, text in column if text == detected.ambiguous_number)
            ambiguous_columns[name] = AmbiguousColumn(first_row, detected.ambiguous_number)
    return AmountFormat(country, currency, decimal_signs, ambiguous_columns)
