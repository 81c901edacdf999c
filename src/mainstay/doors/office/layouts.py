"""The layouts of all kinds of records."""

from mainstay.doors.office.kit.attachments import DOCUMENT_LAYOUT
from mainstay.doors.office.money.bills import BILLS_LAYOUT
from mainstay.doors.office.money.invoices import CREDIT_NOTES_LAYOUT, INVOICES_LAYOUT, PAYMENTS_LAYOUT
from mainstay.doors.office.money.orders import ORDERS_LAYOUT
from mainstay.doors.office.money.prices import ITEMS_LAYOUT, SUPPLIERS_LAYOUT, TAXES_LAYOUT
from mainstay.doors.office.money.quotes import QUOTES_LAYOUT
from mainstay.doors.office.settings.assistant import ASSISTANT_LAYOUT
from mainstay.doors.office.settings.developer import CONNECTIONS_LAYOUT, KEYS_LAYOUT
from mainstay.doors.office.settings.document_settings import DOCUMENT_SETTINGS_LAYOUT
from mainstay.doors.office.settings.organisation import FAILED_WORK_LAYOUT, ORGANISATION_LAYOUT, WORK_RULES_LAYOUT
from mainstay.doors.office.settings.webhooks import DELIVERIES_LAYOUT, WEBHOOKS_LAYOUT
from mainstay.doors.office.work.customers import CONTACTS_LAYOUT, CUSTOMERS_LAYOUT, SITES_LAYOUT, STATEMENTS_LAYOUT
from mainstay.doors.office.work.equipment import EQUIPMENT_LAYOUT
from mainstay.doors.office.work.hours import HOURS_LAYOUT
from mainstay.doors.office.work.jobs import JOBS_LAYOUT
from mainstay.doors.office.work.people import PEOPLE_LAYOUT
from mainstay.doors.office.work.time_off import TIME_OFF_LAYOUT
from mainstay.doors.office.work.visits import VISITS_LAYOUT

# In the order in which the page of a record lists related ones.
LAYOUTS = (
    VISITS_LAYOUT,
    TIME_OFF_LAYOUT,
    JOBS_LAYOUT,
    HOURS_LAYOUT,
    QUOTES_LAYOUT,
    INVOICES_LAYOUT,
    PAYMENTS_LAYOUT,
    CREDIT_NOTES_LAYOUT,
    ORDERS_LAYOUT,
    BILLS_LAYOUT,
    CUSTOMERS_LAYOUT,
    STATEMENTS_LAYOUT,
    ITEMS_LAYOUT,
    SITES_LAYOUT,
    EQUIPMENT_LAYOUT,
    CONTACTS_LAYOUT,
    SUPPLIERS_LAYOUT,
    TAXES_LAYOUT,
    PEOPLE_LAYOUT,
    DOCUMENT_LAYOUT,
    ORGANISATION_LAYOUT,
    DOCUMENT_SETTINGS_LAYOUT,
    WORK_RULES_LAYOUT,
    ASSISTANT_LAYOUT,
    FAILED_WORK_LAYOUT,
    KEYS_LAYOUT,
    CONNECTIONS_LAYOUT,
    WEBHOOKS_LAYOUT,
    DELIVERIES_LAYOUT,
)
