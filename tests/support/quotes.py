"""Quotes for tests, drafted, sent and answered as the office does it; and their PDF files."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from mainstay.business.issuing.pdf_files import DocumentFiles
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.quotes.decisions import record_quote_decision
from mainstay.business.quotes.operations import draft_quote, update_quote
from mainstay.business.quotes.sending import send_quote
from mainstay.infrastructure.files import FolderFileStore
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer

BOILER: dict[str, Any] = {"description": "Combi boiler", "unitPrice": "1000", "cost": "700"}
WARRANTY: dict[str, Any] = {"description": "Warranty, 5 years", "unitPrice": "200", "optional": True}
PARTS: dict[str, Any] = {"quotes": True, "invoices": False}


def make_default_tax_rate(cast: Cast, percent: str = "20") -> str:
    """Make the default tax rate, and return its id."""
    parts = [{"name": "VAT", "percent": percent}]
    return str(cast.perform(save_tax_rate, name=f"VAT {percent} %", components=parts, isDefault=True)["id"])


def make_quote(cast: Cast, **given: object) -> dict[str, Any]:
    """Draft a quote, by default for a new customer with an email address."""
    values: dict[str, object] = {"title": "New heating", "lines": [BOILER, WARRANTY], **given}
    if "customerId" not in values and "jobId" not in values:
        values["customerId"] = make_customer(cast, email="ann@calder.example")
    return cast.perform(draft_quote, Role.OFFICE, **values)


def issue_quote(cast: Cast, quote: dict[str, Any] | None = None, **given: object) -> dict[str, Any]:
    """Send a quote."""
    quote = quote or make_quote(cast)
    return cast.perform(send_quote, Role.OFFICE, quoteId=quote["id"], confirmed=True, **given)


def accept_quote(cast: Cast, quote: dict[str, Any], **given: object) -> dict[str, Any]:
    """Record that a quote was accepted by phone."""
    values = {"decision": "accepted", "name": "Ann Boyle", "confirmed": True, **given}
    return cast.perform(record_quote_decision, Role.OFFICE, quoteId=quote["id"], **values)


def edit_quote(cast: Cast, quote: dict[str, Any], *edits: dict[str, object]) -> dict[str, Any]:
    """Change the lines of a draft."""
    return cast.perform(update_quote, Role.OFFICE, quoteId=quote["id"], edits=list(edits))


def cast_later(cast: Cast, **time: float) -> Cast:
    """Return the same cast with its clock so much later."""
    return cast_at(cast, cast.performer.clock() + timedelta(**time))


def cast_at(cast: Cast, moment: datetime) -> Cast:
    """Return the same cast with its clock at a moment."""
    return replace(cast, performer=replace(cast.performer, clock=lambda: moment))


def open_document_files(cast: Cast, folder: Path) -> DocumentFiles:
    """Open the PDF files of the cast's documents."""
    return DocumentFiles(cast.performer.database, FolderFileStore(folder / "files"))
