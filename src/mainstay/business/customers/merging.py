"""One customer out of two."""

from typing import Annotated

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.moved import have_told
from mainstay.business.customers.store import CUSTOMERS, REWORD
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.ledger.outbox import Letter
from mainstay.terms.refusal import Conflict, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Irrevocable
from mainstay.values.fields import id_of

# What goes over to the other customer: whatever names one.
_FOLLOWING = {
    "contact": "contacts",
    "site": "sites",
    "job": "jobs",
    "quote": "quotes",
    "invoice": "invoices",
    "credit_note": "credit notes",
    "payment": "payments",
    "account_statement": "statements",
}


class MergeCustomers(Irrevocable):
    """Which customer is merged into which."""

    customer_id: str = Field(description="The customer that ends.")
    into_customer_id: Annotated[str, id_of("customer")] = Field(
        title="Into", description="The customer that takes over everything."
    )


@operation(
    right=Right.CUSTOMERS_MERGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /customers/{customer_id}/merge",
    on=CUSTOMERS,
    unless=Customer.not_changeable,
    done="The customers are merged.",
)
def merge_customers(ctx: Context, given: MergeCustomers, customer: Customer) -> Customer:
    """Merge a customer into another.

    Contacts, sites, jobs, quotes, invoices and payments go over to the other, which keeps its own details; the customer
    that ends is archived.
    """
    stays = CUSTOMERS.fetch(ctx, given.into_customer_id)
    if stays.id == customer.id:
        raise Conflict("A customer cannot be merged into itself. Name another one.")
    refuse(stays.not_usable())
    ctx.summary = f"{customer.name} is merged into {stays.name}."
    # Before all that moves with them: an act is told by its first records.
    ctx.pen.touch(customer.id, stays.id)
    for table, what in _FOLLOWING.items():
        moved = _move(ctx, table, customer.id, stays.id)
        if moved:
            named = what if len(moved) > 1 else what.removesuffix("s")
            ctx.effects.append(f"{stays.name} takes over {len(moved)} {named}.")
        have_told(ctx, table, moved, customer)
    ctx.effects.append(f"{customer.name} is archived for good.")
    ctx.rows.run(_WHO_SEES, before=customer.id, after=stays.id)
    # Also those who were merged into this one: everyone who was names the one that has all now.
    _move(ctx, "customer", customer.id, stays.id, "merged_into_id")
    CUSTOMERS.save(ctx, customer, {"status": "archived", "merged_into_id": stays.id})
    ctx.post(Letter(REWORD, {"customer": stays.id}))
    return stays


OPERATIONS = (merge_customers,)

_WHO_SEES = "UPDATE own_job SET customer_id = :after WHERE organisation_id = :organisation AND customer_id = :before"


def _move(ctx: Context, table: str, before: str, after: str, named: str = "customer_id") -> list[str]:
    """Have records name another customer in this column; their ids, which the trail names too."""
    moved = ctx.rows.all(
        f"UPDATE {table} SET {named} = :after, updated_at = :at, updated_by = :by, version = version + 1"
        f" WHERE organisation_id = :organisation AND {named} = :before RETURNING id",
        before=before,
        after=after,
        at=ctx.at,
        by=ctx.stamp,
    )
    identities = sorted(str(identity) for (identity,) in moved)
    ctx.pen.touch(*identities)
    ctx.pen.mark_written(table, *identities)
    return identities
