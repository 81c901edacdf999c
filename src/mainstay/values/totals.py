"""What the lines of a document come to: one calculation for quotes, invoices, credit notes and orders.

Everything is whole numbers. Amounts are in the currency's minor unit; quantities, prices and percentages are counts of
1/10,000. Whatever is rounded is rounded once, a half away from zero, so that a document with every sign turned around
comes to the same with its sign turned around.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mainstay.values.money import UNIT, round_to_total, spread

WHOLE = 100 * UNIT  # a hundred percent


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate of tax: its parts, such as GST and QST, each a percentage of the net amount."""

    id: str
    percents: tuple[int, ...]

    @property
    def percent(self) -> int:
        """All parts together."""
        return sum(self.percents)


@dataclass(frozen=True, slots=True)
class Charge:
    """A line that costs something."""

    quantity: int
    unit_price: int
    rate: Rate
    discount_percent: int = 0
    # What was invoiced before and is taken off to the cent, whatever is multiplied; it is not discounted once more.
    settled: "Settled | None" = None
    # What the discount of the whole takes off it, where that is settled: on a part of a document, as on the whole.
    share: int | None = None
    # How many minutes are billed where one counts in hours: the quantity is rounded, and would be rounded twice.
    minutes: int | None = None

    def amount(self, decimals: int) -> int:
        """What the line comes to, in a currency with so many decimals."""
        price = self.unit_price * (WHOLE - self.discount_percent) * 10**decimals
        if self.minutes is not None:
            return rounded(self.minutes * price, 60 * UNIT * WHOLE)
        return rounded(self.quantity * price, UNIT * UNIT * WHOLE)


@dataclass(frozen=True, slots=True)
class Settled:
    """An amount that stands: without tax, and the tax by the parts of its rate."""

    net: int
    taxes: tuple[int, ...]

    def __add__(self, other: "Settled") -> "Settled":
        taxes = tuple(one + more for one, more in zip(self.taxes, other.taxes, strict=True))
        return Settled(self.net + other.net, taxes)


@dataclass(frozen=True, slots=True)
class Discount:
    """What is taken off a whole document: a percentage of it, or an amount."""

    percent: int = 0
    amount: int = 0

    def of(self, total: int) -> int:
        """What is taken off such a total."""
        return rounded(total * self.percent, WHOLE) + self.amount

    def share_out(self, amounts: Sequence[int]) -> list[int]:
        """Work out what is taken off each of these amounts; what is negative gets a negative share."""
        taken = self.of(sum(amounts))
        if self.percent:
            return round_to_total([amount * self.percent for amount in amounts], WHOLE, taken)
        return spread(taken, amounts) if amounts else []


@dataclass(frozen=True, slots=True)
class Group:
    """What is taxed at one rate: net, and the tax by the parts of the rate."""

    rate: Rate
    net: int
    taxes: tuple[int, ...]

    @property
    def tax(self) -> int:
        """All of the tax."""
        return sum(self.taxes)


@dataclass(frozen=True, slots=True)
class Totals:
    """What a document comes to."""

    # Of each line, as its price is told: before the discount of the whole, and with tax where prices include it.
    amounts: tuple[int, ...]
    # What the discount of the whole takes off each line.
    discounts: tuple[int, ...]
    groups: tuple[Group, ...]

    @property
    def discount(self) -> int:
        """What is taken off the whole."""
        return sum(self.discounts)

    @property
    def is_discounted(self) -> bool:
        """Whether something is taken off a line, also where that comes to nothing in sum."""
        return any(self.discounts)

    @property
    def net(self) -> int:
        """Without tax."""
        return sum(group.net for group in self.groups)

    @property
    def tax(self) -> int:
        """All of the tax."""
        return sum(group.tax for group in self.groups)

    @property
    def total(self) -> int:
        """What is to be paid."""
        return self.net + self.tax


def total_up(
    charges: Sequence[Charge], decimals: int, discount: Discount | None = None, *, inclusive: bool = False
) -> Totals:
    """What these lines come to, in a currency with so many decimals; `inclusive` where prices include the tax."""
    amounts = [charge.amount(decimals) for charge in charges]
    discounts = _shared_out(discount or Discount(), charges, amounts)
    by_rate: dict[Rate, int] = {}
    settled: dict[Rate, Settled] = {}
    for charge, amount, less in zip(charges, amounts, discounts, strict=True):
        by_rate[charge.rate] = by_rate.get(charge.rate, 0) + (0 if charge.settled else amount - less)
        if charge.settled:
            before = settled.get(charge.rate)
            settled[charge.rate] = before + charge.settled if before else charge.settled
    taxed = _taxed_of_gross if inclusive else _taxed_of_net
    return Totals(
        tuple(amounts),
        tuple(discounts),
        tuple(_group(rate, taxed(rate, sum_), settled.get(rate)) for rate, sum_ in by_rate.items()),
    )


def hours_of(minutes: int) -> int:
    """Return minutes as hours, in ten-thousandths."""
    return rounded(minutes * UNIT, 60)


def rounded(numerator: int, denominator: int) -> int:
    """A fraction as a whole number, a half away from zero."""
    size = (2 * abs(numerator) + denominator) // (2 * denominator)
    return size if numerator >= 0 else -size


def with_tax(net: int, percent: int) -> int:
    """An amount or a price with the tax on it."""
    return rounded(net * (WHOLE + percent), WHOLE)


def without_tax(gross: int, percent: int) -> int:
    """An amount or a price without the tax in it."""
    return rounded(gross * WHOLE, WHOLE + percent)


def _shared_out(discount: Discount, charges: Sequence[Charge], amounts: Sequence[int]) -> list[int]:
    """What a discount takes off each line."""
    if any(charge.share is not None for charge in charges):
        return [charge.share or 0 for charge in charges]
    places = [place for place, charge in enumerate(charges) if not charge.settled]
    shares = dict(zip(places, discount.share_out([amounts[place] for place in places]), strict=True))
    return [shares.get(place, 0) for place in range(len(charges))]


def _group(rate: Rate, taxed: Settled, besides: Settled | None) -> Group:
    whole = taxed + besides if besides else taxed
    return Group(rate, whole.net, whole.taxes)


def _taxed_of_net(rate: Rate, net: int) -> Settled:
    return Settled(net, tuple(rounded(net * percent, WHOLE) for percent in rate.percents))


def _taxed_of_gross(rate: Rate, gross: int) -> Settled:
    net = without_tax(gross, rate.percent)
    tax = gross - net
    return Settled(net, tuple(spread(tax, rate.percents)) if rate.percent else tuple(0 for _ in rate.percents))
