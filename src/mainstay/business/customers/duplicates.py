"""Finds customers who are probably duplicates."""

from collections import defaultdict
from typing import Annotated

import orjson
from pydantic import BaseModel, Field

from mainstay.business.customers.duplicate_keys import find_first_customers, find_repeating_customers
from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.address import Address
from mainstay.values.descriptions import describe
from mainstay.values.duplicate_keys import SHARED_DETAILS, SharedDetail, detail_of_key
from mainstay.values.fields import STARTING_AFTER, make_id_validator
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import ListInput, Output, PageResult


class ListDuplicateCustomers(ListInput):
    """Where to continue the list."""

    starting_after: Annotated[str | None, make_id_validator("customer")] = STARTING_AFTER


class AlikeCustomer(BaseModel):
    """A customer who may be the same, and what is the same."""

    model_config = OUTPUT_CONFIG

    id: str
    name: str
    email: str | None
    phone: str | None
    same: list[SharedDetail] = Field(description="The details that are the same, ignoring spelling.")


class DuplicateCustomerOut(Output):
    """A customer who may be a duplicate."""

    noun = "duplicateCustomer"

    id: str = Field(description=describe("[[The customer's ID.]]"), examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    name: str = Field(examples=["Calder Property Services"])
    email: str | None
    phone: str | None
    billing_address: Address | None
    same_as: list[AlikeCustomer] = Field(description="The likely originals; combine them with merge_customers.")


@operation(permission=Permission.ALL_CUSTOMERS_READ, effect=Effect.READ, api_path="GET /customers/duplicates")
def list_duplicate_customers(ctx: Context, given: ListDuplicateCustomers) -> PageResult[DuplicateCustomerOut]:
    """List duplicate customers.

    Likely duplicates: active customers with the same email, phone number, tax number, name or billing address as
    another, newest first. [[Compare both, then combine them with merge_customers.]]
    """
    found_ids = find_repeating_customers(ctx.db, given.starting_after, given.limit + 1)
    page_ids = found_ids[: given.limit]
    shared_keys: dict[str, dict[str, set[SharedDetail]]] = defaultdict(lambda: defaultdict(set))
    for customer, key, first in find_first_customers(ctx.db, page_ids):
        shared_keys[str(customer)][str(first)].add(detail_of_key(str(key)))
    customers = _fetch_customers(ctx, [*page_ids, *(first for firsts in shared_keys.values() for first in firsts)])
    rows = [_build_row(customers[record_id], shared_keys[record_id], customers) for record_id in page_ids]
    return PageResult(DuplicateCustomerOut, rows, len(found_ids) > given.limit)


OPERATIONS = (list_duplicate_customers,)


def _fetch_customers(ctx: Context, record_ids: list[str]) -> dict[str, Customer]:
    rows = select_batched(ctx.db, f"{CUSTOMERS.select_all} AND customer.id IN {BATCH_VALUES}", record_ids)
    return {customer.id: customer for customer in map(CUSTOMERS.from_row, rows)}


def _build_row(
    customer: Customer, shared_keys: dict[str, set[SharedDetail]], customers: dict[str, Customer]
) -> tuple[str, str, str | None, str | None, str | None, str]:
    alike = [
        AlikeCustomer(
            id=first,
            name=customers[first].name,
            email=customers[first].email,
            phone=customers[first].phone,
            same=[one for one in SHARED_DETAILS if one in common],
        )
        for first, common in sorted(shared_keys.items())
    ]
    same_as = orjson.dumps([one.model_dump(by_alias=True) for one in alike]).decode()
    return (customer.id, customer.name, customer.email, customer.phone, customer.billing_address, same_as)
