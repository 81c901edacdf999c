"""The figures of an e-invoice: lines, discounts and taxes, so that every sum of the norm holds to the cent."""

from dataclasses import dataclass
from decimal import Decimal

from mainstay.paper.codes import CATEGORIES, unit_code
from mainstay.paper.messages import say
from mainstay.paper.snapshot import Line, Snapshot, TaxRate
from mainstay.paper.taxes import reason_for_no_tax
from mainstay.values.money import CURRENCIES, parse_price, round_half_away
from mainstay.values.totals import WHOLE, rounded

# Fewer would move a line by cents when prices include the tax.
_PRICE_DECIMALS = 8
_CENTS = 2  # of an amount, also where the currency has none
_TOLERANCE = Decimal("0.02")  # of the Peppol network, for what readers work out again
_CENT = Decimal("0.01")
_MOST_OFF = Decimal(1)  # what a tax is off its percentage, and less (BR-CO-17, BR-S-09)
# Exempt, reverse charge, outside: where a reason has to be told, and nowhere else may be.
_UNTAXED = {"E", "AE", "O"}


@dataclass(frozen=True, slots=True, order=True)
class Tax:
    """A category of tax with its percentage; there is one sum for each."""

    category: str  # BT-118, BT-151
    percent: Decimal  # BT-119, BT-152


@dataclass(frozen=True, slots=True)
class TaxGroup:
    """What is taxed in one way (BG-23)."""

    kind: Tax
    net: Decimal  # BT-116
    tax: Decimal  # BT-117
    reason: str | None  # BT-120


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is taken off; negative where it is put on."""

    amount: Decimal  # BT-92, BT-136
    reason: str  # BT-97, BT-139
    kind: Tax
    percent: Decimal | None = None  # BT-138
    of: Decimal | None = None  # BT-137

    @property
    def is_charge(self) -> bool:
        """Whether it is put on."""
        return self.amount < 0


@dataclass(frozen=True, slots=True)
class InvoiceLine:
    """A line that costs something (BG-25)."""

    id: str  # BT-126
    name: str  # BT-153
    description: str | None  # BT-154
    quantity: Decimal  # BT-129
    unit: str  # BT-130
    price: Decimal  # BT-146
    net: Decimal  # BT-131
    allowance: Allowance | None  # BG-27
    kind: Tax


def figures_of(snapshot: Snapshot) -> tuple[tuple[Allowance, ...], tuple[TaxGroup, ...], tuple[InvoiceLine, ...]]:
    """What is taken off the whole, the taxes, and the lines."""
    nets = _nets(snapshot)
    lines = tuple(
        _line(snapshot, line, net, str(place))
        for place, (line, net) in enumerate(zip(snapshot.items, nets, strict=True), 1)
    )
    groups = _groups(snapshot)
    reason = say(snapshot.language, "sum.discount")
    allowances = []
    for group in groups:
        less = sum((line.net for line in lines if line.kind == group.kind), Decimal(0)) - group.net
        if less:
            allowances.append(Allowance(less, reason, group.kind))
    return tuple(allowances), groups, lines


def is_taxed_as_told(snapshot: Snapshot) -> bool:
    """Whether each tax is its percentage of what is taxed, as near as the norm wants it.

    What was invoiced before is taken off to the unit, each time rounded for itself: in whole yen that adds up.
    """
    return all(
        abs(abs(group.tax) - round_half_away(abs(group.net) * group.kind.percent / 100, _CENTS)) < _MOST_OFF
        for group in _groups(snapshot)
    )


def _nets(snapshot: Snapshot) -> list[Decimal]:
    """Each line without tax.

    Where prices include the tax, a line is what all lines of its rate up to it come to without tax, less those before
    it: so all of them are the sum without tax, and none is off by more than a cent.
    """
    if not snapshot.prices_include_tax:
        return [Decimal(line.amount) for line in snapshot.items]
    decimals = CURRENCIES[snapshot.currency]
    reached: dict[str, Decimal] = {}
    nets = []
    for line in snapshot.items:
        rate = _rate(snapshot, line)
        before = reached.get(rate.id, Decimal(0))
        after = reached[rate.id] = before + Decimal(line.amount)
        nets.append(_without(after, rate, decimals) - _without(before, rate, decimals))
    return nets


def _line(snapshot: Snapshot, line: Line, net: Decimal, place: str) -> InvoiceLine:
    rate = _rate(snapshot, line)
    quantity, price = Decimal(line.quantity), Decimal(line.unit_price)
    if snapshot.prices_include_tax:
        price = _without(price, rate, _PRICE_DECIMALS)
    # A price is never negative there (BR-27): the quantity is.
    if price < 0:
        quantity, price = -quantity, -price
    name, _, description = line.description.strip().partition("\n")
    return InvoiceLine(
        id=place,
        name=name or place,
        description=description.strip() or None,
        quantity=quantity,
        unit=unit_code(line.unit),
        price=price,
        net=net,
        allowance=_line_allowance(snapshot, line, round_half_away(quantity * price, _CENTS), net),
        kind=_kind(rate),
    )


def _line_allowance(snapshot: Snapshot, line: Line, of: Decimal, net: Decimal) -> Allowance | None:
    """What is taken off a line, so that its price by its quantity less that is the line."""
    less, percent = of - net, Decimal(line.discount_percent)
    if not less or (not percent and abs(less) <= _CENT):
        return None
    reason = say(snapshot.language, "sum.discount" if percent else "sum.rounding")
    kind = _kind(_rate(snapshot, line))
    # A percentage is told where it comes to the amount: readers work it out again. It does not in whole yen.
    exact = less > 0 and abs(of * percent / 100 - less) <= _TOLERANCE
    return Allowance(less, reason, kind, percent, of) if percent and exact else Allowance(less, reason, kind)


def _groups(snapshot: Snapshot) -> tuple[TaxGroup, ...]:
    """The taxes; rates of ours that are the same there are one."""
    groups: dict[Tax, TaxGroup] = {}
    for tax in snapshot.totals.tax:
        rate = snapshot.rates[tax.tax_rate_id]
        kind = _kind(rate)
        reason = reason_for_no_tax(snapshot.language, rate.category, rate.note) if kind.category in _UNTAXED else None
        before = groups.get(kind, TaxGroup(kind, Decimal(0), Decimal(0), None))
        reasons = dict.fromkeys(each for each in (before.reason, reason) if each)
        groups[kind] = TaxGroup(
            kind, before.net + Decimal(tax.net), before.tax + Decimal(tax.amount), "; ".join(reasons) or None
        )
    return tuple(groups.values())


def _rate(snapshot: Snapshot, line: Line) -> TaxRate:
    return snapshot.rates[line.tax_rate_id or ""]


def _kind(rate: TaxRate) -> Tax:
    # A standard rate of nothing is what the norm calls zero (BR-S-05).
    category = "zero" if rate.category == "standard" and not rate.percent else rate.category
    return Tax(CATEGORIES[category], rate.percent)


def _without(gross: Decimal, rate: TaxRate, decimals: int) -> Decimal:
    """An amount without the tax that is in it."""
    percent = parse_price(str(rate.percent))
    return Decimal(rounded(int(gross.scaleb(decimals)) * WHOLE, WHOLE + percent)).scaleb(-decimals)
