"""Purchase orders and bills for tests, drafted, sent, received and billed as the office does it."""

from typing import Any

from mainstay.business.purchasing.bills import record_bill
from mainstay.business.purchasing.materials import Material, find_unbilled_materials, mark_billed
from mainstay.business.purchasing.operations import draft_purchase_order, get_purchase_order
from mainstay.business.purchasing.receiving import receive_goods
from mainstay.business.purchasing.sending import send_purchase_order
from mainstay.kernel.context import Context, RequestDetails
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer, make_job
from support.prices import make_supplier

PIPE: dict[str, Any] = {"description": "Copper pipe", "quantity": "10", "unit": "m", "unitPrice": "6"}
VALVE: dict[str, Any] = {"description": "Valve", "quantity": "2", "unitPrice": "20"}


def make_purchase_job(cast: Cast, *assigned: Role, **given: object) -> dict[str, Any]:
    """Make a job to buy something for, assigned to the people of these roles."""
    return make_job(cast, make_customer(cast), *assigned, **given)


def make_order(cast: Cast, **given: object) -> dict[str, Any]:
    """Draft an order of pipes and valves, by default from a new supplier with an email address."""
    values: dict[str, object] = {"lines": [PIPE, VALVE], **given}
    if "supplierId" not in values:
        values["supplierId"] = make_supplier(cast, email="sales@pennine.example")
    return cast.perform(draft_purchase_order, Role.OFFICE, **values)


def place_order(cast: Cast, order: dict[str, Any] | None = None, **given: object) -> dict[str, Any]:
    """Send an order without an email."""
    order = order or make_order(cast, **given)
    values = {"purchaseOrderId": order["id"], "deliver": "none", "confirmed": True}
    return cast.perform(send_purchase_order, Role.OFFICE, **values)


def receive_order(cast: Cast, order: dict[str, Any], *quantities: str, **given: object) -> dict[str, Any]:
    """Receive goods of an order, so many line by line; an empty quantity skips the line."""
    lines = [
        {"lineId": goods["lineId"], "quantity": quantity}
        for goods, quantity in zip(order["goods"], quantities, strict=False)
        if quantity
    ]
    return cast.perform(receive_goods, Role.OFFICE, purchaseOrderId=order["id"], lines=lines, **given)


def reread_order(cast: Cast, order: dict[str, Any]) -> dict[str, Any]:
    """Return an order as it is now."""
    return cast.perform(get_purchase_order, Role.OFFICE, purchaseOrderId=order["id"])


def list_materials(cast: Cast) -> list[tuple[str, str, int, int]]:
    """Return the materials of jobs: kind, description, quantity and cost, in whole units."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        found = db.all(
            "SELECT kind, description, quantity, cost FROM material WHERE organisation_id = :organisation"
            " ORDER BY kind, description, id"
        )
    return [
        (str(kind), str(what), int(quantity or 0) // 10_000, int(cost or 0) // 10_000)
        for kind, what, quantity, cost in found
    ]


def make_bill(cast: Cast, **given: object) -> dict[str, Any]:
    """Record a bill, by default for pipes from a new supplier."""
    values: dict[str, object] = {"supplierNumber": "4711", "on": "2026-02-02", **given}
    if "supplierId" not in values and "purchaseOrderId" not in values:
        values["supplierId"] = make_supplier(cast)
    if "lines" not in values and "purchaseOrderId" not in values:
        values["lines"] = [PIPE]
    if "total" not in values:
        values["total"] = "60"
    return cast.perform(record_bill, Role.OFFICE, **values)


def bill_order(cast: Cast, order: dict[str, Any], *quantities: str, **given: object) -> dict[str, Any]:
    """Record a bill of so many of each line of an order; an empty quantity skips the line."""
    lines = [
        {"orderLineId": line["id"], "quantity": quantity}
        for line, quantity in zip(order["lines"], quantities, strict=False)
        if quantity
    ]
    return make_bill(cast, **{"purchaseOrderId": order["id"], "lines": lines, **given})


def set_materials_billed(cast: Cast, *record_ids: str, billed: bool = True) -> None:
    """Mark materials as billed or unbilled, as invoices do."""
    owner = cast.actor(Role.OWNER)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        ctx = Context(db, owner, RequestDetails("req_1"), cast.performer.clock)
        mark_billed(ctx, record_ids, billed=billed)


def list_billable_materials(cast: Cast, job: dict[str, Any], until: str | None = None) -> list[Material]:
    """Return the materials of a job that can be billed."""
    owner = cast.actor(Role.OWNER)
    with cast.performer.database.read_transaction(cast.organisation) as db:
        ctx = Context(db, owner, RequestDetails("req_1"), cast.performer.clock)
        return find_unbilled_materials(ctx, job["id"], until)
