"""What can be done with suppliers' bills."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.edits import edited, made
from mainstay.business.lines.model import MOST_LINES
from mainstay.business.organisation.house import house_of
from mainstay.business.pricelist.model import Supplier
from mainstay.business.pricelist.store import SUPPLIERS
from mainstay.business.purchasing import materials, store
from mainstay.business.purchasing.asked import JobId, OfJob, OfSupplier, SupplierId, job_of
from mainstay.business.purchasing.billing import (
    BillBook,
    BillLineEdit,
    NewBillLine,
    check_not_credited,
    check_number,
    check_ordered,
    order_of,
    reckon,
    settle,
)
from mainstay.business.purchasing.lines import BillLine
from mainstay.business.purchasing.model import Bill, BillMove, BillStatus, ListedBill, ListedBillOut, Order
from mainstay.business.purchasing.store import BILLS, LISTED_BILLS, ORDERS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Fault, Invalid, Reason, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Irrevocable, LastDay, ListInput, Page
from mainstay.values.fields import LAST_SEEN, Day, KeptDay, Line, Paragraph, Reference, SignedPrice, id_of, omittable
from mainstay.values.money import in_parts
from mainstay.values.search import SearchText

_BillId = Annotated[str, id_of("bill"), Field(title="Bill", description="The bill's id.")]
_Number = Annotated[Line, Field(title="Their number", description="The number on it; each supplier's only once.")]
_On = Annotated[KeptDay, Field(title="Dated", description="The date on it.")]
_DueOn = Annotated[
    KeptDay | None, Field(title="Due", description="Where nothing is said on a new one, by the supplier's days to pay.")
]
_Total = Annotated[SignedPrice, Field(description="What it says is to be paid, with tax: what its lines come to.")]
_AllowOver = Annotated[
    bool, Field(title="More than was ordered", description="Whether the bill may be for more than was ordered.")
]
_Notes = Annotated[Paragraph | None, Field(description="For the office alone.")]


class ListBills(ListInput):
    """Which bills to list."""

    starting_after: Annotated[str | None, id_of("bill")] = LAST_SEEN
    status: BillStatus | None = Field(None, description="Only these.")
    supplier_id: OfSupplier = None
    job_id: OfJob = None
    purchase_order_id: Annotated[str | None, Reference(to="po")] = Field(
        None, title="Order", description="Only of this order, by id or number."
    )
    from_: Day | None = Field(None, alias="from", title="From", description="Only those dated then or later.")
    until: LastDay | None = Field(None, description="Only those dated then or earlier.")
    text: SearchText | None = Field(None, title="Search", description="Their number, the supplier, or an amount.")
    order: Literal["newest", "dated", "due"] = Field(
        "newest",
        description="`newest` first, last `dated` first, or `due` soonest first, without those that have no date.",
    )

    def fixed_order(self) -> str | None:
        """Return the order of the date by which the bills are narrowed."""
        return "dated" if self.from_ or self.until else None


class GetBill(Input):
    """Which bill."""

    bill_id: _BillId


class RecordBill(Input):
    """Whose bill, and what it says."""

    supplier_id: SupplierId = omittable()
    supplier_number: _Number
    on: _On
    total: _Total
    purchase_order_id: Annotated[str | None, Reference(to="po")] = Field(
        None, title="Order", description="The order it bills, by id or number; needed without supplierId."
    )
    job_id: JobId = None
    due_on: _DueOn = None
    lines: list[NewBillLine] = omittable(
        max_length=MOST_LINES, description="What it bills; of an order, where left out, all that is not billed."
    )
    allow_overbilling: _AllowOver = False
    notes: _Notes = None


class UpdateBill(Input):
    """Which bill, and what to change; null clears."""

    bill_id: _BillId
    supplier_number: _Number = omittable()
    on: _On = omittable()
    due_on: _DueOn = None
    job_id: JobId = None
    edits: list[BillLineEdit] = omittable(max_length=MOST_LINES, description="Changes of its lines; the others stay.")
    total: _Total = omittable()
    allow_overbilling: _AllowOver = False
    notes: _Notes = None
    status: BillMove = omittable(description="`approved` to be paid, `paid`, or a `draft` again.")
    paid_on: KeptDay | None = Field(None, title="Paid on", description="With status paid; today where nothing is said.")


class VoidBill(Irrevocable):
    """Which bill, and why."""

    bill_id: _BillId
    reason: Paragraph | None = Field(None, title="Why", description="It stays on the record.")


@operation(right=Right.PURCHASING_READ, effect=Effect.READ, rest="GET /bills")
def list_bills(ctx: Context, given: ListBills) -> Page[ListedBillOut]:
    """List suppliers' bills.

    Without their lines.
    """
    job = JOBS.fetch(ctx, given.job_id).id if given.job_id is not None else None
    order = ORDERS.fetch(ctx, given.purchase_order_id).id if given.purchase_order_id is not None else None
    narrowed = {"bill.job_id = :job": job, "bill.purchase_order_id = :purchase_order": order}
    where = " AND ".join(condition for condition, of in narrowed.items() if of)
    return LISTED_BILLS.page(ctx, given, where, job=job, purchase_order=order)


@operation(
    right=Right.PURCHASING_READ,
    effect=Effect.READ,
    rest="GET /bills/{bill_id}",
    glances=True,
    on=BILLS,
)
def get_bill(_ctx: Context, _given: GetBill, bill: Bill) -> Bill:
    """Get a supplier's bill with its lines.

    What was bought, at what price and tax, for which job, and whether it is paid.
    """
    return bill


@operation(
    right=Right.PURCHASING_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /bills",
    only_adds=False,
    done="The bill is recorded.",
)
def record_bill(ctx: Context, given: RecordBill) -> Bill:
    """Record a supplier's bill.

    Of an order or not; it is a cost of the job at once. Its total must be what its lines come to with tax.
    """
    order: Order | None = ORDERS.fetch(ctx, given.purchase_order_id) if given.purchase_order_id else None
    supplier = _supplier(ctx, given, order)
    refuse([*(order.not_billable() if order else []), *_closed(ctx, given.on)])
    _check_due(given.on, given.due_on)
    check_number(ctx, supplier.id, given.supplier_number)
    book = BillBook(ctx, order, store.billed_of(ctx, order.id) if order else {})
    lines = made(book.whole() if given.lines is None else given.lines, book)
    bill_lines = [BillLine(line, book.bills[line.id]) for line in lines]
    currency = house_of(ctx).currency
    columns = reckon(ctx, bill_lines, currency, given.total)
    check_ordered(ctx, bill_lines, book, allowed=given.allow_overbilling)
    bill = BILLS.insert(
        ctx,
        {
            "supplier_id": supplier.id,
            "supplier_number": given.supplier_number,
            "purchase_order_id": order and order.id,
            "job_id": _job(ctx, given.job_id, order),
            "on_date": given.on,
            "due_on": given.due_on or _usual_due(given.on, supplier),
            "currency": currency,
            "notes": given.notes,
            "status": "draft",
            **columns,
        },
    )
    settle(ctx, bill)
    return bill


@operation(
    right=Right.PURCHASING_CHANGE,
    effect=Effect.CHANGE,
    rest="PATCH /bills/{bill_id}",
    on=BILLS,
    unless=ListedBill.not_changeable,
    done="Your changes are saved.",
)
def update_bill(ctx: Context, given: UpdateBill, bill: Bill) -> Bill:
    """Change a supplier's bill.

    Also to approve it, or to say that it is paid. What it says changes only in a draft; lines by edits that name them.
    """
    said = _said(ctx, given, bill)
    if (said or given.edits or given.total is not None) and given.status != "draft":
        refuse(bill.not_editable())
    if "supplier_number" in said:
        check_number(ctx, bill.supplier_id, said["supplier_number"], but=bill.id)
    if said.keys() & {"on", "due_on"}:
        _check_due(said.get("on", bill.on), said.get("due_on", bill.due_on))
    # What of it is a cost of a job.
    bought = bool(given.edits or said.keys() & {"on", "job_id"})
    if bought:
        refuse([*_closed(ctx, bill.on), *_closed(ctx, said.get("on", bill.on))])
        materials.check_free(ctx, bill.id, bill.called)
    if "on" in said:
        said["on_date"] = said.pop("on")
    lines = _rewritten(ctx, given, bill) if given.edits or given.total is not None else {}
    after = BILLS.save(ctx, bill, {**said, **lines, **_moved(ctx, given, bill)})
    if bought:
        settle(ctx, after)
    return after


@operation(
    right=Right.PURCHASING_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /bills/{bill_id}/void",
    on=BILLS,
    unless=ListedBill.not_voidable,
    done="The bill is void.",
)
def void_bill(ctx: Context, given: VoidBill, bill: Bill) -> Bill:
    """Void a supplier's bill.

    It counts no longer, neither as a cost nor for its order; its number can be recorded anew.
    """
    refuse(_closed(ctx, bill.on))
    materials.check_free(ctx, bill.id, bill.called)
    check_not_credited(ctx, bill)
    ctx.summary = f"{bill.called} over {bill.total_text} counts no longer."
    order = order_of(ctx, bill.purchase_order_id)
    ctx.effects += [f"What it bills of {order.number} is not billed any more."] if order else []
    after = BILLS.save(ctx, bill, {"status": "void", "void_reason": given.reason})
    settle(ctx, after)
    return after


OPERATIONS = (list_bills, get_bill, record_bill, update_bill, void_bill)


def _supplier(ctx: Context, given: RecordBill, order: Order | None) -> Supplier:
    """Whose bill it is; also of someone whom nothing is bought from any more."""
    if order and given.supplier_id and given.supplier_id != order.supplier_id:
        raise Invalid([Fault("supplierId", f"is not whom {order.number} was sent to: that is {order.supplier_name}")])
    named = given.supplier_id or (order.supplier_id if order else None)
    if named is None:
        raise Invalid([Fault("supplierId", "is required without purchaseOrderId")])
    found: Supplier = SUPPLIERS.fetch(ctx, named)
    return found


def _job(ctx: Context, named: str | None, order: Order | None) -> str | None:
    """The job whose cost it is: the order's, where that is for one."""
    job = job_of(ctx, named)
    if order and order.job_id and job and job.id != order.job_id:
        raise Invalid([Fault("jobId", f"is not the job of {order.number}, which is {order.job_number}")])
    return job.id if job else order.job_id if order else None


def _usual_due(on: str, supplier: Supplier) -> str | None:
    days = supplier.payment_terms_days
    return None if days is None else (date.fromisoformat(on) + timedelta(days=days)).isoformat()


def _check_due(on: str, due_on: str | None) -> None:
    if due_on and due_on < on:
        raise Invalid([Fault("dueOn", f"is before the date on it, {on}")])


def _closed(ctx: Context, on: str) -> list[Reason]:
    return house_of(ctx).if_closed(on)


def _said(ctx: Context, given: UpdateBill, bill: Bill) -> dict[str, Any]:
    """What a bill is to say otherwise than it does, beside its lines."""
    said = {name: value for name, value in given.sent().items() if name in _SAID}
    if "job_id" in said:
        job = _job(ctx, given.job_id, order_of(ctx, bill.purchase_order_id))
        said |= {"job_id": job}
    return {name: value for name, value in said.items() if value != getattr(bill, name)}


_SAID = ("supplier_number", "on", "due_on", "job_id", "notes")


def _moved(ctx: Context, given: UpdateBill, bill: Bill) -> dict[str, Any]:
    """What changes when a bill is approved, paid, or a draft again."""
    becomes = given.status or bill.status
    # A form sends the date along that stands there.
    if given.paid_on and becomes != "paid" and given.paid_on != bill.paid_on:
        raise Invalid([Fault("paidOn", "is sent with status paid")])
    today = house_of(ctx).today(ctx).isoformat()
    if given.paid_on and given.paid_on > today:
        raise Invalid([Fault("paidOn", "lies ahead; say so when it is paid")])
    if becomes == bill.status and not given.paid_on:
        return {}
    return {"status": becomes, "paid_on": (given.paid_on or today) if becomes == "paid" else None}


def _rewritten(ctx: Context, given: UpdateBill, bill: Bill) -> dict[str, Any]:
    """The columns that follow from the lines of a bill, as they are changed."""
    order = order_of(ctx, bill.purchase_order_id)
    book = BillBook(ctx, order, store.billed_of(ctx, order.id, but=bill.id) if order else {})
    book.bills |= {one.line.id: one.order_line_id for one in bill.bill_lines}
    _check_edits(given.edits or [])
    lines = edited([one.line for one in bill.bill_lines], given.edits or [], book)
    bill_lines = [BillLine(line, book.bills[line.id]) for line in lines]
    # What it says itself has to be what its lines come to; only whoever reads it can say that it is another.
    said = in_parts(bill.total, bill.currency) if given.total is None else given.total
    columns = reckon(ctx, bill_lines, bill.currency, said)
    check_ordered(ctx, bill_lines, book, allowed=given.allow_overbilling)
    return columns


def _check_edits(edits: Sequence[BillLineEdit]) -> None:
    """Refuse to let a line that is there bill something else."""
    faults = [
        Fault(f"edits.{place}.orderLineId", "is sent with a new line; remove this one and add another")
        for place, one in enumerate(edits)
        if one.edit == "set" and "order_line_id" in one.sent
    ]
    if faults:
        raise Invalid(faults)
