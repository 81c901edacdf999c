"""The operations on purchase orders that the office is working on: list, get, draft and update."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.customers.model import Site
from mainstay.business.customers.store import SITES
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.edits import apply_edits, make_lines
from mainstay.business.lines.model import MAX_LINES
from mainstay.business.lines.restoring import restore_document
from mainstay.business.organisation import numbering
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.purchasing.inputs import (
    CostBook,
    JobFilter,
    NewOrderLine,
    OrderLineEdit,
    PurchaseJobId,
    SupplierFilter,
    SupplierId,
    fetch_optional_job,
    fetch_usable_supplier,
    price_purchase,
)
from mainstay.business.purchasing.lines import order_columns
from mainstay.business.purchasing.model import TO_OFFICE, DeliverTo, ListedOrder, ListedOrderOut, Order, OrderStatus
from mainstay.business.purchasing.store import LISTED_ORDERS, ORDERS, OrderId
from mainstay.changes.undo import Inverse
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import Act, declare_inverse
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    STARTING_AFTER,
    Paragraph,
    RecordReference,
    StoredDay,
    make_id_validator,
    omittable_field,
)
from mainstay.values.message import Choice, Message
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input, ListInput, PageResult

_Site = Annotated[
    Annotated[str, RecordReference(prefix="site")] | None,
    Field(title="Delivery address", description="Where the goods are delivered."),
]
_NeededOn = Annotated[StoredDay | None, Field(title="Needed by", description="The date by which it is needed.")]
_DeliverTo = Annotated[
    DeliverTo,
    Field(
        title="Deliver to", description=describe("[[To the `site`, to the `office`, or for `pickup` at the supplier.]]")
    ),
]
_Notes = Annotated[
    Paragraph | None, Field(title="Text on order", description="Printed below the lines, for the supplier.")
]


_HAS_JOB = "purchase_order.job_id = :job"


class ListPurchaseOrders(ListInput):
    """Which orders to list."""

    starting_after: Annotated[str | None, make_id_validator("po", "a purchase order")] = STARTING_AFTER
    status: OrderStatus | None = Field(
        None,
        description=describe(
            "Only orders with this status. [[`sent` and `partReceived` wait for goods; `partBilled` and `billed` may.]]"
        ),
    )
    supplier_id: SupplierFilter = None
    job_id: JobFilter = None
    text: SearchText | None = Field(None, title="Search", description="The number, the supplier or the job.")
    order: Literal["newest", "needed"] = Field(
        "newest",
        description=describe("[[`newest` first, or soonest `needed` first, without those that have no date.]]"),
    )


class DraftPurchaseOrder(Input):
    """The supplier, and what to order."""

    supplier_id: SupplierId
    job_id: PurchaseJobId = None
    deliver_to: _DeliverTo | None = Field(None, description="Default: to the site if there is one.")
    site_id: _Site = None
    needed_on: _NeededOn = None
    lines: list[NewOrderLine] = Field(default_factory=list, max_length=MAX_LINES, description="What to order.")
    notes: _Notes = None


class UpdatePurchaseOrder(Input):
    """Which draft, and what to change; null clears."""

    purchase_order_id: OrderId
    supplier_id: SupplierId = omittable_field()
    job_id: PurchaseJobId = None
    deliver_to: _DeliverTo = omittable_field()
    site_id: _Site = None
    needed_on: _NeededOn = None
    edits: list[OrderLineEdit] = omittable_field(
        max_length=MAX_LINES, description="Changes to lines, by their IDs; the others stay as they are."
    )
    notes: _Notes = None


@operation(permission=Permission.ORDERS_READ, effect=Effect.READ, api_path="GET /purchase-orders")
def list_purchase_orders(ctx: Context, given: ListPurchaseOrders) -> PageResult[ListedOrderOut]:
    """List purchase orders.

    What was ordered from suppliers, without lines, and which orders are still waiting for goods. Members see orders for
    their own jobs, without prices.
    """
    if given.job_id is not None:
        return LISTED_ORDERS.page(ctx, given, _HAS_JOB, job=JOBS.fetch(ctx, given.job_id).id)
    if given.status == "draft" and not ctx.actor.can(Permission.PURCHASING_READ):
        # Only the office sees drafts. Searching for no job returns an empty page without scanning all orders.
        return LISTED_ORDERS.page(ctx, given, _HAS_JOB, job="")
    return LISTED_ORDERS.page(ctx, given)


get_purchase_order = declare_get(
    ORDERS,
    "Get purchase order. What was ordered, received and billed, line by line.",
    Permission.ORDERS_READ,
    api_path="GET /purchase-orders/{purchase_order_id}",
)


@operation(
    permission=Permission.PURCHASING_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /purchase-orders",
    done_message="Purchase order created.",
    undone_by=declare_inverse("cancel_purchase_order", "purchaseOrderId", confirmed=True),
    past_text="Purchase order created",
)
def draft_purchase_order(ctx: Context, given: DraftPurchaseOrder) -> Order:
    """New purchase order.

    Order materials from a supplier, for a job or for stock. [[Nothing is sent until send_purchase_order.]]
    """
    supplier = fetch_usable_supplier(ctx, given.supplier_id)
    job = fetch_optional_job(ctx, given.job_id)
    if job:
        raise_if_blocked(job.not_workable())
    currency = settings_of(ctx).currency
    lines = price_purchase(ctx, make_lines(given.lines, CostBook(ctx)), currency)
    return ORDERS.insert(
        ctx,
        {
            "number": numbering.take_number(ctx, "purchaseOrder"),
            "supplier_id": supplier.id,
            "job_id": job and job.id,
            **_delivery_columns(ctx, job, given.deliver_to, given.site_id),
            "needed_on": given.needed_on,
            "currency": currency,
            "notes": given.notes,
            "status": "draft",
            "standing": "draft",
            **order_columns(lines),
        },
    )


def _restore_order(act: Act) -> Sequence[Inverse] | Message:
    """Restore the previous values and lines. The kind of delivery and its site are sent together."""
    inverses = restore_document(act)
    if isinstance(inverses, Message) or not inverses:
        return inverses
    values = dict(inverses[0].input)
    if values.keys() & {"deliverTo", "siteId", "jobId"}:
        order: Order = act.before
        values |= {"deliverTo": order.deliver_to, "siteId": order.site_id}
    return [inverses[0]._replace(input=values)]


@operation(
    permission=Permission.PURCHASING_CHANGE,
    effect=Effect.CHANGE,
    api_path="PATCH /purchase-orders/{purchase_order_id}",
    on=ORDERS,
    blocked_by=ListedOrder.not_editable,
    done_message="Purchase order saved.",
    undone_by=_restore_order,
    past_text="Purchase order edited",
)
def update_purchase_order(ctx: Context, given: UpdatePurchaseOrder, order: Order) -> Order:
    """Edit purchase order.

    Only drafts can be edited. [[Only the fields sent change; lines by `edits`.]]
    """
    changes = given.sent_fields("purchase_order_id", "edits", "job_id", "deliver_to", "site_id")
    if given.supplier_id:
        fetch_usable_supplier(ctx, given.supplier_id)
    sent = given.model_fields_set
    job = fetch_optional_job(ctx, given.job_id if "job_id" in sent else order.job_id)
    if "job_id" in sent:
        raise_if_blocked(job.not_workable() if job else [])
        changes["job_id"] = job and job.id
    if sent & {"job_id", "deliver_to", "site_id"}:
        kept_site = order.site_id if "job_id" not in sent else None
        site = given.site_id if "site_id" in sent else kept_site
        # A form also sends the old site when the delivery changes.
        site = None if site == order.site_id and given.deliver_to not in {None, "site"} else site
        # A delivery to a site follows the new site. Pickup and delivery to the office stay.
        unchanged = None if given.site_id or order.deliver_to == "site" else order.deliver_to
        changes |= _delivery_columns(ctx, job, given.deliver_to or unchanged, site)
    lines = [one.line for one in order.order_lines]
    if given.edits:
        changes |= order_columns(price_purchase(ctx, apply_edits(lines, given.edits, CostBook(ctx)), order.currency))
    return ORDERS.save(ctx, order, changes)


OPERATIONS = (list_purchase_orders, get_purchase_order, draft_purchase_order, update_purchase_order)


def _delivery_columns(ctx: Context, job: Job | None, deliver_to: DeliverTo | None, site: str | None) -> dict[str, Any]:
    """Return the delivery columns of an order: by default the given site or else the job's site."""
    if deliver_to not in {None, "site"}:
        if site:
            problem = Message(
                "can only be set for delivery to a site, not with {delivery}", delivery=Choice(deliver_to)
            )
            raise Invalid([Fault("siteId", problem)])
        return {"deliver_to": deliver_to, "site_id": None}
    site_id = site or (job.site_id if job else None)
    if site_id is None:
        if deliver_to == "site":
            raise Invalid([Fault("siteId", Message("is required to deliver to a site", for_programs=_SITES_HINT))])
        return {"deliver_to": TO_OFFICE, "site_id": None}
    found: Site = SITES.fetch(ctx, site_id)
    if job and found.customer_id != job.customer_id:
        raise Invalid([Fault("siteId", Message("is a site of another customer", for_programs=_SITES_HINT))])
    return {"deliver_to": "site", "site_id": found.id}


_SITES_HINT = Message("list_sites shows the sites")
