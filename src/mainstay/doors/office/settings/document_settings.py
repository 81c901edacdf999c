"""Settings → Money: texts and numbers of documents, bank account and closed books."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from mainstay.business.organisation.numbering import NumberSeries
from mainstay.business.organisation.operations import UpdateOrganisation, update_organisation
from mainstay.business.organisation.settings import SettingsOut, UpdateSettings, get_settings
from mainstay.business.organisation.store import ORGANISATION
from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.reference_fields import RecordJson
from mainstay.doors.pages.display import EMPTY_TEXT, drop_empty_cells
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import format_address, format_date
from mainstay.doors.pages.page_language import current_language, translate_label, translate_text
from mainstay.values.bank import group_iban

# The fields of this page: of the organisation, and of its settings.
_PAYMENT_FIELDS = ("bank", "eInvoiceAddress")
_DOCUMENT_FIELDS = (
    "paymentTermsDays",
    "invoiceNotes",
    "quoteValidDays",
    "quoteTerms",
    "language",
    "pricesIncludeTax",
    "invoiceNumbers",
    "creditNoteNumbers",
    "quoteNumbers",
)
_BOOKKEEPING_FIELDS = ("booksClosedUntil", "materialsMarkupPercent")


def _field_names(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(field.alias or name for name, field in model.model_fields.items())


SETTINGS_FIELDS = _field_names(UpdateSettings)
MONEY_FIELDS = frozenset((*_PAYMENT_FIELDS, *_DOCUMENT_FIELDS, *_BOOKKEEPING_FIELDS))
# The texts of emails have pages of their own.
EMAIL_FIELDS = frozenset({"mailTexts"})


def _format_bank(record: RecordJson, _zone: str) -> str:
    """Format a bank account, with a line for each part."""
    bank = record["bank"]
    if not bank:
        return EMPTY_TEXT
    parts = (
        ("", bank["name"]),
        ("IBAN ", group_iban(bank["iban"] or "")),
        ("BIC ", bank["bic"]),
        ("", bank["account"] and translate_text("Account {number}", number=bank["account"])),
        ("", bank["sortCode"] and translate_text("Sort code {number}", number=bank["sortCode"])),
    )
    return "\n".join(f"{label}{text}" for label, text in parts if text)


def _format_e_invoice_address(record: RecordJson, _zone: str) -> str:
    """Format an e-invoice address as the networks write it."""
    address = record["eInvoiceAddress"]
    return f"{address['scheme']}:{address['id']}" if address else EMPTY_TEXT


def _format_books_closed(record: RecordJson, _zone: str) -> str:
    until = record["booksClosedUntil"]
    return format_date(until) if until else translate_text("Not closed")


def format_next_number(numbers: Mapping[str, Any]) -> str:
    """Format the next number of a series."""
    return NumberSeries(numbers["prefix"], numbers["digits"], numbers["next"]).format_next()


def _next_number_formatter(series: str) -> Callable[[RecordJson, str], str]:
    return lambda record, _zone: translate_text("Next: {number}", number=format_next_number(record[series]))


# Formats of the fields that hold a number series.
NUMBER_FORMATS = {
    f"{kind}Numbers": _next_number_formatter(f"{kind}Numbers")
    for kind in ("invoice", "creditNote", "quote", "job", "purchaseOrder")
}

_LEAD = "What appears on your quotes and invoices, where customers pay, and how far the books are closed."
DOCUMENT_SETTINGS_LAYOUT = RecordLayout(
    kind=ORGANISATION,
    own_title="Money",
    lead=_LEAD,
    own_path="/settings/documents",
    base_template="settings.html",
    title_of=lambda _: translate_text("Money"),
    subtitle_of=lambda _: current_language().translate(_LEAD),
    columns=(),
    facts=_PAYMENT_FIELDS,
    field_texts={
        "bank": _format_bank,
        "eInvoiceAddress": _format_e_invoice_address,
        "booksClosedUntil": _format_books_closed,
        "materialsMarkupPercent": lambda record, _zone: f"{record['materialsMarkupPercent']} %",
        **NUMBER_FORMATS,
    },
    skipped_fields=_field_names(UpdateOrganisation) - MONEY_FIELDS,
    first_fields=(*_PAYMENT_FIELDS, *_DOCUMENT_FIELDS, *_BOOKKEEPING_FIELDS),
    page_header="documents_missing.html",
    page_body="documents.html",
    # No panels here: the pages of the organisation and of its settings have them.
    panels=(),
)


@dataclass(frozen=True)
class DocumentSettingsPages:
    """The page and the form of these settings."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return RecordPages(
            self.office, DOCUMENT_SETTINGS_LAYOUT, add_variables=self._page_variables, extend_record=self._read_settings
        ).routes()

    async def _read_settings(self, request: OfficeRequest, _: RecordJson) -> RecordJson:
        """Return the settings, which are shown and edited together with the organisation."""
        return await self.office.perform(request, get_settings)

    async def _page_variables(self, request: OfficeRequest, record: RecordJson | None) -> dict[str, Any]:
        """Return what the page shows besides the bank account: settings, tax rates, address and own email texts."""
        values = record or {}
        rates = (await self.office.perform(request, list_tax_rates, {"limit": 100}))["data"]
        return {
            "decided": drop_empty_cells(
                DOCUMENT_SETTINGS_LAYOUT.format_cells(
                    SettingsOut, (*_DOCUMENT_FIELDS, *_BOOKKEEPING_FIELDS), values, request.display
                )
            ),
            # The default rate comes first.
            "rates": sorted(rates, key=lambda rate: not rate["isDefault"]),
            "address": format_address(values["address"]),
            "own_texts": _list_custom_texts(values["mailTexts"]),
            "may_change": request.can_perform(update_organisation),
        }


def _list_custom_texts(texts: Mapping[str, Any]) -> list[str]:
    """Return the kinds of email for which the organisation has its own text."""
    return [translate_label(kind) for kind, own in texts.items() if own]
