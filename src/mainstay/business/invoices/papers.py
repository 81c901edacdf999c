"""The files of invoices and credit notes: PDFs, with the e-invoice inside, and the e-invoice by itself."""

from typing import Any, Literal

from pydantic import Field

from mainstay.business.invoices.credit_note import CREDIT_NOTES, CreditNote
from mainstay.business.invoices.model import Invoice
from mainstay.business.invoices.operations import InvoiceId
from mainstay.business.invoices.store import INVOICES
from mainstay.business.issuing.printed import PDF, XML, PaperOut, paper_of, snapshot_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.paper.einvoice import why_never
from mainstay.terms.actor import NO_TOOL
from mainstay.terms.refusal import Conflict
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input
from mainstay.values.words import words_of


class GetInvoicePdf(Input):
    """Which invoice."""

    invoice_id: InvoiceId
    copy_: Literal["void"] | None = Field(
        None, alias="copy", description="`void` for the stamped copy of one that is void."
    )


class GetInvoiceUbl(Input):
    """Which invoice."""

    invoice_id: InvoiceId


class GetCreditNotePdf(Input):
    """Which credit note."""

    credit_note_id: str = Field(title="Credit note", description="The credit note's id or number.")


class GetCreditNoteUbl(Input):
    """Which credit note."""

    credit_note_id: str = Field(title="Credit note", description="The credit note's id or number.")


@operation(
    right=Right.INVOICES_READ,
    effect=Effect.READ,
    rest="GET /invoices/{invoice_id}/pdf",
    offered=NO_TOOL,
    on=INVOICES,
    gives=PDF,
)
def get_invoice_pdf(_ctx: Context, given: GetInvoicePdf, invoice: Invoice) -> PaperOut:
    """Get the PDF of an invoice.

    As it was issued, with the e-invoice inside: always the same bytes. A draft has none.
    """
    if given.copy_ and invoice.status != "void":
        raise Conflict(f"{invoice.named} is not void, so there is no stamped copy of it.")
    return paper_of(invoice, given.copy_ or "pdf")


@operation(
    right=Right.INVOICES_READ,
    effect=Effect.READ,
    rest="GET /invoices/{invoice_id}/ubl",
    offered=NO_TOOL,
    on=INVOICES,
    gives=XML,
)
def get_invoice_ubl(_ctx: Context, _given: GetInvoiceUbl, invoice: Invoice) -> PaperOut:
    """Get an invoice as an e-invoice in UBL.

    As it was issued. Where it cannot be one, what is missing is told.
    """
    return e_invoice_of(invoice)


@operation(
    right=Right.INVOICES_READ,
    effect=Effect.READ,
    rest="GET /credit-notes/{credit_note_id}/pdf",
    offered=NO_TOOL,
    on=CREDIT_NOTES,
    gives=PDF,
)
def get_credit_note_pdf(_ctx: Context, _given: GetCreditNotePdf, credit_note: CreditNote) -> PaperOut:
    """Get the PDF of a credit note.

    As it was issued, with the e-invoice inside: always the same bytes.
    """
    return paper_of(credit_note)


@operation(
    right=Right.INVOICES_READ,
    effect=Effect.READ,
    rest="GET /credit-notes/{credit_note_id}/ubl",
    offered=NO_TOOL,
    on=CREDIT_NOTES,
    gives=XML,
)
def get_credit_note_ubl(_ctx: Context, _given: GetCreditNoteUbl, credit_note: CreditNote) -> PaperOut:
    """Get a credit note as an e-invoice in UBL.

    As it was issued. Where it cannot be one, what is missing is told.
    """
    return e_invoice_of(credit_note)


OPERATIONS = (get_invoice_pdf, get_invoice_ubl, get_credit_note_pdf, get_credit_note_ubl)


def e_invoice_of(document: Invoice | CreditNote) -> PaperOut:
    """The e-invoice by itself of what was issued."""
    paper = paper_of(document, "ubl")
    _check_is_e_invoice(document, document.e_invoice or {})
    return paper


def _check_is_e_invoice(document: Invoice | CreditNote, judged: dict[str, Any]) -> None:
    called = document.called
    if judged["status"] == "notApplicable":
        raise Conflict(f"{called} cannot be an e-invoice: {why_never(snapshot_of(document))}.")
    if judged["missing"]:
        lacking = ", ".join(map(spelled, judged["missing"]))
        raise Conflict(f"{called} is no e-invoice, because this was missing when it was issued: {lacking}.")


def spelled(name: str) -> str:
    """What an e-invoice lacks, in words: `your tax number` for `seller.taxNumber`."""
    party, _, field = name.partition(".")
    words = " ".join(words_of(part).lower() for part in (field or party).split("."))
    return f"{_WHOSE[party]} {words}" if party in _WHOSE else words


_WHOSE = {"seller": "your", "buyer": "the customer's"}
