"""Tax rates, suppliers and the items of the price list, and the rules of what can be done with them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from mainstay.business.records.model import ArchivableStatus
from mainstay.documents.snapshot import Language, TaxCategory
from mainstay.values.address import Address
from mainstay.values.descriptions import describe
from mainstay.values.fields import Percent, Quantity, RecordReference, TextLine
from mainstay.values.message import Choice, Message
from mainstay.values.model_config import INPUT_CONFIG, OUTPUT_CONFIG
from mainstay.values.money import MAX_STORED, UNIT, parse_price, price_text
from mainstay.values.totals import Rate, round_fraction
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.record_json import PriceText
from mainstay.vocabulary.refusal import Fault, Reason
from mainstay.vocabulary.roles import (
    IMPORTED_EMAIL,
    IMPORTED_NOTES,
    IMPORTED_PHONE,
    IMPORTED_TAX_NUMBER,
    IMPORTED_TERMS,
    OUTSIDER_TEXT,
    Imported,
    RefersTo,
    imported_reference,
)
from mainstay.vocabulary.schemas import Record, StoredRecord, make_states

ItemKind = Literal["labour", "material", "service", "fee"]
# The prices that a kit takes from its parts if it has none of its own.
FromParts = Literal["sellPrice", "costPrice"]

_STATUS_STATES = make_states(active="good", archived="over")
_COSTS_READ = RequiresPermission(Permission.COSTS_READ)
# For examples.
_EXAMPLE_RATE = "tax_01KA3R2D4F6H8J0K2N4P6R8T0V"
_EXAMPLE_ITEM = "item_01KA3R5X7Z9B1D3F5H7J9K1N3P"


class TaxPart(BaseModel):
    """One tax of a rate; most rates have one."""

    model_config = INPUT_CONFIG

    name: TextLine = Field(description="Printed on documents, e.g. VAT.")
    percent: Percent = Field(description="Percentage of the net amount, e.g. 20.")

    @property
    def stored_json(self) -> dict[str, str]:
        """The JSON that is stored and shown."""
        return {"name": self.name, "percent": price_text(self.percent)}


class ShownTaxPart(BaseModel):
    """One tax of a rate, as it is shown."""

    model_config = OUTPUT_CONFIG

    name: str
    percent: PriceText


class TaxRateOut(Record):
    """A rate of tax."""

    noun = "taxRate"
    office_path = "/settings/taxes/{id}"
    states = _STATUS_STATES

    name: str = Field(examples=["VAT 20%"])
    category: TaxCategory = Field(description="The category for the tax office.", examples=["standard"])
    components: list[ShownTaxPart] = Field(
        title="Taxes",
        description="The taxes that make up the rate, usually just one.",
        examples=[[{"name": "VAT", "percent": "20.00"}]],
    )
    percent: PriceText = Field(description="The percentage of all its taxes together.", examples=["20.00"])
    note: str | None = Field(description="Printed next to the rate, e.g. why something is exempt.")
    status: ArchivableStatus
    is_default: bool = Field(title="Default", description="Whether new lines get this rate.")


_IMPORTED_NAME = Imported(
    ("supplier", "supplier name", "company", "vendor", "vendor name"), required=True, identifies=True
)
_IMPORTED_ACCOUNT = Imported(
    ("account number", "account", "our account", "our number there"), label="Your account number"
)
_IMPORTED_REFERENCE = imported_reference(
    "supplier id", "supplier no", "supplier number", "supplier reference", "vendor id"
)


class SupplierOut(Record):
    """Someone the organisation buys from."""

    noun = "supplier"
    office_path = "/suppliers/{id}"
    states = _STATUS_STATES

    name: Annotated[str, _IMPORTED_NAME] = Field(examples=["Pennine Plumbing Supplies"])
    email: Annotated[str | None, IMPORTED_EMAIL] = Field(title="Email", description="Orders are sent here.")
    phone: Annotated[str | None, IMPORTED_PHONE]
    address: Annotated[Address | None, Imported()]
    tax_number: Annotated[str | None, IMPORTED_TAX_NUMBER]
    account_number: Annotated[str | None, _IMPORTED_ACCOUNT] = Field(
        title="Account number", description="Your customer number with them."
    )
    payment_terms_days: Annotated[int | None, IMPORTED_TERMS] = Field(title="Payment terms (days)")
    language: Language | None = Field(description="The language of their orders; null for your own.")
    notes: Annotated[str | None, IMPORTED_NOTES, OUTSIDER_TEXT]
    status: ArchivableStatus
    external_ref: Annotated[str | None, _IMPORTED_REFERENCE] = Field(title="External ID")


class KitPart(BaseModel):
    """An item of a kit, and its quantity."""

    model_config = INPUT_CONFIG

    item_id: Annotated[TextLine, RecordReference(prefix="item")] = Field(
        title="Item", description=describe("[[An item's ID or code.]] Not another kit.")
    )
    quantity: Quantity = Field(description='E.g. "2".')


class ShownKitPart(BaseModel):
    """An item of a kit, and its quantity, as it is shown."""

    model_config = OUTPUT_CONFIG

    item_id: str
    name: str
    quantity: PriceText


class PriceItemOut(Record):
    """An item of the price list."""

    noun = "priceItem"
    office_path = "/price-list/{id}"
    states = _STATUS_STATES

    code: str | None = Field(examples=["BLR-24"])
    name: str = Field(examples=["Combi boiler, 24 kW"])
    description: Annotated[str | None, OUTSIDER_TEXT] = Field(
        description="Printed below the name on quotes and invoices."
    )
    kind: ItemKind = Field(examples=["material"])
    unit: str | None = Field(description="The unit it is sold in.", examples=["pcs"])
    sell_price: Annotated[PriceText | None, RequiresPermission(Permission.PRICES_READ)] = Field(
        title="Price", description="Per unit; with tax if your prices include tax.", examples=["890.00"]
    )
    cost_price: Annotated[PriceText | None, _COSTS_READ] = Field(
        title="Cost",
        description="What one unit costs you; null if the cost of a part is not known.",
        examples=["612.50"],
    )
    from_parts: list[FromParts] = Field(
        title="Priced by its parts", description="The prices that a kit adds up from its parts."
    )
    tax_rate_id: Annotated[str | None, RefersTo("tax")] = Field(
        description="Null for your default rate.", examples=[_EXAMPLE_RATE]
    )
    tax_rate_name: str | None = Field(title="Tax", examples=["VAT 20%"])
    supplier_id: Annotated[str | None, _COSTS_READ, RefersTo("supplier")] = Field(examples=[None])
    supplier_name: Annotated[str | None, _COSTS_READ] = Field(title="Supplier", examples=[None])
    components: list[ShownKitPart] = Field(
        title="Parts",
        description="The items of a kit.",
        examples=[[{"itemId": _EXAMPLE_ITEM, "name": "Magnetic filter", "quantity": "2.00"}]],
    )
    status: ArchivableStatus
    external_ref: Annotated[str | None, _COSTS_READ] = Field(title="External ID", examples=[None])


@dataclass(frozen=True, slots=True)
class TaxRate(StoredRecord):
    """A tax rate, as seen by the rules."""

    output = TaxRateOut

    name: str
    category: TaxCategory
    components: list[dict[str, str]]
    percent: int
    status: ArchivableStatus
    is_default: bool
    # Whether a document uses it.
    used: bool

    @property
    def rate(self) -> Rate:
        """The rate that totals are computed with."""
        return Rate(self.id, tuple(parse_price(part["percent"]) for part in self.components))


@dataclass(frozen=True, slots=True)
class Supplier(StoredRecord):
    """A supplier, as seen by the rules."""

    output = SupplierOut

    name: str
    email: str | None
    phone: str | None
    payment_terms_days: int | None
    language: Language | None
    status: ArchivableStatus

    @property
    def detail(self) -> str | None:
        """Their phone number or email address."""
        return self.phone or self.email

    def not_usable(self) -> list[Reason]:
        """Return why nothing can be bought from them."""
        if self.status == "archived":
            message = Message("{supplier} is archived. Restore them first.", supplier=self.name)
            return [Reason(message, "save_supplier", unblocking_record_id=self.id)]
        return []


@dataclass(frozen=True, slots=True)
class PriceItem(StoredRecord):
    """An item, as seen by the rules."""

    output = PriceItemOut

    code: str | None
    name: str
    description: str | None
    kind: ItemKind
    unit: str | None
    # Per unit. For a kit without prices of its own, the sum of its parts.
    sell_price: int | None
    cost_price: int | None
    from_parts: list[FromParts]
    tax_rate_id: str | None
    supplier_id: str | None
    components: list[dict[str, Any]]
    status: ArchivableStatus

    @property
    def display_name(self) -> str:
        """The item's code and name."""
        return " ".join(filter(None, (self.code, self.name)))

    @property
    def is_kit(self) -> bool:
        """Whether it is made of other items."""
        return bool(self.components)

    @property
    def part_quantities(self) -> list[tuple[str, int]]:
        """The ids and quantities of the items that it is made of."""
        return [(part["itemId"], parse_price(part["quantity"])) for part in self.components]


class KitItem(NamedTuple):
    """An item of a kit, and its quantity."""

    item: PriceItem
    quantity: int

    @property
    def stored_json(self) -> dict[str, str]:
        """The JSON that is stored and shown."""
        return {"itemId": self.item.id, "name": self.item.name, "quantity": price_text(self.quantity)}


def find_tax_faults(category: TaxCategory, percents: Sequence[int]) -> list[Fault]:
    """Return the faults of a rate that charges tax although its category has none, or the other way round."""
    if category != "standard" and any(percents):
        message = Message("must be 0 percent in the category {category}", category=Choice(category))
        return [Fault("components", message)]
    if category == "standard" and not any(percents):
        return [Fault("category", Message("is only for rates above 0 percent: choose another one"))]
    return []


def find_part_faults(parts: Sequence[KitItem], kit: PriceItem | None, *, in_use: bool) -> list[Fault]:
    """Return the faults of a kit's parts. They must be plain items, each named once, and active if the kit is."""
    faults, seen_ids = [], set[str]()
    for index, (part, _) in enumerate(parts):
        path = f"components.{index}.itemId"
        if part.id in seen_ids:
            faults.append(Fault(path, Message("is listed twice: list it once, with the whole quantity")))
        elif part.is_kit or (kit and part.id == kit.id):
            faults.append(Fault(path, Message("is a kit, and a kit can't contain kits")))
        elif in_use and part.status == "archived":
            faults.append(Fault(path, Message("is archived")))
        seen_ids.add(part.id)
    return faults


def has_valid_total(prices: Iterable[tuple[int | None, int]]) -> bool:
    """Return whether the sum of these prices times their quantities is small enough to be a price."""
    return sum(round_fraction((price or 0) * quantity, UNIT) for price, quantity in prices) <= MAX_STORED
