"""Operations that send statements of account, and list those that were sent."""

from functools import partial
from typing import Annotated

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.issuing.document_emails import (
    Deliver,
    DocumentEmailInput,
    EmailedDocument,
    email_document,
    find_customer_recipients,
    recipients_field,
)
from mainstay.business.issuing.document_files import PDF, ProofOut, create_print_task, document_file_of
from mainstay.business.issuing.snapshotting import take_statement_snapshot
from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.business.reporting.customer_statement import CustomerAccount, read_account
from mainstay.business.reporting.inputs import ReportQuery, resolve_dates
from mainstay.business.reporting.model import MAX_REPORT_ROWS
from mainstay.business.reporting.receivables import CustomerBalance, find_balances
from mainstay.business.reporting.sent_statement import STATEMENTS, AccountStatement
from mainstay.documents.locales import Locale
from mainstay.documents.snapshot import Snapshot
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_file, declare_get, declare_list
from mainstay.values.fields import Day, Email
from mainstay.values.message import Amount, CalendarDate, Message
from mainstay.values.money import amount_text
from mainstay.vocabulary.actor import API_AND_OFFICE, Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Reason, raise_if_blocked
from mainstay.vocabulary.schemas import Input, LastDay
from mainstay.vocabulary.toolsets import Toolset


class SendStatement(DocumentEmailInput):
    """Which customer, which dates, and how."""

    customer_id: str = Field(title="Customer", description="The customer's ID.")
    from_: Day | None = Field(
        None, alias="from", title="From", description="The first date. Default: 1 January of that year."
    )
    until: LastDay | None = Field(None, description="The last date. Default: today.")
    deliver: Deliver = "email"
    to: Annotated[list[Email] | None, recipients_field("the customer's addresses for invoices")] = None


class GetStatementProof(Input):
    """Which customer, and which dates."""

    customer_id: str = Field(title="Customer", description="The customer's ID.")
    from_: Day | None = Field(None, alias="from", title="From", description="The first date.")
    until: LastDay | None = Field(None, description="The last date.")


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /customers/{customer_id}/send-statement",
    on=CUSTOMERS,
    blocked_by=Customer.not_changeable,
    emails_outside=True,
    not_undone=Message("The statement has been sent."),
    past_text="Statement sent",
)
def send_statement(ctx: Context, given: SendStatement, customer: Customer) -> AccountStatement:
    """Send statement.

    Emails a customer their statement of account as a PDF: what was invoiced, credited and paid between two dates,
    what they owe and what is overdue. [[To chase single invoices, use send_reminder.]]
    """
    settings = settings_of(ctx)
    query = _to_query(ctx, given.from_, given.until, customer)
    account = read_account(ctx, query)
    recipients = find_customer_recipients(ctx, customer, "invoices", given.to, given.deliver)
    raise_if_blocked([*_find_obstacles(account, customer), *recipients.reasons])
    overdue = _find_overdue(ctx, query, customer)
    snapshot = _build_snapshot(ctx, customer, account, (query.first.isoformat(), query.last.isoformat(), overdue))
    statement = STATEMENTS.insert(
        ctx,
        {
            "customer_id": customer.id,
            "from_on": query.first.isoformat(),
            "until_on": query.last.isoformat(),
            "issued_on": query.today.isoformat(),
            "language": snapshot.language,
            "currency": settings.currency,
            "brought_forward": account.brought_forward,
            "charged": account.charged,
            "paid": account.paid,
            "balance": account.balance,
            "overdue": overdue,
            "snapshot": snapshot.model_dump_json(by_alias=True, exclude_none=True),
        },
    )
    # It appears in the history of the customer.
    ctx.writer.touch(customer.id)
    ctx.add_task(create_print_task(statement.id, statement.name_in_messages))
    ctx.summary = Message(
        "{customer} will get a statement of account from {first} to {last}. Balance: {balance}.",
        customer=customer.name,
        first=CalendarDate(query.first.isoformat()),
        last=CalendarDate(query.last.isoformat()),
        balance=Amount(amount_text(account.balance, settings.currency), settings.currency),
    )
    if given.deliver == "none":
        ctx.effects.append(Message("No email will be sent. Hand it over yourself."))
    email_document(
        ctx,
        EmailedDocument("statement", statement, given=given),
        recipients.to,
        partial(_to_email_values, customer, snapshot),
    )
    return statement


list_statements = declare_list(
    STATEMENTS,
    "List sent statements. [[Statements of account, each as it was sent; "
    "get_customer_balance shows what is owed now.]]",
    Permission.INVOICES_READ,
    {"customer_id": "Only statements of this customer."},
    name="list_statements",
    api_path="GET /statements",
    extra_toolset=Toolset.STATEMENTS,
)


get_statement = declare_get(
    STATEMENTS,
    "Get sent statement. A statement of account, as it was sent.",
    Permission.INVOICES_READ,
    api_path="GET /statements/{statement_id}",
    extra_toolset=Toolset.STATEMENTS,
    single_statement=False,
)


get_statement_pdf = declare_file(
    STATEMENTS,
    document_file_of,
    "Get statement PDF. The statement of account as it was sent.",
    Permission.INVOICES_READ,
    api_path="GET /statements/{statement_id}/pdf",
    doors=API_AND_OFFICE,
    returns_file=PDF,
)


@operation(permission=Permission.INVOICES_READ, effect=Effect.READ, doors=frozenset({Door.OFFICE}), on=CUSTOMERS)
def get_statement_proof(ctx: Context, given: GetStatementProof, customer: Customer) -> ProofOut:
    """Get draft PDF of statement.

    Stamped as a draft, and not stored.
    """
    query = _to_query(ctx, given.from_, given.until, customer)
    account = read_account(ctx, query)
    raise_if_blocked(_find_obstacles(account, customer))
    dates_and_overdue = (query.first.isoformat(), query.last.isoformat(), _find_overdue(ctx, query, customer))
    snapshot = _build_snapshot(ctx, customer, account, dates_and_overdue)
    return ProofOut.from_snapshot(customer.id, customer.name, snapshot)


OPERATIONS = (send_statement, list_statements, get_statement, get_statement_pdf, get_statement_proof)


def _to_query(ctx: Context, first: str | None, last: str | None, customer: Customer) -> ReportQuery:
    """Return which entries a statement between two dates has."""
    settings = settings_of(ctx)
    today = settings.today(ctx)
    return ReportQuery(settings, today, *resolve_dates(first, last, today), customer.id)


def _find_overdue(ctx: Context, query: ReportQuery, customer: Customer) -> int:
    balances = find_balances(ctx, query.today, customer.id)
    return balances.get(customer.id, CustomerBalance(customer.name, [0], 0)).overdue


def _find_obstacles(account: CustomerAccount, customer: Customer) -> list[Reason]:
    """Return why no statement can be sent."""
    if len(account.entries) > MAX_REPORT_ROWS:
        text = Message(
            "There are more than {limit} entries between these dates. Send several statements for shorter periods.",
            limit=MAX_REPORT_ROWS,
        )
        return [Reason(text)]
    if not account.entries and not account.balance:
        text = Message(
            "{customer} has no invoices or payments between these dates and owes nothing. Choose other dates.",
            customer=customer.name,
        )
        return [Reason(text)]
    return []


def _build_snapshot(
    ctx: Context, customer: Customer, account: CustomerAccount, dates_and_overdue: tuple[str, str, int]
) -> Snapshot:
    """Return the snapshot of a statement, with its first and last date and the overdue amount."""
    first, last, overdue = dates_and_overdue
    settings = settings_of(ctx)
    entries = [
        {
            "on": entry.on,
            "kind": entry.kind,
            "reference": entry.reference,
            "charged": None if entry.charged is None else _to_amount_text(entry.charged, settings),
            "paid": None if entry.paid is None else _to_amount_text(entry.paid, settings),
            "balance": _to_amount_text(balance, settings),
        }
        for entry, balance in account.entries
    ]
    balance = _to_amount_text(account.balance, settings)
    return take_statement_snapshot(
        ctx,
        customer,
        {
            # A statement has no number, so its last date identifies it.
            "number": last,
            "language": customer.language or settings.language,
            "currency": settings.currency,
            "issuedOn": settings.today(ctx).isoformat(),
            "totals": {"net": balance, "total": balance},
            "account": {
                "from": first,
                "until": last,
                "broughtForward": _to_amount_text(account.brought_forward, settings),
                "charged": _to_amount_text(account.charged, settings),
                "paid": _to_amount_text(account.paid, settings),
                "overdue": _to_amount_text(overdue, settings),
                "entries": entries,
            },
        },
    )


def _to_amount_text(amount: int, settings: OrganisationSettings) -> str:
    return amount_text(amount, settings.currency)


def _to_email_values(customer: Customer, snapshot: Snapshot, locale: Locale) -> dict[str, str]:
    """Return the values for the placeholders in the email about a statement."""
    account = snapshot.account
    if account is None:
        return {}
    return {
        "customer": customer.name,
        "from": locale.format_day(account.from_),
        "until": locale.format_day(account.until),
        "balance": locale.format_money(snapshot.totals.total, snapshot.currency),
        "overdue": locale.format_money(account.overdue, snapshot.currency),
    }
