"""Tax rates, suppliers and items for tests, made as the office makes them."""

from typing import Any

from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.vocabulary.permissions import Role
from support.cast import Cast

VAT: list[dict[str, str]] = [{"name": "VAT", "percent": "20"}]


def make_tax_rate(cast: Cast, name: str = "VAT 20 %", **given: object) -> str:
    """Make a tax rate, and return its id."""
    return str(cast.perform(save_tax_rate, Role.ADMIN, **{"name": name, "components": VAT, **given})["id"])


def make_supplier(cast: Cast, name: str = "Pennine Supplies", **given: object) -> str:
    """Make a supplier, and return their id."""
    return str(cast.perform(save_supplier, Role.OFFICE, name=name, **given)["id"])


def make_price_item(cast: Cast, name: str = "Combi boiler", **given: object) -> str:
    """Make a price list item, and return its id."""
    return str(cast.perform(save_price_item, Role.OFFICE, **{"name": name, "sellPrice": "890", **given})["id"])


def make_kit_item(cast: Cast, parts: dict[str, str], name: str = "New heating", **given: object) -> str:
    """Make a kit of these items in these quantities, and return its id."""
    return str(cast.perform(save_price_item, Role.OFFICE, name=name, components=to_components(parts), **given)["id"])


def to_components(parts: dict[str, str]) -> list[dict[str, Any]]:
    """Convert the parts of a kit to input."""
    return [{"itemId": item, "quantity": quantity} for item, quantity in parts.items()]
