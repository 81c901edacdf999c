"""Purchase orders and bills for tests, drafted, sent, received and billed as the office does it."""

from typing import Any

from cast import Cast
from mainstay.business.purchasing.bills import record_bill
from mainstay.business.purchasing.materials import Material, mark_billed, unbilled
from mainstay.business.purchasing.operations import draft_purchase_order, get_purchase_order
from mainstay.business.purchasing.receiving import receive_goods
from mainstay.business.purchasing.sending import send_purchase_order
from mainstay.kernel.context import Context, Envelope
from mainstay.terms.rights import Role
from trade import a_customer, a_job
from wares import a_supplier

PIPE: dict[str, Any] = {"description": "Copper pipe", "quantity": "10", "unit": "m", "unitPrice": "6"}
VALVE: dict[str, Any] = {"description": "Valve", "quantity": "2", "unitPrice": "20"}


def bought_for(cast: Cast, *assigned: Role, **given: object) -> dict[str, Any]:
    """A job that something is bought for, on which the people of these roles work."""
    return a_job(cast, a_customer(cast), *assigned, **given)


def an_order(cast: Cast, **given: object) -> dict[str, Any]:
    """A draft of pipes and valves from a new supplier with a mail address, unless another is named."""
    told: dict[str, object] = {"lines": [PIPE, VALVE], **given}
    if "supplierId" not in told:
        told["supplierId"] = a_supplier(cast, email="sales@pennine.example")
    return cast.perform(draft_purchase_order, Role.OFFICE, **told)


def ordered(cast: Cast, order: dict[str, Any] | None = None, **given: object) -> dict[str, Any]:
    """The same, sent without a mail."""
    order = order or an_order(cast, **given)
    told = {"purchaseOrderId": order["id"], "deliver": "none", "confirmed": True}
    return cast.perform(send_purchase_order, Role.OFFICE, **told)


def received(cast: Cast, order: dict[str, Any], *quantities: str, **given: object) -> dict[str, Any]:
    """An order of whose goods so many have come, line by line; what is empty has not."""
    lines = [
        {"lineId": goods["lineId"], "quantity": quantity}
        for goods, quantity in zip(order["goods"], quantities, strict=False)
        if quantity
    ]
    return cast.perform(receive_goods, Role.OFFICE, purchaseOrderId=order["id"], lines=lines, **given)


def as_it_is(cast: Cast, order: dict[str, Any]) -> dict[str, Any]:
    """An order as the office sees it now."""
    return cast.perform(get_purchase_order, Role.OFFICE, purchaseOrderId=order["id"])


def materials(cast: Cast) -> list[tuple[str, str, int, int]]:
    """What was bought for jobs: the kind, what, how many and at what cost, whole and in ten-thousandths."""
    with cast.stage.database.reading(cast.organisation) as rows:
        found = rows.all(
            "SELECT kind, description, quantity, cost FROM material WHERE organisation_id = :organisation"
            " ORDER BY kind, description, id"
        )
    return [
        (str(kind), str(what), int(quantity or 0) // 10_000, int(cost or 0) // 10_000)
        for kind, what, quantity, cost in found
    ]


def a_bill(cast: Cast, **given: object) -> dict[str, Any]:
    """A bill for pipes of a new supplier, unless something else is said."""
    told: dict[str, object] = {"supplierNumber": "4711", "on": "2026-02-02", **given}
    if "supplierId" not in told and "purchaseOrderId" not in told:
        told["supplierId"] = a_supplier(cast)
    if "lines" not in told and "purchaseOrderId" not in told:
        told["lines"] = [PIPE]
    if "total" not in told:
        told["total"] = "60"
    return cast.perform(record_bill, Role.OFFICE, **told)


def billed(cast: Cast, order: dict[str, Any], *quantities: str, **given: object) -> dict[str, Any]:
    """A bill of so many of each line of an order, at its prices; what is empty is not billed."""
    lines = [
        {"orderLineId": line["id"], "quantity": quantity}
        for line, quantity in zip(order["lines"], quantities, strict=False)
        if quantity
    ]
    return a_bill(cast, **{"purchaseOrderId": order["id"], "lines": lines, **given})


def put_on_invoice(cast: Cast, *identities: str, billed: bool = True) -> None:
    """What the invoices do with what was bought: put it on one, or take it off."""
    owner = cast.actor(Role.OWNER)
    with cast.stage.database.changing(cast.organisation) as rows:
        ctx = Context(rows, owner, Envelope("req_1"), cast.stage.clock)
        mark_billed(ctx, identities, billed=billed)


def to_bill(cast: Cast, job: dict[str, Any], until: str | None = None) -> list[Material]:
    """What was bought for a job and can be billed."""
    owner = cast.actor(Role.OWNER)
    with cast.stage.database.reading(cast.organisation) as rows:
        ctx = Context(rows, owner, Envelope("req_1"), cast.stage.clock)
        return unbilled(ctx, job["id"], until)
