"""The lines of a document, and what they come to: pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator
from pydantic.alias_generators import to_camel

from mainstay.business.pricelist.model import ShownTaxPart, TaxRate
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.wire import MoneyText, PriceText
from mainstay.values.fields import Percent, Price
from mainstay.values.known_costs import CostedLine, KnownCosts, known_costs
from mainstay.values.models import GIVEN, TOLD
from mainstay.values.money import CURRENCIES, UNIT, Money, amount_text, in_minor, parse_price, price_text
from mainstay.values.totals import Charge, Discount, Group, Rate, Settled, Totals, hours_of, total_up

Kind = Literal["item", "text", "heading"]
SourceKind = Literal["timeEntry", "orderLine", "billLine", "quoteLine", "deposit", "invoice"]

MOST_LINES = 200
# Of the texts of all lines together, which are printed in about two seconds.
MOST_CHARACTERS = 100_000
# In units of the currency: far more than anyone is billed, and far less than what a database holds and adds up, even
# in ten-thousandths.
_MOST = 10**12
# What a line has where nothing is taxed.
_UNTAXED = Rate("", ())
# For examples.
_RATE = "tax_01KA3R2D4F6H8J0K2N4P6R8T0V"
LINE: dict[str, Any] = {
    "id": "line_01KA3R5X7Z9B1D3F5H7J9K1N3P",
    "kind": "item",
    "itemId": None,
    "description": "Combi boiler, 24 kW",
    "quantity": "1.00",
    "unit": "pcs",
    "unitPrice": "1200.00",
    "discountPercent": "0.00",
    "taxRateId": _RATE,
    "optional": False,
    "chosen": True,
    "cost": "800.00",
    "source": None,
    "amount": "1200.00",
}
TAX: dict[str, Any] = {
    "taxRateId": _RATE,
    "name": "VAT 20 %",
    "category": "standard",
    "percent": "20.00",
    "net": "1200.00",
    "amount": "240.00",
    "components": [{"name": "VAT", "percent": "20.00", "amount": "240.00"}],
}


class Share(BaseModel):
    """A part of what a document comes to."""

    model_config = GIVEN

    percent: Percent | None = Field(None, description='Such as "10"; or else an amount.')
    amount: Price | None = Field(None, description='Such as "250.00"; or else a percent.')

    @model_validator(mode="after")
    def _is_one(self) -> "Share":
        if (self.percent is None) == (self.amount is None):
            raise ValueError("takes either a percent or an amount")
        return self

    def kept(self, currency: str, field: str) -> dict[str, str | None]:
        """As it is kept and shown; an amount has no more decimals than its currency."""
        percent = None if self.percent is None else price_text(self.percent)
        if self.amount is None:
            return {"percent": percent, "amount": None}
        try:
            return {"percent": percent, "amount": amount_text(in_minor(self.amount, currency), currency)}
        except ValueError as wrong:
            raise Invalid([Fault(f"{field}.amount", str(wrong))]) from None


class ShownShare(BaseModel):
    """A part of what a document comes to, as it is shown."""

    model_config = TOLD

    percent: PriceText | None
    amount: MoneyText | None


def read_share(kept: Mapping[str, str | None] | None, currency: str) -> Discount:
    """What is kept of a share, to reckon with; nothing where there is none."""
    if kept is None:
        return Discount()
    percent = parse_price(kept["percent"]) if kept["percent"] else 0
    return Discount(percent, Money.parse(kept["amount"], currency).minor if kept["amount"] else 0)


class ShownSettled(BaseModel):
    """What a line comes to exactly, as it was invoiced before."""

    model_config = TOLD

    net: MoneyText
    taxes: list[MoneyText] = Field(description="By the parts of the tax rate.")


class Source(BaseModel):
    """What a line bills, which is billed once."""

    model_config = TOLD

    kind: SourceKind
    id: str
    settled: ShownSettled | None = Field(None, description="Of a deduction: exactly what was invoiced before.")
    minutes: int | None = Field(None, description="Of hours: what is billed exactly; the quantity is rounded.")


class PricedLine(BaseModel):
    """What every line is shown with, sold or bought."""

    model_config = TOLD

    id: str
    kind: Kind = Field(description="`item` costs something; `text` and `heading` are only read.")
    item_id: str | None = Field(description="The item of the price list it was made of.")
    description: str
    quantity: PriceText
    unit: str | None
    unit_price: PriceText
    discount_percent: PriceText
    tax_rate_id: str | None = Field(description="Null where no tax is charged.")


class ShownLine(PricedLine):
    """A line of a document, as it is shown."""

    optional: bool = Field(description="Whether the customer may leave it out.")
    chosen: bool = Field(description="Whether it counts, where it is optional.")
    cost: PriceText | None = Field(description="What one unit costs the organisation; customers never see it.")
    source: Source | None
    amount: MoneyText = Field(description="Before the discount of the whole; with tax where prices include it.")


class ShownTaxOfPart(ShownTaxPart):
    """The tax of one part of a rate."""

    amount: MoneyText


class ShownTax(BaseModel):
    """What is taxed at one rate, as it is shown."""

    model_config = TOLD

    tax_rate_id: str | None
    name: str | None
    category: str | None
    percent: PriceText
    net: MoneyText
    amount: MoneyText
    components: list[ShownTaxOfPart]


@dataclass(frozen=True, slots=True)
class Line:
    """A line as its rules see it; prices, quantities and percentages are counts of 1/10,000."""

    id: str
    description: str
    kind: Kind = "item"
    item_id: str | None = None
    quantity: int = UNIT
    unit: str | None = None
    unit_price: int = 0
    discount_percent: int = 0
    tax_rate_id: str | None = None
    optional: bool = False
    chosen: bool = True
    cost: int | None = None
    source: Mapping[str, Any] | None = None

    @property
    def deducts(self) -> bool:
        """Whether it takes off what was invoiced before."""
        return bool(self.source and self.source["kind"] == "deposit")

    @property
    def is_settled(self) -> bool:
        """Whether it comes to what was invoiced before, to the cent: no discount is shared out over it."""
        return bool(self.source and self.source.get("settled"))

    @property
    def counts(self) -> bool:
        """Whether it is part of what the document comes to."""
        return self.kind == "item" and (self.chosen or not self.optional)

    def charge(self, rates: Mapping[str, TaxRate], currency: str, share: int | None = None) -> Charge:
        """What it costs; `share` is what the discount of the whole takes off it, where that is settled."""
        rate = rates[self.tax_rate_id].rate if self.tax_rate_id else _UNTAXED
        settled = self._settled(currency)
        return Charge(self.quantity, self.unit_price, rate, self.discount_percent, settled, share, self._minutes)

    @property
    def _minutes(self) -> int | None:
        """The minutes of the hours that it bills, as long as its quantity is what they come to."""
        minutes = self.source.get("minutes") if self.source else None
        return minutes if minutes is not None and hours_of(minutes) == self.quantity else None

    def _settled(self, currency: str) -> Settled | None:
        kept = self.source.get("settled") if self.source else None
        if kept is None:
            return None
        return Settled(_minor(kept["net"], currency), tuple(_minor(tax, currency) for tax in kept["taxes"]))

    def costs(self, decimals: int) -> int:
        """What it costs whoever sells it, in a currency with so many decimals."""
        return Charge(self.quantity, self.cost or 0, _UNTAXED).amount(decimals)


def settled_text(settled: Settled, currency: str) -> dict[str, Any]:
    """What a line comes to exactly, as it is kept and shown."""
    return {
        "net": amount_text(settled.net, currency),
        "taxes": [amount_text(tax, currency) for tax in settled.taxes],
    }


def _minor(text: str, currency: str) -> int:
    return Money.parse(text, currency).minor


# What the fields of a line are called where they are kept and shown: a document has many, so it is worked out once.
_ON_THE_WIRE = {name: to_camel(name) for name in ShownLine.model_fields}
# The fields of a line that are prices and the like, kept as they are shown.
_DECIMALS = ("quantity", "unit_price", "discount_percent", "cost")


def read_lines(kept: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Lines out of what is kept of them."""
    return [_read(one) for one in kept]


def _read(kept: Mapping[str, Any]) -> Line:
    values = {name: kept[_ON_THE_WIRE[name]] for name in Line.__slots__}
    values |= {name: parse_price(values[name]) for name in _DECIMALS if values[name] is not None}
    return Line(**values)


@dataclass(frozen=True, slots=True)
class Terms:
    """What decides what lines come to, beside the lines."""

    currency: str
    inclusive: bool
    discount: Discount
    # What the discount takes off each line that it is shared out over, by the ids of the lines, where that is settled:
    # on a part of a document, each line has the share that it has on the whole.
    shares: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A document drawn up: its lines and taxes as they are kept and shown, and what they come to."""

    lines: list[dict[str, Any]]
    taxes: list[dict[str, Any]]
    totals: Totals
    # What the lines cost whoever sells them, as far as that is known of any.
    cost: int | None
    # The settled shares of the discount that were used; empty where it was shared out here.
    shares: Mapping[str, int]
    # How much of the net amount is of lines with a cost, and of those without.
    known: KnownCosts

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a document that follow from its lines."""
        sums = {"net": self.totals.net, "tax": self.totals.tax, "total": self.totals.total}
        shares = dict(self.shares) or None
        return {"lines": self.lines, "taxes": self.taxes, "cost": self.cost, "discount_shares": shares, **sums}


def draw_up(lines: Sequence[Line], rates: Mapping[str, TaxRate], terms: Terms) -> Drawn:
    """What a document with these lines says, and comes to."""
    counted = [line for line in lines if line.counts]
    decimals = CURRENCIES[terms.currency]
    # They are of no use to other lines than those that they were settled for.
    shares = terms.shares if terms.shares.keys() == {line.id for line in counted if not line.is_settled} else {}
    charges = {
        line.id: line.charge(rates, terms.currency, shares.get(line.id)) for line in lines if line.kind == "item"
    }
    totals = total_up([charges[line.id] for line in counted], decimals, terms.discount, inclusive=terms.inclusive)
    amounts = {name: charge.amount(decimals) for name, charge in charges.items()}
    costs = {line.id: line.costs(decimals) for line in lines if line.kind == "item" and line.cost is not None}
    counted_costs = [costs[line.id] for line in counted if line.id in costs]
    # At one rate it may come to much where another takes it off again.
    by_rate = [sum_ for group in totals.groups for sum_ in (group.net, group.tax)]
    _check_size(lines, [amounts, costs], [totals.total, totals.net, *by_rate, sum(counted_costs)], terms.currency)
    shown = [_shown(line, amount_text(amounts.get(line.id, 0), terms.currency)) for line in lines]
    taxed = [_taxed(group, rates, terms.currency) for group in totals.groups]
    known = known_costs(
        [_costed(line, charges[line.id], amounts[line.id]) for line in counted],
        {group.rate.id: group.net for group in totals.groups},
    )
    return Drawn(shown, taxed, totals, sum(counted_costs) if counted_costs else None, shares, known)


def _costed(line: Line, charge: Charge, amount: int) -> CostedLine:
    deducted = charge.settled.net if charge.settled else None
    return CostedLine(line.tax_rate_id or _UNTAXED.id, amount, line.cost is not None, deducted)


def most_in(currency: str) -> int:
    """The most that anything can come to, in minor units."""
    return int(_MOST * 10 ** CURRENCIES[currency])


def _check_size(
    lines: Sequence[Line], of_lines: Sequence[Mapping[str, int]], sums: Sequence[int], currency: str
) -> None:
    most, told = most_in(currency), f"more than can be billed: at most {_MOST:,} {currency}"
    faults = [
        Fault(f"lines.{place}", f"comes to {told}")
        for place, line in enumerate(lines)
        if any(abs(amounts.get(line.id, 0)) > most for amounts in of_lines)
    ]
    if faults or max(map(abs, sums)) > most:
        raise Invalid(faults or [Fault("lines", f"come to {told}")])


def _shown(line: Line, amount: str) -> dict[str, Any]:
    values = {name: getattr(line, name) for name in Line.__slots__} | {"amount": amount}
    values |= {name: price_text(values[name]) for name in _DECIMALS if values[name] is not None}
    return {told: values[name] for name, told in _ON_THE_WIRE.items()}


def _taxed(group: Group, rates: Mapping[str, TaxRate], currency: str) -> dict[str, Any]:
    rate = rates.get(group.rate.id)
    parts = zip(rate.components if rate else (), group.taxes, strict=True)
    return {
        "taxRateId": rate.id if rate else None,
        "name": rate.name if rate else None,
        "category": rate.category if rate else None,
        "percent": price_text(group.rate.percent),
        "net": amount_text(group.net, currency),
        "amount": amount_text(group.tax, currency),
        "components": [{**part, "amount": amount_text(tax, currency)} for part, tax in parts],
    }


def choose(lines: Sequence[Line], chosen: Sequence[str]) -> list[Line]:
    """The lines with these of the optional ones chosen, and no other."""
    unknown = [one for one in chosen if one not in {line.id for line in lines if line.optional}]
    if unknown:
        raise Invalid([Fault("chosen", f"names {unknown[0]}, which is no optional line")])
    return [replace(line, chosen=line.id in chosen) if line.optional else line for line in lines]
