"""Split the net amounts of a document into lines with a known cost and lines without; pure, in minor units."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mainstay.values.totals import round_fraction


class CostedLine(NamedTuple):
    """A line of a document, and whether its cost is known."""

    # The id of its tax rate.
    rate: str
    # The amount of the whole line, as its price is entered: before tax or including it.
    amount: int
    has_cost: bool
    # The exact net amount of a line that deducts an earlier invoice: such a line has neither cost nor profit.
    deducted_net: int | None = None


class KnownCosts(NamedTuple):
    """The net amounts of the lines with a known cost and of those without, and the number of the latter."""

    costed_net: int
    uncosted_net: int
    uncosted_lines: int


def split_known_costs(lines: Sequence[CostedLine], nets: Mapping[str, int]) -> KnownCosts:
    """Divide a document's net amounts, given by tax rate id, between lines with and without a known cost."""
    remaining, amounts = dict(nets), defaultdict[str, int](int)
    for line in lines:
        if line.deducted_net is None:
            amounts[line.rate] += line.amount
        else:
            remaining[line.rate] -= line.deducted_net
    uncosted = [line for line in lines if line.deducted_net is None and not line.has_cost and line.amount]
    uncosted_net = sum(_share_of_line(remaining[line.rate], line.amount, amounts[line.rate]) for line in uncosted)
    return KnownCosts(sum(remaining.values()) - uncosted_net, uncosted_net, len(uncosted))


def _share_of_line(net: int, amount: int, total: int) -> int:
    """Return a line's share of the net amount of its rate.

    Discounts and included tax are spread over all lines in the same proportion.
    """
    if total == 0:
        return amount
    return round_fraction(net * amount, total) if total > 0 else round_fraction(-net * amount, -total)
