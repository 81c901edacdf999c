"""The files of invoices and credit notes: PDFs with the e-invoice inside, and the e-invoice as a file of its own."""

from typing import Any, Literal

from pydantic import Field

from mainstay.business.invoices.issuing.credit_note import CREDIT_NOTES, CreditNote
from mainstay.business.invoices.model import Invoice
from mainstay.business.invoices.store import INVOICES, InvoiceId
from mainstay.business.issuing.document_files import PDF, XML, PaperOut, document_file_of, snapshot_of
from mainstay.documents.einvoice import explain_impossible
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_file
from mainstay.values.descriptions import describe
from mainstay.values.message import Message
from mainstay.vocabulary.actor import API_AND_OFFICE
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict
from mainstay.vocabulary.schemas import Input


def e_invoice_file_of(document: Invoice | CreditNote) -> PaperOut:
    """Return the e-invoice file of an issued document; refuse if it is not an e-invoice."""
    file = document_file_of(document, "ubl")
    _check_is_e_invoice(document, document.e_invoice or {})
    return file


def _check_is_e_invoice(document: Invoice | CreditNote, check: dict[str, Any]) -> None:
    name = document.display_name
    if check["status"] == "notApplicable":
        why = explain_impossible(snapshot_of(document)) or ""
        raise Conflict(Message("{document} can't be an e-invoice: {why}.", document=name, why=why))
    if check["missing"]:
        message = Message(
            "{document} is not an e-invoice. Missing when it was issued: {fields}.",
            document=name,
            fields=[*map(describe_missing_field, check["missing"])],
        )
        raise Conflict(message)


def describe_missing_field(name: str) -> Message | str:
    """Describe a missing field in words: `your tax number` for `seller.taxNumber`."""
    return REQUIRED_FIELDS.get(name, name)


# The fields that an e-invoice requires, in words.
REQUIRED_FIELDS = {
    "seller.address.country": Message("the country in your address"),
    "seller.taxNumber": Message("your VAT or tax number"),
    "seller.registrationNumber": Message("your registration number"),
    "buyer.address.country": Message("the country in the customer's address"),
    "buyer.taxNumber": Message("the customer's VAT or tax number"),
    "dueOn": Message("the due date"),
}


class GetInvoicePdf(Input):
    """The invoice."""

    invoice_id: InvoiceId
    copy_: Literal["void"] | None = Field(
        None, alias="copy", description=describe("[[`void`: the copy of a void invoice that is stamped as void.]]")
    )


@operation(
    permission=Permission.INVOICES_READ,
    effect=Effect.READ,
    api_path="GET /invoices/{invoice_id}/pdf",
    doors=API_AND_OFFICE,
    on=INVOICES,
    returns_file=PDF,
)
def get_invoice_pdf(_ctx: Context, given: GetInvoicePdf, invoice: Invoice) -> PaperOut:
    """Get PDF of invoice.

    As it was issued, with the e-invoice inside: always the same bytes. A draft has no PDF.
    """
    if given.copy_ and invoice.status != "void":
        raise Conflict(Message("This invoice is not void, so there's no copy stamped as void."))
    return document_file_of(invoice, given.copy_ or "pdf")


get_invoice_ubl = declare_file(
    INVOICES,
    e_invoice_file_of,
    "Get e-invoice (UBL) of invoice. As it was issued. If it is not an e-invoice, the refusal says what is missing.",
    Permission.INVOICES_READ,
    api_path="GET /invoices/{invoice_id}/ubl",
    doors=API_AND_OFFICE,
    returns_file=XML,
)


get_credit_note_pdf = declare_file(
    CREDIT_NOTES,
    document_file_of,
    "Get PDF of credit note. As it was issued, with the e-invoice inside: always the same bytes.",
    Permission.INVOICES_READ,
    api_path="GET /credit-notes/{credit_note_id}/pdf",
    doors=API_AND_OFFICE,
    returns_file=PDF,
)


get_credit_note_ubl = declare_file(
    CREDIT_NOTES,
    e_invoice_file_of,
    "Get e-invoice (UBL) of credit note. As it was issued. If it is not an e-invoice, the refusal says what is"
    " missing.",
    Permission.INVOICES_READ,
    api_path="GET /credit-notes/{credit_note_id}/ubl",
    doors=API_AND_OFFICE,
    returns_file=XML,
)


OPERATIONS = (get_invoice_pdf, get_invoice_ubl, get_credit_note_pdf, get_credit_note_ubl)
