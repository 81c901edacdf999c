"""Tax rates, suppliers and items for tests, made as the office makes them."""

from typing import Any

from cast import Cast
from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.terms.rights import Role

VAT: list[dict[str, str]] = [{"name": "VAT", "percent": "20"}]


def a_rate(cast: Cast, name: str = "VAT 20 %", **given: object) -> str:
    """A new tax rate; its id."""
    return str(cast.perform(save_tax_rate, Role.ADMIN, **{"name": name, "components": VAT, **given})["id"])


def a_supplier(cast: Cast, name: str = "Pennine Supplies", **given: object) -> str:
    """A new supplier; their id."""
    return str(cast.perform(save_supplier, Role.OFFICE, name=name, **given)["id"])


def an_item(cast: Cast, name: str = "Combi boiler", **given: object) -> str:
    """A new item; its id."""
    return str(cast.perform(save_price_item, Role.OFFICE, **{"name": name, "sellPrice": "890", **given})["id"])


def a_kit(cast: Cast, parts: dict[str, str], name: str = "New heating", **given: object) -> str:
    """A new kit of so many of these items; its id."""
    return str(cast.perform(save_price_item, Role.OFFICE, name=name, components=made_of(parts), **given)["id"])


def made_of(parts: dict[str, str]) -> list[dict[str, Any]]:
    """The parts of a kit, as they are sent."""
    return [{"itemId": item, "quantity": quantity} for item, quantity in parts.items()]
