"""Sending a customer their statement of account, and finding those that were sent."""

from functools import partial
from typing import Annotated

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.issuing.freezing import freeze_statement
from mainstay.business.issuing.mailing import DELIVER, Deliver, Enclosed, addressed, customer_s, mail
from mainstay.business.issuing.printed import PDF, PaperOut, paper_of, printing
from mainstay.business.organisation.house import House, house_of
from mainstay.business.reporting.account_statement import STATEMENTS, AccountStatement, AccountStatementOut
from mainstay.business.reporting.asked import Asked, days_of
from mainstay.business.reporting.model import MOST_ROWS
from mainstay.business.reporting.receivables import Owed, owed
from mainstay.business.reporting.statement import AccountOf, account_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.paper.locales import Locale
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.actor import NO_TOOL
from mainstay.terms.refusal import Reason, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Irrevocable, LastDay, ListInput, Page
from mainstay.values.fields import LAST_SEEN, Day, Email, id_of
from mainstay.values.money import amount_text

_StatementId = Annotated[str, id_of("statement"), Field(title="Statement", description="The statement's id.")]


class SendStatement(Irrevocable):
    """Whose statement, of which time, and how."""

    customer_id: str = Field(title="Customer", description="The customer's id.")
    from_: Day | None = Field(
        None, alias="from", title="From", description="The first date; without it, 1 January of the year of the last."
    )
    until: LastDay | None = Field(None, description="The last date; without it, today.")
    deliver: Deliver = DELIVER
    to: list[Email] | None = addressed("those the customer has for invoices")


class ListStatements(ListInput):
    """Which statements to list."""

    starting_after: Annotated[str | None, id_of("statement")] = LAST_SEEN
    customer_id: Annotated[str | None, id_of("customer")] = Field(
        None, title="Customer", description="Only those of this customer."
    )


class GetStatement(Input):
    """Which statement."""

    statement_id: _StatementId


class GetStatementPdf(Input):
    """Which statement."""

    statement_id: _StatementId


@operation(
    right=Right.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /customers/{customer_id}/send-statement",
    on=CUSTOMERS,
    unless=Customer.not_changeable,
    mails=True,
    done="The statement is issued.",
)
def send_statement(ctx: Context, given: SendStatement, customer: Customer) -> AccountStatement:
    """Send a customer their statement of account.

    An email with a PDF in their language: what was invoiced, credited and paid between two dates, what they owe, and
    what of it is overdue. To remind them of single invoices, use send_reminder.
    """
    house = house_of(ctx)
    today = house.today(ctx)
    first, last = days_of(given.from_, given.until, today)
    account = account_of(ctx, Asked(house, today, first, last, customer.id))
    recipients = customer_s(ctx, customer, "invoices", given.to, given.deliver)
    refuse([*_against(account, customer), *recipients.against])
    overdue = owed(ctx, today, customer.id).get(customer.id, Owed(customer.name, [0], 0)).overdue
    snapshot = _snapshot(ctx, customer, account, (first.isoformat(), last.isoformat(), overdue))
    statement = STATEMENTS.insert(
        ctx,
        {
            "customer_id": customer.id,
            "from_on": first.isoformat(),
            "until_on": last.isoformat(),
            "issued_on": today.isoformat(),
            "language": snapshot.language,
            "currency": house.currency,
            "brought_forward": account.before,
            "charged": account.charged,
            "paid": account.paid,
            "balance": account.balance,
            "overdue": overdue,
            "snapshot": snapshot.model_dump_json(by_alias=True, exclude_none=True),
        },
    )
    # It stands in the history of the customer.
    ctx.pen.touch(customer.id)
    ctx.post(printing(statement.id, statement.called))
    balance = f"{amount_text(account.balance, house.currency)} {house.currency}"
    ctx.summary = f"{customer.name} is sent a statement of account from {first} until {last}: the balance is {balance}."
    if given.deliver == "none":
        ctx.effects.append("Nobody is mailed: hand it over yourself.")
    mail(ctx, Enclosed("statement", statement), recipients.to, partial(_values, customer, snapshot))
    return statement


@operation(right=Right.INVOICES_READ, effect=Effect.READ, rest="GET /statements", offered=NO_TOOL)
def list_statements(ctx: Context, given: ListStatements) -> Page[AccountStatementOut]:
    """List the statements of account that customers were sent.

    Each as it was on its day; get_customer_balance tells what is owed now.
    """
    return STATEMENTS.page(ctx, given)


@operation(
    right=Right.INVOICES_READ,
    effect=Effect.READ,
    rest="GET /statements/{statement_id}",
    on=STATEMENTS,
    offered=NO_TOOL,
)
def get_statement(_ctx: Context, _given: GetStatement, statement: AccountStatement) -> AccountStatement:
    """Get a statement of account that a customer was sent.

    As it was on its day.
    """
    return statement


@operation(
    right=Right.INVOICES_READ,
    effect=Effect.READ,
    rest="GET /statements/{statement_id}/pdf",
    on=STATEMENTS,
    offered=NO_TOOL,
    gives=PDF,
)
def get_statement_pdf(_ctx: Context, _given: GetStatementPdf, statement: AccountStatement) -> PaperOut:
    """Get the PDF of a statement of account.

    As it was sent: always the same bytes.
    """
    return paper_of(statement)


OPERATIONS = (send_statement, list_statements, get_statement, get_statement_pdf)


def _against(account: AccountOf, customer: Customer) -> list[Reason]:
    """Return why there is no statement to send."""
    if len(account.entries) > MOST_ROWS:
        told = f"There are more than {MOST_ROWS} entries between the dates. Send several statements of less time."
        return [Reason(told)]
    if not account.entries and not account.balance:
        told = f"Nothing was charged to {customer.name} or paid by them between the dates, and nothing is owed."
        return [Reason(f"{told} Choose other dates.")]
    return []


def _snapshot(ctx: Context, customer: Customer, account: AccountOf, told: tuple[str, str, int]) -> Snapshot:
    """Return all that the statement says, with its first and last date and what is overdue."""
    first, last, overdue = told
    house = house_of(ctx)
    entries = [
        {
            "on": entry.on,
            "kind": entry.kind,
            "reference": entry.reference,
            "charged": None if entry.charged is None else _text(entry.charged, house),
            "paid": None if entry.paid is None else _text(entry.paid, house),
            "balance": _text(balance, house),
        }
        for entry, balance in account.entries
    ]
    balance = _text(account.balance, house)
    return freeze_statement(
        ctx,
        customer,
        {
            # It has no number: its last date tells it apart.
            "number": last,
            "language": customer.language or house.language,
            "currency": house.currency,
            "issuedOn": house.today(ctx).isoformat(),
            "totals": {"net": balance, "total": balance},
            "account": {
                "from": first,
                "until": last,
                "broughtForward": _text(account.before, house),
                "charged": _text(account.charged, house),
                "paid": _text(account.paid, house),
                "overdue": _text(overdue, house),
                "entries": entries,
            },
        },
    )


def _text(amount: int, house: House) -> str:
    return amount_text(amount, house.currency)


def _values(customer: Customer, snapshot: Snapshot, locale: Locale) -> dict[str, str]:
    """Return what the email about a statement says of it."""
    account = snapshot.account
    if account is None:
        return {}
    return {
        "customer": customer.name,
        "from": locale.day(account.from_),
        "until": locale.day(account.until),
        "balance": locale.money(snapshot.totals.total, snapshot.currency),
        "overdue": locale.money(account.overdue, snapshot.currency),
    }
