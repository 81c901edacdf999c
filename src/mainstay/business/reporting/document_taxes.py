"""Reads the taxed amounts of a document from its stored taxes."""

from collections.abc import Iterator
from typing import NamedTuple

import orjson

_NOT_TAXED = "Not taxed"


class TaxedAmount(NamedTuple):
    """The net and the tax of a document for one part of a tax rate."""

    rate_id: str | None
    rate: str
    category: str | None
    part: str | None
    percent: str
    # The number of the part, from 1 on. All parts of a rate have the same net, so only that of the first is summed up.
    part_number: int
    net: int
    tax: int

    @property
    def key(self) -> str:
        """What is one row of the tax summary: the rate, its part and percentage. A part may have been renamed."""
        return f"{self.rate_id or ''}/{self.part_number}/{self.percent}"


def read_taxed_amounts(taxes: object) -> Iterator[TaxedAmount]:
    """Yield the amounts of each part of each tax rate, also of what is not taxed."""
    for tax_group in orjson.loads(str(taxes)):
        rate_fields = tax_group["taxRateId"], tax_group["name"] or _NOT_TAXED, tax_group["category"]
        net = _to_minor_units(tax_group["net"])
        if not tax_group["components"]:
            yield TaxedAmount(*rate_fields, None, tax_group["percent"], 1, net, 0)
        for part_number, part in enumerate(tax_group["components"], 1):
            yield TaxedAmount(
                *rate_fields, part["name"], part["percent"], part_number, net, _to_minor_units(part["amount"])
            )


def _to_minor_units(text: str) -> int:
    # Stored with all decimals of the currency, so the digits alone are the amount in minor units.
    return int(text.replace(".", ""))
