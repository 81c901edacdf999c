"""Purchase orders: the list, the page of each with its lines, the editor of those, and goods that come."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from mainstay.business.issuing.printed import is_issued
from mainstay.business.purchasing.bills import list_bills, record_bill
from mainstay.business.purchasing.operations import (
    draft_purchase_order,
    get_purchase_order,
    list_purchase_orders,
    update_purchase_order,
)
from mainstay.business.purchasing.receiving import receive_goods
from mainstay.business.purchasing.sending import get_purchase_order_pdf, get_purchase_order_proof, send_purchase_order
from mainstay.doors.http import Response
from mainstay.doors.office.arrangement import DELIVERED, Arrangement, FormPart
from mainstay.doors.office.beside import Related
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.drafts import led
from mainstay.doors.office.line_pages import LinePages
from mainstay.doors.office.proofs import Proofs
from mainstay.doors.office.references import AsTold
from mainstay.doors.office.room import Room
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.render import see_other
from mainstay.doors.pages.showing import Here
from mainstay.doors.pages.words import side_by_side
from mainstay.terms.refusal import Fault, Invalid

_CAME = "came "
_BILLS = ("status", "total", "dueOn")


def _short(quantity: str) -> str:
    return "" if quantity == "0.00" else quantity.removesuffix(".00")


def _still_open(order: AsTold, here: Here) -> dict[str, str]:
    """Everything that is still to come, written in."""
    return {f"{_CAME}{one['lineId']}": here.to_type(_short(one["open"])) for one in order["goods"]}


def _come(order: AsTold, fields: Mapping[str, str], here: Here) -> dict[str, object]:
    """What has come; what was left empty has not."""
    typed = {one["lineId"]: fields.get(f"{_CAME}{one['lineId']}", "").strip() for one in order["goods"]}
    nothing = {"", "0"}
    lines = [{"lineId": line, "quantity": here.read(text)} for line, text in typed.items() if text not in nothing]
    if not lines:
        raise Invalid([Fault("lines", "is empty: say how many of something have come")])
    return {"lines": lines}


ORDERS = Arrangement(
    title="Orders",
    lead="What was ordered, from whom, and what has come of it.",
    path="/purchasing/orders",
    area="Purchasing",
    frame="purchasing.html",
    gets=get_purchase_order,
    lists=list_purchase_orders,
    creates=draft_purchase_order,
    called=lambda order: side_by_side(order["number"], order["supplierName"]),
    below=lambda order: side_by_side(order["jobNumber"], order["jobTitle"]),
    columns=("status", "total", "neededOn", "deliverTo"),
    facts=("supplierName", "deliverTo", "siteName", "neededOn", "issuedOn", "sentAt", "notes", "closeReason"),
    tabs={"all": "All", "draft": "Drafts", "sent": "Sent", "partReceived": "Part received", "received": "Received"}
    | {"partBilled": "Part billed", "billed": "Billed", "closed": "Closed", "cancelled": "Cancelled"},
    choices={"deliver": DELIVERED},
    skips=frozenset({"lines", "edits"}),
    more="order.html",
    reminders={send_purchase_order.name: "document_way.html"},
    parts={receive_goods.name: FormPart("goods.html", _come, _still_open)},
    empty="No orders yet. Draft the first one from a supplier.",
    related=(Related("Bills", list_bills, "purchaseOrderId", "/purchasing/bills", _BILLS),),
)


@dataclass(frozen=True)
class Orders:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            *Room(self.desk, ORDERS, shows=self._shown).routes(),
            *Proofs(self.desk, ORDERS, get_purchase_order_proof).routes(),
            *LinePages(self.desk, ORDERS, update_purchase_order, sells=False).routes(),
            Route("GET", "/purchasing", self.desk.signed_in(self.enter)),
        ]

    async def enter(self, _guest: Guest, _: Mapping[str, str]) -> Response:
        """Purchasing begins with its orders."""
        return see_other(ORDERS.path)

    async def _shown(self, guest: Guest, order: AsTold | None) -> dict[str, Any]:
        """What only an order's page has: the ways to its lines, its PDF and a bill of it."""
        if order is None:
            return {}
        what = {line["id"]: line["description"] for line in order["lines"] or ()}
        what |= {one["lineId"]: one["description"] for one in order["goods"]}
        lines = (order["lines"] or ()) if guest.may(record_bill) and is_issued(order) else ()
        bill = {"purchaseOrderId": order["id"]}
        return {
            "actions": led(ORDERS, order, ORDERS.actions(self.desk, order), send_purchase_order),
            "editable": update_purchase_order.name in order["availableActions"],
            "printed": guest.may(get_purchase_order_pdf),
            "billing": _bill_path(bill) if any(map(_is_open, lines)) else None,
            "crediting": _bill_path(bill | {"credit": "on"}) if any(map(_is_billed, lines)) else None,
            "what": what,
        }


def _is_open(line: Mapping[str, Any]) -> bool:
    return line["kind"] == "item" and Decimal(line["billed"]) < Decimal(line["quantity"])


def _is_billed(line: Mapping[str, Any]) -> bool:
    return line["kind"] == "item" and Decimal(line["billed"]) > 0


def _bill_path(words: Mapping[str, str]) -> str:
    return f"/purchasing/bills/new?{urlencode(words)}"
