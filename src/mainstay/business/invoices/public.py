"""What a customer sees of an invoice, by the link that was sent to them."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import orjson
from pydantic import Field

from mainstay.business.invoices.events import InvoiceViewed
from mainstay.business.invoices.model import Invoice, Status
from mainstay.business.invoices.papers import e_invoice_of
from mainstay.business.invoices.store import INVOICES, STATUS
from mainstay.business.issuing.printed import PDF, XML, PaperOut, paper_of, snapshot_of
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Door
from mainstay.terms.listed import Own
from mainstay.terms.refusal import NotFound
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Kept, Shown
from mainstay.values.money import amount_text

_BY_LINK = frozenset({Door.LINK})


class LinkedInvoiceOut(Shown):
    """An invoice as its customer sees it."""

    noun = "linkedInvoice"

    id: str
    status: Status
    number: str
    language: str
    snapshot: dict[str, Any] = Field(description="What was issued, as it was.")
    total: str
    paid: str
    credited: str
    due: str
    has_xml: bool = Field(description="Whether it is an e-invoice as well.")


class Outcome(NamedTuple):
    """What its customer is told became of an invoice: the message, and whether it is good news or bad."""

    message: str
    tone: Literal["good", "bad", ""] = ""


def outcome_of(status: Status) -> Outcome | None:
    """What became of it; nothing yet of one that is not due."""
    return _OUTCOMES.get(status)


_OUTCOMES: dict[Status, Outcome] = {
    "paid": Outcome("public.paidInFull", "good"),
    "partPaid": Outcome("public.partPaid"),
    "overdue": Outcome("public.overdueSince", "bad"),
    "void": Outcome("public.voidNotice", "bad"),
    "credited": Outcome("public.creditedNotice"),
}


class GetLinkedInvoice(Input):
    """Which invoice."""

    invoice_id: str = Field(description="The invoice's id.")


class GetLinkedInvoicePdf(Input):
    """Which invoice."""

    invoice_id: str = Field(description="The invoice's id.")
    copy_: Literal["void"] | None = Field(None, alias="copy", description="`void` for the stamped copy.")


class GetLinkedInvoiceUbl(Input):
    """Which invoice."""

    invoice_id: str = Field(description="The invoice's id.")


class SeeLinkedInvoice(Input):
    """Which invoice."""

    invoice_id: str = Field(description="The invoice's id.")


@dataclass(frozen=True, slots=True)
class Linked(Kept):
    """An invoice as the rules for its customer see it; nothing of its row is shown as it is."""

    shown = LinkedInvoiceOut

    status: Status
    number: str


# Only what is told here is read: the customer's page is made of what was frozen.
LINKED = Listing(
    Linked,
    source="invoice",
    what="invoice",
    prefix="invoice",
    id_field="invoice_id",
    columns={"status": STATUS, "has_xml": "NULL"},
    own=Own("invoice.id", unless=Right.INVOICES_READ),
)


@operation(right=Right.LINKED_INVOICE_READ, effect=Effect.READ, offered=_BY_LINK)
def get_linked_invoice(ctx: Context, given: GetLinkedInvoice) -> LinkedInvoiceOut:
    """Read an invoice that was sent to you.

    As it was issued, with what was paid since.
    """
    return _shown(_invoice(ctx, given.invoice_id))


@operation(right=Right.LINKED_INVOICE_READ, effect=Effect.READ, offered=_BY_LINK, gives=PDF)
def get_linked_invoice_pdf(ctx: Context, given: GetLinkedInvoicePdf) -> PaperOut:
    """Get the PDF of an invoice that was sent to you.

    As it was issued, or the stamped copy of one that is void.
    """
    invoice = _invoice(ctx, given.invoice_id)
    return paper_of(invoice, "void" if given.copy_ and invoice.status == "void" else "pdf")


@operation(right=Right.LINKED_INVOICE_READ, effect=Effect.READ, offered=_BY_LINK, gives=XML)
def get_linked_invoice_ubl(ctx: Context, given: GetLinkedInvoiceUbl) -> PaperOut:
    """Get an invoice that was sent to you as an e-invoice.

    As it was issued.
    """
    return e_invoice_of(_invoice(ctx, given.invoice_id))


@operation(right=Right.LINKED_INVOICE_READ, effect=Effect.CHANGE, offered=_BY_LINK, on=LINKED)
def see_linked_invoice(ctx: Context, _given: SeeLinkedInvoice, linked: Linked) -> LinkedInvoiceOut:
    """Say that an invoice was seen.

    The first time counts.
    """
    invoice = _invoice(ctx, linked.id)
    if invoice.viewed_at is None:
        after = INVOICES.save(ctx, invoice, {"viewed_at": ctx.at})
        ctx.record(InvoiceViewed(after, invoice))
        invoice = after
    return _shown(invoice)


OPERATIONS = (get_linked_invoice, get_linked_invoice_pdf, get_linked_invoice_ubl, see_linked_invoice)


def _invoice(ctx: Context, identity: str) -> Invoice:
    """The invoice of a link, and no other."""
    LINKED.fetch(ctx, identity)
    invoice = INVOICES.find(ctx, "invoice.id = :id AND invoice.snapshot IS NOT NULL", id=identity)
    if invoice is None:
        raise NotFound(INVOICES.what)
    return invoice


def _shown(invoice: Invoice) -> LinkedInvoiceOut:
    def text(minor: int) -> str:
        return amount_text(minor, invoice.currency)

    return LinkedInvoiceOut(
        object=LinkedInvoiceOut.noun,
        id=invoice.id,
        status=invoice.status,
        number=invoice.named,
        language=snapshot_of(invoice).language,
        snapshot=orjson.loads(invoice.snapshot or "{}"),
        total=text(invoice.total),
        paid=text(invoice.paid),
        credited=text(invoice.credited),
        due=text(invoice.due),
        has_xml=(invoice.e_invoice or {}).get("status") == "included",
    )
