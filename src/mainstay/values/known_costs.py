"""What the lines of a document come to whose cost is known, and what the others do; pure, in minor units."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mainstay.values.totals import rounded


class CostedLine(NamedTuple):
    """A line of a document, and whether its cost is known."""

    # The id of its tax rate.
    rate: str
    # Of the whole line, as its price is written: before tax or with it.
    amount: int
    has_cost: bool
    # The exact net amount of a line that deducts an earlier invoice: it has neither cost nor profit.
    deducted: int | None = None


class KnownCosts(NamedTuple):
    """The net amounts of the lines with a known cost and of those without, and how many those are."""

    costed_net: int
    uncosted_net: int
    uncosted_lines: int


def known_costs(lines: Sequence[CostedLine], nets: Mapping[str, int]) -> KnownCosts:
    """Divide the net amounts of a document, by the ids of its tax rates, between lines with and without a cost."""
    left, amounts = dict(nets), defaultdict[str, int](int)
    for line in lines:
        if line.deducted is None:
            amounts[line.rate] += line.amount
        else:
            left[line.rate] -= line.deducted
    uncosted = [line for line in lines if line.deducted is None and not line.has_cost and line.amount]
    uncosted_net = sum(_share(left[line.rate], line.amount, amounts[line.rate]) for line in uncosted)
    return KnownCosts(sum(left.values()) - uncosted_net, uncosted_net, len(uncosted))


def _share(net: int, amount: int, whole: int) -> int:
    """Return a line's share of the net amount of its rate: discounts and included tax are spread alike over lines."""
    if whole == 0:
        return amount
    return rounded(net * amount, whole) if whole > 0 else rounded(-net * amount, -whole)
