"""Sending an order to the supplier."""

from typing import Any, Literal

from pydantic import Field

from mainstay.business.issuing.freezing import Order as Ordered
from mainstay.business.issuing.freezing import freeze_order
from mainstay.business.issuing.mailing import Enclosed, each_once, letters
from mainstay.business.issuing.printed import PaperOut, printing
from mainstay.business.pricelist.model import Supplier
from mainstay.business.purchasing import store
from mainstay.business.purchasing.asked import OrderId, supplier_of
from mainstay.business.purchasing.model import ListedOrder, Order
from mainstay.business.purchasing.store import ORDERS, House
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.paper.locales import Locale
from mainstay.paper.messages import say
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Conflict, Reason, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Irrevocable
from mainstay.values.fields import Email
from mainstay.values.moments import local_date
from mainstay.values.money import amount_text

_MOST_ADDRESSES = 10


class SendPurchaseOrder(Irrevocable):
    """Which order, and how."""

    purchase_order_id: OrderId
    deliver: Literal["email", "none"] = Field(
        "email", description="`none` issues it without a mail, where it was ordered otherwise."
    )
    to: list[Email] | None = Field(
        None, max_length=_MOST_ADDRESSES, title="To", description="Addresses, where not the supplier's own."
    )


class GetPurchaseOrderPdf(Input):
    """Which order."""

    purchase_order_id: OrderId


@operation(
    right=Right.PURCHASING_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /purchase-orders/{purchase_order_id}/send",
    on=ORDERS,
    unless=ListedOrder.not_sendable,
    mails=True,
    done="The order is sent.",
)
def send_purchase_order(ctx: Context, given: SendPurchaseOrder, order: Order) -> Order:
    """Send a purchase order to the supplier.

    By mail with its PDF. From then on it stays as it is, and its goods can be received.
    """
    house = store.house(ctx)
    supplier = supplier_of(ctx, order.supplier_id)
    to = each_once(given.to or ([supplier.email] if supplier.email else []))
    unreachable = [] if to or given.deliver == "none" else [Reason(_NOBODY.format(name=supplier.name), "save_supplier")]
    refuse([*order.not_ordered(), *unreachable])
    today = local_date(ctx.now, house.time_zone).isoformat()
    snapshot = _frozen(ctx, order, supplier, house, today)
    after = ORDERS.save(
        ctx,
        order,
        {
            "status": "sent",
            "standing": "sent",
            "issued_on": today,
            "language": snapshot.language,
            "snapshot": snapshot.model_dump_json(by_alias=True, exclude_none=True),
            "sent_at": ctx.at,
        },
    )
    ctx.post(printing(after.id, after.number))
    ctx.summary = f"{after.number} goes to {after.supplier_name}: {after.total_text}."
    if given.deliver == "none":
        ctx.effects.append("Nobody is mailed: order it yourself.")
    else:
        _mail(ctx, after, snapshot, to)
    return after


@operation(
    right=Right.PURCHASING_READ,
    effect=Effect.READ,
    rest="GET /purchase-orders/{purchase_order_id}/pdf",
    offered=frozenset({Door.API, Door.OFFICE}),
    on=ORDERS,
    gives="application/pdf",
)
def get_purchase_order_pdf(_ctx: Context, _given: GetPurchaseOrderPdf, order: Order) -> PaperOut:
    """Get the PDF of a purchase order.

    As it was sent: always the same bytes. A draft has none.
    """
    return _paper_of(order)


OPERATIONS = (send_purchase_order, get_purchase_order_pdf)

_NOBODY = "There is no address to mail it to. Give {name} one, say where it is to go, or issue it without a mail."


def _paper_of(order: Order) -> PaperOut:
    if order.snapshot is None:
        raise Conflict(f"{order.number} was never sent, and has no PDF until it is.")
    language = Snapshot.model_validate_json(order.snapshot).language
    name = f"{say(language, 'title.purchaseOrder')} {order.number}.pdf"
    return PaperOut(object=PaperOut.noun, record_id=order.id, form="pdf", name=name, sha256=order.pdf_sha256)


def _frozen(ctx: Context, order: Order, supplier: Supplier, house: House, today: str) -> Snapshot:
    told: dict[str, Any] = {
        "kind": "purchaseOrder",
        "number": order.number,
        "language": supplier.language or house.language,
        "issuedOn": today,
        "neededOn": order.needed_on,
        "notes": order.notes,
    }
    ordered = Ordered(order.supplier_id, order.site_id, order.job_id, collected=order.deliver_to == "pickup")
    return freeze_order(ctx, ordered, [one.line for one in order.order_lines], order.reckoned, told)


def _mail(ctx: Context, order: Order, snapshot: Snapshot, to: list[str]) -> None:
    country = snapshot.issuer.address.country if snapshot.issuer.address else None
    locale = Locale(snapshot.language, country)
    values = {
        "supplier": order.supplier_name,
        "organisation": snapshot.issuer.name,
        "number": order.number,
        "total": locale.money(amount_text(order.total, order.currency), order.currency),
    }
    for letter in letters(Enclosed("order", order.id, _paper_of(order).name), snapshot, to, None, values):
        ctx.post(letter)
        ctx.effects.append(f"It is mailed to {letter.payload['to']}: {letter.payload['subject']}")
    if not snapshot.issuer.email:
        ctx.warnings.append(
            "The organisation has no e-mail address, so nobody can answer the mail. Add one in settings."
        )
