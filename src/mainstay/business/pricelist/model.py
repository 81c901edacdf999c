"""Tax rates, suppliers and the items of the price list, and the rules of what can be done with them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from mainstay.business.organisation.model import Language
from mainstay.terms.refusal import Fault, Reason
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Kept, Record, states
from mainstay.terms.wire import PriceText
from mainstay.values.address import Address
from mainstay.values.fields import Line, Percent, Quantity, Reference
from mainstay.values.models import GIVEN, TOLD
from mainstay.values.money import LARGEST, UNIT, parse_price, price_text
from mainstay.values.totals import Rate, rounded

Category = Literal["standard", "zero", "exempt", "reverseCharge", "outside"]
Kind = Literal["labour", "material", "service", "fee"]
Status = Literal["active", "archived"]
# What a kit has from its parts, where it has none of its own.
FromParts = Literal["sellPrice", "costPrice"]

_USABLE = states(active="good", archived="over")
_COST = Needs(Right.COSTS_READ)
# For examples.
_RATE = "tax_01KA3R2D4F6H8J0K2N4P6R8T0V"
_ITEM = "item_01KA3R5X7Z9B1D3F5H7J9K1N3P"


class TaxPart(BaseModel):
    """One tax of a rate; most rates have one."""

    model_config = GIVEN

    name: Line = Field(description="Its name on documents, such as VAT.")
    percent: Percent = Field(description="Of the net amount, such as 20.")

    @property
    def kept(self) -> dict[str, str]:
        """As it is kept and shown."""
        return {"name": self.name, "percent": price_text(self.percent)}


class ShownTaxPart(BaseModel):
    """One tax of a rate, as it is shown."""

    model_config = TOLD

    name: str
    percent: PriceText


class TaxRateOut(Record):
    """A rate of tax."""

    noun = "taxRate"
    place = "/settings/taxes/{id}"
    states = _USABLE

    name: str = Field(examples=["VAT 20 %"])
    category: Category = Field(description="What it is for the tax office.", examples=["standard"])
    components: list[ShownTaxPart] = Field(
        title="Taxes", description="The taxes it is made of.", examples=[[{"name": "VAT", "percent": "20.00"}]]
    )
    percent: PriceText = Field(description="All of them together.", examples=["20.00"])
    note: str | None = Field(description="Printed beside it, such as why something is exempt.")
    status: Status
    is_default: bool = Field(title="Usual", description="Whether it is taken where nothing else is said.")


class SupplierOut(Record):
    """Someone the organisation buys from."""

    noun = "supplier"
    place = "/suppliers/{id}"
    states = _USABLE

    name: str = Field(examples=["Pennine Plumbing Supplies"])
    email: str | None = Field(title="E-mail address", description="Where orders go.")
    phone: str | None
    address: Address | None
    tax_number: str | None
    account_number: str | None = Field(title="Our number there", description="What they call the organisation.")
    payment_terms_days: int | None = Field(title="Days to pay")
    language: Language | None = Field(description="Of what they are sent; null for the organisation's own.")
    notes: str | None
    status: Status
    external_ref: str | None = Field(title="Reference elsewhere")


class KitPart(BaseModel):
    """So many of an item, within a kit."""

    model_config = GIVEN

    item_id: Annotated[Line, Reference(to="item")] = Field(title="Item", description="Its id or code; no kit itself.")
    quantity: Quantity = Field(description="How many.")


class ShownKitPart(BaseModel):
    """So many of an item, as it is shown."""

    model_config = TOLD

    item_id: str
    name: str
    quantity: PriceText


class PriceItemOut(Record):
    """An item of the price list."""

    noun = "priceItem"
    place = "/price-list/{id}"
    states = _USABLE

    code: str | None = Field(examples=["BLR-24"])
    name: str = Field(examples=["Combi boiler, 24 kW"])
    description: str | None = Field(description="What customers read beside it.")
    kind: Kind = Field(examples=["material"])
    unit: str | None = Field(description="What one counts it in.", examples=["pcs"])
    sell_price: Annotated[PriceText | None, Needs(Right.PRICES_READ)] = Field(
        title="Price", description="Per unit, as prices are told here: before tax or with it.", examples=["890.00"]
    )
    cost_price: Annotated[PriceText | None, _COST] = Field(
        title="Cost",
        description="What one unit costs the organisation; null where that of a part is not known.",
        examples=["612.50"],
    )
    from_parts: list[FromParts] = Field(
        title="Priced by its parts", description="What a kit has none of its own of, so that its parts say it."
    )
    tax_rate_id: str | None = Field(description="Null for the usual one.", examples=[_RATE])
    tax_rate_name: str | None = Field(title="Tax", examples=["VAT 20 %"])
    supplier_id: Annotated[str | None, _COST] = Field(examples=[None])
    supplier_name: Annotated[str | None, _COST] = Field(title="Supplier", examples=[None])
    components: list[ShownKitPart] = Field(
        title="Parts",
        description="What a kit is made of.",
        examples=[[{"itemId": _ITEM, "name": "Magnetic filter", "quantity": "2.00"}]],
    )
    status: Status
    external_ref: Annotated[str | None, _COST] = Field(title="Reference elsewhere", examples=[None])


@dataclass(frozen=True, slots=True)
class TaxRate(Kept):
    """A rate of tax as its rules see it."""

    shown = TaxRateOut

    name: str
    category: Category
    components: list[dict[str, str]]
    percent: int
    status: Status
    is_default: bool
    # Whether a document has named it.
    used: bool

    @property
    def called(self) -> str:
        """Its name."""
        return self.name

    @property
    def rate(self) -> Rate:
        """As documents are totalled up with it."""
        return Rate(self.id, tuple(parse_price(part["percent"]) for part in self.components))


@dataclass(frozen=True, slots=True)
class Supplier(Kept):
    """A supplier as the rules see them."""

    shown = SupplierOut

    name: str
    email: str | None
    phone: str | None
    payment_terms_days: int | None
    language: Language | None
    status: Status

    @property
    def called(self) -> str:
        """Their name."""
        return self.name

    @property
    def detail(self) -> str | None:
        """How to reach them."""
        return self.phone or self.email

    def not_usable(self) -> list[Reason]:
        """Why nothing more is bought from them."""
        if self.status == "archived":
            return [Reason(f"{self.name} is archived. Restore them first.", "save_supplier", at=self.id)]
        return []


@dataclass(frozen=True, slots=True)
class PriceItem(Kept):
    """An item as its rules see it."""

    shown = PriceItemOut

    code: str | None
    name: str
    description: str | None
    kind: Kind
    unit: str | None
    # Per unit; of a kit without its own, what its parts come to.
    sell_price: int | None
    cost_price: int | None
    from_parts: list[FromParts]
    tax_rate_id: str | None
    supplier_id: str | None
    components: list[dict[str, Any]]
    status: Status

    @property
    def called(self) -> str:
        """Its code and name."""
        return " ".join(filter(None, (self.code, self.name)))

    @property
    def is_kit(self) -> bool:
        """Whether it is made of others."""
        return bool(self.components)

    @property
    def parts(self) -> list[tuple[str, int]]:
        """What it is made of: the ids of items, and how many of each."""
        return [(part["itemId"], parse_price(part["quantity"])) for part in self.components]


class Part(NamedTuple):
    """An item within a kit, and how many of it."""

    item: PriceItem
    quantity: int

    @property
    def kept(self) -> dict[str, str]:
        """As it is kept and shown."""
        return {"itemId": self.item.id, "name": self.item.name, "quantity": price_text(self.quantity)}


def check_taxes(category: Category, percents: Sequence[int]) -> list[Fault]:
    """What is wrong with a rate that charges tax where none is due, or none where it is."""
    if category != "standard" and any(percents):
        return [Fault("components", f"must be 0 percent where the category is {category}")]
    if category == "standard" and not any(percents):
        return [Fault("category", "is for rates above 0 percent: take another one")]
    return []


def check_parts(parts: Sequence[Part], kit: PriceItem | None, *, in_use: bool) -> list[Fault]:
    """What is wrong with the parts of a kit: they are plain items, each named once, and in use if the kit is."""
    faults, seen = [], set[str]()
    for place, (part, _) in enumerate(parts):
        at = f"components.{place}.itemId"
        if part.id in seen:
            faults.append(Fault(at, "is named before: say it once, with the whole quantity"))
        elif part.is_kit or (kit and part.id == kit.id):
            faults.append(Fault(at, "is a kit, and a kit is made of plain items"))
        elif in_use and part.status == "archived":
            faults.append(Fault(at, "is archived"))
        seen.add(part.id)
    return faults


def is_priceable(prices: Iterable[tuple[int | None, int]]) -> bool:
    """Whether so many at these prices come to no more than a price can be."""
    return sum(rounded((price or 0) * quantity, UNIT) for price, quantity in prices) <= LARGEST
