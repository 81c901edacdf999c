"""Operations on the items of the price list."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from mainstay.business.customers.store import check_external_ref
from mainstay.business.pricelist.model import (
    ItemKind,
    KitItem,
    KitPart,
    PriceItem,
    find_part_faults,
    has_valid_total,
)
from mainstay.business.pricelist.store import (
    ITEMS,
    SUPPLIERS,
    TAX_RATES,
    find_kit_containing,
    find_overpriced_kit,
    rename_in_kits,
    save_kit_parts,
)
from mainstay.business.records.model import ArchivableStatus
from mainstay.changes.undo import Inverse
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import Act, restore_values, restore_values_or_archive
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get, declare_list
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    DefaultValue,
    ExternalRef,
    Paragraph,
    Price,
    TextLine,
    make_id_validator,
    omittable_field,
)
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, NotFound, Reason, raise_if_blocked
from mainstay.vocabulary.schemas import Input
from mainstay.vocabulary.toolsets import Toolset

_MAX_PARTS = 50


class SavePriceItem(Input):
    """A new item or, with its id, the changes; null clears a field."""

    item_id: str | None = Field(None, description=describe("[[To edit an item: its ID or code.]]"))
    code: TextLine | None = Field(None, description="A short unique name, e.g. BLR-24.")
    name: TextLine = omittable_field(description=describe("E.g. Combi boiler. [[Required for a new item.]]"))
    description: Paragraph | None = Field(None, description="Printed below the name on quotes and invoices.")
    kind: Annotated[ItemKind, DefaultValue("material")] = omittable_field(
        description=describe("[[`labour`, `material`, `service` or `fee`.]]")
    )
    unit: TextLine | None = Field(None, description="E.g. each, h or m.")
    sell_price: Price | None = Field(
        None, title="Price", description="Per unit. Leave empty to price a kit at the total of its parts."
    )
    cost_price: Price | None = Field(None, title="Cost", description="What one unit costs you.")
    tax_rate_id: Annotated[str | None, make_id_validator("tax", "a tax rate")] = Field(
        None, title="Tax", description="Leave empty for your usual rate."
    )
    supplier_id: Annotated[str | None, make_id_validator("supplier")] = Field(
        None, title="Supplier", description="Who you buy it from."
    )
    components: list[KitPart] = omittable_field(
        title="Parts",
        max_length=_MAX_PARTS,
        description="Makes this a kit of other items.",
        examples=[[{"itemId": "BLR-24", "quantity": "2"}]],
    )
    status: Annotated[ArchivableStatus, DefaultValue("active")] = omittable_field(
        description=describe("[[`archived` hides it from lists.]]")
    )
    external_ref: ExternalRef = None


list_price_items = declare_list(
    ITEMS,
    "List price list items. Labour, materials, services, fees and kits, with their prices. Members see prices only"
    " if the settings allow it.",
    Permission.PRICE_LIST_READ,
    {
        "status": "Only items with this status. Default: active.",
        "kind": "Only items of this type.",
        "supplier_id": "Only items from this supplier.",
        "text": "Words in the code, name or description.",
        "order": "[[`newest` first, or by `name`.]]",
    },
    api_path="GET /price-items",
)


get_price_item = declare_get(
    ITEMS,
    "Get price list item. With its price and cost, and the parts of a kit.",
    Permission.PRICE_LIST_READ,
    api_path="GET /price-items/{item_id}",
    extra_toolset=Toolset.SINGLE_RECORDS,
)


def _restore_item(act: Act) -> Sequence[Inverse]:
    """Restore the previous values. Prices that came from the parts of a kit come from them again."""
    if act.before is None:
        return restore_values_or_archive(act)
    item: PriceItem = act.before
    inverses = restore_values(act)
    for inverse in inverses:
        values = dict(inverse.input)
        if "components" in values:
            values["components"] = [
                {"itemId": part["itemId"], "quantity": part["quantity"]} for part in values["components"]
            ]
        values |= {name: None for name in item.from_parts if name in values}
        return [inverse._replace(input=values)]
    return []


@operation(
    permission=Permission.PRICE_LIST_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /price-items",
    on=ITEMS,
    creates_without_id=True,
    undone_by=_restore_item,
    past_text="Price list item saved",
)
def save_price_item(ctx: Context, given: SavePriceItem, item: PriceItem | None) -> PriceItem:
    """Save price list item.

    [[Adds an item, or with itemId edits one: only fields you send change.]] Documents already sent don't change.
    """
    if item is None:
        given.require("name")
    code = given.code.upper() if given.code else None
    _check_code(ctx, code, item)
    check_external_ref(ctx, ITEMS, given.external_ref, item)
    _check_not_archived(ctx, given, item)
    parts = _fetch_parts(ctx, given, item)
    _check_price(given, item, parts)
    values = given.sent_fields("item_id", "components") | ({"code": code} if code else {})
    if given.components is not None:
        values["components"] = [part.stored_json for part in parts]
    if item is None:
        defaults: dict[str, Any] = {"kind": "material", "status": "active", "components": []}
        updated = ITEMS.insert(ctx, defaults | values)
    else:
        _check_not_in_kits(ctx, given, item)
        updated = ITEMS.save(ctx, item, values)
        _update_kits(ctx, item, updated)
    if given.components is None or not (parts or (item and item.is_kit)):
        return updated
    save_kit_parts(ctx, updated.id, parts)
    return ITEMS.fetch(ctx, updated.id)


OPERATIONS = (list_price_items, get_price_item, save_price_item)


def _check_code(ctx: Context, code: str | None, item: PriceItem | None) -> None:
    other = ITEMS.find(ctx, "price_item.code = :code", code=code) if code else None
    if other and (item is None or other.id != item.id):
        raise Conflict(
            Message(
                "{item} already has the code {code}. Edit that item, or use another code.",
                item=other.name,
                code=other.code or "",
            )
        )


def _check_not_archived(ctx: Context, given: SavePriceItem, item: PriceItem | None) -> None:
    """Refuse an archived tax rate or supplier, unless the item has it already."""
    faults = []
    rate, supplier = given.tax_rate_id, given.supplier_id
    if rate and (item is None or item.tax_rate_id != rate) and TAX_RATES.fetch(ctx, rate).status == "archived":
        faults.append(Fault("taxRateId", Message("is archived")))
    old_supplier = item.supplier_id if item else None
    if supplier and old_supplier != supplier and SUPPLIERS.fetch(ctx, supplier).status == "archived":
        faults.append(Fault("supplierId", Message("is archived")))
    if faults:
        raise Invalid(faults)


def _fetch_parts(ctx: Context, given: SavePriceItem, item: PriceItem | None) -> list[KitItem]:
    """Return the parts that the item will have."""
    old_parts = item.part_quantities if item else []
    wanted = old_parts if given.components is None else [(part.item_id, part.quantity) for part in given.components]
    parts, faults = [], []
    for index, (name, quantity) in enumerate(wanted):
        try:
            parts.append(KitItem(ITEMS.fetch(ctx, name), quantity))
        except NotFound:
            message = Message("is not on the price list", for_programs=Message("list_price_items lists the items"))
            faults.append(Fault(f"components.{index}.itemId", message))
    status = given.status or (item.status if item else "active")
    if faults := faults or find_part_faults(parts, item, in_use=status == "active"):
        raise Invalid(faults)
    return parts


def _check_price(given: SavePriceItem, item: PriceItem | None, parts: Sequence[KitItem]) -> None:
    """Refuse an item without a price, and a kit whose parts add up to more than the largest price."""
    keeps_price = item is not None and "sell_price" not in given.model_fields_set and "sellPrice" not in item.from_parts
    if not parts and not keeps_price and given.sell_price is None:
        raise Invalid([Fault("sellPrice", Message("is required for an item without parts"))])
    is_price_valid = has_valid_total((part.item.sell_price, part.quantity) for part in parts)
    if not is_price_valid or not has_valid_total((part.item.cost_price, part.quantity) for part in parts):
        raise Invalid([Fault("components", Message("add up to more than the largest possible price"))])


def _check_not_in_kits(ctx: Context, given: SavePriceItem, item: PriceItem) -> None:
    """Refuse to archive a part of active kits, and to turn a part of any kit into a kit."""
    kit = None
    if given.components and not item.is_kit:
        kit = find_kit_containing(ctx, item.id, in_use=False)
    elif given.status == "archived":
        kit = find_kit_containing(ctx, item.id, in_use=True)
    if kit:
        message = Message("{item} is part of the kit {kit}. Remove it there first.", item=item.name, kit=kit.name)
        raise_if_blocked([Reason(message, "save_price_item", unblocking_record_id=kit.id)])


def _update_kits(ctx: Context, before: PriceItem, after: PriceItem) -> None:
    """Update the kits that an item is part of after its name or price has changed."""
    if after.name != before.name:
        rename_in_kits(ctx, after)
    if (after.sell_price, after.cost_price) != (before.sell_price, before.cost_price):
        kit = find_overpriced_kit(ctx, after.id)
        if kit:
            record_id, name = kit
            message = Message(
                "The kit {kit} would add up to more than the largest possible price. Reduce the quantity there first.",
                kit=name,
            )
            raise_if_blocked([Reason(message, "save_price_item", unblocking_record_id=record_id)])
