"""What happens to invoices."""

from mainstay.business.invoices.model import InvoiceOut
from mainstay.kernel.event import Event


class InvoiceCreated(Event):
    """An invoice was drafted."""

    name = "invoice.created"
    output = InvoiceOut


class InvoiceUpdated(Event):
    """A draft of an invoice changed; or one was reminded of, less of it is paid, or it went to another customer."""

    name = "invoice.updated"
    output = InvoiceOut


class InvoiceSent(Event):
    """An invoice was issued."""

    name = "invoice.sent"
    output = InvoiceOut


class InvoiceViewed(Event):
    """A customer saw their invoice."""

    name = "invoice.viewed"
    output = InvoiceOut


class InvoicePartPaid(Event):
    """A part of an invoice was paid."""

    name = "invoice.partPaid"
    output = InvoiceOut


class InvoicePaid(Event):
    """An invoice was paid."""

    name = "invoice.paid"
    output = InvoiceOut


class InvoiceOverdue(Event):
    """An invoice was not paid in time."""

    name = "invoice.overdue"
    output = InvoiceOut


class InvoiceVoided(Event):
    """An invoice was made void."""

    name = "invoice.voided"
    output = InvoiceOut


class InvoiceCredited(Event):
    """An invoice, or a part of it, was credited."""

    name = "invoice.credited"
    output = InvoiceOut


class InvoiceDeleted(Event):
    """A draft of an invoice was thrown away."""

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
