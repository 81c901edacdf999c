"""What can be done with purchase orders while the office works on them."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.customers.model import Site
from mainstay.business.customers.store import SITES
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.edits import edited, made
from mainstay.business.lines.model import MOST_LINES
from mainstay.business.organisation import numbering
from mainstay.business.organisation.house import house_of
from mainstay.business.purchasing.asked import (
    CostBook,
    JobId,
    NewOrderLine,
    OfJob,
    OfSupplier,
    OrderId,
    OrderLineEdit,
    SupplierId,
    drawn,
    job_of,
    supplier_of,
)
from mainstay.business.purchasing.lines import order_columns
from mainstay.business.purchasing.model import TO_OFFICE, DeliverTo, ListedOrder, ListedOrderOut, Order, OrderStatus
from mainstay.business.purchasing.store import LISTED_ORDERS, ORDERS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Fault, Invalid, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, ListInput, Page
from mainstay.values.fields import LAST_SEEN, KeptDay, Paragraph, Reference, id_of, omittable
from mainstay.values.search import SearchText

_Site = Annotated[
    Annotated[str, Reference(to="site")] | None, Field(title="Site", description="Where it is delivered to.")
]
_NeededOn = Annotated[KeptDay | None, Field(title="Needed", description="The date by which it is needed.")]
_DeliverTo = Annotated[
    DeliverTo, Field(title="Delivery", description="To the `site`, to the `office`, or for `pickup`.")
]
_Notes = Annotated[Paragraph | None, Field(description="What the supplier reads below.")]


_OF_JOB = "purchase_order.job_id = :job"


class ListPurchaseOrders(ListInput):
    """Which orders to list."""

    starting_after: Annotated[str | None, id_of("po", "a purchase order")] = LAST_SEEN
    status: OrderStatus | None = Field(None, description="Only these.")
    supplier_id: OfSupplier = None
    job_id: OfJob = None
    text: SearchText | None = Field(None, title="Search", description="Number, or words of supplier or job.")
    order: Literal["newest", "needed"] = Field(
        "newest", description="`newest` first, or `needed` soonest first, without those that have no date."
    )


class GetPurchaseOrder(Input):
    """Which order."""

    purchase_order_id: OrderId


class DraftPurchaseOrder(Input):
    """From whom, and what."""

    supplier_id: SupplierId
    job_id: JobId = None
    deliver_to: _DeliverTo | None = Field(None, description="Where nothing is said, to the site if there is one.")
    site_id: _Site = None
    needed_on: _NeededOn = None
    lines: list[NewOrderLine] = Field(default_factory=list, max_length=MOST_LINES, description="What is ordered.")
    notes: _Notes = None


class UpdatePurchaseOrder(Input):
    """Which draft, and what to change; null clears."""

    purchase_order_id: OrderId
    supplier_id: SupplierId = omittable()
    job_id: JobId = None
    deliver_to: _DeliverTo = omittable()
    site_id: _Site = None
    needed_on: _NeededOn = None
    edits: list[OrderLineEdit] = omittable(
        max_length=MOST_LINES, description="Changes of its lines, by their ids; the others stay."
    )
    notes: _Notes = None


@operation(right=Right.ORDERS_READ, effect=Effect.READ, rest="GET /purchase-orders")
def list_purchase_orders(ctx: Context, given: ListPurchaseOrders) -> Page[ListedOrderOut]:
    """List purchase orders.

    Without their lines. Members see those for their own jobs, without prices.
    """
    if given.job_id is not None:
        return LISTED_ORDERS.page(ctx, given, _OF_JOB, job=JOBS.fetch(ctx, given.job_id).id)
    if given.status == "draft" and not ctx.actor.may(Right.PURCHASING_READ):
        # Drafts are the office's: they are looked for at no job, instead of walked through one by one.
        return LISTED_ORDERS.page(ctx, given, _OF_JOB, job="")
    return LISTED_ORDERS.page(ctx, given)


@operation(
    right=Right.ORDERS_READ,
    effect=Effect.READ,
    rest="GET /purchase-orders/{purchase_order_id}",
    glances=True,
    on=ORDERS,
)
def get_purchase_order(_ctx: Context, _given: GetPurchaseOrder, order: Order) -> Order:
    """Get a purchase order.

    What is ordered, what has come and what was billed of it, line by line.
    """
    return order


@operation(
    right=Right.PURCHASING_CHANGE, effect=Effect.CHANGE, rest="POST /purchase-orders", done="The draft is there."
)
def draft_purchase_order(ctx: Context, given: DraftPurchaseOrder) -> Order:
    """Draft a purchase order.

    For a job or for stock. Nothing is sent until send_purchase_order.
    """
    supplier = supplier_of(ctx, given.supplier_id)
    job = job_of(ctx, given.job_id)
    if job:
        refuse(job.not_workable())
    currency = house_of(ctx).currency
    lines = drawn(ctx, made(given.lines, CostBook(ctx)), currency)
    return ORDERS.insert(
        ctx,
        {
            "number": numbering.take(ctx, "purchaseOrder"),
            "supplier_id": supplier.id,
            "job_id": job and job.id,
            **_delivery(ctx, job, given.deliver_to, given.site_id),
            "needed_on": given.needed_on,
            "currency": currency,
            "notes": given.notes,
            "status": "draft",
            "standing": "draft",
            **order_columns(lines),
        },
    )


@operation(
    right=Right.PURCHASING_CHANGE,
    effect=Effect.CHANGE,
    rest="PATCH /purchase-orders/{purchase_order_id}",
    on=ORDERS,
    unless=ListedOrder.not_editable,
    done="Your changes are saved.",
)
def update_purchase_order(ctx: Context, given: UpdatePurchaseOrder, order: Order) -> Order:
    """Change a draft of a purchase order.

    Only what is sent changes; lines by edits, each of which names its line.
    """
    changes = given.sent("purchase_order_id", "edits", "job_id", "deliver_to", "site_id")
    if given.supplier_id:
        supplier_of(ctx, given.supplier_id)
    sent = given.model_fields_set
    job = job_of(ctx, given.job_id if "job_id" in sent else order.job_id)
    if "job_id" in sent:
        refuse(job.not_workable() if job else [])
        changes["job_id"] = job and job.id
    if sent & {"job_id", "deliver_to", "site_id"}:
        kept_site = order.site_id if "job_id" not in sent else None
        site = given.site_id if "site_id" in sent else kept_site
        # A form sends the site that it had beside where it goes now.
        site = None if site == order.site_id and given.deliver_to not in {None, "site"} else site
        # What went to a site goes to the next one that is named; what is fetched or goes to the office, still does.
        stays = None if given.site_id or order.deliver_to == "site" else order.deliver_to
        changes |= _delivery(ctx, job, given.deliver_to or stays, site)
    lines = [one.line for one in order.order_lines]
    if given.edits:
        changes |= order_columns(drawn(ctx, edited(lines, given.edits, CostBook(ctx)), order.currency))
    return ORDERS.save(ctx, order, changes)


OPERATIONS = (list_purchase_orders, get_purchase_order, draft_purchase_order, update_purchase_order)


def _delivery(ctx: Context, job: Job | None, to: DeliverTo | None, site: str | None) -> dict[str, Any]:
    """Where an order goes: to the site that is named or the job's, where nothing else is said."""
    if to not in {None, "site"}:
        if site:
            raise Invalid([Fault("siteId", f"is not sent with deliverTo {to}")])
        return {"deliver_to": to, "site_id": None}
    named = site or (job.site_id if job else None)
    if named is None:
        if to == "site":
            raise Invalid([Fault("siteId", "is required to deliver to a site; list_sites tells them")])
        return {"deliver_to": TO_OFFICE, "site_id": None}
    found: Site = SITES.fetch(ctx, named)
    if job and found.customer_id != job.customer_id:
        raise Invalid([Fault("siteId", "is a site of another customer than the job's; list_sites tells them")])
    return {"deliver_to": "site", "site_id": found.id}
