"""What one customer owes, at a glance."""

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.organisation.house import House, house_of
from mainstay.business.reporting.receivables import Owed, owed
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Shown
from mainstay.terms.wire import MoneyText
from mainstay.values.money import amount_text


class CustomerBalanceOut(Shown):
    """What a customer owes today."""

    noun = "customerBalance"

    id: str = Field(description="The customer's id.", examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    currency: str = Field(examples=["GBP"])
    open: MoneyText = Field(description="What is to be paid of invoices.", examples=["1440.00"])
    overdue: MoneyText = Field(description="What of that is late.", examples=["240.00"])
    on_account: MoneyText = Field(description="What was paid and is for no invoice yet.", examples=["100.00"])
    balance: MoneyText = Field(description="What is open less what is on account.", examples=["1340.00"])
    has_entries: bool = Field(description="Whether anything was ever invoiced or paid.", examples=[True])


class GetCustomerBalance(Input):
    """Which customer."""

    customer_id: str = Field(title="Customer", description="The customer's id.")


@operation(right=Right.INVOICES_READ, effect=Effect.READ, rest="GET /customers/{customer_id}/balance")
def get_customer_balance(ctx: Context, given: GetCustomerBalance) -> CustomerBalanceOut:
    """Get what a customer owes.

    The customer's balance today: what is open, overdue and on account. The report `statement` tells the entries behind
    it, `receivables` the same of everyone.
    """
    # Not declared on customers: whoever may look at one need not be one who sees what they owe.
    customer: Customer = CUSTOMERS.fetch(ctx, given.customer_id)
    house = house_of(ctx)
    found = owed(ctx, house.today(ctx), customer.id)
    one = found.get(customer.id, Owed(customer.name, [], 0))
    return CustomerBalanceOut(
        object=CustomerBalanceOut.noun,
        id=customer.id,
        customer_name=customer.name,
        currency=house.currency,
        open=_money(one.open, house),
        overdue=_money(one.overdue, house),
        on_account=_money(one.on_account, house),
        balance=_money(one.balance, house),
        has_entries=bool(found) or any(ctx.rows.one(sql, customer=customer.id) for sql in _ENTRIES),
    )


OPERATIONS = (get_customer_balance,)

_OF = "WHERE organisation_id = :organisation AND customer_id = :customer"
# Whoever owes nothing may have paid all of it.
_ENTRIES = (
    f"SELECT 1 FROM invoice {_OF} AND status <> 'draft' LIMIT 1",
    f"SELECT 1 FROM payment {_OF} LIMIT 1",
)


def _money(amount: int, house: House) -> MoneyText:
    return MoneyText(amount_text(amount, house.currency))
