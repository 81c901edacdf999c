"""Invoices for tests, drafted, issued, paid and credited as the office does it."""

from datetime import date
from decimal import Decimal
from typing import Any

from mainstay.business.invoices.drafting.operations import draft_invoice, get_invoice, update_invoice
from mainstay.business.invoices.issuing.crediting import credit_invoice, list_credit_notes
from mainstay.business.invoices.issuing.overdue import TIMERS
from mainstay.business.invoices.issuing.sending import send_invoice, void_invoice
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer, make_job
from support.hours import make_time_entry, set_rates
from support.quotes import accept_quote, issue_quote, make_quote

BOILER: dict[str, Any] = {"description": "Combi boiler", "unitPrice": "1000", "cost": "700"}
FLUE: dict[str, Any] = {"description": "Flue", "quantity": "2", "unitPrice": "45.55"}


def sum_amounts(*amounts: str) -> str:
    """Add amounts up."""
    return str(sum(map(Decimal, amounts)))


def make_invoice(cast: Cast, **given: object) -> dict[str, Any]:
    """Draft an invoice, by default for a new customer with an email address."""
    values: dict[str, object] = {**given}
    if not {"quoteId", "unbilled", "sources"} & values.keys():
        values = {"title": "New heating", "lines": [BOILER], **values}
    if not {"customerId", "jobId", "quoteId"} & values.keys():
        values["customerId"] = make_customer(cast, email="ann@calder.example")
    return cast.perform(draft_invoice, Role.OFFICE, **values)


def issue_invoice(cast: Cast, invoice: dict[str, Any] | None = None, **given: object) -> dict[str, Any]:
    """Issue an invoice, by default without an email."""
    invoice = invoice or make_invoice(cast)
    values = {"deliver": "none", "confirmed": True, **given}
    return cast.perform(send_invoice, Role.OFFICE, invoiceId=invoice["id"], **values)


def begin_day(cast: Cast, day: date) -> None:
    """Note which invoices have become overdue, as the worker does when a day begins."""
    [timer] = TIMERS
    cast.performer.run_daily_timer(timer, cast.organisation, day)


def edit_invoice(cast: Cast, invoice: dict[str, Any], *edits: dict[str, object], **given: object) -> dict[str, Any]:
    """Change the lines of a draft."""
    return cast.perform(update_invoice, Role.OFFICE, invoiceId=invoice["id"], edits=list(edits), **given)


def pay_invoice(cast: Cast, invoice: dict[str, Any], amount: str | None = None, **given: object) -> dict[str, Any]:
    """Record a payment of an invoice, by default of all that is due."""
    values = {"invoiceId": invoice["id"], "amount": amount or reread_invoice(cast, invoice)["due"], **given}
    return cast.perform(record_payment, Role.OFFICE, **values)


def void_issued(cast: Cast, invoice: dict[str, Any]) -> dict[str, Any]:
    """Void an invoice."""
    return cast.perform(void_invoice, Role.OFFICE, invoiceId=invoice["id"], reason="A mistake", confirmed=True)


def credit_issued(cast: Cast, invoice: dict[str, Any], **given: object) -> dict[str, Any]:
    """Credit an invoice, by default all that is left."""
    values = {"reason": "Returned", "deliver": "none", "confirmed": True, **given}
    return cast.perform(credit_invoice, Role.OFFICE, invoiceId=invoice["id"], **values)


def reread_invoice(cast: Cast, invoice: dict[str, Any]) -> dict[str, Any]:
    """Return an invoice as it is now."""
    return cast.perform(get_invoice, Role.OFFICE, invoiceId=invoice["id"])


def credit_notes_of(cast: Cast, invoice: dict[str, Any]) -> list[dict[str, Any]]:
    """The credit notes of an invoice, oldest first."""
    found: list[dict[str, Any]] = cast.perform(list_credit_notes, Role.OFFICE, invoiceId=invoice["id"])["data"]
    return found[::-1]


def make_accepted_quote(cast: Cast, *lines: dict[str, Any], **given: object) -> dict[str, Any]:
    """Make a quote that its customer has accepted."""
    values = {"lines": list(lines) or [BOILER, FLUE], **given}
    return accept_quote(cast, issue_quote(cast, make_quote(cast, **values), deliver="none"))


def make_hourly_job(cast: Cast, **given: object) -> dict[str, Any]:
    """Make a job that is billed by the hour; the member bills 60 and costs 25."""
    set_rates(cast, Role.MEMBER, 25, 60)
    customer = make_customer(cast, email="ann@calder.example")
    return make_job(cast, customer, Role.MEMBER, billing="timeAndMaterials", **given)


def make_approved_hour(cast: Cast, job: dict[str, Any], **given: Any) -> str:
    """Make an approved hour of the member on a job, and return its id."""
    return str(make_time_entry(cast, Role.MEMBER, "approved", jobId=job["id"], **given)["id"])
