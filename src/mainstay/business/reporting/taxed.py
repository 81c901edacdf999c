"""What a document says is taxed, and how."""

from collections.abc import Iterator
from typing import NamedTuple

import orjson

_UNTAXED = "Not taxed"


class Taxed(NamedTuple):
    """What a document has of one part of a rate of tax: what is taxed, and the tax."""

    rate_id: str | None
    rate: str
    category: str | None
    part: str | None
    percent: str
    # Which part of the rate it is, from 1 on. All have the same net, so that it counts with the first.
    place: int
    net: int
    tax: int


def taxed(taxes: object) -> Iterator[Taxed]:
    """What a document has of each part of each rate, out of what is kept of it; what is not taxed is one, too."""
    for one in orjson.loads(str(taxes)):
        known = one["taxRateId"], one["name"] or _UNTAXED, one["category"]
        net = _minor(one["net"])
        if not one["components"]:
            yield Taxed(*known, None, one["percent"], 1, net, 0)
        for place, part in enumerate(one["components"], 1):
            yield Taxed(*known, part["name"], part["percent"], place, net, _minor(part["amount"]))


def _minor(text: str) -> int:
    # Kept with all decimals of its currency: its digits are what it is in the minor unit.
    return int(text.replace(".", ""))
