"""The figures of an e-invoice: lines, discounts and taxes, so that every sum of the standard is right to the cent."""

from dataclasses import dataclass
from decimal import Decimal

from mainstay.documents.codes import TAX_CATEGORY_CODES, unit_code
from mainstay.documents.messages import translate
from mainstay.documents.snapshot import LineSnapshot, Snapshot, TaxRateSnapshot
from mainstay.documents.tax_texts import find_no_tax_reason
from mainstay.values.money import CURRENCIES, parse_price, round_half_away
from mainstay.values.totals import HUNDRED_PERCENT, round_fraction

# With fewer decimals, a line could change by cents if prices include tax.
_PRICE_DECIMALS = 8
_AMOUNT_DECIMALS = 2  # of an amount, even if the currency has none
_TOLERANCE = Decimal("0.02")  # that Peppol allows when readers compute an amount again
_CENT = Decimal("0.01")
_MAX_DEVIATION = Decimal(1)  # a tax deviates from its percentage by less than this (BR-CO-17, BR-S-09)
# Exempt, reverse charge and outside: these categories need a reason, and no other may have one.
_UNTAXED = {"E", "AE", "O"}


@dataclass(frozen=True, slots=True, order=True)
class TaxKind:
    """A tax category with its percentage. Each has one sum."""

    category: str  # BT-118, BT-151
    percent: Decimal  # BT-119, BT-152


@dataclass(frozen=True, slots=True)
class EInvoiceTaxGroup:
    """What is taxed with one category and percentage (BG-23)."""

    kind: TaxKind
    net: Decimal  # BT-116
    tax: Decimal  # BT-117
    reason: str | None  # BT-120


@dataclass(frozen=True, slots=True)
class Allowance:
    """A discount, or a charge if it is negative."""

    amount: Decimal  # BT-92, BT-136
    reason: str  # BT-97, BT-139
    kind: TaxKind
    percent: Decimal | None = None  # BT-138
    base: Decimal | None = None  # BT-137

    @property
    def is_charge(self) -> bool:
        """Whether it is a charge."""
        return self.amount < 0


@dataclass(frozen=True, slots=True)
class InvoiceLine:
    """A line with a price (BG-25)."""

    id: str  # BT-126
    name: str  # BT-153
    description: str | None  # BT-154
    quantity: Decimal  # BT-129
    unit: str  # BT-130
    price: Decimal  # BT-146
    net: Decimal  # BT-131
    allowance: Allowance | None  # BG-27
    kind: TaxKind


def figures_of(
    snapshot: Snapshot,
) -> tuple[tuple[Allowance, ...], tuple[EInvoiceTaxGroup, ...], tuple[InvoiceLine, ...]]:
    """Return the allowances of the document, its taxes and its lines."""
    nets = _net_amounts(snapshot)
    lines = tuple(
        _build_line(snapshot, line, net, str(position))
        for position, (line, net) in enumerate(zip(snapshot.items, nets, strict=True), 1)
    )
    groups = _group_taxes(snapshot)
    reason = translate(snapshot.language, "sum.discount")
    allowances = []
    for group in groups:
        difference = sum((line.net for line in lines if line.kind == group.kind), Decimal(0)) - group.net
        if difference:
            allowances.append(Allowance(difference, reason, group.kind))
    return tuple(allowances), groups, lines


def has_consistent_tax(snapshot: Snapshot) -> bool:
    """Return whether each tax amount is close enough to its percentage of the net amount.

    Amounts that were invoiced before are deducted and rounded one by one. In a currency without decimals, such as yen,
    the differences add up.
    """
    return all(
        abs(abs(group.tax) - round_half_away(abs(group.net) * group.kind.percent / 100, _AMOUNT_DECIMALS))
        < _MAX_DEVIATION
        for group in _group_taxes(snapshot)
    )


def _net_amounts(snapshot: Snapshot) -> list[Decimal]:
    """Return the amount of each line without tax.

    If prices include tax, all lines of a rate are added up, and the amount of a line is what it adds to their sum
    without tax. So the lines come to exactly that sum, and none is off by more than a cent.
    """
    if not snapshot.prices_include_tax:
        return [Decimal(line.amount) for line in snapshot.items]
    decimals = CURRENCIES[snapshot.currency]
    running: dict[str, Decimal] = {}
    nets = []
    for line in snapshot.items:
        rate = _rate_of(snapshot, line)
        before = running.get(rate.id, Decimal(0))
        after = running[rate.id] = before + Decimal(line.amount)
        nets.append(_deduct_tax(after, rate, decimals) - _deduct_tax(before, rate, decimals))
    return nets


def _build_line(snapshot: Snapshot, line: LineSnapshot, net: Decimal, position: str) -> InvoiceLine:
    rate = _rate_of(snapshot, line)
    quantity, price = Decimal(line.quantity), Decimal(line.unit_price)
    if snapshot.prices_include_tax:
        price = _deduct_tax(price, rate, _PRICE_DECIMALS)
    # In an e-invoice a price is never negative (BR-27), so the quantity is.
    if price < 0:
        quantity, price = -quantity, -price
    name, _, description = line.description.strip().partition("\n")
    return InvoiceLine(
        id=position,
        name=name or position,
        description=description.strip() or None,
        quantity=quantity,
        unit=unit_code(line.unit),
        price=price,
        net=net,
        allowance=_build_line_allowance(snapshot, line, round_half_away(quantity * price, _AMOUNT_DECIMALS), net),
        kind=_tax_kind_of(rate),
    )


def _build_line_allowance(snapshot: Snapshot, line: LineSnapshot, base: Decimal, net: Decimal) -> Allowance | None:
    """Return the allowance of a line, so that price times quantity less the allowance is the line's amount."""
    difference, percent = base - net, Decimal(line.discount_percent)
    if not difference or (not percent and abs(difference) <= _CENT):
        return None
    reason = translate(snapshot.language, "sum.discount" if percent else "sum.rounding")
    kind = _tax_kind_of(_rate_of(snapshot, line))
    # The percentage is given only if it comes to the amount, because readers compute it again. In whole yen it does
    # not.
    is_exact = difference > 0 and abs(base * percent / 100 - difference) <= _TOLERANCE
    return (
        Allowance(difference, reason, kind, percent, base)
        if percent and is_exact
        else Allowance(difference, reason, kind)
    )


def _group_taxes(snapshot: Snapshot) -> tuple[EInvoiceTaxGroup, ...]:
    """Return the taxes. Rates with the same category and percentage become one."""
    groups: dict[TaxKind, EInvoiceTaxGroup] = {}
    for tax in snapshot.totals.tax:
        rate = snapshot.rates[tax.tax_rate_id]
        kind = _tax_kind_of(rate)
        reason = find_no_tax_reason(snapshot.language, rate.category, rate.note) if kind.category in _UNTAXED else None
        before = groups.get(kind, EInvoiceTaxGroup(kind, Decimal(0), Decimal(0), None))
        reasons = dict.fromkeys(text for text in (before.reason, reason) if text)
        groups[kind] = EInvoiceTaxGroup(
            kind, before.net + Decimal(tax.net), before.tax + Decimal(tax.amount), "; ".join(reasons) or None
        )
    return tuple(groups.values())


def _rate_of(snapshot: Snapshot, line: LineSnapshot) -> TaxRateSnapshot:
    return snapshot.rates[line.tax_rate_id or ""]


def _tax_kind_of(rate: TaxRateSnapshot) -> TaxKind:
    # The standard calls a standard rate of 0% "zero" (BR-S-05).
    category = "zero" if rate.category == "standard" and not rate.percent else rate.category
    return TaxKind(TAX_CATEGORY_CODES[category], rate.percent)


def _deduct_tax(gross: Decimal, rate: TaxRateSnapshot, decimals: int) -> Decimal:
    """Return an amount without the tax that it includes."""
    percent = parse_price(str(rate.percent))
    return Decimal(round_fraction(int(gross.scaleb(decimals)) * HUNDRED_PERCENT, HUNDRED_PERCENT + percent)).scaleb(
        -decimals
    )
