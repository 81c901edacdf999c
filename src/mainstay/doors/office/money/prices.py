"""The price list, suppliers and tax rates."""

from dataclasses import dataclass
from typing import Any

from mainstay.business.organisation.settings import get_settings, update_settings
from mainstay.business.pricelist.model import TaxRateOut
from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.pricelist.store import ITEMS, SUPPLIERS, TAX_RATES
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.record_panels import PANELS_WITHOUT_FILES
from mainstay.doors.office.kit.related_lists import RelatedList
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import format_address
from mainstay.doors.pages.page_language import translate_label, translate_text

ITEMS_LAYOUT = RecordLayout(
    kind=ITEMS,
    lead="What you sell: labour, materials, services and fees, and kits made of them.",
    create_operation=save_price_item,
    first_fields=("name", "kind", "code", "unit", "sellPrice", "costPrice"),
    title_of=lambda item: str(item.name),
    subtitle_of=lambda item: " · ".join(
        filter(None, (item.code, translate_label(item.kind), item.components and translate_text("Kit")))
    ),
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
    tabs={"": "Active", "archived": "Archived"},
    order="name",
    # Values of a kit that come from its parts are not filled in, because nobody typed them.
    prefill=lambda item: {**item, **dict.fromkeys(item["fromParts"])},
    empty_text="No items yet. Add the first one, or import your price list in Settings → Import.",
    page_body="price_item.html",
    shown_on=(RelatedList(SUPPLIERS, "supplierId", ("unit", "costPrice"), can_add=True),),
)

SUPPLIERS_LAYOUT = RecordLayout(
    kind=SUPPLIERS,
    lead="Everyone you buy from.",
    base_template="purchasing.html",
    create_operation=save_supplier,
    first_fields=("name", "email", "phone", "accountNumber", "paymentTermsDays"),
    title_of=lambda supplier: str(supplier.name),
    subtitle_of=lambda supplier: " · ".join(filter(None, (format_address(supplier.address), supplier.email))),
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
    tabs={"": "Active", "archived": "Archived"},
    order="name",
    empty_text="No suppliers yet. Add the first one, or import them in Settings → Import.",
)

TAXES_LAYOUT = RecordLayout(
    kind=TAX_RATES,
    lead="What you charge on quotes and invoices.",
    panels=PANELS_WITHOUT_FILES,
    base_template="settings.html",
    create_operation=save_tax_rate,
    title_of=lambda rate: str(rate.name),
    subtitle_of=lambda rate: translate_text("Default rate") if rate.is_default else "",
    columns=("percent", "category"),
    facts=("percent", "category", "note"),
    tabs={"": "Active", "archived": "Archived"},
    empty_text="No tax rates yet. Add the rates you charge, such as VAT 20%, and choose the default.",
    list_header="taxes_header.html",
    page_body="tax_rate.html",
)


@dataclass(frozen=True)
class PricePages:
    """The pages of the price list, suppliers and tax rates."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            *RecordPages(self.office, TAXES_LAYOUT, add_variables=self._tax_list_variables).routes(),
        ]

    async def _tax_list_variables(self, request: OfficeRequest, rate: TaxRateOut | None) -> dict[str, Any]:
        """Return whether prices include tax, for the header of the list of rates."""
        if rate is not None:
            return {}
        settings = await self.office.perform(request, get_settings)
        return {"inclusive": settings.prices_include_tax, "can_decide": request.can_perform(update_settings)}
