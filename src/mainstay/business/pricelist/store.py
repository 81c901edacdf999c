"""Where the price list is kept."""

from collections.abc import Iterable
from typing import Any

from mainstay.business.pricelist.model import KitPart, PriceItem, Supplier, TaxRate
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.terms.listed import FoundBy
from mainstay.values.money import UNIT
from mainstay.values.search import kept_words, words_of_address, words_of_phone, words_of_text

TAX_RATES = Listing(
    TaxRate,
    source="tax_rate",
    what="tax rate",
    prefix="tax",
    id_field="tax_rate_id",
    columns={
        "is_default": "CASE WHEN tax_rate.id = (SELECT organisation.default_tax_rate_id FROM organisation"
        " WHERE organisation.id = :organisation) THEN 1 ELSE 0 END"
    },
    facts={"used": "tax_rate.used"},
    filters={"status": "tax_rate.status = :status"},
    otherwise={"status": "tax_rate.status = 'active'"},
)


def _words_of_supplier(name: str, email: str | None, phone: str | None, account: str | None) -> frozenset[str]:
    return kept_words(words_of_text(f"{name} {account or ''}"), words_of_address(email), words_of_phone(phone))


SUPPLIERS = Listing(
    Supplier,
    source="supplier",
    what="supplier",
    prefix="supplier",
    id_field="supplier_id",
    filters={"status": "supplier.status = :status"},
    otherwise={"status": "supplier.status = 'active'"},
    found_by=(FoundBy(("name", "email", "phone", "account_number"), _words_of_supplier),),
)


def _words_of_item(code: str | None, name: str, description: str | None) -> frozenset[str]:
    joined = (code or "").replace("-", "").replace(" ", "")
    return kept_words(words_of_text(f"{code or ''} {joined} {name} {description or ''}"))


def _of_parts(price: str) -> str:
    """What the parts of a kit cost together."""
    return (
        f"(SELECT CAST(sum((part.{price} * kit_part.quantity + {UNIT // 2}) / {UNIT}) AS bigint) FROM kit_part"
        " JOIN price_item AS part ON part.organisation_id = kit_part.organisation_id AND part.id = kit_part.item_id"
        " WHERE kit_part.organisation_id = :organisation AND kit_part.kit_id = price_item.id)"
    )


ITEMS = Listing(
    PriceItem,
    source="price_item",
    what="item of the price list",
    prefix="item",
    id_field="item_id",
    columns={
        "sell_price": f"coalesce(price_item.sell_price, {_of_parts('sell_price')})",
        "cost_price": f"coalesce(price_item.cost_price, {_of_parts('cost_price')})",
        "tax_rate_name": "(SELECT tax_rate.name FROM tax_rate WHERE tax_rate.organisation_id = :organisation"
        " AND tax_rate.id = price_item.tax_rate_id)",
        "supplier_name": "(SELECT supplier.name FROM supplier WHERE supplier.organisation_id = :organisation"
        " AND supplier.id = price_item.supplier_id)",
    },
    number="code",
    filters={
        "status": "price_item.status = :status",
        "kind": "price_item.kind = :kind",
        "supplier_id": "price_item.supplier_id = :supplier_id",
    },
    otherwise={"status": "price_item.status = 'active'"},
    found_by=(FoundBy(("code", "name", "description"), _words_of_item),),
)


def keep_parts(ctx: Context, kit: str, parts: Iterable[KitPart]) -> None:
    """Note the parts of a kit, instead of those it had."""
    ctx.rows.run("DELETE FROM kit_part WHERE organisation_id = :organisation AND kit_id = :kit", kit=kit)
    for part in parts:
        ctx.rows.run(
            "INSERT INTO kit_part (organisation_id, kit_id, item_id, quantity)"
            " VALUES (:organisation, :kit, :item, :quantity)",
            kit=kit,
            item=part.item_id,
            quantity=part.quantity,
        )


def find_kit_with(ctx: Context, item: str) -> PriceItem | None:
    """A kit in use that an item is part of."""
    return ITEMS.find(
        ctx,
        "price_item.status = 'active' AND EXISTS (SELECT 1 FROM kit_part WHERE kit_part.organisation_id = :organisation"
        " AND kit_part.item_id = :item AND kit_part.kit_id = price_item.id)",
        item=item,
    )


def make_usual(ctx: Context, rate: str | None) -> None:
    """Take this rate where nothing else is said."""
    ctx.rows.run("UPDATE organisation SET default_tax_rate_id = :rate WHERE id = :organisation", rate=rate)
    ctx.pen.touch(ctx.actor.organisation)


def columns_of(values: dict[str, Any]) -> dict[str, Any]:
    """Parts within a record as they are kept."""
    if (parts := values.get("components")) is not None:
        values["components"] = [part.kept for part in parts]
    return values
