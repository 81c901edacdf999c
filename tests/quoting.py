"""Quotes for tests, drafted, sent and answered as the office does it; and a press that prints them."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cast import Cast
from mainstay.backing.files import Files
from mainstay.business.issuing.press import Press
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.quotes.deciding import record_quote_decision
from mainstay.business.quotes.operations import draft_quote, update_quote
from mainstay.business.quotes.sending import send_quote
from mainstay.terms.rights import Role
from trade import a_customer

BOILER: dict[str, Any] = {"description": "Combi boiler", "unitPrice": "1000", "cost": "700"}
WARRANTY: dict[str, Any] = {"description": "Warranty, 5 years", "unitPrice": "200", "optional": True}
PARTS: dict[str, Any] = {"quotes": True, "invoices": False}


def usual_tax(cast: Cast, percent: str = "20") -> str:
    """A rate of tax that is taken where nothing else is said; its id."""
    parts = [{"name": "VAT", "percent": percent}]
    return str(cast.perform(save_tax_rate, name=f"VAT {percent} %", components=parts, isDefault=True)["id"])


def a_draft(cast: Cast, **given: object) -> dict[str, Any]:
    """A quote for a new customer with a mail address, unless another is named."""
    told: dict[str, object] = {"title": "New heating", "lines": [BOILER, WARRANTY], **given}
    if "customerId" not in told and "jobId" not in told:
        told["customerId"] = a_customer(cast, email="ann@calder.example")
    return cast.perform(draft_quote, Role.OFFICE, **told)


def sent(cast: Cast, quote: dict[str, Any] | None = None, **given: object) -> dict[str, Any]:
    """The same, sent."""
    quote = quote or a_draft(cast)
    return cast.perform(send_quote, Role.OFFICE, quoteId=quote["id"], confirmed=True, **given)


def accepted(cast: Cast, quote: dict[str, Any], **given: object) -> dict[str, Any]:
    """The same, accepted by phone."""
    told = {"decision": "accepted", "name": "Ann Boyle", "confirmed": True, **given}
    return cast.perform(record_quote_decision, Role.OFFICE, quoteId=quote["id"], **told)


def edited(cast: Cast, quote: dict[str, Any], *edits: dict[str, object]) -> dict[str, Any]:
    """A draft with its lines changed."""
    return cast.perform(update_quote, Role.OFFICE, quoteId=quote["id"], edits=list(edits))


def later(cast: Cast, **passed: float) -> Cast:
    """The same people, when so much time has passed."""
    return at(cast, cast.stage.clock() + timedelta(**passed))


def at(cast: Cast, moment: datetime) -> Cast:
    """The same people at a moment."""
    return replace(cast, stage=replace(cast.stage, clock=lambda: moment))


def press(cast: Cast, folder: Path) -> Press:
    """What prints their documents."""
    return Press(cast.stage.database, Files(folder / "files"))
