"""Where the price list is kept."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import orjson

from mainstay.business.organisation.house import house_of
from mainstay.business.pricelist.model import Part, PriceItem, Supplier, TaxRate, is_priceable
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.terms.keeping import stored
from mainstay.terms.listed import NEWEST, FoundBy, ListOrder
from mainstay.values.money import UNIT
from mainstay.values.search import kept_words, words_of_address, words_of_phone, words_of_text
from mainstay.values.words import folded

# The chore that lets what bears the name of a supplier be found by it again.
RENAMED = "reword_records_of_supplier"


def _named(values: dict[str, Any]) -> dict[str, Any]:
    return values | ({"name_folded": folded(values["name"])} if "name" in values else {})


_ORDERS = {NEWEST: ListOrder("id", descending=True), "name": ListOrder("name_folded")}

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
    orders=_ORDERS,
    found_by=(FoundBy(("name", "email", "phone", "account_number"), _words_of_supplier),),
    derived=_named,
)


def _words_of_item(code: str | None, name: str, description: str | None) -> frozenset[str]:
    joined = (code or "").replace("-", "").replace(" ", "")
    return kept_words(words_of_text(f"{code or ''} {joined} {name} {description or ''}"))


def _of_parts(price: str) -> str:
    """What the parts of a kit come to; null where that of one is not known.

    Whole units and what is left of them are multiplied apart, so that no product leaves the range of a database: the
    sum never does, `find_dear_kit` sees to it.
    """
    left, quantity = f"part.{price} % {UNIT}", f"kit_part.quantity % {UNIT}"
    amount = (
        f"part.{price} * (kit_part.quantity / {UNIT}) + (part.{price} / {UNIT}) * ({quantity})"
        f" + (({left}) * ({quantity}) + {UNIT // 2}) / {UNIT}"
    )
    return (
        f"(SELECT CASE WHEN count(*) = count(part.{price}) THEN CAST(sum({amount}) AS bigint) END FROM kit_part"
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
        "from_parts": "CASE WHEN price_item.components = '[]' THEN '[]' ELSE '['"
        """ || CASE WHEN price_item.sell_price IS NULL THEN '"sellPrice"' ELSE '' END"""
        " || CASE WHEN coalesce(price_item.sell_price, price_item.cost_price) IS NULL THEN ',' ELSE '' END"
        """ || CASE WHEN price_item.cost_price IS NULL THEN '"costPrice"' ELSE '' END || ']' END""",
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
    orders=_ORDERS,
    found_by=(FoundBy(("code", "name", "description"), _words_of_item),),
    derived=_named,
)


def keep_parts(ctx: Context, kit: str, parts: Iterable[Part]) -> None:
    """Note the parts of a kit, instead of those it had."""
    ctx.rows.run("DELETE FROM kit_part WHERE organisation_id = :organisation AND kit_id = :kit", kit=kit)
    for part in parts:
        ctx.rows.run(
            "INSERT INTO kit_part (organisation_id, kit_id, item_id, quantity)"
            " VALUES (:organisation, :kit, :item, :quantity)",
            kit=kit,
            item=part.item.id,
            quantity=part.quantity,
        )


_HAS_PART = (
    "price_item.id IN (SELECT kit_part.kit_id FROM kit_part WHERE kit_part.organisation_id = :organisation"
    " AND kit_part.item_id = :item)"
)


def find_kit_with(ctx: Context, item: str, *, in_use: bool) -> PriceItem | None:
    """A kit that an item is part of; perhaps only one in use."""
    active = " AND price_item.status = 'active'" if in_use else ""
    return ITEMS.find(ctx, f"{_HAS_PART}{active}", item=item)


def find_dear_kit(ctx: Context, item: str) -> tuple[str, str] | None:
    """The id and the name of a kit with this item in it whose parts come to more than a price can be."""
    found = ctx.rows.all(
        "SELECT kit.id, kit.name, kit_part.quantity, part.sell_price, part.cost_price FROM kit_part AS named"
        " JOIN kit_part ON kit_part.organisation_id = named.organisation_id AND kit_part.kit_id = named.kit_id"
        " JOIN price_item AS part ON part.organisation_id = named.organisation_id AND part.id = kit_part.item_id"
        " JOIN price_item AS kit ON kit.organisation_id = named.organisation_id AND kit.id = named.kit_id"
        " WHERE named.organisation_id = :organisation AND named.item_id = :item ORDER BY kit.id",
        item=item,
    )
    for (kit, name), kept in groupby(found, key=lambda row: row[:2]):
        parts = list(kept)
        if not all(is_priceable((int(row[price] or 0), int(row[2] or 0)) for row in parts) for price in (3, 4)):
            return str(kit), str(name)
    return None


def rename_in_kits(ctx: Context, item: PriceItem) -> None:
    """Let the kits that an item is part of call it as it is called now."""
    kits = ctx.rows.all(
        f"SELECT id, components FROM price_item WHERE organisation_id = :organisation AND {_HAS_PART}", item=item.id
    )
    for kit, components in kits:
        parts = [
            part | ({"name": item.name} if part["itemId"] == item.id else {}) for part in orjson.loads(str(components))
        ]
        ctx.rows.run(
            "UPDATE price_item SET components = :parts WHERE organisation_id = :organisation AND id = :kit",
            kit=kit,
            parts=stored(parts),
        )
        ctx.pen.mark_written(ITEMS.table, str(kit))


def make_usual(ctx: Context, rate: str | None) -> None:
    """Take this rate where nothing else is said, and no longer the one that was taken until now."""
    former = house_of(ctx).default_tax_rate_id
    ctx.rows.run("UPDATE organisation SET default_tax_rate_id = :rate WHERE id = :organisation", rate=rate)
    ctx.pen.touch(ctx.actor.organisation)
    ctx.pen.mark_written("organisation", ctx.actor.organisation)
    for one in filter(None, (former, rate)):
        # What the same act has made is all new.
        if one not in ctx.pen.touched or one in ctx.pen.changed:
            ctx.pen.restamp(TAX_RATES.table, one, ["isDefault"])
