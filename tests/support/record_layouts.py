"""The layout of every kind of record in the office."""

from mainstay.doors.office.kit import attachments
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.money import bills, invoices, orders, prices, quotes
from mainstay.doors.office.settings import developer, document_settings, organisation, webhooks
from mainstay.doors.office.work import customers, hours, jobs, people, schedule

LAYOUT_MODULES = (
    bills, customers, developer, attachments, hours, invoices, jobs, orders, document_settings, people, prices, quotes,
    schedule, organisation, webhooks,
)  # fmt: skip
LAYOUTS = [one for area in LAYOUT_MODULES for one in vars(area).values() if isinstance(one, RecordLayout)]
