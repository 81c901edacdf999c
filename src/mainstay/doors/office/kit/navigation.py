"""Navigation of the office: its areas in groups, and what a person needs to see each of them."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from mainstay.business.customers.operations import create_customer, list_customers
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.hours.operations import list_hours, log_hours
from mainstay.business.hours.store import TIME_ENTRIES
from mainstay.business.invoices.drafting.operations import draft_invoice, list_invoices
from mainstay.business.invoices.payments.payment import PAYMENTS
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.invoices.store import INVOICES
from mainstay.business.jobs.operations import create_job, list_jobs
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.assistant_settings import ASSISTANT_SETTINGS, get_assistant_settings
from mainstay.business.organisation.failed_work import BACKGROUND_TASKS, list_failed_work
from mainstay.business.organisation.settings import SETTINGS, get_settings, update_settings
from mainstay.business.organisation.store import ORGANISATION
from mainstay.business.people.operations import invite_person, list_people
from mainstay.business.people.store import PEOPLE
from mainstay.business.pricelist.operations import list_price_items, save_price_item
from mainstay.business.pricelist.store import ITEMS, SUPPLIERS, TAX_RATES
from mainstay.business.pricelist.suppliers import list_suppliers, save_supplier
from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.business.purchasing.bills import list_bills, record_bill
from mainstay.business.purchasing.operations import draft_purchase_order, list_purchase_orders
from mainstay.business.purchasing.store import BILLS, ORDERS
from mainstay.business.quotes.operations import draft_quote, list_quotes
from mainstay.business.quotes.store import QUOTES
from mainstay.business.records.activity import list_activity
from mainstay.business.reporting.operations import get_report
from mainstay.business.schedule.leave import request_time_off
from mainstay.business.schedule.operations import list_visits, plan_visit
from mainstay.business.schedule.store import TIME_OFF, VISITS
from mainstay.identity.connections import CONNECTIONS, list_connections
from mainstay.identity.keys import KEYS, create_key, list_keys
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.permissions import Permission
from mainstay.webhooks.endpoints import create_webhook, list_webhooks
from mainstay.webhooks.store import WEBHOOKS

# The permission to export everything.
EXPORT_PERMISSION = Permission.ORGANISATION_CHANGE


class Area(NamedTuple):
    """A part of the office in the navigation."""

    name: str
    path: str
    # The icon: an SVG stroke path on a canvas of 24 by 24.
    icon: str = ""
    # The operation or the permission that the person needs to see the area.
    operation: Operation | None = None
    permission: Permission | None = None
    # The areas below. If there are any, the person must see at least one of them.
    areas: tuple["Area", ...] = ()
    # The label of its tab on a phone, if different.
    tab: str = ""
    # The key that opens it after `g`.
    key: str = ""


# The areas of purchasing.
PURCHASING_AREAS: tuple[Area, ...] = (
    Area("Orders", ORDERS.path, operation=list_purchase_orders),
    Area("Bills", BILLS.path, operation=list_bills),
    Area("Suppliers", SUPPLIERS.path, operation=list_suppliers),
)
_HOME = Area("Home", "/", "M4 11.5 12 5l8 6.5V19a1 1 0 0 1-1 1h-4.5v-5h-5v5H5a1 1 0 0 1-1-1z", key="h")
_SCHEDULE = Area("Schedule", "/schedule", "M5 6h14v13H5zM5 10h14M9 4v4M15 4v4", list_visits, key="s")
_JOBS = Area(
    "Jobs",
    JOBS.path,
    "M8 7V5.5A1.5 1.5 0 0 1 9.5 4h5A1.5 1.5 0 0 1 16 5.5V7M4 8h16v11H4zM4 13h16",
    list_jobs,
    key="j",
)
_HOURS = Area(
    "Hours", f"{TIME_ENTRIES.path}/week", "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.2l2.8 1.8", list_hours, key="t"
)
SEARCH_AREA = Area("Search", "/search", "M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15 15l4.5 4.5")
# The tabs on a phone are the first visible areas of a list: one for people who see all jobs, one for the field.
MAX_TABS = 4
OFFICE_PERMISSION = Permission.ALL_JOBS_READ
OFFICE_TABS = (_HOME, _SCHEDULE, _JOBS, SEARCH_AREA)
FIELD_TABS = (_HOME._replace(tab="Today"), _SCHEDULE, _HOURS, _JOBS, SEARCH_AREA)
# The areas of the sidebar, in groups from top to bottom.
SIDEBAR_GROUPS: tuple[tuple[Area, ...], ...] = (
    (_HOME, _SCHEDULE, _JOBS, _HOURS),
    (
        Area(
            "Customers",
            CUSTOMERS.path,
            "M5 20V6.5L12 4l7 2.5V20M3 20h18M9.5 9h.01M14.5 9h.01M9.5 13h.01M14.5 13h.01M10.5 20v-3.5h3V20",
            list_customers,
            key="c",
        ),
        Area("Quotes", QUOTES.path, "M7 4h7l4 4v12H7zM14 4v4h4M10 12h5M10 16h5", list_quotes, key="q"),
        Area("Invoices", INVOICES.path, "M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6M9 16h3", list_invoices, key="i"),
        Area(
            "Purchasing",
            ORDERS.path,
            "M3 6h11v10H3zM14 10h4l3 3v3h-7M7 18.5a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.5z"
            "M17 18.5a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.5z",
            areas=PURCHASING_AREAS,
            key="o",
        ),
        Area("Price list", ITEMS.path, "M4 4h8l8 8-8 8-8-8zM8.5 8.5h.01", list_price_items, key="p"),
        Area("Reports", "/reports", "M5 4v16h15M9 16v-4M13 16V8M17 16v-6", get_report, key="r"),
    ),
    (
        Area(
            "People",
            PEOPLE.path,
            "M9 11.7a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM3.5 19c.4-3.2 2.6-5 5.5-5s5.1 1.8 5.5 5"
            "M15.5 5.6a3.2 3.2 0 0 1 0 5.8M17 14.3c2 .6 3.2 2.2 3.5 4.7",
            list_people,
            key="m",
        ),
        Area(
            "Settings",
            ORGANISATION.path,
            "M4 7h9M17 7h3M4 17h3M11 17h9M15 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM9 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
            key=",",
        ),
    ),
)
DEVELOPER_AREAS = (
    Area("API keys", KEYS.path, operation=list_keys),
    Area("Connected apps", CONNECTIONS.path, operation=list_connections),
    Area("Webhooks", WEBHOOKS.path, operation=list_webhooks),
)
SETTINGS_AREAS: tuple[Area, ...] = (
    Area("Organisation", ORGANISATION.path),
    Area("Work", SETTINGS.path, operation=get_settings),
    Area("Money", "/settings/documents", operation=get_settings),
    Area("Taxes", TAX_RATES.path, operation=list_tax_rates),
    Area("Email templates", "/settings/mail-texts", operation=get_settings),
    Area("Assistant", ASSISTANT_SETTINGS.path, operation=get_assistant_settings),
    Area("Your account", "/settings/account"),
    Area("Developer", "/settings/developer", areas=DEVELOPER_AREAS),
    Area("Import", "/settings/import", operation=create_customer),
    Area("Export", "/settings/export", permission=EXPORT_PERMISSION),
    Area("Activity", "/settings/activity", operation=list_activity),
    Area("Failed tasks", BACKGROUND_TASKS.path, operation=list_failed_work),
)
# The areas in the account menu besides those that everyone has.
ACCOUNT_AREAS = (Area("Sample firm", "/sample-firm", operation=update_settings),)
# The entries of the button "New".
NEW_MENU: Sequence[Area] = (
    Area("Job", JOBS.new_path, operation=create_job),
    Area("Visit", VISITS.new_path, operation=plan_visit),
    Area("Time off", TIME_OFF.new_path, operation=request_time_off),
    Area("Hours", TIME_ENTRIES.new_path, operation=log_hours),
    Area("Customer", CUSTOMERS.new_path, operation=create_customer),
    Area("Quote", QUOTES.new_path, operation=draft_quote),
    Area("Invoice", INVOICES.new_path, operation=draft_invoice),
    Area("Payment", PAYMENTS.new_path, operation=record_payment),
    Area("Purchase order", ORDERS.new_path, operation=draft_purchase_order),
    Area("Bill", BILLS.new_path, operation=record_bill),
    Area("Supplier", SUPPLIERS.new_path, operation=save_supplier),
    Area("Price list item", ITEMS.new_path, operation=save_price_item),
    Area("Person", PEOPLE.new_path, operation=invite_person),
    Area("API key", KEYS.new_path, operation=create_key),
    Area("Webhook", WEBHOOKS.new_path, operation=create_webhook),
)


def find_area(path: str) -> Area | None:
    """Return the area to which an address belongs: the one with the longest address above it."""
    above = [area for area in _walk_areas() if path == area.path or path.startswith(f"{area.path}/")]
    return max(above, key=lambda area: len(area.path), default=None)


def _walk_areas() -> Iterator[Area]:
    """Yield all areas, without those that only contain others."""
    for area in (*chain.from_iterable(SIDEBAR_GROUPS), *SETTINGS_AREAS):
        yield from area.areas or (area,)
