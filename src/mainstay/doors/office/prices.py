"""The price list, those one buys from, and the taxes that are charged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mainstay.business.organisation.settings import get_settings, update_settings
from mainstay.business.pricelist.operations import get_price_item, list_price_items, save_price_item
from mainstay.business.pricelist.suppliers import get_supplier, list_suppliers, save_supplier
from mainstay.business.pricelist.taxes import get_tax_rate, list_tax_rates, save_tax_rate
from mainstay.business.purchasing.bills import list_bills, record_bill
from mainstay.business.purchasing.operations import draft_purchase_order, list_purchase_orders
from mainstay.doors.office.arrangement import Arrangement
from mainstay.doors.office.beside import WITHOUT_FILES, Related
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.room import Room
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.words import place
from mainstay.values.words import words_of

ITEMS = Arrangement(
    title="Price list",
    lead="What you sell: labour, materials, services and fees, and kits made of them.",
    path="/price-list",
    area="Price list",
    gets=get_price_item,
    lists=list_price_items,
    creates=save_price_item,
    called=lambda item: str(item["name"]),
    below=lambda item: " · ".join(filter(None, (item["code"], words_of(item["kind"]), item["components"] and "Kit"))),
    columns=("unit", "sellPrice", "costPrice", "supplierName"),
    facts=(
        "sellPrice",
        "costPrice",
        "unit",
        "taxRateName",
        "supplierName",
        "description",
        "externalRef",
    ),
    tabs={"": "In use", "archived": "Archived"},
    order="name",
    # What its parts say of a kit is not what someone has said of it.
    fills=lambda item: item | dict.fromkeys(item["fromParts"]),
    empty="Nothing is on the price list yet. Add the first item, or bring a list over from a file under Settings,"
    " Import.",
    more="price_item.html",
)

SUPPLIERS = Arrangement(
    title="Suppliers",
    lead="Everyone you buy from.",
    path="/suppliers",
    area="Purchasing",
    frame="purchasing.html",
    gets=get_supplier,
    lists=list_suppliers,
    creates=save_supplier,
    called=lambda supplier: str(supplier["name"]),
    below=lambda supplier: " · ".join(filter(None, (place(supplier["address"]), supplier["email"]))),
    columns=("phone", "accountNumber", "status"),
    facts=(
        "phone",
        "email",
        "address",
        "accountNumber",
        "paymentTermsDays",
        "taxNumber",
        "language",
        "notes",
        "externalRef",
    ),
    tabs={"": "In use", "archived": "Archived"},
    order="name",
    empty="No suppliers yet. Add the first one, or bring them over from a file under Settings, Import.",
    related=(
        Related(
            "Orders",
            list_purchase_orders,
            "supplierId",
            "/purchasing/orders",
            ("status", "total", "neededOn"),
            draft_purchase_order,
            "/purchasing/orders/new",
        ),
        Related(
            "Bills",
            list_bills,
            "supplierId",
            "/purchasing/bills",
            ("status", "total", "dueOn"),
            record_bill,
            "/purchasing/bills/new",
        ),
        Related(
            "Price list",
            list_price_items,
            "supplierId",
            "/price-list",
            ("unit", "costPrice"),
            save_price_item,
            "/price-list/new",
        ),
    ),
)

TAXES = Arrangement(
    title="Taxes",
    lead="What you charge on quotes and invoices.",
    path="/settings/taxes",
    sides=WITHOUT_FILES,
    area="Settings",
    frame="settings.html",
    gets=get_tax_rate,
    lists=list_tax_rates,
    creates=save_tax_rate,
    called=lambda rate: str(rate["name"]),
    below=lambda rate: "Taken where nothing else is said" if rate["isDefault"] else "",
    columns=("percent", "category"),
    facts=("percent", "category", "note"),
    tabs={"": "In use", "archived": "Archived"},
    empty="No tax rates yet. Add those that you charge, such as VAT 20 %, and say which is the usual one.",
    above="taxes_above.html",
    more="tax_rate.html",
)


@dataclass(frozen=True)
class Prices:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            *Room(self.desk, ITEMS).routes(),
            *Room(self.desk, SUPPLIERS).routes(),
            *Room(self.desk, TAXES, shows=self._told).routes(),
        ]

    async def _told(self, guest: Guest, rate: Mapping[str, Any] | None) -> dict[str, Any]:
        """Above the list of rates: whether prices include them."""
        if rate is not None:
            return {}
        settings = await self.desk.perform(guest, get_settings)
        return {"inclusive": settings["pricesIncludeTax"], "may_decide": guest.may(update_settings)}
