"""What can be done with the items of the price list."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.customers.store import check_reference
from mainstay.business.pricelist.model import (
    Kind,
    KitPart,
    Part,
    PriceItem,
    PriceItemOut,
    Status,
    check_parts,
    is_priceable,
)
from mainstay.business.pricelist.store import (
    ITEMS,
    SUPPLIERS,
    TAX_RATES,
    find_dear_kit,
    find_kit_with,
    keep_parts,
    rename_in_kits,
)
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import NO_TOOL
from mainstay.terms.refusal import Conflict, Fault, Invalid, NotFound, Reason, refuse
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Input, ListInput, Page
from mainstay.values.fields import LAST_SEEN, Line, Paragraph, Price, Usual, id_of, omittable
from mainstay.values.search import SearchText

_MOST_PARTS = 50


class ListPriceItems(ListInput):
    """Which items to list."""

    starting_after: Annotated[str | None, id_of("item")] = LAST_SEEN
    status: Status | None = Field(None, description="Only these. Without it, those in use.")
    kind: Kind | None = Field(None, description="Only items of this kind.")
    supplier_id: Annotated[str | None, id_of("supplier"), Needs(Right.COSTS_READ)] = Field(
        None, title="Supplier", description="Only what comes from this supplier."
    )
    text: SearchText | None = Field(None, title="Search", description="Words of the code, name or description.")
    order: Literal["newest", "name"] = Field("newest", description="`newest` first, or by `name`.")


class GetPriceItem(Input):
    """Which item."""

    item_id: str = Field(description="The item's id or code.")


class SavePriceItem(Input):
    """A new item or, with its id, what to change of one; null clears."""

    item_id: str | None = Field(None, description="To change one: its id or code.")
    code: Line | None = Field(None, description="A short name of its own, such as BLR-24.")
    name: Line = omittable(description="What it is called. A new one needs it.")
    description: Paragraph | None = Field(None, description="What customers read beside it.")
    kind: Annotated[Kind, Usual("material")] = omittable(description="What is sold.")
    unit: Line | None = Field(None, description="What one counts it in, such as pcs, h or m.")
    sell_price: Price | None = Field(
        None, title="Price", description="Per unit. Only a kit goes without, and costs what its parts do."
    )
    cost_price: Price | None = Field(None, title="Cost", description="What one unit costs you.")
    tax_rate_id: Annotated[str | None, id_of("tax", "a tax rate")] = Field(
        None, title="Tax", description="Where not the usual one."
    )
    supplier_id: Annotated[str | None, id_of("supplier")] = Field(
        None, title="Supplier", description="From whom it comes."
    )
    components: list[KitPart] = omittable(
        title="Parts",
        max_length=_MOST_PARTS,
        description="Makes it a kit of other items.",
        examples=[[{"itemId": "BLR-24", "quantity": "2"}]],
    )
    status: Annotated[Status, Usual("active")] = omittable(description="`archived` takes it out of the lists.")
    external_ref: Line | None = Field(None, title="Reference elsewhere", description="What another system calls it.")


@operation(right=Right.PRICE_LIST_READ, effect=Effect.READ, rest="GET /price-items")
def list_price_items(ctx: Context, given: ListPriceItems) -> Page[PriceItemOut]:
    """List what is on the price list.

    Labour, materials, services, fees, and kits of them. Members see prices if the settings let them.
    """
    return ITEMS.page(ctx, given)


@operation(
    right=Right.PRICE_LIST_READ,
    effect=Effect.READ,
    rest="GET /price-items/{item_id}",
    glances=True,
    on=ITEMS,
    offered=NO_TOOL,
)
def get_price_item(_ctx: Context, _given: GetPriceItem, item: PriceItem) -> PriceItem:
    """Get an item of the price list.

    What it is, what it costs, and what a kit is made of.
    """
    return item


@operation(
    right=Right.PRICE_LIST_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /price-items",
    on=ITEMS,
    makes=True,
    done="The item is saved.",
)
def save_price_item(ctx: Context, given: SavePriceItem, item: PriceItem | None) -> PriceItem:
    """Save an item of the price list.

    Without itemId it adds one, with it it changes what is sent. Documents that have it stay as they are.
    """
    if item is None:
        given.needs("name")
    code = given.code.upper() if given.code else None
    _check_code(ctx, code, item)
    check_reference(ctx, ITEMS, given.external_ref, item)
    _check_named(ctx, given, item)
    parts = _parts(ctx, given, item)
    _check_price(given, item, parts)
    values = given.sent("item_id", "components") | ({"code": code} if code else {})
    if given.components is not None:
        values["components"] = [part.kept for part in parts]
    if item is None:
        usual: dict[str, Any] = {"kind": "material", "status": "active", "components": []}
        after = ITEMS.insert(ctx, usual | values)
    else:
        _check_kits(ctx, given, item)
        after = ITEMS.save(ctx, item, values)
        _tell_kits(ctx, item, after)
    if given.components is None or not (parts or (item and item.is_kit)):
        return after
    keep_parts(ctx, after.id, parts)
    return ITEMS.fetch(ctx, after.id)


OPERATIONS = (list_price_items, get_price_item, save_price_item)


def _check_code(ctx: Context, code: str | None, item: PriceItem | None) -> None:
    other = ITEMS.find(ctx, "price_item.code = :code", code=code) if code else None
    if other and (item is None or other.id != item.id):
        raise Conflict(f"{other.name} has the code {code} already. Change that item, or use another code.")


def _check_named(ctx: Context, given: SavePriceItem, item: PriceItem | None) -> None:
    """Refuse an archived rate or supplier, unless the item has it from before."""
    faults = []
    rate, supplier = given.tax_rate_id, given.supplier_id
    if rate and (item is None or item.tax_rate_id != rate) and TAX_RATES.fetch(ctx, rate).status == "archived":
        faults.append(Fault("taxRateId", "is archived"))
    before = item.supplier_id if item else None
    if supplier and before != supplier and SUPPLIERS.fetch(ctx, supplier).status == "archived":
        faults.append(Fault("supplierId", "is archived"))
    if faults:
        raise Invalid(faults)


def _parts(ctx: Context, given: SavePriceItem, item: PriceItem | None) -> list[Part]:
    """What the item is made of from now on."""
    kept = item.parts if item else []
    named = kept if given.components is None else [(part.item_id, part.quantity) for part in given.components]
    parts, faults = [], []
    for place, (name, quantity) in enumerate(named):
        try:
            parts.append(Part(ITEMS.fetch(ctx, name), quantity))
        except NotFound:
            known = "is no item of the price list; list_price_items tells them"
            faults.append(Fault(f"components.{place}.itemId", known))
    status = given.status or (item.status if item else "active")
    if faults := faults or check_parts(parts, item, in_use=status == "active"):
        raise Invalid(faults)
    return parts


def _check_price(given: SavePriceItem, item: PriceItem | None, parts: Sequence[Part]) -> None:
    """Refuse an item without a price, and a kit whose parts come to more than a price can be."""
    keeps = item is not None and "sell_price" not in given.model_fields_set and "sellPrice" not in item.from_parts
    if not parts and not keeps and given.sell_price is None:
        raise Invalid([Fault("sellPrice", "is required where there are no parts")])
    sold = is_priceable((part.item.sell_price, part.quantity) for part in parts)
    if not sold or not is_priceable((part.item.cost_price, part.quantity) for part in parts):
        raise Invalid([Fault("components", "come to more than a price can be")])


def _check_kits(ctx: Context, given: SavePriceItem, item: PriceItem) -> None:
    """Refuse to put away what kits in use are made of, and to make a kit of what kits are made of."""
    kit = None
    if given.components and not item.is_kit:
        kit = find_kit_with(ctx, item.id, in_use=False)
    elif given.status == "archived":
        kit = find_kit_with(ctx, item.id, in_use=True)
    if kit:
        text = f"{item.name} is part of the kit {kit.name}. Take it out of there first."
        refuse([Reason(text, "save_price_item", at=kit.id)])


def _tell_kits(ctx: Context, before: PriceItem, after: PriceItem) -> None:
    """Let the kits that an item is part of follow its name and its price."""
    if after.name != before.name:
        rename_in_kits(ctx, after)
    if (after.sell_price, after.cost_price) != (before.sell_price, before.cost_price):
        kit = find_dear_kit(ctx, after.id)
        if kit:
            identity, name = kit
            text = f"The kit {name} would come to more than a price can be. Take fewer of it there first."
            refuse([Reason(text, "save_price_item", at=identity)])
