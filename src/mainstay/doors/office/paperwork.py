"""Settings, Money: what stands on quotes and invoices, where customers pay, the books, and the way to the rest."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from mainstay.business.organisation.numbering import Series
from mainstay.business.organisation.operations import UpdateOrganisation, get_organisation, update_organisation
from mainstay.business.organisation.settings import SettingsOut, UpdateSettings, get_settings
from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.doors.office.arrangement import Arrangement
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.references import AsTold
from mainstay.doors.office.room import Room
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.showing import NOTHING, known
from mainstay.doors.pages.words import date_words, place
from mainstay.values.bank import in_groups

# What is asked for here: of the organisation itself, and of its settings.
_PAID = ("bank", "eInvoiceAddress")
_PRINTED = (
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
_BOOKS = ("booksClosedUntil", "materialsMarkupPercent")


def _names(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(field.alias or name for name, field in model.model_fields.items())


OF_SETTINGS = _names(UpdateSettings)
OF_MONEY = frozenset((*_PAID, *_PRINTED, *_BOOKS))
# What each kind of mail says has a page of its own.
OF_MAILS = frozenset({"mailTexts"})


def _bank(record: AsTold, _zone: str) -> str:
    """The account, a line for each part of it."""
    bank = record["bank"]
    if not bank:
        return NOTHING
    told = (
        ("", bank["name"]),
        ("IBAN ", in_groups(bank["iban"] or "")),
        ("BIC ", bank["bic"]),
        ("Account ", bank["account"]),
        ("Sort code ", bank["sortCode"]),
    )
    return "\n".join(f"{label}{text}" for label, text in told if text)


def _e_invoice_address(record: AsTold, _zone: str) -> str:
    """As it is written in the networks."""
    address = record["eInvoiceAddress"]
    return f"{address['scheme']}:{address['id']}" if address else NOTHING


def _closed(record: AsTold, _zone: str) -> str:
    until = record["booksClosedUntil"]
    return date_words(until) if until else "Not closed"


def next_number(numbers: Mapping[str, Any]) -> str:
    """The next number of a series, written out."""
    return Series(numbers["prefix"], numbers["digits"], numbers["next"]).number()


def _coming(series: str) -> Callable[[AsTold, str], str]:
    return lambda record, _zone: f"{next_number(record[series])} comes next"


# How series of numbers are told, by the fields that are about them.
NUMBERED = {
    f"{kind}Numbers": _coming(f"{kind}Numbers") for kind in ("invoice", "creditNote", "quote", "job", "purchaseOrder")
}

_LEAD = "What stands on your quotes and invoices, where customers pay, and until when the books are closed."
PAPERWORK = Arrangement(
    title="Money",
    lead=_LEAD,
    path="/settings/documents",
    area="Settings",
    frame="settings.html",
    gets=get_organisation,
    called=lambda _: "Money",
    below=lambda _: _LEAD,
    columns=(),
    facts=_PAID,
    words={
        "bank": _bank,
        "eInvoiceAddress": _e_invoice_address,
        "booksClosedUntil": _closed,
        "materialsMarkupPercent": lambda record, _zone: f"{record['materialsMarkupPercent']} %",
        **NUMBERED,
    },
    skips=_names(UpdateOrganisation) - OF_MONEY,
    first=(*_PAID, *_PRINTED, *_BOOKS),
    ways="documents_missing.html",
    more="documents.html",
    # It is about the organisation and its settings, each of which has a page of its own for them.
    sides=(),
)


@dataclass(frozen=True)
class Paperwork:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        return Room(self.desk, PAPERWORK, shows=self._shown, knows=self._settings).routes()

    async def _settings(self, guest: Guest, _: AsTold) -> AsTold:
        """What the settings say, which are kept with the organisation and changed with it."""
        return await self.desk.perform(guest, get_settings)

    async def _shown(self, guest: Guest, record: AsTold | None) -> dict[str, Any]:
        """What there is beside the bank, and in how far the rest is there."""
        told = record or {}
        rates = (await self.desk.perform(guest, list_tax_rates, {"limit": 100}))["data"]
        return {
            "decided": known(PAPERWORK.cells(SettingsOut, (*_PRINTED, *_BOOKS), told, guest.here)),
            # The usual one first.
            "rates": sorted(rates, key=lambda rate: not rate["isDefault"]),
            "address": place(told["address"]),
            "own_words": _own_words(told["mailTexts"]),
            "may_change": guest.may(update_organisation),
        }


def _own_words(texts: Mapping[str, Any]) -> list[str]:
    """The kinds of mail for which the organisation has words of its own."""
    return [kind for kind, own in texts.items() if own]
