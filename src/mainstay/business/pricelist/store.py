"""Storage of tax rates, suppliers and price list items."""

from collections.abc import Iterable
from itertools import groupby
from typing import Annotated

import orjson
from pydantic import Field

from mainstay.business.customers.store import add_folded_name
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.organisation.store import set_default_tax_rate
from mainstay.business.pricelist.model import KitItem, PriceItem, Supplier, TaxRate, has_valid_total
from mainstay.kernel.context import Context, SavedRecord
from mainstay.kernel.kind import Kind
from mainstay.kernel.record_store import select_related
from mainstay.values.descriptions import describe
from mainstay.values.money import UNIT
from mainstay.values.search_words import combine_words, words_of_address, words_of_phone, words_of_text
from mainstay.vocabulary.list_queries import NEWEST, ListOrder, SearchFields
from mainstay.vocabulary.rows import to_stored

# The kind of the task that refreshes the search words of records that contain a supplier's name.
REFRESH_SUPPLIER_SEARCH = "reword_records_of_supplier"


_ORDERS = {NEWEST: ListOrder("id", descending=True), "name": ListOrder("name_folded")}

TAX_RATES = Kind(
    TaxRate,
    source="tax_rate",
    id_type=Annotated[str, Field(description=describe("[[The rate's ID.]]"))],
    heading="Taxes",
    area="Settings",
    prefix="tax",
    columns={
        "is_default": "CASE WHEN tax_rate.id = (SELECT organisation.default_tax_rate_id FROM organisation"
        " WHERE organisation.id = :organisation) THEN 1 ELSE 0 END"
    },
    equal_filters=("status",),
    default_conditions={"status": "tax_rate.status = 'active'"},
)


def _words_of_supplier(name: str, email: str | None, phone: str | None, account_id: str | None) -> frozenset[str]:
    return combine_words(words_of_text(f"{name} {account_id or ''}"), words_of_address(email), words_of_phone(phone))


SUPPLIERS = Kind(
    Supplier,
    source="supplier",
    area="Purchasing",
    equal_filters=("status",),
    default_conditions={"status": "supplier.status = 'active'"},
    orders=_ORDERS,
    search_fields=(SearchFields(("name", "email", "phone", "account_number"), _words_of_supplier),),
    derive_columns=add_folded_name,
)


def _words_of_item(code: str | None, name: str, description: str | None) -> frozenset[str]:
    joined = (code or "").replace("-", "").replace(" ", "")
    return combine_words(words_of_text(f"{code or ''} {joined} {name} {description or ''}"))


def _parts_price_sql(price: str) -> str:
    """Return SQL for the sum of the prices of a kit's parts, which is NULL if the price of a part is unknown.

    Whole units and remainders are multiplied separately, so that no product exceeds the range of the database. The sum
    never does, because `find_overpriced_kit` prevents it.
    """
    part_remainder, quantity_remainder = f"part.{price} % {UNIT}", f"kit_part.quantity % {UNIT}"
    amount = (
        f"part.{price} * (kit_part.quantity / {UNIT}) + (part.{price} / {UNIT}) * ({quantity_remainder})"
        f" + (({part_remainder}) * ({quantity_remainder}) + {UNIT // 2}) / {UNIT}"
    )
    return (
        f"(SELECT CASE WHEN count(*) = count(part.{price}) THEN CAST(sum({amount}) AS bigint) END FROM kit_part"
        " JOIN price_item AS part ON part.organisation_id = kit_part.organisation_id AND part.id = kit_part.item_id"
        " WHERE kit_part.organisation_id = :organisation AND kit_part.kit_id = price_item.id)"
    )


ITEMS = Kind(
    PriceItem,
    source="price_item",
    id_type=Annotated[str, Field(description=describe("[[The item's ID or code.]]"))],
    label="price list item",
    plural="price items",
    own_noun="price item",
    heading="Price list",
    area="Price list",
    prefix="item",
    id_field="item_id",
    columns={
        "sell_price": f"coalesce(price_item.sell_price, {_parts_price_sql('sell_price')})",
        "cost_price": f"coalesce(price_item.cost_price, {_parts_price_sql('cost_price')})",
        "from_parts": "CASE WHEN price_item.components = '[]' THEN '[]' ELSE '['"
        """ || CASE WHEN price_item.sell_price IS NULL THEN '"sellPrice"' ELSE '' END"""
        " || CASE WHEN coalesce(price_item.sell_price, price_item.cost_price) IS NULL THEN ',' ELSE '' END"
        """ || CASE WHEN price_item.cost_price IS NULL THEN '"costPrice"' ELSE '' END || ']' END""",
        "tax_rate_name": select_related("tax_rate.name", "price_item.tax_rate_id"),
        "supplier_name": select_related("supplier.name", "price_item.supplier_id"),
    },
    number_column="code",
    equal_filters=("status", "kind", "supplier_id"),
    default_conditions={"status": "price_item.status = 'active'"},
    orders=_ORDERS,
    search_fields=(SearchFields(("code", "name", "description"), _words_of_item),),
    derive_columns=add_folded_name,
)


def save_kit_parts(ctx: Context, kit: str, parts: Iterable[KitItem]) -> None:
    """Replace the stored parts of a kit."""
    ctx.db.run("DELETE FROM kit_part WHERE organisation_id = :organisation AND kit_id = :kit", kit=kit)
    for part in parts:
        ctx.db.run(
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


def find_kit_containing(ctx: Context, item_id: str, *, in_use: bool) -> PriceItem | None:
    """Return a kit that contains an item; with `in_use`, an active one."""
    active = " AND price_item.status = 'active'" if in_use else ""
    return ITEMS.find(ctx, f"{_HAS_PART}{active}", item=item_id)


def find_overpriced_kit(ctx: Context, item_id: str) -> tuple[str, str] | None:
    """Return the id and name of a kit that contains this item and costs more than the largest price."""
    part_rows = ctx.db.all(
        "SELECT kit.id, kit.name, kit_part.quantity, part.sell_price, part.cost_price FROM kit_part AS named"
        " JOIN kit_part ON kit_part.organisation_id = named.organisation_id AND kit_part.kit_id = named.kit_id"
        " JOIN price_item AS part ON part.organisation_id = named.organisation_id AND part.id = kit_part.item_id"
        " JOIN price_item AS kit ON kit.organisation_id = named.organisation_id AND kit.id = named.kit_id"
        " WHERE named.organisation_id = :organisation AND named.item_id = :item ORDER BY kit.id",
        item=item_id,
    )
    for (kit, name), rows in groupby(part_rows, key=lambda row: row[:2]):
        parts = list(rows)
        if not all(has_valid_total((int(row[price] or 0), int(row[2] or 0)) for row in parts) for price in (3, 4)):
            return str(kit), str(name)
    return None


def rename_in_kits(ctx: Context, item: PriceItem) -> None:
    """Write an item's current name into the kits that contain it."""
    kits = ctx.db.all(
        f"SELECT id, components FROM price_item WHERE organisation_id = :organisation AND {_HAS_PART}", item=item.id
    )
    for kit, components in kits:
        parts = [
            part | ({"name": item.name} if part["itemId"] == item.id else {}) for part in orjson.loads(str(components))
        ]
        ctx.db.run(
            "UPDATE price_item SET components = :parts WHERE organisation_id = :organisation AND id = :kit",
            kit=kit,
            parts=to_stored(parts),
        )
        ctx.writer.mark_written(ITEMS.table, str(kit))


def set_usual_rate(ctx: Context, rate: str | None) -> None:
    """Make a tax rate the usual one, instead of the former one; None for no usual rate."""
    former_id = settings_of(ctx).default_tax_rate_id
    former = TAX_RATES.fetch(ctx, former_id) if former_id and rate else None
    set_default_tax_rate(ctx, rate)
    for rate_id in filter(None, (former_id, rate)):
        # A rate that this operation created needs no new version.
        if rate_id not in ctx.writer.touched or rate_id in ctx.writer.changed_fields:
            ctx.writer.bump_version(TAX_RATES.table, rate_id, ["isDefault"])
    if former:
        ctx.saved.append(SavedRecord(former, TAX_RATES.fetch(ctx, former.id)))


def mark_rate_used(ctx: Context, rate: TaxRate) -> None:
    """Mark a tax rate as used by a document, so that its percentages can no longer change."""
    ctx.db.run("UPDATE tax_rate SET used = 1 WHERE organisation_id = :organisation AND id = :id", id=rate.id)
    ctx.writer.mark_written(TAX_RATES.table, rate.id)
