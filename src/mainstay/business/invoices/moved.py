"""Invoices that went over to another customer are told of."""

from mainstay.business.customers.moved import telling_of
from mainstay.business.invoices.events import InvoiceUpdated
from mainstay.business.invoices.store import INVOICES

CHORES = (telling_of(INVOICES, InvoiceUpdated),)
