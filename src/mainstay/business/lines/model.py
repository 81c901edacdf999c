"""The lines of a document and their totals. Pure functions: no database access."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator
from pydantic.alias_generators import to_camel

from mainstay.business.pricelist.model import ShownTaxPart, TaxRate
from mainstay.documents.snapshot import LineKind
from mainstay.values.fields import Percent, Price
from mainstay.values.known_costs import CostedLine, KnownCosts, split_known_costs
from mainstay.values.message import Amount, Message, message_of
from mainstay.values.model_config import INPUT_CONFIG, OUTPUT_CONFIG
from mainstay.values.money import CURRENCIES, UNIT, Money, amount_text, parse_price, price_text, price_to_minor
from mainstay.values.totals import (
    Charge,
    Discount,
    FixedAmount,
    Rate,
    RateTotal,
    Totals,
    calculate_totals,
    minutes_to_hours,
)
from mainstay.vocabulary.record_json import MoneyText, PriceText
from mainstay.vocabulary.refusal import Fault, Invalid

SourceKind = Literal["timeEntry", "orderLine", "billLine", "quoteLine", "deposit", "invoice"]

MAX_LINES = 200
# The limit for the texts of all lines together. That many characters are printed in about two seconds.
MAX_LINE_CHARACTERS = 100_000
# The largest amount, in units of the currency. Nobody is billed that much, and a database can still add up such amounts
# in ten-thousandths.
_MAX_AMOUNT = 10**12
# The rate of a line without tax.
_NO_TAX = Rate("", ())
# Used in examples.
_EXAMPLE_RATE = "tax_01KA3R2D4F6H8J0K2N4P6R8T0V"
EXAMPLE_LINE: dict[str, Any] = {
    "id": "line_01KA3R5X7Z9B1D3F5H7J9K1N3P",
    "kind": "item",
    "itemId": None,
    "description": "Combi boiler, 24 kW",
    "quantity": "1.00",
    "unit": "pcs",
    "unitPrice": "1200.00",
    "discountPercent": "0.00",
    "taxRateId": _EXAMPLE_RATE,
    "optional": False,
    "chosen": True,
    "cost": "800.00",
    "source": None,
    "amount": "1200.00",
}
EXAMPLE_TAX: dict[str, Any] = {
    "taxRateId": _EXAMPLE_RATE,
    "name": "VAT 20%",
    "category": "standard",
    "percent": "20.00",
    "net": "1200.00",
    "amount": "240.00",
    "components": [{"name": "VAT", "percent": "20.00", "amount": "240.00"}],
}


class Share(BaseModel):
    """A part of a document's total: a percentage or an amount."""

    model_config = INPUT_CONFIG

    percent: Percent | None = Field(None, description="E.g. 10. Enter a percentage or an amount, not both.")
    amount: Price | None = Field(None, description="E.g. 250.00. Enter a percentage or an amount, not both.")

    @model_validator(mode="after")
    def _check_exactly_one(self) -> "Share":
        if (self.percent is None) == (self.amount is None):
            raise ValueError(Message("must have either a percentage or an amount"))
        return self

    def to_stored_json(self, currency: str, field: str) -> dict[str, str | None]:
        """Return the share as it is stored and output; refuse an amount with more decimals than its currency has."""
        percent = None if self.percent is None else price_text(self.percent)
        if self.amount is None:
            return {"percent": percent, "amount": None}
        try:
            return {"percent": percent, "amount": amount_text(price_to_minor(self.amount, currency), currency)}
        except ValueError as error:
            raise Invalid([Fault(f"{field}.amount", message_of(error))]) from None


class ShownShare(BaseModel):
    """A part of a document's total, as it is shown."""

    model_config = OUTPUT_CONFIG

    percent: PriceText | None
    amount: MoneyText | None


def share_to_discount(stored: Mapping[str, str | None] | None, currency: str) -> Discount:
    """Convert a stored share into a discount; None becomes a discount of zero."""
    if stored is None:
        return Discount()
    percent = parse_price(stored["percent"]) if stored["percent"] else 0
    return Discount(percent, Money.parse(stored["amount"], currency).minor if stored["amount"] else 0)


class ShownSettled(BaseModel):
    """The exact amounts of a line, as they were invoiced before."""

    model_config = OUTPUT_CONFIG

    net: MoneyText
    taxes: list[MoneyText] = Field(description="One for each part of the tax rate.")


class Source(BaseModel):
    """What a line bills. Each source is billed only once."""

    model_config = OUTPUT_CONFIG

    kind: SourceKind
    id: str
    settled: ShownSettled | None = Field(None, description="For a deduction: the exact amounts invoiced before.")
    minutes: int | None = Field(None, description="For hours: the exact time billed; the quantity is rounded.")


class PricedLine(BaseModel):
    """The output fields that lines of sales and purchases share."""

    model_config = OUTPUT_CONFIG

    id: str
    kind: LineKind = Field(description="`item` has a price; `text` and `heading` don't.")
    item_id: str | None = Field(description="The price list item that it was created from.")
    description: str
    quantity: PriceText
    unit: str | None
    unit_price: PriceText
    discount_percent: PriceText
    tax_rate_id: str | None = Field(description="Null if no tax is charged.")


class ShownLine(PricedLine):
    """A line of a document, as it is shown."""

    optional: bool = Field(description="Whether the customer can choose it.")
    chosen: bool = Field(description="Whether an optional line is chosen.")
    cost: PriceText | None = Field(description="What one unit costs you. Never shown to customers.")
    source: Source | None
    amount: MoneyText = Field(description="Before the discount on the whole; with tax if prices include it.")


class ShownTaxOfPart(ShownTaxPart):
    """The tax of one part of a rate."""

    amount: MoneyText


class ShownTax(BaseModel):
    """The amounts taxed at one rate, as they are shown."""

    model_config = OUTPUT_CONFIG

    tax_rate_id: str | None
    name: str | None
    category: str | None
    percent: PriceText
    net: MoneyText
    amount: MoneyText
    components: list[ShownTaxOfPart]


@dataclass(frozen=True, slots=True)
class Line:
    """A line for calculations; prices, quantities and percentages are counts of 1/10,000."""

    id: str
    description: str
    kind: LineKind = "item"
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
    def is_deduction(self) -> bool:
        """Whether the line deducts an earlier invoice."""
        return bool(self.source and self.source["kind"] == "deposit")

    @property
    def is_settled(self) -> bool:
        """Whether its amounts are fixed to the cent by an earlier invoice, so that it gets no share of the discount."""
        return bool(self.source and self.source.get("settled"))

    @property
    def is_counted(self) -> bool:
        """Whether the line is part of the document's total."""
        return self.kind == "item" and (self.chosen or not self.optional)

    def to_charge(self, rates: Mapping[str, TaxRate], currency: str, share: int | None = None) -> Charge:
        """Return what the line charges; `share` is its share of the document's discount, if that is settled."""
        rate = rates[self.tax_rate_id].rate if self.tax_rate_id else _NO_TAX
        settled = self._read_settled(currency)
        return Charge(self.quantity, self.unit_price, rate, self.discount_percent, settled, share, self._exact_minutes)

    @property
    def _exact_minutes(self) -> int | None:
        """The exact minutes of the hours that it bills, if its quantity still matches them."""
        minutes = self.source.get("minutes") if self.source else None
        return minutes if minutes is not None and minutes_to_hours(minutes) == self.quantity else None

    def _read_settled(self, currency: str) -> FixedAmount | None:
        stored = self.source.get("settled") if self.source else None
        if stored is None:
            return None
        return FixedAmount(
            _parse_minor(stored["net"], currency), tuple(_parse_minor(tax, currency) for tax in stored["taxes"])
        )

    def compute_cost(self, decimals: int) -> int:
        """Return what the line costs the organisation, in minor units of a currency with so many decimals."""
        return Charge(self.quantity, self.cost or 0, _NO_TAX).calculate_amount(decimals)


def settled_to_json(settled: FixedAmount, currency: str) -> dict[str, Any]:
    """Return the exact amounts of a line as they are stored and output."""
    return {
        "net": amount_text(settled.net, currency),
        "taxes": [amount_text(tax, currency) for tax in settled.taxes],
    }


def _parse_minor(text: str, currency: str) -> int:
    return Money.parse(text, currency).minor


# The JSON names of the fields of a line. A document has many lines, so the names are computed once.
_JSON_NAMES = {name: to_camel(name) for name in ShownLine.model_fields}
# The fields of a line that are decimals, stored as decimal texts.
_DECIMALS = ("quantity", "unit_price", "discount_percent", "cost")


def read_lines(stored: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Convert stored lines into lines."""
    return [_read_line(line) for line in stored]


def _read_line(stored: Mapping[str, Any]) -> Line:
    values = {name: stored[_JSON_NAMES[name]] for name in Line.__slots__}
    values |= {name: parse_price(values[name]) for name in _DECIMALS if values[name] is not None}
    return Line(**values)


@dataclass(frozen=True, slots=True)
class PricingTerms:
    """What a document's totals depend on besides its lines: currency, tax in prices, discount."""

    currency: str
    inclusive: bool
    discount: Discount
    # What the discount takes off each line, by the ids of the lines, if that is settled: on an invoice for a part of a
    # quote, each line keeps the share that it has on the whole quote.
    shares: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PricedDocument:
    """A document with its totals; lines and taxes are as they are stored and output."""

    lines: list[dict[str, Any]]
    taxes: list[dict[str, Any]]
    totals: Totals
    # What the lines cost the organisation; None if no line has a known cost.
    cost: int | None
    # The settled shares of the discount that were used; empty if the discount was shared out now.
    shares: Mapping[str, int]
    # How much of the net amount belongs to lines with a known cost, and how much to lines without one.
    known_costs: KnownCosts

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a document that are computed from its lines."""
        sums = {"net": self.totals.net, "tax": self.totals.tax, "total": self.totals.total}
        shares = dict(self.shares) or None
        return {"lines": self.lines, "taxes": self.taxes, "cost": self.cost, "discount_shares": shares, **sums}


def price_document(lines: Sequence[Line], rates: Mapping[str, TaxRate], terms: PricingTerms) -> PricedDocument:
    """Compute the amounts, taxes and totals of a document with these lines."""
    counted = [line for line in lines if line.is_counted]
    decimals = CURRENCIES[terms.currency]
    # Settled shares only fit the lines that they were settled for.
    shares = terms.shares if terms.shares.keys() == {line.id for line in counted if not line.is_settled} else {}
    charges = {
        line.id: line.to_charge(rates, terms.currency, shares.get(line.id)) for line in lines if line.kind == "item"
    }
    totals = calculate_totals(
        [charges[line.id] for line in counted], decimals, terms.discount, inclusive=terms.inclusive
    )
    amounts = {name: charge.calculate_amount(decimals) for name, charge in charges.items()}
    costs = {line.id: line.compute_cost(decimals) for line in lines if line.kind == "item" and line.cost is not None}
    counted_costs = [costs[line.id] for line in counted if line.id in costs]
    # The sum at one rate may be too large even if another rate brings the total down again.
    by_rate = [sum_ for group in totals.groups for sum_ in (group.net, group.tax)]
    _check_amounts(lines, [amounts, costs], [totals.total, totals.net, *by_rate, sum(counted_costs)], terms.currency)
    line_json = [_line_to_json(line, amount_text(amounts.get(line.id, 0), terms.currency)) for line in lines]
    tax_json = [_tax_to_json(group, rates, terms.currency) for group in totals.groups]
    known = split_known_costs(
        [_to_costed_line(line, charges[line.id], amounts[line.id]) for line in counted],
        {group.rate.id: group.net for group in totals.groups},
    )
    return PricedDocument(line_json, tax_json, totals, sum(counted_costs) if counted_costs else None, shares, known)


def _to_costed_line(line: Line, charge: Charge, amount: int) -> CostedLine:
    fixed_net = charge.fixed_amount.net if charge.fixed_amount else None
    return CostedLine(line.tax_rate_id or _NO_TAX.id, amount, line.cost is not None, fixed_net)


def max_amount(currency: str) -> int:
    """Return the largest amount that can be billed, in minor units."""
    return int(_MAX_AMOUNT * 10 ** CURRENCIES[currency])


def _check_amounts(
    lines: Sequence[Line], line_amounts: Sequence[Mapping[str, int]], sums: Sequence[int], currency: str
) -> None:
    limit = max_amount(currency)
    most = Amount(amount_text(limit, currency), currency)
    faults = [
        Fault(f"lines.{index}", Message("is more than the largest possible amount, {most}", most=most))
        for index, line in enumerate(lines)
        if any(abs(amounts.get(line.id, 0)) > limit for amounts in line_amounts)
    ]
    if faults or max(map(abs, sums)) > limit:
        message = Message("add up to more than the largest possible amount, {most}", most=most)
        raise Invalid(faults or [Fault("lines", message)])


def _line_to_json(line: Line, amount: str) -> dict[str, Any]:
    values = {name: getattr(line, name) for name in Line.__slots__} | {"amount": amount}
    values |= {name: price_text(values[name]) for name in _DECIMALS if values[name] is not None}
    return {json_name: values[name] for name, json_name in _JSON_NAMES.items()}


def _tax_to_json(group: RateTotal, rates: Mapping[str, TaxRate], currency: str) -> dict[str, Any]:
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


def choose_optional_lines(lines: Sequence[Line], chosen: Sequence[str]) -> list[Line]:
    """Return the lines with exactly these optional lines chosen."""
    unknown = [line_id for line_id in chosen if line_id not in {line.id for line in lines if line.optional}]
    if unknown:
        raise Invalid(
            [Fault("chosen", Message("includes {line_id}, which is not an optional line", line_id=unknown[0]))]
        )
    return [replace(line, chosen=line.id in chosen) if line.optional else line for line in lines]
