"""Purchase orders: the list, the page of each, the line editor, and the form for received goods."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from mainstay.business.issuing.document_files import is_issued
from mainstay.business.jobs.store import JOBS
from mainstay.business.pricelist.store import SUPPLIERS
from mainstay.business.purchasing.bills import record_bill
from mainstay.business.purchasing.lines import ShownOrderLine
from mainstay.business.purchasing.model import OrderOut
from mainstay.business.purchasing.operations import (
    draft_purchase_order,
    update_purchase_order,
)
from mainstay.business.purchasing.receiving import receive_goods
from mainstay.business.purchasing.sending import get_purchase_order_pdf, get_purchase_order_proof, send_purchase_order
from mainstay.business.purchasing.store import BILLS, ORDERS
from mainstay.doors.http import Response
from mainstay.doors.office.kit.document_actions import order_draft_actions
from mainstay.doors.office.kit.line_editor import LinePages
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import DELIVERY_CHOICES, FormPart, RecordLayout
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.related_lists import RelatedList
from mainstay.doors.office.money.draft_previews import DraftPreviewPages
from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import join_isolated
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.rendering import redirect
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Fault, Invalid

_RECEIVED_PREFIX = "came "
_BILL_COLUMNS = ("status", "total", "dueOn")


def _shorten_quantity(quantity: str) -> str:
    return "" if quantity == "0.00" else quantity.removesuffix(".00")


def _fill_open_quantities(order: OrderOut, display: DisplaySettings) -> dict[str, str]:
    """Return the fields with all open quantities filled in."""
    return {
        f"{_RECEIVED_PREFIX}{one.line_id}": display.number_to_field(_shorten_quantity(one.open)) for one in order.goods
    }


def _read_received_lines(order: OrderOut, fields: Mapping[str, str], display: DisplaySettings) -> dict[str, object]:
    """Return the lines with a typed quantity, as input. Empty fields mean that nothing came."""
    typed = {one.line_id: fields.get(f"{_RECEIVED_PREFIX}{one.line_id}", "").strip() for one in order.goods}
    empty_texts = {"", "0"}
    lines = [
        {"lineId": line, "quantity": display.parse_number(text)}
        for line, text in typed.items()
        if text not in empty_texts
    ]
    if not lines:
        problem = Message("must have a quantity for at least one item")
        raise Invalid([Fault("lines", PageFormat(display).render_problem(problem))])
    return {"lines": lines}


ORDERS_LAYOUT = RecordLayout(
    kind=ORDERS,
    lead="What you ordered from suppliers, and what has arrived.",
    base_template="purchasing.html",
    create_operation=draft_purchase_order,
    send_operation=send_purchase_order,
    title_of=lambda order: join_isolated(order.number, order.supplier_name),
    subtitle_of=lambda order: join_isolated(order.job_number, order.job_title),
    columns=("status", "total", "neededOn", "deliverTo"),
    facts=(
        "supplierName",
        "jobNumber",
        "deliverTo",
        "siteName",
        "neededOn",
        "issuedOn",
        "sentAt",
        "notes",
        "closeReason",
    ),
    tabs={"all": "All", "draft": "Drafts", "sent": "Sent", "partReceived": "Part received", "received": "Received"}
    | {"partBilled": "Part billed", "billed": "Billed", "closed": "Closed", "cancelled": "Cancelled"},
    choices={"deliver": DELIVERY_CHOICES},
    skipped_fields=frozenset({"lines", "edits"}),
    page_body="order.html",
    next_operations=frozenset({receive_goods.name}),
    form_headers={send_purchase_order.name: "document_links.html"},
    previews={send_purchase_order.name: "draft"},
    form_parts={receive_goods.name: FormPart("received_goods.html", _read_received_lines, _fill_open_quantities)},
    summed_field="total",
    empty_text="No orders yet. Create the first one for a supplier.",
    shown_on=(
        RelatedList(JOBS, "jobId", ("total", "status"), can_add=True, is_side=True),
        RelatedList(SUPPLIERS, "supplierId", ("status", "total", "neededOn"), can_add=True),
    ),
)


@dataclass(frozen=True)
class OrderPages:
    """The pages of purchase orders."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            *RecordPages(self.office, ORDERS_LAYOUT, add_variables=self._page_variables).routes(),
            *DraftPreviewPages(self.office, ORDERS_LAYOUT, get_purchase_order_proof).routes(),
            *LinePages(self.office, ORDERS_LAYOUT, update_purchase_order, is_sales=False).routes(),
            Route("GET", "/purchasing", self.office.require_sign_in(self.redirect_to_orders)),
        ]

    async def redirect_to_orders(self, _request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Redirect to the orders, which are the first page of purchasing."""
        return redirect(ORDERS_LAYOUT.path)

    async def _page_variables(self, request: OfficeRequest, order: OrderOut | None) -> dict[str, Any]:
        """Return what only an order's page has: links to its lines, its PDF and the form for its bill."""
        if order is None:
            return {}
        descriptions = {line.id: line.description for line in order.lines or ()}
        descriptions |= {one.line_id: one.description for one in order.goods}
        lines = (order.lines or ()) if request.can_perform(record_bill) and is_issued(order) else ()
        bill = {"purchaseOrderId": order.id}
        return {
            "actions": order_draft_actions(ORDERS_LAYOUT, order, ORDERS_LAYOUT.actions_of(self.office, order)),
            "editable": update_purchase_order.name in order.available_actions,
            "printed": request.can_perform(get_purchase_order_pdf),
            "billing": _bill_path(bill) if any(map(_is_open, lines)) else None,
            "crediting": _bill_path(bill | {"credit": "on"}) if any(map(_is_billed, lines)) else None,
            "what": descriptions,
        }


def _is_open(line: ShownOrderLine) -> bool:
    return line.kind == "item" and Decimal(line.billed) < Decimal(line.quantity)


def _is_billed(line: ShownOrderLine) -> bool:
    return line.kind == "item" and Decimal(line.billed) > 0


def _bill_path(query: Mapping[str, str]) -> str:
    return f"{BILLS.new_path}?{urlencode(query)}"
