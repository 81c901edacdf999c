"""The operations on suppliers' bills: list, get, record, update and void."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.edits import apply_edits, make_lines
from mainstay.business.lines.model import MAX_LINES
from mainstay.business.lines.restoring import restore_document
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.pricelist.model import Supplier
from mainstay.business.pricelist.store import SUPPLIERS
from mainstay.business.purchasing import materials, store
from mainstay.business.purchasing.bill_lines import (
    BillBook,
    BillLineEdit,
    NewBillLine,
    check_bill_number,
    check_billed_quantities,
    check_not_credited,
    compute_bill_columns,
    find_order,
    update_after_bill,
)
from mainstay.business.purchasing.inputs import JobFilter, PurchaseJobId, SupplierFilter, SupplierId, fetch_optional_job
from mainstay.business.purchasing.lines import BillLine
from mainstay.business.purchasing.model import Bill, BillStatus, BillTargetStatus, ListedBill, ListedBillOut, Order
from mainstay.business.purchasing.store import BILLS, LISTED_BILLS, ORDERS, BillId
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import declare_inverse
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    STARTING_AFTER,
    Day,
    Paragraph,
    RecordReference,
    SignedPrice,
    StoredDay,
    TextLine,
    make_id_validator,
    omittable_field,
)
from mainstay.values.message import CalendarDate, FieldName, Message
from mainstay.values.money import minor_to_price
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid, Reason, raise_if_blocked
from mainstay.vocabulary.schemas import Input, IrreversibleInput, LastDay, ListInput, PageResult

_Number = Annotated[
    TextLine,
    Field(title="Bill number", description="The number on the supplier's bill. Each can be recorded only once."),
]
_On = Annotated[StoredDay, Field(title="Bill date", description="The date on the bill.")]
_DueOn = Annotated[
    StoredDay | None,
    Field(title="Due date", description="Leave empty to use the supplier's payment terms."),
]
_Total = Annotated[SignedPrice, Field(description="The amount on the bill, including tax. It must match the lines.")]
_AllowOver = Annotated[
    bool, Field(title="Allow more than ordered", description="The bill may be for more than was ordered.")
]
_Notes = Annotated[Paragraph | None, Field(description="Office only. Hidden from field staff.")]


class ListBills(ListInput):
    """Which bills to list."""

    starting_after: Annotated[str | None, make_id_validator("bill")] = STARTING_AFTER
    status: BillStatus | None = Field(None, description="Only bills with this status.")
    supplier_id: SupplierFilter = None
    job_id: JobFilter = None
    purchase_order_id: Annotated[str | None, RecordReference(prefix="po")] = Field(
        None, title="Purchase order", description=describe("[[Only bills for this order, by id or number.]]")
    )
    from_: Day | None = Field(None, alias="from", title="From", description="Dated on or after this date.")
    until: LastDay | None = Field(None, description="Dated on or before this date.")
    due_from: Day | None = Field(
        None, title="Due from", description="Due on or after this date, or without a due date."
    )
    due_before: Day | None = Field(None, title="Due before", description="Due before this date, soonest first.")
    text: SearchText | None = Field(None, title="Search", description="The bill number, the supplier or an amount.")
    order: Literal["newest", "dated", "due"] = Field(
        "newest",
        description=describe(
            "[[`newest` first, latest `dated` first, or soonest `due` first, without those that have no date.]]"
        ),
    )

    def fixed_order(self) -> str | None:
        """Return the order that fits a filter by date."""
        return "dated" if self.from_ or self.until else "due" if self.due_before else None


class RecordBill(Input):
    """The supplier, and what the bill says."""

    supplier_id: SupplierId = omittable_field()
    supplier_number: _Number
    on: _On
    total: _Total
    purchase_order_id: Annotated[str | None, RecordReference(prefix="po")] = Field(
        None,
        title="Purchase order",
        description=describe(
            "Fills in the supplier and what is not billed yet. [[Its id or number; required without `supplierId`.]]"
        ),
    )
    job_id: PurchaseJobId = None
    due_on: _DueOn = None
    lines: list[NewBillLine] = omittable_field(
        max_length=MAX_LINES, description="What it is for. Default with an order: everything not billed yet."
    )
    allow_overbilling: _AllowOver = False
    notes: _Notes = None


class UpdateBill(Input):
    """Which bill, and what to change; null clears."""

    bill_id: BillId
    supplier_number: _Number = omittable_field()
    on: _On = omittable_field()
    due_on: _DueOn = None
    job_id: PurchaseJobId = None
    edits: list[BillLineEdit] = omittable_field(
        max_length=MAX_LINES, description="Changes to lines; the others stay as they are."
    )
    total: _Total = omittable_field()
    allow_overbilling: _AllowOver = False
    notes: _Notes = None
    status: BillTargetStatus = omittable_field(
        description=describe("[[`approved` for payment, `paid`, or back to `draft`.]]")
    )
    paid_on: StoredDay | None = Field(None, title="Paid on", description="Only for a paid bill. Default: today.")


class VoidBill(IrreversibleInput):
    """Which bill, and why."""

    bill_id: BillId
    reason: Paragraph | None = Field(None, title="Reason", description="Shown on the bill.")


@operation(permission=Permission.PURCHASING_READ, effect=Effect.READ, api_path="GET /bills")
def list_bills(ctx: Context, given: ListBills) -> PageResult[ListedBillOut]:
    """List bills.

    What the business owes suppliers, and what it has paid. Without lines.
    """
    job = JOBS.fetch(ctx, given.job_id).id if given.job_id is not None else None
    order = ORDERS.fetch(ctx, given.purchase_order_id).id if given.purchase_order_id is not None else None
    conditions = {
        "bill.job_id = :job": job,
        "bill.purchase_order_id = :purchase_order": order,
        "coalesce(bill.due_on, '9') >= :due_from": given.due_from,
        "bill.due_on < :due_before": given.due_before,
    }
    where = " AND ".join(condition for condition, value in conditions.items() if value)
    return LISTED_BILLS.page(
        ctx, given, where, job=job, purchase_order=order, due_from=given.due_from, due_before=given.due_before
    )


get_bill = declare_get(
    BILLS,
    "Get bill. A supplier's bill with its lines, prices and tax, the job, and whether it is paid.",
    Permission.PURCHASING_READ,
    api_path="GET /bills/{bill_id}",
)


@operation(
    permission=Permission.PURCHASING_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /bills",
    only_adds=False,
    undone_by=declare_inverse("void_bill", "billId", reason="Recorded by mistake", confirmed=True),
    commits_amount=True,
    past_text="Bill recorded",
)
def record_bill(ctx: Context, given: RecordBill) -> Bill:
    """Record bill.

    Adds a supplier's bill, with or without a purchase order, to the job's costs. The total must match the lines plus
    tax.
    """
    order: Order | None = ORDERS.fetch(ctx, given.purchase_order_id) if given.purchase_order_id else None
    supplier = _fetch_supplier(ctx, given, order)
    raise_if_blocked([*(order.not_billable() if order else []), *_reasons_if_closed(ctx, given.on)])
    _check_due_date(given.on, given.due_on)
    check_bill_number(ctx, supplier.id, given.supplier_number)
    book = BillBook(ctx, order, store.sum_billed_quantities(ctx, order.id) if order else {})
    lines = make_lines(book.build_unbilled_lines() if given.lines is None else given.lines, book)
    bill_lines = [BillLine(line, book.order_line_ids[line.id]) for line in lines]
    currency = settings_of(ctx).currency
    columns = compute_bill_columns(ctx, bill_lines, currency, given.total)
    check_billed_quantities(ctx, bill_lines, book, allow_overbilling=given.allow_overbilling)
    bill = BILLS.insert(
        ctx,
        {
            "supplier_id": supplier.id,
            "supplier_number": given.supplier_number,
            "purchase_order_id": order and order.id,
            "job_id": _find_job_id(ctx, given.job_id, order),
            "on_date": given.on,
            "due_on": given.due_on or _compute_due_date(given.on, supplier),
            "currency": currency,
            "notes": given.notes,
            "status": "draft",
            **columns,
        },
    )
    ctx.commit_amount(bill.total, bill.currency)
    update_after_bill(ctx, bill)
    return bill


@operation(
    permission=Permission.PURCHASING_CHANGE,
    effect=Effect.CHANGE,
    api_path="PATCH /bills/{bill_id}",
    on=BILLS,
    blocked_by=ListedBill.not_changeable,
    done_message="Bill saved.",
    undone_by=restore_document,
    commits_amount=True,
    past_text="Bill edited",
    past_text_by=(
        "status",
        {"approved": "Bill approved", "paid": "Bill marked as paid", "draft": "Bill changed back to draft"},
    ),
)
def update_bill(ctx: Context, given: UpdateBill, bill: Bill) -> Bill:
    """Edit bill.

    Also approves the bill or marks it as paid; anything else can be changed only while it is a draft. [[Lines
    change with `edits`.]]
    """
    changes = _find_changes(ctx, given, bill)
    if (changes or given.edits or given.total is not None) and given.status != "draft":
        raise_if_blocked(bill.not_editable())
    if "supplier_number" in changes:
        check_bill_number(ctx, bill.supplier_id, changes["supplier_number"], except_id=bill.id)
    if changes.keys() & {"on", "due_on"}:
        _check_due_date(changes.get("on", bill.on), changes.get("due_on", bill.due_on))
    # The fields that decide what it costs which job.
    changes_costs = bool(given.edits or changes.keys() & {"on", "job_id"})
    if changes_costs:
        raise_if_blocked([*_reasons_if_closed(ctx, bill.on), *_reasons_if_closed(ctx, changes.get("on", bill.on))])
        materials.check_not_invoiced(ctx, bill.id, bill.display_name)
    if "on" in changes:
        changes["on_date"] = changes.pop("on")
    line_columns = _recompute_lines(ctx, given, bill) if given.edits or given.total is not None else {}
    after = BILLS.save(ctx, bill, {**changes, **line_columns, **_status_changes(ctx, given, bill)})
    if line_columns or after.status != bill.status:
        ctx.commit_amount(after.total, after.currency)
    if changes_costs:
        update_after_bill(ctx, after)
    return after


@operation(
    permission=Permission.PURCHASING_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /bills/{bill_id}/void",
    on=BILLS,
    blocked_by=ListedBill.not_voidable,
    not_undone=Message("Record the bill again."),
    commits_amount=True,
    past_text="Bill voided",
)
def void_bill(ctx: Context, given: VoidBill, bill: Bill) -> Bill:
    """Void bill.

    The bill is removed from the job's costs and from its purchase order. You can use its number again.
    """
    raise_if_blocked(_reasons_if_closed(ctx, bill.on))
    materials.check_not_invoiced(ctx, bill.id, bill.display_name)
    check_not_credited(ctx, bill)
    ctx.summary = Message("{bill} for {total} will no longer count.", bill=bill.display_name, total=bill.total_amount)
    order = find_order(ctx, bill.purchase_order_id)
    if order:
        ctx.effects.append(Message("The goods of {order} on it can be billed again.", order=order.number))
    after = BILLS.save(ctx, bill, {"status": "void", "void_reason": given.reason})
    ctx.commit_amount(bill.total, bill.currency)
    update_after_bill(ctx, after)
    return after


OPERATIONS = (list_bills, get_bill, record_bill, update_bill, void_bill)


def _fetch_supplier(ctx: Context, given: RecordBill, order: Order | None) -> Supplier:
    """Fetch the supplier of a bill, even one that is archived."""
    if order and given.supplier_id and given.supplier_id != order.supplier_id:
        problem = Message(
            "is not the supplier of {order}: {supplier}", order=order.number, supplier=order.supplier_name
        )
        raise Invalid([Fault("supplierId", problem)])
    supplier_id = given.supplier_id or (order.supplier_id if order else None)
    if supplier_id is None:
        raise Invalid([Fault("supplierId", Message("is required without {field}", field=FieldName("purchaseOrderId")))])
    found: Supplier = SUPPLIERS.fetch(ctx, supplier_id)
    return found


def _find_job_id(ctx: Context, job_ref: str | None, order: Order | None) -> str | None:
    """Return the id of the job that bears the cost; if the order has a job, it is that one."""
    job = fetch_optional_job(ctx, job_ref)
    if order and order.job_id and job and job.id != order.job_id:
        problem = Message("is not the job of {order}: {job}", order=order.number, job=order.job_number or "")
        raise Invalid([Fault("jobId", problem)])
    return job.id if job else order.job_id if order else None


def _compute_due_date(on: str, supplier: Supplier) -> str | None:
    days = supplier.payment_terms_days
    return None if days is None else (date.fromisoformat(on) + timedelta(days=days)).isoformat()


def _check_due_date(on: str, due_on: str | None) -> None:
    if due_on and due_on < on:
        raise Invalid([Fault("dueOn", Message("is before the bill date, {on}", on=CalendarDate(on)))])


def _reasons_if_closed(ctx: Context, on: str) -> list[Reason]:
    return settings_of(ctx).reasons_if_closed(on)


def _find_changes(ctx: Context, given: UpdateBill, bill: Bill) -> dict[str, Any]:
    """Return the columns that the input changes, except those computed from lines."""
    changes = {name: value for name, value in given.sent_fields().items() if name in _STATED_FIELDS}
    if "job_id" in changes:
        job = _find_job_id(ctx, given.job_id, find_order(ctx, bill.purchase_order_id))
        changes |= {"job_id": job}
    return {name: value for name, value in changes.items() if value != getattr(bill, name)}


_STATED_FIELDS = ("supplier_number", "on", "due_on", "job_id", "notes")


def _status_changes(ctx: Context, given: UpdateBill, bill: Bill) -> dict[str, Any]:
    """Return the columns that change when a bill is approved, paid, or becomes a draft again."""
    new_status = given.status or bill.status
    # A form sends the present date again, so an unchanged date is not a mistake.
    if given.paid_on and new_status != "paid" and given.paid_on != bill.paid_on:
        raise Invalid([Fault("paidOn", Message("can only be set when the status is paid"))])
    today = settings_of(ctx).today(ctx).isoformat()
    if given.paid_on and given.paid_on > today:
        raise Invalid([Fault("paidOn", Message("is in the future"))])
    if new_status == bill.status and not given.paid_on:
        return {}
    return {"status": new_status, "paid_on": (given.paid_on or today) if new_status == "paid" else None}


def _recompute_lines(ctx: Context, given: UpdateBill, bill: Bill) -> dict[str, Any]:
    """Apply the edits to the lines of a bill; return the columns that are computed from them."""
    order = find_order(ctx, bill.purchase_order_id)
    book = BillBook(ctx, order, store.sum_billed_quantities(ctx, order.id, except_id=bill.id) if order else {})
    book.order_line_ids |= {one.line.id: one.order_line_id for one in bill.bill_lines}
    _check_edits(given.edits or [])
    lines = apply_edits([one.line for one in bill.bill_lines], given.edits or [], book)
    bill_lines = [BillLine(line, book.order_line_ids[line.id]) for line in lines]
    # The total on the paper must equal the computed one; only a person who reads the bill can change it.
    stated_total = minor_to_price(bill.total, bill.currency) if given.total is None else given.total
    columns = compute_bill_columns(ctx, bill_lines, bill.currency, stated_total)
    check_billed_quantities(ctx, bill_lines, book, allow_overbilling=given.allow_overbilling)
    return columns


def _check_edits(edits: Sequence[BillLineEdit]) -> None:
    """Refuse edits that would make an existing line bill another order line."""
    faults = [
        Fault(f"edits.{index}.orderLineId", Message("can only be set on a new line; remove this line and add another"))
        for index, line_edit in enumerate(edits)
        if line_edit.edit == "set" and "order_line_id" in line_edit.sent_fields
    ]
    if faults:
        raise Invalid(faults)
