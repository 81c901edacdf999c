"""What happens to invoices."""

from mainstay.business.invoices.model import InvoiceOut
from mainstay.kernel.event import Event


class InvoiceCreated(Event):
    """An invoice was drafted."""

    name = "invoice.created"
    output = InvoiceOut


class InvoiceUpdated(Event):
    """A draft invoice changed; or a reminder was sent, a payment was taken off, or the customer changed."""

    name = "invoice.updated"
    output = InvoiceOut


class InvoiceSent(Event):
    """An invoice was issued."""

    name = "invoice.sent"
    output = InvoiceOut


class InvoiceViewed(Event):
    """A customer viewed their invoice."""

    name = "invoice.viewed"
    output = InvoiceOut


class InvoicePartPaid(Event):
    """An invoice was partly paid."""

    name = "invoice.partPaid"
    output = InvoiceOut


class InvoicePaid(Event):
    """An invoice was paid in full."""

    name = "invoice.paid"
    output = InvoiceOut


class InvoiceOverdue(Event):
    """An invoice became overdue."""

    name = "invoice.overdue"
    output = InvoiceOut


class InvoiceVoided(Event):
    """An invoice was voided."""

    name = "invoice.voided"
    output = InvoiceOut


class InvoiceCredited(Event):
    """An invoice was credited, in full or in part."""

    name = "invoice.credited"
    output = InvoiceOut


class InvoiceDeleted(Event):
    """A draft invoice was deleted."""

    name = "invoice.deleted"
    output = InvoiceOut


EVENTS = (
    InvoiceCreated,
    InvoiceUpdated,
    InvoiceSent,
    InvoiceViewed,
    InvoicePartPaid,
    InvoicePaid,
    InvoiceOverdue,
    InvoiceVoided,
    InvoiceCredited,
    InvoiceDeleted,
)
