"""The files of invoices and credit notes: PDFs with the e-invoice inside, and the e-invoice as a file of its own."""

from typing import Any, Literal

from pydantic import Field

from mainstay.business.invoices.drafting.operations import InvoiceId
from mainstay.business.invoices.issuing.credit_note import CREDIT_NOTES, CreditNote
from mainstay.business.invoices.model import Invoice
from mainstay.business.invoices.store import INVOICES
from mainstay.business.issuing.document_files import PDF, XML, PaperOut, document_file_of, snapshot_of
from mainstay.documents.einvoice import explain_impossible
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.choices import to_label
from mainstay.vocabulary.actor import API_AND_OFFICE
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict
from mainstay.vocabulary.schemas import Input


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
    permission=Permission.INVOICES_READ,
    effect=Effect.READ,
    api_path="GET /invoices/{invoice_id}/pdf",
    doors=API_AND_OFFICE,
    on=INVOICES,
    returns_file=PDF,
)
def get_invoice_pdf(_ctx: Context, given: GetInvoicePdf, invoice: Invoice) -> PaperOut:
    """Get the PDF of an invoice.

    As it was issued, with the e-invoice inside: always the same bytes. A draft has none.
    """
    if given.copy_ and invoice.status != "void":
        raise Conflict(f"{invoice.short_name} is not void, so there is no stamped copy of it.")
    return document_file_of(invoice, given.copy_ or "pdf")


@operation(
    permission=Permission.INVOICES_READ,
    effect=Effect.READ,
    api_path="GET /invoices/{invoice_id}/ubl",
    doors=API_AND_OFFICE,
    on=INVOICES,
    returns_file=XML,
)
def get_invoice_ubl(_ctx: Context, _given: GetInvoiceUbl, invoice: Invoice) -> PaperOut:
    """Get an invoice as an e-invoice in UBL.

    As it was issued. Where it cannot be one, what is missing is told.
    """
    return e_invoice_file_of(invoice)


@operation(
    permission=Permission.INVOICES_READ,
    effect=Effect.READ,
    api_path="GET /credit-notes/{credit_note_id}/pdf",
    doors=API_AND_OFFICE,
    on=CREDIT_NOTES,
    returns_file=PDF,
)
def get_credit_note_pdf(_ctx: Context, _given: GetCreditNotePdf, credit_note: CreditNote) -> PaperOut:
    """Get the PDF of a credit note.

    As it was issued, with the e-invoice inside: always the same bytes.
    """
    return document_file_of(credit_note)


@operation(
    permission=Permission.INVOICES_READ,
    effect=Effect.READ,
    api_path="GET /credit-notes/{credit_note_id}/ubl",
    doors=API_AND_OFFICE,
    on=CREDIT_NOTES,
    returns_file=XML,
)
def get_credit_note_ubl(_ctx: Context, _given: GetCreditNoteUbl, credit_note: CreditNote) -> PaperOut:
    """Get a credit note as an e-invoice in UBL.

    As it was issued. Where it cannot be one, what is missing is told.
    """
    return e_invoice_file_of(credit_note)


OPERATIONS = (get_invoice_pdf, get_invoice_ubl, get_credit_note_pdf, get_credit_note_ubl)


def e_invoice_file_of(document: Invoice | CreditNote) -> PaperOut:
    """Return the e-invoice file of an issued document; refuse if it is not an e-invoice."""
    file = document_file_of(document, "ubl")
    _check_is_e_invoice(document, document.e_invoice or {})
    return file


def _check_is_e_invoice(document: Invoice | CreditNote, check: dict[str, Any]) -> None:
    name = document.display_name
    if check["status"] == "notApplicable":
        raise Conflict(f"{name} cannot be an e-invoice: {explain_impossible(snapshot_of(document))}.")
    if check["missing"]:
        missing = ", ".join(map(describe_missing_field, check["missing"]))
        raise Conflict(f"{name} is no e-invoice, because this was missing when it was issued: {missing}.")


def describe_missing_field(name: str) -> str:
    """Describe a missing field in words: `your tax number` for `seller.taxNumber`."""
    party, _, field = name.partition(".")
    words = " ".join(to_label(part).lower() for part in (field or party).split("."))
    return f"{_PARTY_WORDS[party]} {words}" if party in _PARTY_WORDS else words


_PARTY_WORDS = {"seller": "your", "buyer": "the customer's"}
