"""How the amounts in a file are written: in which currency, and with which decimal sign in which column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mainstay.terms.refusal import Fault, Invalid
from mainstay.values.written import column_signs, foreign_currency, plain_amount, plain_number, without_currency

# The fields of all kinds that hold an amount.
AMOUNTS = ("budget", "sellPrice", "costPrice")
DECIMAL_SIGNS = (".", ",")


class Unclear(NamedTuple):
    """A column whose decimal sign nothing tells: in which row an example stands, and the example."""

    row: int
    example: str


@dataclass(frozen=True, slots=True)
class AmountFormat:
    """How one organisation reads the amounts of one file."""

    # Those of the organisation.
    country: str | None = None
    currency: str | None = None
    # The decimal sign by field; None for a column in which it is not the same everywhere.
    signs: Mapping[str, str | None] = field(default_factory=dict)
    # The columns that may mean two things, by field, until someone says which.
    unclear: Mapping[str, Unclear] = field(default_factory=dict)

    def read(self, name: str, text: str) -> str:
        """Return an amount as a plain decimal; what is none goes on as it is, to be refused in words."""
        if self.currency and (mark := foreign_currency(text, self.currency)):
            problem = f"is in {mark}, but your amounts are in {self.currency}: convert it, or correct the sign"
            raise Invalid([Fault(name, f"{problem}: {text}")])
        number = without_currency(text)
        if name in self.unclear and self.country:
            # Nothing is imported like this: the whole column is a fault.
            return plain_amount(number, self.country)
        try:
            return plain_number(number, self.signs.get(name))
        except ValueError as unclear:
            raise Invalid([Fault(name, f"{unclear}: write it as one of these")]) from None


def read_format(
    rows: Sequence[tuple[int, Sequence[str]]],
    mapping: Mapping[str, int],
    chosen: Mapping[str, str],
    country: str | None,
    currency: str | None,
) -> AmountFormat:
    """Find out how the amounts of a file are written, with the decimal signs that someone has chosen."""
    signs: dict[str, str | None] = {}
    unclear: dict[str, Unclear] = {}
    for name in AMOUNTS:
        if name not in mapping:
            continue
        column = [(row, without_currency(cells[mapping[name]])) for row, cells in rows]
        found = column_signs(text for _, text in column)
        signs[name] = found.decimal
        if found.unclear is None:
            continue
        if name in chosen:
            signs[name] = chosen[name]
        else:
            unclear[name] = Unclear(next(row for row, text in column if text == found.unclear), found.unclear)
    return AmountFormat(country, currency, signs, unclear)
