"""A price list, and for each of its operations an input that it takes."""

from collections.abc import Callable
from dataclasses import dataclass

from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.pricelist.taxes import save_tax_rate
from support.cast import Cast

ExampleInput = dict[str, object]


@dataclass(frozen=True)
class PriceSamples:
    """What is sold, at which tax, and from whom it comes."""

    tax: str
    supplier: str
    item: str
    kit: str


def make_price_samples(cast: Cast) -> PriceSamples:
    """Make the samples."""
    tax = cast.perform(save_tax_rate, name="VAT 20 %", components=[{"name": "VAT", "percent": "20"}], isDefault=True)
    supplier = str(cast.perform(save_supplier, name="Pennine Supplies", email="orders@example.com")["id"])
    item = cast.perform(
        save_price_item, code="BLR-24", name="Combi boiler", sellPrice="890", costPrice="612.5", supplierId=supplier
    )
    parts = [{"itemId": item["id"], "quantity": "1"}]
    kit = cast.perform(save_price_item, name="New heating", components=parts)
    return PriceSamples(str(tax["id"]), supplier, str(item["id"]), str(kit["id"]))


PRICE_EXAMPLES: dict[str, Callable[[PriceSamples], ExampleInput]] = {
    "list_price_items": lambda _: {},
    "get_price_item": lambda prices: {"itemId": prices.item},
    "save_price_item": lambda prices: {"itemId": prices.item, "sellPrice": "910"},
    "list_tax_rates": lambda _: {},
    "get_tax_rate": lambda prices: {"taxRateId": prices.tax},
    "save_tax_rate": lambda prices: {"taxRateId": prices.tax, "name": "VAT, standard"},
    "list_suppliers": lambda _: {},
    "get_supplier": lambda prices: {"supplierId": prices.supplier},
    "save_supplier": lambda prices: {"supplierId": prices.supplier, "phone": "01422 000000"},
}
