"""Lines out of the price list and its taxes."""

from collections.abc import Callable, Iterable
from typing import Any

from mainstay.business.lines.edits import LineFields
from mainstay.business.lines.model import Line
from mainstay.business.pricelist.model import PriceItem, TaxRate
from mainstay.business.pricelist.store import ITEMS, TAX_RATES
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Fault, Invalid, NotFound
from mainstay.values.ids import new_id


def maker(ctx: Context) -> Callable[[LineFields, str], Line]:
    """What makes a line of what was sent, at this place of the input: filled in from the price list."""
    usual = usual_rate(ctx)

    def make(given: LineFields, at: str) -> Line:
        sent = given.sent
        item = _item(ctx, given, at)
        if item:
            sent = _of_item(item, usual) | sent | {"item_id": item.id}
        kind = sent.get("kind") or "item"
        if kind != "item":
            sent = {"description": sent.get("description")} | {"kind": kind}
        elif "tax_rate_id" not in sent:
            sent["tax_rate_id"] = usual
        needed = ("description", "unit_price") if kind == "item" else ("description",)
        faults = [Fault(f"{at}.{name}", "is required without itemId") for name in needed if sent.get(name) is None]
        if faults:
            raise Invalid(faults)
        return Line(
            new_id("line"), **{name: value for name, value in sent.items() if value is not None or name in _NULLS}
        )

    return make


_NULLS = {"unit", "tax_rate_id", "cost", "item_id"}


def usual_rate(ctx: Context) -> str | None:
    """The rate that is taken where nothing else is said."""
    row = ctx.rows.one("SELECT default_tax_rate_id FROM organisation WHERE id = :organisation")
    return str(row[0]) if row and row[0] else None


def rates_of(ctx: Context, lines: Iterable[Line]) -> dict[str, TaxRate]:
    """The rates that these lines name."""
    rates = {}
    for place, line in enumerate(lines):
        name = line.tax_rate_id
        if name and name not in rates:
            try:
                rates[name] = TAX_RATES.fetch(ctx, name)
            except NotFound:
                raise Invalid(
                    [Fault(f"lines.{place}.taxRateId", "is no tax rate; list_tax_rates tells them")]
                ) from None
    return rates


def mark_used(ctx: Context, rates: Iterable[TaxRate]) -> None:
    """Let the percentages of these rates stay what they are: a document names them."""
    for rate in rates:
        if not rate.used:
            ctx.rows.run("UPDATE tax_rate SET used = 1 WHERE organisation_id = :organisation AND id = :id", id=rate.id)


def _item(ctx: Context, given: LineFields, at: str) -> PriceItem | None:
    if not given.item_id:
        return None
    try:
        return ITEMS.fetch(ctx, given.item_id)
    except NotFound:
        raise Invalid([Fault(f"{at}.itemId", "is no item of the price list; list_price_items tells them")]) from None


def _of_item(item: PriceItem, usual: str | None) -> dict[str, Any]:
    return {
        "description": "\n".join(filter(None, (item.name, item.description))),
        "unit": item.unit,
        "unit_price": item.sell_price,
        "cost": item.cost_price,
        "tax_rate_id": item.tax_rate_id or usual,
    }
