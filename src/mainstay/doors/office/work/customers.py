"""Customers, with what they owe, their sites and contacts."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from mainstay.business.customers.duplicates import list_duplicate_customers
from mainstay.business.customers.model import CustomerOut
from mainstay.business.customers.operations import archive_customer, create_customer
from mainstay.business.customers.sites_and_contacts import (
    save_contact,
    save_site,
)
from mainstay.business.customers.store import CONTACTS, CUSTOMERS, SITES
from mainstay.business.invoices.store import INVOICES
from mainstay.business.reporting.balance import get_customer_balance
from mainstay.business.reporting.operations import get_report
from mainstay.business.reporting.sent_statement import STATEMENTS
from mainstay.business.reporting.statement_sending import get_statement_proof, send_statement
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import DELIVERY_CHOICES, RecordLayout, SelectionAction
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.related_lists import RelatedList
from mainstay.doors.office.money.draft_previews import DraftPreviewPages
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import format_address, format_date
from mainstay.doors.pages.page_language import translate_text
from mainstay.values.message import Message

CUSTOMERS_LAYOUT = RecordLayout(
    kind=CUSTOMERS,
    lead="Everyone you work for.",
    create_operation=create_customer,
    first_fields=("name", "email", "phone", "billingAddress.line1", "billingAddress.city", "billingAddress.postalCode"),
    title_of=lambda customer: str(customer.name),
    subtitle_of=lambda customer: " · ".join(filter(None, (format_address(customer.billing_address), customer.email))),
    columns=("phone", "status"),
    facts=(
        "phone",
        "email",
        "billingAddress",
        "kind",
        "taxNumber",
        "registrationNumber",
        "eInvoiceAddress",
        "reference",
        "paymentTermsDays",
        "language",
        "notes",
        "externalRef",
    ),
    tabs={"": "Active", "archived": "Archived"},
    order="name",
    selection_actions=(
        SelectionAction(
            archive_customer,
            "Archive",
            notice=lambda count: Message(
                "{count} customer archived.", plural="{count} customers archived.", count=count
            ),
        ),
    ),
    empty_text="No customers yet. Create one, or import your customers in Settings → Import.",
    page_header="customer_actions.html",
    accepts_additions=lambda customer: not customer.merged_into_id,
    choices={"deliver": DELIVERY_CHOICES},
    previews={send_statement.name: "statement"},
)

STATEMENTS_LAYOUT = RecordLayout(
    kind=STATEMENTS,
    lead="Statements sent to customers.",
    title_of=lambda statement: translate_text(
        "{start} to {end}", start=format_date(statement.from_), end=format_date(statement.until)
    ),
    subtitle_of=lambda statement: str(statement.customer_name),
    columns=("issuedOn", "balance", "overdue"),
    facts=("customerName", "issuedOn", "broughtForward", "charged", "paid", "balance", "overdue"),
    page_body="account_statement.html",
    empty_text="No statements yet. Send one from a customer's page.",
    shown_on=(RelatedList(CUSTOMERS, "customerId", ("issuedOn", "balance"), is_side=True),),
)

SITES_LAYOUT = RecordLayout(
    kind=SITES,
    lead="Addresses where you work.",
    create_operation=save_site,
    first_fields=("customerId", "name", "address.line1", "address.city", "address.postalCode", "accessNotes"),
    title_of=lambda site: str(site.name),
    subtitle_of=lambda site: " · ".join(filter(None, (site.customer_name, format_address(site.address)))),
    columns=("contactName", "contactPhone", "status"),
    facts=("customerName", "address", "accessNotes", "contactName", "contactPhone", "timeZone", "externalRef"),
    tabs={"": "Active", "archived": "Archived"},
    empty_text="No sites yet. Add one on a customer's page.",
    page_body="site.html",
    shown_on=(RelatedList(CUSTOMERS, "customerId", ("contactName", "contactPhone"), can_add=True, is_side=True),),
)

CONTACTS_LAYOUT = RecordLayout(
    kind=CONTACTS,
    lead="The people you speak to.",
    create_operation=save_contact,
    first_fields=("customerId", "name", "role", "email", "phone"),
    title_of=lambda contact: str(contact.name),
    subtitle_of=lambda contact: " · ".join(filter(None, (contact.customer_name, contact.role))),
    columns=("phone", "email", "status"),
    facts=("customerName", "role", "phone", "email", "externalRef"),
    tabs={"": "Active", "archived": "Archived"},
    empty_text="No contacts yet. Add one on a customer's page.",
    shown_on=(RelatedList(CUSTOMERS, "customerId", ("role", "phone"), can_add=True, is_side=True),),
)


@dataclass(frozen=True)
class CustomerPages:
    """The pages of customers, statements, sites and contacts."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            *RecordPages(self.office, CUSTOMERS_LAYOUT, add_variables=self._page_variables).routes(),
            *DraftPreviewPages(self.office, CUSTOMERS_LAYOUT, get_statement_proof, "statement").routes(),
        ]

    async def _page_variables(self, request: OfficeRequest, customer: CustomerOut | None) -> dict[str, Any]:
        """Return what only these pages have: the customer's balance, or for the list, the link to duplicates."""
        if customer is None:
            return {"duplicates": request.can_perform(list_duplicate_customers)}
        if not request.can_perform(get_customer_balance):
            return {}
        balance = await self.office.perform(request, get_customer_balance, {"customerId": customer.id})
        if not balance.has_entries:
            return {}
        query = {"customerId": customer.id}
        return {
            "owed": balance,
            "late": f"{INVOICES.path}?{urlencode({**query, 'status': 'overdue'})}"
            if Decimal(balance.overdue) > 0
            else None,
            "open": f"{INVOICES.path}?{urlencode({**query, 'status': 'unpaid'})}",
            "statement": f"/reports/statement?{urlencode(query)}" if request.can_perform(get_report) else None,
        }
