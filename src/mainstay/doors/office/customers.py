"""Customers, with what they owe, their sites and contacts."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from mainstay.business.customers.duplicates import list_duplicate_customers
from mainstay.business.customers.operations import create_customer, get_customer, list_customers
from mainstay.business.customers.places import get_contact, get_site, list_contacts, list_sites, save_contact, save_site
from mainstay.business.invoices.operations import draft_invoice, list_invoices
from mainstay.business.invoices.paying import list_payments, record_payment
from mainstay.business.jobs.operations import create_job, list_jobs
from mainstay.business.quotes.operations import draft_quote, list_quotes
from mainstay.business.reporting.balance import get_customer_balance
from mainstay.business.reporting.operations import get_report
from mainstay.business.reporting.statement_sending import get_statement, list_statements
from mainstay.doors.office.arrangement import DELIVERED, Arrangement
from mainstay.doors.office.beside import Related
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.references import AsTold
from mainstay.doors.office.room import Room
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.words import date_words, place

_JOBS_OF_CUSTOMER = Related(
    "Jobs", list_jobs, "customerId", "/jobs", ("status", "stage", "dueOn"), create_job, "/jobs/new"
)
_JOBS_AT_SITE = Related("Jobs", list_jobs, "siteId", "/jobs", ("status", "stage", "dueOn"))

CUSTOMERS = Arrangement(
    title="Customers",
    lead="Everyone you work for.",
    path="/customers",
    area="Customers",
    gets=get_customer,
    lists=list_customers,
    creates=create_customer,
    called=lambda customer: str(customer["name"]),
    below=lambda customer: " · ".join(filter(None, (place(customer["billingAddress"]), customer["email"]))),
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
    empty="No customers yet. Add the first one, or bring them over from a file under Settings, Import.",
    ways="customer_ways.html",
    related=(
        _JOBS_OF_CUSTOMER,
        Related(
            "Quotes",
            list_quotes,
            "customerId",
            "/quotes",
            ("status", "total", "validUntil"),
            draft_quote,
            "/quotes/new",
        ),
        Related(
            "Invoices",
            list_invoices,
            "customerId",
            "/invoices",
            ("status", "total", "due", "dueOn"),
            draft_invoice,
            "/invoices/new",
        ),
        Related(
            "Payments",
            list_payments,
            "customerId",
            "/payments",
            ("on", "amount", "unallocated"),
            record_payment,
            "/payments/new",
        ),
        Related("Statements", list_statements, "customerId", "/statements", ("issuedOn", "balance")),
        Related("Sites", list_sites, "customerId", "/sites", ("contactName", "contactPhone"), save_site, "/sites/new"),
        Related("Contacts", list_contacts, "customerId", "/contacts", ("role", "phone"), save_contact, "/contacts/new"),
    ),
    grows=lambda customer: not customer["mergedIntoId"],
    choices={"deliver": DELIVERED},
)

STATEMENTS = Arrangement(
    title="Statements",
    lead="Statements of account that customers were sent.",
    path="/statements",
    area="Customers",
    gets=get_statement,
    lists=list_statements,
    called=lambda statement: f"{date_words(statement['from'])} to {date_words(statement['until'])}",
    below=lambda statement: str(statement["customerName"]),
    columns=("issuedOn", "balance", "overdue"),
    facts=("customerName", "issuedOn", "broughtForward", "charged", "paid", "balance", "overdue"),
    more="account_statement.html",
    empty="No statements yet. Send one from a customer's page.",
)

SITES = Arrangement(
    title="Sites",
    lead="The places where you work.",
    path="/sites",
    area="Customers",
    gets=get_site,
    lists=list_sites,
    creates=save_site,
    called=lambda site: str(site["name"]),
    below=lambda site: " · ".join(filter(None, (site["customerName"], place(site["address"])))),
    columns=("contactName", "contactPhone", "status"),
    facts=("customerName", "address", "accessNotes", "contactName", "contactPhone", "timeZone", "externalRef"),
    tabs={"": "In use", "archived": "Archived"},
    empty="No sites yet. A site belongs to a customer: add it on the customer's page.",
    more="site.html",
    related=(_JOBS_AT_SITE,),
)

CONTACTS = Arrangement(
    title="Contacts",
    lead="The people you speak to.",
    path="/contacts",
    area="Customers",
    gets=get_contact,
    lists=list_contacts,
    creates=save_contact,
    called=lambda contact: str(contact["name"]),
    below=lambda contact: " · ".join(filter(None, (contact["customerName"], contact["role"]))),
    columns=("phone", "email", "status"),
    facts=("customerName", "role", "phone", "email", "externalRef"),
    tabs={"": "In use", "archived": "Archived"},
    empty="No contacts yet. A contact belongs to a customer: add them on the customer's page.",
)


@dataclass(frozen=True)
class Customers:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            *Room(self.desk, CUSTOMERS, shows=self._shown).routes(),
            *Room(self.desk, STATEMENTS).routes(),
            *Room(self.desk, SITES).routes(),
            *Room(self.desk, CONTACTS).routes(),
        ]

    async def _shown(self, guest: Guest, customer: AsTold | None) -> dict[str, Any]:
        """Return what only these pages have: what a customer owes; of the list, whether there are likely duplicates."""
        if customer is None:
            return {"duplicates": guest.may(list_duplicate_customers)}
        if not guest.may(get_customer_balance):
            return {}
        owed = await self.desk.perform(guest, get_customer_balance, {"customerId": customer["id"]})
        if not owed["hasEntries"]:
            return {}
        of = {"customerId": customer["id"]}
        return {
            "owed": owed,
            "late": f"/invoices?{urlencode({**of, 'status': 'overdue'})}" if Decimal(owed["overdue"]) > 0 else None,
            "open": f"/invoices?{urlencode({**of, 'status': 'unpaid'})}",
            "statement": f"/reports/statement?{urlencode(of)}" if guest.may(get_report) else None,
        }
