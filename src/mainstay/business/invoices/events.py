"""What happens to invoices."""

from mainstay.business.invoices.model import InvoiceOut
from mainstay.kernel.event import Event


class InvoiceCreated(Event):
    """An invoice was drafted."""

    name = "invoice.created"
    about = InvoiceOut


class InvoiceUpdated(Event):
    """A draft of an invoice changed; or one was reminded of, less of it is paid, or it went to another customer."""

    name = "invoice.updated"
    about = InvoiceOut


class InvoiceSent(Event):
    """An invoice was issued."""

    name = "invoice.sent"
    about = InvoiceOut


class InvoiceViewed(Event):
    """A customer saw their invoice."""

    name = "invoice.viewed"
    about = InvoiceOut


class InvoicePartPaid(Event):
    """A part of an invoice was paid."""

    name = "invoice.partPaid"
    about = InvoiceOut


class InvoicePaid(Event):
    """An invoice was paid."""

    name = "invoice.paid"
    about = InvoiceOut


class InvoiceOverdue(Event):
    """An invoice was not paid in time."""

    name = "invoice.overdue"
    about = InvoiceOut


class InvoiceVoided(Event):
    """An invoice was made void."""

    name = "invoice.voided"
    about = InvoiceOut


class InvoiceCredited(Event):
    """An invoice, or a part of it, was credited."""

    name = "invoice.credited"
    about = InvoiceOut


class InvoiceDeleted(Event):
    """A draft of an invoice was thrown away."""

    name = "invoice.deleted"
    about = InvoiceOut


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
