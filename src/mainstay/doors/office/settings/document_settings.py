"""Settings → Money: texts and numbers of documents, bank account and closed books."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from mainstay.business.organisation.email_texts import MailTexts
from mainstay.business.organisation.model import OrganisationOut
from mainstay.business.organisation.numbering import NumberSeries
from mainstay.business.organisation.operations import UpdateOrganisation, update_organisation
from mainstay.business.organisation.settings import Numbering, SettingsOut, UpdateSettings, get_settings
from mainstay.business.organisation.store import ORGANISATION
from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.documents.locales import format_percent_of_country
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.reference_fields import AnyRecord
from mainstay.doors.pages.display import EMPTY_TEXT, drop_empty_cells
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import format_address, format_date
from mainstay.doors.pages.page_language import current_language, translate_label, translate_text
from mainstay.values.bank import group_iban
from mainstay.vocabulary.typed_records import extend_record

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


def _format_bank(record: OrganisationOut, _zone: str) -> str:
    """Format a bank account, with a line for each part."""
    bank = record.bank
    if not bank:
        return EMPTY_TEXT
    parts = (
        ("", bank.name),
        ("IBAN ", group_iban(bank.iban or "")),
        ("BIC ", bank.bic),
        ("", bank.account and translate_text("Account {number}", number=bank.account)),
        ("", bank.sort_code and translate_text("Sort code {number}", number=bank.sort_code)),
    )
    return "\n".join(f"{label}{text}" for label, text in parts if text)


def _format_e_invoice_address(record: OrganisationOut, _zone: str) -> str:
    """Format an e-invoice address as the networks write it."""
    address = record.e_invoice_address
    return f"{address.scheme}:{address.id}" if address else EMPTY_TEXT


def _format_books_closed(record: SettingsOut, _zone: str) -> str:
    until = record.books_closed_until
    return format_date(until) if until else translate_text("Not closed")


def format_next_number(numbers: Numbering) -> str:
    """Format the next number of a series."""
    return NumberSeries(numbers.prefix, numbers.digits, numbers.next or 1).format_next()


def _next_number_formatter(series: str) -> Callable[[AnyRecord, str], str]:
    return lambda record, _zone: translate_text("Next: {number}", number=format_next_number(getattr(record, series)))


# Formats of the fields that hold a number series.
NUMBER_FORMATS = {
    to_camel(series): _next_number_formatter(series)
    for series in ("invoice_numbers", "credit_note_numbers", "quote_numbers", "job_numbers", "purchase_order_numbers")
}


def _format_markup(record: AnyRecord, _zone: str) -> str:
    return format_percent_of_country(str(record.materials_markup_percent), record.country)


_LEAD = "What appears on your quotes and invoices, where customers pay, and the date up to which your books are closed."
DOCUMENT_SETTINGS_LAYOUT = RecordLayout(
    kind=ORGANISATION,
    own_title="Money",
    edit_title="Edit money settings",
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
        "materialsMarkupPercent": _format_markup,
        **NUMBER_FORMATS,
    },
    skipped_fields=_field_names(UpdateOrganisation) - MONEY_FIELDS,
    first_fields=(*_PAYMENT_FIELDS, *_DOCUMENT_FIELDS, *_BOOKKEEPING_FIELDS),
    page_header="documents_missing.html",
    page_body="documents.html",
    # No panels here: the pages of the organisation and of its settings have them.
    panels=(),
)


class _MoneySettings(OrganisationOut, SettingsOut):
    """The organisation and its settings, which are shown and edited together."""

    noun = OrganisationOut.noun


@dataclass(frozen=True)
class DocumentSettingsPages:
    """The page and the form of these settings."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return RecordPages(
            self.office, DOCUMENT_SETTINGS_LAYOUT, add_variables=self._page_variables, extend_record=self._add_settings
        ).routes()

    async def _add_settings(self, request: OfficeRequest, organisation: OrganisationOut) -> _MoneySettings:
        settings = await self.office.perform(request, get_settings)
        return extend_record(_MoneySettings, organisation, **(vars(settings) | vars(organisation)))

    async def _page_variables(self, request: OfficeRequest, record: _MoneySettings | None) -> dict[str, Any]:
        """Return what the page shows besides the bank account: settings, tax rates, address and own email texts."""
        if record is None:
            return {}
        rates = (await self.office.perform(request, list_tax_rates, {"limit": 100})).data
        return {
            "decided": drop_empty_cells(
                DOCUMENT_SETTINGS_LAYOUT.format_cells(
                    SettingsOut, (*_DOCUMENT_FIELDS, *_BOOKKEEPING_FIELDS), record, request.display
                )
            ),
            # The default rate comes first.
            "rates": sorted(rates, key=lambda rate: not rate.is_default),
            "address": format_address(record.address),
            "own_texts": _list_custom_texts(record.mail_texts),
            "can_change": request.can_perform(update_organisation),
        }


def _list_custom_texts(texts: MailTexts) -> list[str]:
    """Return the kinds of email for which the organisation has its own text."""
    return [translate_label(kind) for kind, own in vars(texts).items() if own]
