"""The invoice that a customer sees by the link that was sent to them."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import orjson
from pydantic import Field

from mainstay.business.invoices.events import InvoiceViewed
from mainstay.business.invoices.issuing.document_files import e_invoice_file_of
from mainstay.business.invoices.model import Invoice, InvoiceStatus
from mainstay.business.invoices.store import INVOICES, STATUS
from mainstay.business.issuing.document_files import PDF, XML, PaperOut, document_file_of, snapshot_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.record_store import RecordStore
from mainstay.values.descriptions import describe
from mainstay.values.message import Message
from mainstay.values.money import amount_text
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.list_queries import Visibility
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import NotFound
from mainstay.vocabulary.schemas import Input, Output, StoredRecord

_LINK_DOORS = frozenset({Door.LINK})


class LinkedInvoiceOut(Output):
    """An invoice as its customer sees it."""

    noun = "linkedInvoice"

    id: str
    status: InvoiceStatus
    number: str
    language: str
    snapshot: dict[str, Any] = Field(description="The invoice as it was issued.")
    total: str
    paid: str
    credited: str
    due: str
    has_xml: bool = Field(description="Whether it is also an e-invoice.")


class InvoiceNotice(NamedTuple):
    """The notice for a customer about an invoice's status. Its text is among the messages of documents."""

    message_key: str
    tone: Literal["good", "bad", ""] = ""


def notice_of(status: InvoiceStatus) -> InvoiceNotice | None:
    """Return the notice for a status; None if there is none."""
    return _NOTICES.get(status)


_NOTICES: dict[InvoiceStatus, InvoiceNotice] = {
    "paid": InvoiceNotice("public.paidInFull", "good"),
    "partPaid": InvoiceNotice("public.partPaid"),
    "overdue": InvoiceNotice("public.overdueSince", "bad"),
    "void": InvoiceNotice("public.voidNotice", "bad"),
    "credited": InvoiceNotice("public.creditedNotice"),
}


class GetLinkedInvoice(Input):
    """The invoice."""

    invoice_id: str = Field(description=describe("[[The invoice's ID.]]"))


class GetLinkedInvoicePdf(Input):
    """The invoice."""

    invoice_id: str = Field(description=describe("[[The invoice's ID.]]"))
    copy_: Literal["void"] | None = Field(
        None, alias="copy", description=describe("[[`void`: the copy stamped as void.]]")
    )


class GetLinkedInvoiceUbl(Input):
    """The invoice."""

    invoice_id: str = Field(description=describe("[[The invoice's ID.]]"))


@dataclass(frozen=True, slots=True)
class LinkedInvoice(StoredRecord):
    """The status and the number of an invoice, to check what a link opens."""

    output = LinkedInvoiceOut

    status: InvoiceStatus
    number: str


# What the customer sees besides these is made from the snapshot, by _build_output.
LINKED_INVOICES = RecordStore(
    LinkedInvoice,
    source="invoice",
    columns={"status": STATUS, "has_xml": "NULL"},
    visibility=Visibility("invoice.id", unrestricted_with=Permission.INVOICES_READ),
)


@operation(permission=Permission.LINKED_INVOICE_READ, effect=Effect.READ, doors=_LINK_DOORS)
def get_linked_invoice(ctx: Context, given: GetLinkedInvoice) -> LinkedInvoiceOut:
    """View invoice.

    As it was issued, with what was paid since.
    """
    return _build_output(_fetch_linked_invoice(ctx, given.invoice_id))


@operation(permission=Permission.LINKED_INVOICE_READ, effect=Effect.READ, doors=_LINK_DOORS, returns_file=PDF)
def get_linked_invoice_pdf(ctx: Context, given: GetLinkedInvoicePdf) -> PaperOut:
    """Get PDF of invoice you received.

    As it was issued, or the copy of a void invoice that is stamped as void.
    """
    invoice = _fetch_linked_invoice(ctx, given.invoice_id)
    return document_file_of(invoice, "void" if given.copy_ and invoice.status == "void" else "pdf")


@operation(permission=Permission.LINKED_INVOICE_READ, effect=Effect.READ, doors=_LINK_DOORS, returns_file=XML)
def get_linked_invoice_ubl(ctx: Context, given: GetLinkedInvoiceUbl) -> PaperOut:
    """Get e-invoice you received.

    As it was issued.
    """
    return e_invoice_file_of(_fetch_linked_invoice(ctx, given.invoice_id))


@operation(
    permission=Permission.LINKED_INVOICE_READ,
    effect=Effect.CHANGE,
    doors=_LINK_DOORS,
    on=LINKED_INVOICES,
    not_undone=Message("The customer has seen the invoice."),
    past_text="Invoice viewed",
)
def see_linked_invoice(ctx: Context, _given: Input, linked: LinkedInvoice) -> LinkedInvoiceOut:
    """Record that the customer viewed the invoice.

    Only the first time counts.
    """
    invoice = _fetch_linked_invoice(ctx, linked.id)
    if invoice.viewed_at is None:
        after = INVOICES.save(ctx, invoice, {"viewed_at": ctx.now_text})
        ctx.emit(InvoiceViewed(after, invoice))
        invoice = after
    return _build_output(invoice)


OPERATIONS = (get_linked_invoice, get_linked_invoice_pdf, get_linked_invoice_ubl, see_linked_invoice)


def _fetch_linked_invoice(ctx: Context, record_id: str) -> Invoice:
    """Fetch the invoice that the link belongs to; refuse any other."""
    LINKED_INVOICES.fetch(ctx, record_id)
    invoice = INVOICES.find(ctx, "invoice.id = :id AND invoice.snapshot IS NOT NULL", id=record_id)
    if invoice is None:
        raise NotFound(INVOICES.label)
    return invoice


def _build_output(invoice: Invoice) -> LinkedInvoiceOut:
    def format_amount(minor: int) -> str:
        return amount_text(minor, invoice.currency)

    return LinkedInvoiceOut(
        object=LinkedInvoiceOut.noun,
        id=invoice.id,
        status=invoice.status,
        number=invoice.short_name,
        language=snapshot_of(invoice).language,
        snapshot=orjson.loads(invoice.snapshot or "{}"),
        total=format_amount(invoice.total),
        paid=format_amount(invoice.paid),
        credited=format_amount(invoice.credited),
        due=format_amount(invoice.due),
        has_xml=(invoice.e_invoice or {}).get("status") == "included",
    )
