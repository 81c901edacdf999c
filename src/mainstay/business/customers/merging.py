"""Merges one customer into another."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from mainstay.business.customers.customer_changed import queue_moved_events
from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS, REFRESH_CUSTOMER_SEARCH
from mainstay.changes.outbox import OutboxTask
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import make_id_validator
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, raise_if_blocked
from mainstay.vocabulary.schemas import IrreversibleInput

# The tables whose records move to the other customer, with how the preview names a number of them.
_MOVED_TABLES: Mapping[str, Callable[[int], Message]] = MappingProxyType(
    {
        "contact": lambda count: Message("{count} contact", plural="{count} contacts", count=count),
        "site": lambda count: Message("{count} site", plural="{count} sites", count=count),
        "job": lambda count: Message("{count} job", plural="{count} jobs", count=count),
        "quote": lambda count: Message("{count} quote", plural="{count} quotes", count=count),
        "invoice": lambda count: Message("{count} invoice", plural="{count} invoices", count=count),
        "credit_note": lambda count: Message("{count} credit note", plural="{count} credit notes", count=count),
        "payment": lambda count: Message("{count} payment", plural="{count} payments", count=count),
        "account_statement": lambda count: Message("{count} statement", plural="{count} statements", count=count),
    }
)


class MergeCustomers(IrreversibleInput):
    """Which customer is merged into which."""

    customer_id: str = Field(description="The duplicate, which is archived.")
    into_customer_id: Annotated[str, make_id_validator("customer")] = Field(
        title="Customer to keep", description="All records move to this customer."
    )


@operation(
    permission=Permission.CUSTOMERS_MERGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /customers/{customer_id}/merge",
    on=CUSTOMERS,
    blocked_by=Customer.not_changeable,
    not_undone=Message("Create the other customer again, and move the jobs by hand."),
    past_text="Customers merged",
)
def merge_customers(ctx: Context, given: MergeCustomers, customer: Customer) -> Customer:
    """Merge customers.

    Combine duplicate customers: contacts, sites, jobs, quotes, invoices and payments move to the other customer, which
    keeps its own details. The duplicate is archived.
    """
    survivor = CUSTOMERS.fetch(ctx, given.into_customer_id)
    if survivor.id == customer.id:
        raise Conflict(Message("A customer can't be merged into itself. Choose another one."))
    raise_if_blocked(survivor.not_usable())
    ctx.summary = Message("{customer} will be merged into {other}.", customer=customer.name, other=survivor.name)
    # Touched before the moved records, because the audit trail names the first records of an operation.
    ctx.writer.touch(customer.id, survivor.id)
    for table, count_records in _MOVED_TABLES.items():
        moved_ids = _move_records(ctx, table, customer.id, survivor.id)
        if moved_ids:
            records = count_records(len(moved_ids))
            ctx.effects.append(Message("{records} will move to {customer}.", records=records, customer=survivor.name))
        queue_moved_events(ctx, table, moved_ids, customer)
    ctx.effects.append(Message("{customer} will be archived for good.", customer=customer.name))
    ctx.db.run(_MOVE_OWN_JOBS_SQL, before=customer.id, after=survivor.id)
    # Customers merged into this one earlier now refer to the remaining customer.
    _move_records(ctx, "customer", customer.id, survivor.id, "merged_into_id")
    CUSTOMERS.save(ctx, customer, {"status": "archived", "merged_into_id": survivor.id})
    ctx.add_task(OutboxTask(REFRESH_CUSTOMER_SEARCH, {"customer": survivor.id}))
    return survivor


OPERATIONS = (merge_customers,)

_MOVE_OWN_JOBS_SQL = (
    "UPDATE own_job SET customer_id = :after WHERE organisation_id = :organisation AND customer_id = :before"
)


def _move_records(
    ctx: Context, table: str, old_customer: str, new_customer: str, column: str = "customer_id"
) -> list[str]:
    """Set another customer in a column of all records that have this one, and return the ids of those records."""
    rows = ctx.db.all(
        f"UPDATE {table} SET {column} = :after, updated_at = :at, updated_by = :by, version = version + 1"
        f" WHERE organisation_id = :organisation AND {column} = :before RETURNING id",
        before=old_customer,
        after=new_customer,
        at=ctx.now_text,
        by=ctx.stamp,
    )
    record_ids = sorted(str(record_id) for (record_id,) in rows)
    ctx.writer.touch(*record_ids)
    ctx.writer.mark_written(table, *record_ids)
    return record_ids
