"""Purchase orders: the list, the page of each with its lines, the editor of those, and goods that come."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import orjson

from mainstay.business.purchasing.bills import list_bills, record_bill
from mainstay.business.purchasing.operations import (
    draft_purchase_order,
    get_purchase_order,
    list_purchase_orders,
    update_purchase_order,
)
from mainstay.business.purchasing.receiving import receive_goods
from mainstay.business.purchasing.sending import get_purchase_order_pdf
from mainstay.doors.http import Response
from mainstay.doors.office.arrangement import Arrangement, Record, verb_of
from mainstay.doors.office.beside import Related
from mainstay.doors.office.desk import Desk, Guest, once_more, seen_version, status_of, wrong
from mainstay.doors.office.line_pages import LinePages
from mainstay.doors.office.room import Room
from mainstay.doors.pages.asking import asked_of, filled, given, ways_to
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.render import see_other
from mainstay.doors.papers import Papers
from mainstay.kernel.catalogue import admit
from mainstay.kernel.context import Envelope
from mainstay.terms.refusal import Refusal
from mainstay.values.written import plain_price

_CAME = "came "
_BILLS = ("status", "total", "dueOn")

ORDERS = Arrangement(
    title="Orders",
    lead="What was ordered, from whom, and what has come of it.",
    path="/purchasing/orders",
    area="Purchasing",
    frame="purchasing.html",
    gets=get_purchase_order,
    lists=list_purchase_orders,
    creates=draft_purchase_order,
    called=lambda order: f"{order['number']} {order['supplierName']}",
    below=lambda order: " ".join(filter(None, (order["jobNumber"], order["jobTitle"]))),
    columns=("status", "total", "neededOn", "deliverTo"),
    facts=("supplierName", "deliverTo", "siteName", "neededOn", "issuedOn", "sentAt", "notes", "closeReason"),
    tabs={"all": "All", "draft": "Drafts", "sent": "Sent", "partReceived": "Partly here", "received": "Here"}
    | {"partBilled": "Partly billed", "billed": "Billed", "closed": "Closed", "cancelled": "Cancelled"},
    skips=frozenset({"lines", "edits"}),
    more="order.html",
    empty="No orders yet. Draft the first one from a supplier.",
    related=(Related("Bills", list_bills, "purchaseOrderId", "/purchasing/bills", _BILLS),),
    notes=True,
)


@dataclass(frozen=True)
class Orders:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter, one = self.desk.signed_in, ORDERS.path_of("{id}")
        receiving = f"{one}/{verb_of(receive_goods)}"
        return [
            *Room(self.desk, ORDERS, shows=self._shown).routes(),
            *LinePages(self.desk, ORDERS, update_purchase_order, sells=False).routes(),
            Route("GET", "/purchasing", enter(self.enter)),
            Route("GET", f"{one}/pdf", enter(self.pdf)),
            Route("GET", receiving, enter(self.ask_goods)),
            Route("POST", receiving, enter(self.receive)),
        ]

    async def enter(self, _guest: Guest, _: Mapping[str, str]) -> Response:
        """Purchasing begins with its orders."""
        return see_other(ORDERS.path)

    async def pdf(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """The PDF that was sent."""
        visitors = self.desk.visitors
        papers = Papers(visitors.stage, visitors.runner, visitors.files)
        asked = orjson.dumps({"purchaseOrderId": at["id"]})
        return await papers.answer(get_purchase_order_pdf, guest.actor, asked, Envelope(guest.request.id))

    async def ask_goods(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """What has come, all that is open written in already."""
        admit(receive_goods, guest.actor)
        order = await self._fetch(guest, at)
        opened = {f"{_CAME}{one['lineId']}": _short(one["open"]) for one in order["goods"]}
        return self._goods(guest, order, filled(self._asked(guest), {}, guest.time_zone) | opened)

    async def receive(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Record it; what was left empty has not come."""
        fields = await self.desk.form(guest)
        guest = guest.sending(fields)
        admit(receive_goods, guest.actor)
        order = await self._fetch(guest, at)
        come = {one["lineId"]: fields.get(f"{_CAME}{one['lineId']}", "").strip() for one in order["goods"]}
        lines = [
            {"lineId": line, "quantity": plain_price(text)} for line, text in come.items() if text not in {"", "0"}
        ]
        sent = given(self._asked(guest), fields, guest.time_zone) | {"purchaseOrderId": order["id"], "lines": lines}
        try:
            await self.desk.perform(guest, receive_goods, sent, seen_version(fields))
        except Refusal as refusal:
            return self._goods(guest, order, once_more(fields, refusal, order["version"]), refusal)
        return see_other(f"{ORDERS.path_of(order['id'])}?done={receive_goods.name}")

    def _goods(
        self, guest: Guest, order: Record, fields: Mapping[str, str], refusal: Refusal | None = None
    ) -> Response:
        asked, shown = self._asked(guest), wrong(refusal)
        return self.desk.page(
            "receive.html",
            guest,
            status_of(refusal),
            of=ORDERS,
            operation=receive_goods,
            called=ORDERS.called(order),
            path=ORDERS.path_of(order["id"]),
            version=fields.get("version", order["version"]),
            goods=[{**one, "field": f"{_CAME}{one['lineId']}"} for one in order["goods"]],
            asked=asked,
            fields=defaultdict(str, fields),
            ways=ways_to(asked, shown.get("faults", {})),
            **shown,
        )

    async def _fetch(self, guest: Guest, at: Mapping[str, str]) -> Record:
        return await self.desk.perform(guest, get_purchase_order, {"purchaseOrderId": at["id"]})

    def _asked(self, guest: Guest) -> list[Any]:
        return [one for one in asked_of(receive_goods, guest.actor.rights) if one.name not in ORDERS.skips]

    async def _shown(self, guest: Guest, order: Record | None) -> dict[str, Any]:
        """What only an order's page has: the ways to its lines, its PDF and a bill of it."""
        if order is None:
            return {}
        what = {line["id"]: line["description"] for line in order["lines"] or ()}
        what |= {one["lineId"]: one["description"] for one in order["goods"]}
        billable = guest.may(record_bill) and order["sentAt"] and any(_is_open(line) for line in order["lines"] or ())
        return {
            "editable": update_purchase_order.name in order["availableActions"],
            "printed": bool(order["sentAt"]) and guest.may(get_purchase_order_pdf),
            "billing": f"/purchasing/bills/new?{urlencode({'purchaseOrderId': order['id']})}" if billable else None,
            "what": what,
        }


def _short(quantity: str) -> str:
    return "" if quantity == "0.00" else quantity.removesuffix(".00")


def _is_open(line: Mapping[str, Any]) -> bool:
    return line["kind"] == "item" and Decimal(line["billed"]) < Decimal(line["quantity"])
