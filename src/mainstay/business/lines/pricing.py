"""Lines out of the price list and its taxes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic.alias_generators import to_camel

from mainstay.business.lines.model import Line, Terms, draw_up
from mainstay.business.organisation.house import house_of
from mainstay.business.pricelist.model import PriceItem, TaxRate
from mainstay.business.pricelist.store import ITEMS, TAX_RATES
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Fault, Invalid, NotFound
from mainstay.values.ids import new_id
from mainstay.values.once import once_each
from mainstay.values.totals import with_tax, without_tax


@dataclass(frozen=True)
class PriceBook:
    """Makes lines of what was sent, filled in from the price list."""

    ctx: Context
    # Whether the prices of the document are with tax.
    inclusive: bool

    def line(self, sent: dict[str, Any], at: str) -> Line:
        """A new line of what was sent, at this place of the input."""
        kind = sent.get("kind") or "item"
        if kind != "item":
            sent = {"kind": kind} | ({"description": sent["description"]} if "description" in sent else {})
        elif item := self._item(sent.get("item_id"), at):
            rate = sent.get("tax_rate_id", item.tax_rate_id or self.usual_rate)
            sent = self.of_item(item, rate) | sent | {"item_id": item.id}
        elif "tax_rate_id" not in sent:
            sent = sent | {"tax_rate_id": self.usual_rate}
        needed = ("description", "unit_price") if kind == "item" else ("description",)
        why = "is required" if sent.get("item_id") or kind != "item" else "is required without itemId"
        faults = [Fault(f"{at}.{to_camel(name)}", why) for name in needed if sent.get(name) is None]
        if faults:
            raise Invalid(faults)
        self.check(sent, at)
        # What one may choose is not chosen until someone does.
        return Line(new_id("line"), **sent | {"chosen": not sent.get("optional")})

    def check(self, sent: dict[str, Any], at: str) -> None:
        """Refuse a rate of tax that there is not, or no more."""
        name = sent.get("tax_rate_id")
        if name is None:
            return
        rate = _rate(self.ctx, name)
        if rate is None or rate.status == "archived":
            problem = "is archived" if rate else "is no tax rate"
            raise Invalid([Fault(f"{at}.taxRateId", f"{problem}; list_tax_rates tells them")])

    @property
    def usual_rate(self) -> str | None:
        """The rate that is taken where nothing else is said."""
        return house_of(self.ctx).default_tax_rate_id

    def of_item(self, item: PriceItem, rate: str | None) -> dict[str, Any]:
        """What an item says of a line that is taxed at a rate, where the line itself says nothing else."""
        return {
            "description": "\n".join(filter(None, (item.name, item.description))),
            "unit": item.unit,
            "unit_price": None if item.sell_price is None else self.as_told_here(item.sell_price, rate),
            "cost": item.cost_price,
            "tax_rate_id": rate,
        }

    def as_told_here(self, price: int, rate: str | None) -> int:
        """What the organisation has a price for, taxed at a rate, as the document tells it: with tax or before it."""
        if house_of(self.ctx).prices_include_tax == self.inclusive:
            return price
        taxed = _rate(self.ctx, rate) if rate else None
        if taxed is None:
            return price
        return with_tax(price, taxed.percent) if self.inclusive else without_tax(price, taxed.percent)

    def _item(self, name: str | None, at: str) -> PriceItem | None:
        if name is None:
            return None
        try:
            item: PriceItem = ITEMS.fetch(self.ctx, name)
        except NotFound:
            told = "is no item of the price list; list_price_items tells them"
            raise Invalid([Fault(f"{at}.itemId", told)]) from None
        if item.status == "archived":
            raise Invalid([Fault(f"{at}.itemId", "is archived; list_price_items tells those in use")])
        return item


def rates_of(ctx: Context, lines: Iterable[Line]) -> dict[str, TaxRate]:
    """The rates that these lines name, archived or not."""
    named = dict.fromkeys(line.tax_rate_id for line in lines if line.tax_rate_id)
    return {name: _rate(ctx, name) or TAX_RATES.fetch(ctx, name) for name in named}


def drawn(ctx: Context, lines: list[Line], terms: Terms) -> dict[str, Any]:
    """The columns that follow from lines, whose rates of tax then stay as they are."""
    rates = rates_of(ctx, lines)
    mark_used(ctx, rates.values())
    drawn_up = draw_up(lines, rates, terms)
    return drawn_up.columns | drawn_up.known._asdict()


def mark_used(ctx: Context, rates: Iterable[TaxRate]) -> None:
    """Let the percentages of these rates stay what they are: a document names them."""
    for rate in rates:
        if not rate.used:
            ctx.rows.run("UPDATE tax_rate SET used = 1 WHERE organisation_id = :organisation AND id = :id", id=rate.id)
            ctx.pen.mark_written(TAX_RATES.table, rate.id)
            _rates_read(ctx).pop(rate.id, None)


def _rate(ctx: Context, name: str) -> TaxRate | None:
    """A rate of tax, if there is such; read once for each act: a document has many lines and few rates."""
    read = _rates_read(ctx)
    if name not in read:
        read[name] = TAX_RATES.find(ctx, "tax_rate.id = :id", id=name)
    return read[name]


@once_each
def _rates_read(_ctx: Context) -> dict[str, TaxRate | None]:
    return {}
