"""Creates lines from the price list and computes the columns of documents with the organisation's tax rates."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic.alias_generators import to_camel

from mainstay.business.lines.model import Line, PricingTerms, price_document
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.pricelist.model import PriceItem, TaxRate
from mainstay.business.pricelist.store import ITEMS, TAX_RATES, mark_rate_used
from mainstay.kernel.context import Context
from mainstay.values.ids import new_id
from mainstay.values.memo import cached_on_owner
from mainstay.values.message import FieldName, Message
from mainstay.values.totals import add_tax, remove_tax
from mainstay.vocabulary.refusal import Fault, Invalid, NotFound
from mainstay.vocabulary.validation import REQUIRED


@dataclass(frozen=True)
class PriceBook:
    """Creates lines from the fields that were sent and fills in the rest from the price list."""

    ctx: Context
    # Whether the prices of the document include tax.
    inclusive: bool

    @property
    def restores_lines(self) -> bool:
        """Whether lines that were removed are added again, each with the id that it had."""
        return self.ctx.is_undoing

    def make_line(self, fields: dict[str, Any], path: str) -> Line:
        """Create a line from the fields that were sent; `path` locates it in the input."""
        kind = fields.get("kind") or "item"
        if kind != "item":
            fields = {name: fields[name] for name in ("id", "description") if name in fields} | {"kind": kind}
        elif item := self._find_item(fields.get("item_id"), path):
            rate = fields.get("tax_rate_id", item.tax_rate_id or self.usual_rate_id)
            fields = self.fields_of_item(item, rate) | fields | {"item_id": item.id}
        elif "tax_rate_id" not in fields:
            fields = fields | {"tax_rate_id": self.usual_rate_id}
        needed = ("description", "unit_price") if kind == "item" else ("description",)
        message = (
            Message(REQUIRED)
            if fields.get("item_id") or kind != "item"
            else Message("is required without {item}", item=FieldName("itemId"))
        )
        faults = [Fault(f"{path}.{to_camel(name)}", message) for name in needed if fields.get(name) is None]
        if faults:
            raise Invalid(faults)
        self.check_fields(fields, path)
        # An optional line is not chosen until the customer chooses it.
        return Line(**{"id": new_id("line")} | fields | {"chosen": not fields.get("optional")})

    def check_fields(self, fields: dict[str, Any], path: str) -> None:
        """Refuse a tax rate that is unknown or archived."""
        name = fields.get("tax_rate_id")
        if name is None:
            return
        rate = _find_rate(self.ctx, name)
        if rate is None or rate.status == "archived":
            hint = Message("list_tax_rates lists them")
            message = (
                Message("is archived", for_programs=hint) if rate else Message("is not a tax rate", for_programs=hint)
            )
            raise Invalid([Fault(f"{path}.taxRateId", message)])

    @property
    def usual_rate_id(self) -> str | None:
        """The id of the organisation's default tax rate."""
        return settings_of(self.ctx).default_tax_rate_id

    def fields_of_item(self, item: PriceItem, rate: str | None) -> dict[str, Any]:
        """Return the fields that a line takes from an item if they were not sent."""
        return {
            "description": "\n".join(filter(None, (item.name, item.description))),
            "unit": item.unit,
            "unit_price": None if item.sell_price is None else self.convert_price(item.sell_price, rate),
            "cost": item.cost_price,
            "tax_rate_id": rate,
        }

    def convert_price(self, price: int, rate: str | None) -> int:
        """Convert an organisation's price to the document's way of pricing: with the tax of a rate, or before it."""
        if settings_of(self.ctx).prices_include_tax == self.inclusive:
            return price
        tax_rate = _find_rate(self.ctx, rate) if rate else None
        if tax_rate is None:
            return price
        return add_tax(price, tax_rate.percent) if self.inclusive else remove_tax(price, tax_rate.percent)

    def _find_item(self, name: str | None, path: str) -> PriceItem | None:
        if name is None:
            return None
        try:
            item: PriceItem = ITEMS.fetch(self.ctx, name)
        except NotFound:
            message = Message("is not on the price list", for_programs=Message("list_price_items lists the items"))
            raise Invalid([Fault(f"{path}.itemId", message)]) from None
        if item.status == "archived":
            message = Message("is archived", for_programs=Message("list_price_items lists the items in use"))
            raise Invalid([Fault(f"{path}.itemId", message)])
        return item


def rates_of(ctx: Context, lines: Iterable[Line]) -> dict[str, TaxRate]:
    """Fetch the tax rates of these lines, archived or not, by id."""
    rate_ids = dict.fromkeys(line.tax_rate_id for line in lines if line.tax_rate_id)
    return {name: _find_rate(ctx, name) or TAX_RATES.fetch(ctx, name) for name in rate_ids}


def compute_sales_columns(ctx: Context, lines: list[Line], terms: PricingTerms) -> dict[str, Any]:
    """Compute the columns of a document from its lines, and mark their tax rates as used."""
    rates = rates_of(ctx, lines)
    mark_rates_used(ctx, rates.values())
    priced = price_document(lines, rates, terms)
    return priced.columns | priced.known_costs._asdict()


def mark_rates_used(ctx: Context, rates: Iterable[TaxRate]) -> None:
    """Mark tax rates as used by a document, so that their percentages can no longer change."""
    for rate in rates:
        if not rate.used:
            mark_rate_used(ctx, rate)
            _rate_cache(ctx).pop(rate.id, None)


def _find_rate(ctx: Context, name: str) -> TaxRate | None:
    """Find a tax rate. It is read once for each request, because a document has many lines and few rates."""
    cache = _rate_cache(ctx)
    if name not in cache:
        cache[name] = TAX_RATES.find(ctx, "tax_rate.id = :id", id=name)
    return cache[name]


@cached_on_owner
def _rate_cache(_ctx: Context) -> dict[str, TaxRate | None]:
    return {}
