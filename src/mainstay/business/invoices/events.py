"""The events of invoices."""

from mainstay.business.invoices.model import InvoiceOut
from mainstay.kernel.event import declare_event

InvoiceCreated = declare_event("invoice.created", InvoiceOut, "An invoice was drafted.")
InvoiceUpdated = declare_event(
    "invoice.updated",
    InvoiceOut,
    "A draft invoice changed; or a reminder was sent, a payment was removed, or the customer changed.",
)
InvoiceSent = declare_event("invoice.sent", InvoiceOut, "An invoice was issued.")
InvoiceViewed = declare_event("invoice.viewed", InvoiceOut, "A customer viewed their invoice.")
InvoicePartPaid = declare_event("invoice.partPaid", InvoiceOut, "An invoice was partly paid.")
InvoicePaid = declare_event("invoice.paid", InvoiceOut, "An invoice was paid in full.")
InvoiceOverdue = declare_event("invoice.overdue", InvoiceOut, "An invoice became overdue.")
InvoiceVoided = declare_event("invoice.voided", InvoiceOut, "An invoice was voided.")
InvoiceCredited = declare_event("invoice.credited", InvoiceOut, "An invoice was credited, in full or in part.")
InvoiceDeleted = declare_event("invoice.deleted", InvoiceOut, "A draft invoice was deleted.")

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
