"""Invoices for tests, drafted, issued, paid and credited as the office does it."""

from decimal import Decimal
from typing import Any

from cast import Cast
from labour import logged, price
from mainstay.business.invoices.crediting import credit_invoice, list_credit_notes
from mainstay.business.invoices.operations import draft_invoice, get_invoice, update_invoice
from mainstay.business.invoices.paying import record_payment
from mainstay.business.invoices.sending import send_invoice, void_invoice
from mainstay.terms.rights import Role
from quoting import a_draft, accepted, sent
from trade import a_customer, a_job

BOILER: dict[str, Any] = {"description": "Combi boiler", "unitPrice": "1000", "cost": "700"}
FLUE: dict[str, Any] = {"description": "Flue", "quantity": "2", "unitPrice": "45.55"}


def together(*amounts: str) -> str:
    """What amounts come to together."""
    return str(sum(map(Decimal, amounts)))


def an_invoice(cast: Cast, **given: object) -> dict[str, Any]:
    """A draft for a new customer with a mail address, unless something else is named."""
    told: dict[str, object] = {**given}
    if not {"quoteId", "unbilled", "sources"} & told.keys():
        told = {"title": "New heating", "lines": [BOILER], **told}
    if not {"customerId", "jobId", "quoteId"} & told.keys():
        told["customerId"] = a_customer(cast, email="ann@calder.example")
    return cast.perform(draft_invoice, Role.OFFICE, **told)


def issued(cast: Cast, invoice: dict[str, Any] | None = None, **given: object) -> dict[str, Any]:
    """The same, issued; without a mail unless that is asked for."""
    invoice = invoice or an_invoice(cast)
    told = {"deliver": "none", "confirmed": True, **given}
    return cast.perform(send_invoice, Role.OFFICE, invoiceId=invoice["id"], **told)


def changed(cast: Cast, invoice: dict[str, Any], *edits: dict[str, object], **given: object) -> dict[str, Any]:
    """A draft with its lines changed."""
    return cast.perform(update_invoice, Role.OFFICE, invoiceId=invoice["id"], edits=list(edits), **given)


def paid(cast: Cast, invoice: dict[str, Any], amount: str | None = None, **given: object) -> dict[str, Any]:
    """A payment of an invoice: what is due of it, unless something else is said."""
    told = {"invoiceId": invoice["id"], "amount": amount or now(cast, invoice)["due"], **given}
    return cast.perform(record_payment, Role.OFFICE, **told)


def voided(cast: Cast, invoice: dict[str, Any]) -> dict[str, Any]:
    """The same, void."""
    return cast.perform(void_invoice, Role.OFFICE, invoiceId=invoice["id"], reason="A mistake", confirmed=True)


def credited(cast: Cast, invoice: dict[str, Any], **given: object) -> dict[str, Any]:
    """The same, credited: all that is left, unless something else is said."""
    told = {"reason": "Returned", "deliver": "none", "confirmed": True, **given}
    return cast.perform(credit_invoice, Role.OFFICE, invoiceId=invoice["id"], **told)


def now(cast: Cast, invoice: dict[str, Any]) -> dict[str, Any]:
    """The invoice as it is now."""
    return cast.perform(get_invoice, Role.OFFICE, invoiceId=invoice["id"])


def notes_of(cast: Cast, invoice: dict[str, Any]) -> list[dict[str, Any]]:
    """The credit notes of an invoice, oldest first."""
    found: list[dict[str, Any]] = cast.perform(list_credit_notes, Role.OFFICE, invoiceId=invoice["id"])["data"]
    return found[::-1]


def a_sold_quote(cast: Cast, *lines: dict[str, Any], **given: object) -> dict[str, Any]:
    """A quote that its customer has accepted."""
    told = {"lines": list(lines) or [BOILER, FLUE], **given}
    return accepted(cast, sent(cast, a_draft(cast, **told), deliver="none"))


def worked_job(cast: Cast, **given: object) -> dict[str, Any]:
    """A job that is billed by the hour, at 60 an hour of the member, who costs 25."""
    price(cast, Role.MEMBER, 25, 60)
    customer = a_customer(cast, email="ann@calder.example")
    return a_job(cast, customer, Role.MEMBER, billing="timeAndMaterials", **given)


def an_hour(cast: Cast, job: dict[str, Any], **given: Any) -> str:
    """An approved hour of the member on a job; its id."""
    return str(logged(cast, Role.MEMBER, "approved", jobId=job["id"], **given)["id"])
