"""The totals of document lines: one calculation for quotes, invoices, credit notes and orders.

Everything is a whole number. Amounts are in the currency's minor unit; quantities, prices and percentages are counts of
1/10,000. Every value is rounded only once, a half away from zero, so that a document with every sign reversed has the
same totals with their signs reversed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mainstay.values.money import UNIT, round_to_total, spread_total

HUNDRED_PERCENT = 100 * UNIT  # a hundred percent


@dataclass(frozen=True, slots=True)
class Rate:
    """A tax rate: its components, such as GST and QST, each as a percentage of the net amount."""

    id: str
    percents: tuple[int, ...]

    @property
    def percent(self) -> int:
        """The sum of all components."""
        return sum(self.percents)


@dataclass(frozen=True, slots=True)
class Charge:
    """A line with a price."""

    quantity: int
    unit_price: int
    rate: Rate
    discount_percent: int = 0
    # The exact amount of an earlier invoice that this line deducts, whatever the quantity; it is not discounted again.
    fixed_amount: "FixedAmount | None" = None
    # The fixed share of the document's discount for this line, when only part of a document is calculated.
    discount_share: int | None = None
    # The billed minutes, if the line is billed by the hour: the quantity is already rounded, and calculating with it
    # would round twice.
    minutes: int | None = None

    def calculate_amount(self, decimals: int) -> int:
        """Return the amount of the line, in a currency with this many decimals."""
        price = self.unit_price * (HUNDRED_PERCENT - self.discount_percent) * 10**decimals
        if self.minutes is not None:
            return round_fraction(self.minutes * price, 60 * UNIT * HUNDRED_PERCENT)
        return round_fraction(self.quantity * price, UNIT * UNIT * HUNDRED_PERCENT)


@dataclass(frozen=True, slots=True)
class FixedAmount:
    """A fixed amount: its net amount, and its tax by the components of its rate."""

    net: int
    taxes: tuple[int, ...]

    def __add__(self, other: "FixedAmount") -> "FixedAmount":
        taxes = tuple(first + second for first, second in zip(self.taxes, other.taxes, strict=True))
        return FixedAmount(self.net + other.net, taxes)


@dataclass(frozen=True, slots=True)
class Discount:
    """A discount on a whole document: a percentage, or an amount."""

    percent: int = 0
    amount: int = 0

    def calculate(self, total: int) -> int:
        """Return the discount on this total."""
        return round_fraction(total * self.percent, HUNDRED_PERCENT) + self.amount

    def share_out(self, amounts: Sequence[int]) -> list[int]:
        """Return the discount on each of these amounts; a negative amount gets a negative share."""
        total = self.calculate(sum(amounts))
        if self.percent:
            return round_to_total([amount * self.percent for amount in amounts], HUNDRED_PERCENT, total)
        return spread_total(total, amounts) if amounts else []


@dataclass(frozen=True, slots=True)
class RateTotal:
    """The amounts of one tax rate: net, and the tax by the components of the rate."""

    rate: Rate
    net: int
    taxes: tuple[int, ...]

    @property
    def tax(self) -> int:
        """The sum of all tax components."""
        return sum(self.taxes)


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of a document."""

    # The amount of each line as its price is entered: before the document's discount, and including tax if prices do.
    amounts: tuple[int, ...]
    # The share of each line in the document's discount.
    discounts: tuple[int, ...]
    groups: tuple[RateTotal, ...]

    @property
    def discount(self) -> int:
        """The discount on the whole document."""
        return sum(self.discounts)

    @property
    def is_discounted(self) -> bool:
        """Whether any line is discounted, even if the discounts add up to zero."""
        return any(self.discounts)

    @property
    def net(self) -> int:
        """The amount without tax."""
        return sum(group.net for group in self.groups)

    @property
    def tax(self) -> int:
        """The sum of all taxes."""
        return sum(group.tax for group in self.groups)

    @property
    def total(self) -> int:
        """The amount to pay."""
        return self.net + self.tax


def calculate_totals(
    charges: Sequence[Charge], decimals: int, discount: Discount | None = None, *, inclusive: bool = False
) -> Totals:
    """Calculate the totals of these lines, in a currency with this many decimals.

    With `inclusive`, prices include the tax.
    """
    amounts = [charge.calculate_amount(decimals) for charge in charges]
    discounts = _share_discount(discount or Discount(), charges, amounts)
    by_rate: dict[Rate, int] = {}
    fixed_amounts: dict[Rate, FixedAmount] = {}
    for charge, amount, discount_share in zip(charges, amounts, discounts, strict=True):
        by_rate[charge.rate] = by_rate.get(charge.rate, 0) + (0 if charge.fixed_amount else amount - discount_share)
        if charge.fixed_amount:
            before = fixed_amounts.get(charge.rate)
            fixed_amounts[charge.rate] = before + charge.fixed_amount if before else charge.fixed_amount
    add_or_extract_tax = _tax_gross if inclusive else _tax_net
    return Totals(
        tuple(amounts),
        tuple(discounts),
        tuple(
            _make_group(rate, add_or_extract_tax(rate, rate_sum), fixed_amounts.get(rate))
            for rate, rate_sum in by_rate.items()
        ),
    )


def minutes_to_hours(minutes: int) -> int:
    """Return minutes as hours, in ten-thousandths."""
    return round_fraction(minutes * UNIT, 60)


def round_fraction(numerator: int, denominator: int) -> int:
    """Round a fraction to a whole number, a half away from zero."""
    size = (2 * abs(numerator) + denominator) // (2 * denominator)
    return size if numerator >= 0 else -size


def add_tax(net: int, percent: int) -> int:
    """Return a net amount or price plus its tax."""
    return round_fraction(net * (HUNDRED_PERCENT + percent), HUNDRED_PERCENT)


def remove_tax(gross: int, percent: int) -> int:
    """Return a gross amount or price minus its tax."""
    return round_fraction(gross * HUNDRED_PERCENT, HUNDRED_PERCENT + percent)


def _share_discount(discount: Discount, charges: Sequence[Charge], amounts: Sequence[int]) -> list[int]:
    """Return the discount on each line."""
    if any(charge.discount_share is not None for charge in charges):
        return [charge.discount_share or 0 for charge in charges]
    positions = [position for position, charge in enumerate(charges) if not charge.fixed_amount]
    shares = dict(zip(positions, discount.share_out([amounts[position] for position in positions]), strict=True))
    return [shares.get(position, 0) for position in range(len(charges))]


def _make_group(rate: Rate, taxed: FixedAmount, fixed_amount: FixedAmount | None) -> RateTotal:
    combined = taxed + fixed_amount if fixed_amount else taxed
    return RateTotal(rate, combined.net, combined.taxes)


def _tax_net(rate: Rate, net: int) -> FixedAmount:
    return FixedAmount(net, tuple(round_fraction(net * percent, HUNDRED_PERCENT) for percent in rate.percents))


def _tax_gross(rate: Rate, gross: int) -> FixedAmount:
    net = remove_tax(gross, rate.percent)
    tax = gross - net
    return FixedAmount(
        net, tuple(spread_total(tax, rate.percents)) if rate.percent else tuple(0 for _ in rate.percents)
    )
