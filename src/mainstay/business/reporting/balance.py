"""The operation that reads the balance of one customer."""

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.business.reporting.receivables import CustomerBalance, find_balances
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.money import amount_text
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.record_json import MoneyText
from mainstay.vocabulary.schemas import Input, Output


class CustomerBalanceOut(Output):
    """What a customer owes today."""

    noun = "customerBalance"

    id: str = Field(description="The customer's ID.", examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    currency: str = Field(examples=["GBP"])
    open: MoneyText = Field(description="The unpaid amount of invoices.", examples=["1440.00"])
    overdue: MoneyText = Field(description="The part that is past its due date.", examples=["240.00"])
    on_account: MoneyText = Field(description="Payments not allocated to an invoice yet.", examples=["100.00"])
    balance: MoneyText = Field(description="The unpaid amount minus what is on account.", examples=["1340.00"])
    has_entries: bool = Field(description="Whether anything was ever invoiced or paid.", examples=[True])


class GetCustomerBalance(Input):
    """Which customer."""

    customer_id: str = Field(title="Customer", description="The customer's ID.")


@operation(permission=Permission.INVOICES_READ, effect=Effect.READ, api_path="GET /customers/{customer_id}/balance")
def get_customer_balance(ctx: Context, given: GetCustomerBalance) -> CustomerBalanceOut:
    """Get customer balance.

    What a customer owes today: unpaid, overdue and on account. [[The report `statement` lists the entries behind
    it, `receivables` shows all customers.]]
    """
    # The operation is not declared `on` customers, because not everybody who may see a customer may see the balance.
    customer: Customer = CUSTOMERS.fetch(ctx, given.customer_id)
    settings = settings_of(ctx)
    balances = find_balances(ctx, settings.today(ctx), customer.id)
    balance = balances.get(customer.id, CustomerBalance(customer.name))
    return CustomerBalanceOut(
        object=CustomerBalanceOut.noun,
        id=customer.id,
        customer_name=customer.name,
        currency=settings.currency,
        open=_to_money(balance.open, settings),
        overdue=_to_money(balance.overdue, settings),
        on_account=_to_money(balance.on_account, settings),
        balance=_to_money(balance.balance, settings),
        has_entries=bool(balances) or any(ctx.db.one(sql, customer=customer.id) for sql in _FIND_ENTRY),
    )


OPERATIONS = (get_customer_balance,)

_WHERE_CUSTOMER = "WHERE organisation_id = :organisation AND customer_id = :customer"
# Statements that find an invoice or a payment, because a customer who owes nothing may have paid everything.
_FIND_ENTRY = (
    f"SELECT 1 FROM invoice {_WHERE_CUSTOMER} AND status <> 'draft' LIMIT 1",
    f"SELECT 1 FROM payment {_WHERE_CUSTOMER} LIMIT 1",
)


def _to_money(amount: int, settings: OrganisationSettings) -> MoneyText:
    return MoneyText(amount_text(amount, settings.currency))
