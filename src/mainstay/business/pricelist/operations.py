"""What can be done with the items of the price list."""

from typing import Annotated, Any

from pydantic import Field

from mainstay.business.customers.store import check_reference
from mainstay.business.pricelist.model import Kind, KitPart, PriceItem, PriceItemOut, Status
from mainstay.business.pricelist.store import ITEMS, SUPPLIERS, TAX_RATES, columns_of, find_kit_with, keep_parts
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Conflict, Fault, Invalid
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, ListInput, Page
from mainstay.values.fields import LAST_SEEN, Line, Paragraph, Price, Usual, id_of, omittable
from mainstay.values.search import SearchText

_MOST_PARTS = 50
_BY_ID = frozenset({Door.API, Door.OFFICE})


class ListPriceItems(ListInput):
    """Which items to list."""

    starting_after: Annotated[str | None, id_of("item")] = LAST_SEEN
    status: Status | None = Field(None, description="Only these. Without it, those in use.")
    kind: Kind | None = Field(None, description="Only items of this kind.")
    supplier_id: Annotated[str | None, id_of("supplier")] = Field(
        None, title="Supplier", description="Only what comes from this supplier."
    )
    text: SearchText | None = Field(None, title="Search", description="Words of the code, name or description.")


class GetPriceItem(Input):
    """Which item."""

    item_id: str = Field(description="The item's id or code.")


class SavePriceItem(Input):
    """A new item or, with its id, what to change of one; null clears."""

    item_id: str | None = Field(None, description="To change an item: its id or code. Without it, a new one.")
    code: Line | None = Field(None, description="A short name of its own, such as BLR-24; no two share one.")
    name: Line = omittable(description="What it is called. A new one needs it.")
    description: Paragraph | None = Field(None, description="What customers read beside it.")
    kind: Annotated[Kind, Usual("material")] = omittable(description="`labour`, `material`, `service` or `fee`.")
    unit: Line | None = Field(None, description="What one counts it in, such as pcs, h or m.")
    sell_price: Price | None = Field(
        None, title="Price", description="Per unit. A new one needs it; a kit without it costs what its parts do."
    )
    cost_price: Price | None = Field(None, title="Cost", description="What one unit costs the organisation.")
    tax_rate_id: Annotated[str | None, id_of("tax", "a tax rate")] = Field(
        None, title="Tax", description="Where not the usual one."
    )
    supplier_id: Annotated[str | None, id_of("supplier")] = Field(
        None, title="Supplier", description="From whom it comes."
    )
    components: list[KitPart] = omittable(
        title="Parts", max_length=_MOST_PARTS, description="What a kit is made of: other items."
    )
    status: Annotated[Status, Usual("active")] = omittable(description="`archived` takes it out of the lists.")
    external_ref: Line | None = Field(None, title="Reference elsewhere", description="What another system calls it.")


@operation(right=Right.PRICE_LIST_READ, effect=Effect.READ, rest="GET /price-items")
def list_price_items(ctx: Context, given: ListPriceItems) -> Page[PriceItemOut]:
    """List what is on the price list.

    Labour, materials, services, fees, and kits made of them. Members see no prices unless the settings let them.
    """
    return ITEMS.page(ctx, given)


@operation(
    right=Right.PRICE_LIST_READ,
    effect=Effect.READ,
    rest="GET /price-items/{item_id}",
    glances=True,
    on=ITEMS,
    offered=_BY_ID,
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

    Without itemId it adds one, with it it changes one: only what is sent. Quotes and invoices that have it stay.
    """
    if given.code:
        given = given.model_copy(update={"code": given.code.upper()})
    _check_code(ctx, given.code, item)
    check_reference(ctx, ITEMS, given.external_ref, item)
    _check_others(ctx, given, item)
    values = columns_of(given.sent("item_id"))
    if item is None:
        given.needs("name", *(() if given.components else ("sell_price",)))
        usual: dict[str, Any] = {"kind": "material", "status": "active", "components": []}
        after = ITEMS.insert(ctx, usual | values)
    else:
        _check_kept(ctx, given, item)
        after = ITEMS.save(ctx, item, values)
    if given.components is None:
        return after
    keep_parts(ctx, after.id, given.components)
    return ITEMS.fetch(ctx, after.id)


OPERATIONS = (list_price_items, get_price_item, save_price_item)


def _check_code(ctx: Context, code: str | None, item: PriceItem | None) -> None:
    other = ITEMS.find(ctx, "price_item.code = :code", code=code) if code else None
    if other and (item is None or other.id != item.id):
        raise Conflict(f"{other.name} has the code {code} already. Change that item, or use another code.")


def _check_others(ctx: Context, given: SavePriceItem, item: PriceItem | None) -> None:
    """Refuse a rate, a supplier or parts that an item cannot have."""
    faults = []
    if given.tax_rate_id and TAX_RATES.fetch(ctx, given.tax_rate_id).status == "archived":
        faults.append(Fault("taxRateId", "is archived"))
    if given.supplier_id and SUPPLIERS.fetch(ctx, given.supplier_id).status == "archived":
        faults.append(Fault("supplierId", "is archived"))
    named = [part.item_id for part in given.components or ()]
    if len({*named}) < len(named):
        faults.append(Fault("components", "name an item twice: send it once, with the whole quantity"))
    for place, name in enumerate(named):
        part = ITEMS.fetch(ctx, name)
        if part.is_kit or (item and part.id == item.id):
            faults.append(Fault(f"components.{place}.itemId", "is a kit, and a kit is made of plain items"))
        elif part.status == "archived":
            faults.append(Fault(f"components.{place}.itemId", "is archived"))
    if faults:
        raise Invalid(faults)


def _check_kept(ctx: Context, given: SavePriceItem, item: PriceItem) -> None:
    """Refuse what would leave an item without a price, or a kit with a part that is none."""
    parts = given.components if given.components is not None else item.components
    if not parts and "sell_price" in given.model_fields_set and given.sell_price is None:
        raise Invalid([Fault("sellPrice", "is required where there are no parts")])
    if given.components == [] and item.is_kit and given.sell_price is None:
        raise Invalid([Fault("sellPrice", "is required where there are no parts")])
    ends = given.status == "archived" or given.components
    if ends and not item.is_kit and (kit := find_kit_with(ctx, item.id)):
        raise Conflict(f"{item.name} is part of the kit {kit.name}. Take it out of there first.")
