"""The PDFs that the emails about an issued invoice enclose, before they are sent: of a reminder and a credit note."""

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.invoices.issuing.crediting import CreditedLine, build_credit, take_credit_snapshot
from mainstay.business.invoices.issuing.sending import NO_NUMBER
from mainstay.business.invoices.model import Invoice
from mainstay.business.invoices.store import INVOICES, InvoiceId
from mainstay.business.issuing.document_files import ProofOut, snapshot_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import Paragraph, Price
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import Input


class GetCreditNoteProof(Input):
    """The invoice, what to credit, and the reason."""

    invoice_id: InvoiceId
    reason: Paragraph | None = Field(None, title="Reason", description="Printed on the credit note.")
    lines: list[CreditedLine] | None = Field(None, description="Only these lines.")
    amount: Price | None = Field(None, description="Only this amount including tax.")


@operation(permission=Permission.INVOICES_READ, effect=Effect.READ, doors=frozenset({Door.OFFICE}), on=INVOICES)
def get_reminder_proof(_ctx: Context, _given: Input, invoice: Invoice) -> ProofOut:
    """Get PDF of reminder.

    The invoice as it was issued, which a reminder encloses.
    """
    return ProofOut.from_snapshot(invoice.id, invoice.short_name, snapshot_of(invoice), is_draft=False)


@operation(permission=Permission.INVOICES_READ, effect=Effect.READ, doors=frozenset({Door.OFFICE}), on=INVOICES)
def get_credit_note_proof(ctx: Context, given: GetCreditNoteProof, invoice: Invoice) -> ProofOut:
    """Get draft PDF of credit note.

    Stamped as a draft, without a number, and not stored.
    """
    customer: Customer = CUSTOMERS.fetch(ctx, invoice.customer_id)
    credited = build_credit(ctx, given.lines, given.amount, invoice)
    printed = {"number": NO_NUMBER, "reason": given.reason or ""}
    taken = take_credit_snapshot(ctx, invoice, customer, credited, printed)
    return ProofOut.from_snapshot(invoice.id, invoice.short_name, taken.snapshot)


OPERATIONS = (get_reminder_proof, get_credit_note_proof)
