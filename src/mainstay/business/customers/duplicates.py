"""Finding customers who may be there twice."""

from collections import defaultdict
from typing import Annotated

import orjson
from pydantic import BaseModel, Field

from mainstay.backing.among import THESE, among
from mainstay.business.customers.duplicate_keys import firsts_of, page_of_repeating
from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.rights import Right
from mainstay.terms.shapes import ListInput, Page, Shown
from mainstay.values.address import Address
from mainstay.values.alike import COMMON, Common, common_of
from mainstay.values.fields import LAST_SEEN, id_of
from mainstay.values.models import TOLD


class ListDuplicateCustomers(ListInput):
    """Which of them to list."""

    starting_after: Annotated[str | None, id_of("customer")] = LAST_SEEN


class AlikeCustomer(BaseModel):
    """A customer who may be the same, and what is the same."""

    model_config = TOLD

    id: str
    name: str
    email: str | None
    phone: str | None
    same: list[Common] = Field(description="What both have in common, as it is compared: spelling is left aside.")


class DuplicateCustomerOut(Shown):
    """A customer who may be there already."""

    noun = "duplicateCustomer"

    id: str = Field(description="The customer's id.", examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    name: str = Field(examples=["Calder Property Services"])
    email: str | None = Field(title="E-mail address")
    phone: str | None
    billing_address: Address | None
    same_as: list[AlikeCustomer] = Field(description="Who they may be; merge_customers makes one of the two.")


@operation(right=Right.ALL_CUSTOMERS_READ, effect=Effect.READ, rest="GET /customers/duplicates")
def list_duplicate_customers(ctx: Context, given: ListDuplicateCustomers) -> Page[DuplicateCustomerOut]:
    """List customers who are probably duplicates of another one.

    Active customers with the same email address, phone number, tax number, name or billing address as another, the
    newest first. Look at both, then merge_customers makes one of them.
    """
    found = page_of_repeating(ctx.rows, given.starting_after, given.limit + 1)
    shown = found[: given.limit]
    same: dict[str, dict[str, set[Common]]] = defaultdict(lambda: defaultdict(set))
    for customer, key, first in firsts_of(ctx.rows, shown):
        same[str(customer)][str(first)].add(common_of(str(key)))
    customers = _fetch_each(ctx, [*shown, *(first for firsts in same.values() for first in firsts)])
    rows = [_row(customers[identity], same[identity], customers) for identity in shown]
    return Page(DuplicateCustomerOut, rows, len(found) > given.limit)


OPERATIONS = (list_duplicate_customers,)


def _fetch_each(ctx: Context, identities: list[str]) -> dict[str, Customer]:
    rows = among(ctx.rows, f"{CUSTOMERS.everything} AND customer.id IN {THESE}", identities)
    return {customer.id: customer for customer in map(CUSTOMERS.keep, rows)}


def _row(
    customer: Customer, same: dict[str, set[Common]], known: dict[str, Customer]
) -> tuple[str, str, str | None, str | None, str | None, str]:
    alike = [
        AlikeCustomer(
            id=first,
            name=known[first].name,
            email=known[first].email,
            phone=known[first].phone,
            same=[one for one in COMMON if one in common],
        )
        for first, common in sorted(same.items())
    ]
    told = orjson.dumps([one.model_dump(by_alias=True) for one in alike]).decode()
    return (customer.id, customer.name, customer.email, customer.phone, customer.billing_address, told)
