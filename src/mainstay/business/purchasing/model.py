"""Purchase orders and bills: their states, and the rules of what can be done with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, Field

from mainstay.business.lines.model import PricingTerms, ShownTax
from mainstay.business.purchasing.lines import (
    BillLine,
    Goods,
    OrderLine,
    ShownBillLine,
    ShownOrderLine,
    read_bill_lines,
    read_order_lines,
)
from mainstay.values.message import Amount, Choice, Message
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.values.money import amount_text
from mainstay.values.totals import Discount
from mainstay.vocabulary.actor import Actor, Stamp
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.record_json import MoneyText, PriceText
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.roles import OUTSIDER_TEXT, RefersTo
from mainstay.vocabulary.schemas import Output, Record, StoredRecord, make_states

OrderStatus = Literal["draft", "sent", "partReceived", "received", "partBilled", "billed", "closed", "cancelled"]
BillStatus = Literal["draft", "approved", "paid", "void"]
# The statuses that update_bill can set; void_bill voids a bill.
BillTargetStatus = Literal["draft", "approved", "paid"]
DeliverTo = Literal["site", "office", "pickup"]
TO_OFFICE: DeliverTo = "office"

REQUIRES_COSTS = RequiresPermission(Permission.COSTS_READ)
_REQUIRES_PURCHASING = RequiresPermission(Permission.PURCHASING_READ)
_DATE: dict[str, Any] = {"format": "date"}
_MOMENT: dict[str, Any] = {"format": "date-time"}
# For the examples in the API's description.
EXAMPLE_SUPPLIER_ID = "supplier_01KA3R2D4F6H8J0K2N4P6R8T0V"
EXAMPLE_ORDER_LINE: dict[str, Any] = {
    "id": "line_01KA3R5X7Z9B1D3F5H7J9K1N3P",
    "kind": "item",
    "itemId": None,
    "description": "Copper pipe, 22 mm",
    "quantity": "20.00",
    "unit": "m",
    "unitPrice": "6.40",
    "discountPercent": "0.00",
    "taxRateId": None,
    "amount": "128.00",
}
_EXAMPLE_GOODS: dict[str, Any] = {
    "lineId": EXAMPLE_ORDER_LINE["id"],
    "description": EXAMPLE_ORDER_LINE["description"],
    "unit": "m",
    "quantity": "20.00",
    "received": "0.00",
    "open": "20.00",
}
# The statuses of orders that were sent and have not ended: their goods can be received.
_UNDER_WAY = frozenset({"sent", "partReceived", "received", "partBilled", "billed"})


class ShownReceiptLine(BaseModel):
    """The quantity of a line in one delivery."""

    model_config = OUTPUT_CONFIG

    line_id: str
    quantity: PriceText


class ShownReceipt(BaseModel):
    """One delivery of goods."""

    model_config = OUTPUT_CONFIG

    id: str
    on: str = Field(json_schema_extra=_DATE)
    slip: str | None = Field(description="The number on the delivery note.")
    lines: list[ShownReceiptLine]
    recorded_at: str = Field(json_schema_extra=_MOMENT)
    recorded_by: Stamp


class ListedOrderOut(Record):
    """A purchase order in a list: without its lines."""

    noun = "purchaseOrder"
    office_path = "/purchasing/orders/{id}"
    states = make_states(
        draft="waiting",
        sent="begun",
        partReceived="begun",
        received="good",
        partBilled="begun",
        billed="good",
        closed="over",
        cancelled="over",
    )

    number: str = Field(examples=["PO-0031"])
    status: OrderStatus = Field(
        description="Once sent, it follows from what was received and billed.", examples=["sent"]
    )
    supplier_id: Annotated[str, RefersTo("supplier")] = Field(examples=[EXAMPLE_SUPPLIER_ID])
    supplier_name: str = Field(title="Supplier", examples=["Pennine Plumbing Supplies"])
    job_id: Annotated[str | None, RefersTo("job")] = Field(examples=[None])
    job_number: str | None = Field(title="Job", examples=[None])
    job_title: str | None = Field(title="Job's title", examples=[None])
    deliver_to: DeliverTo = Field(title="Deliver to", examples=["office"])
    needed_on: str | None = Field(title="Needed by", examples=["2026-11-20"], json_schema_extra=_DATE)
    issued_on: str | None = Field(title="Order date", examples=["2026-11-16"], json_schema_extra=_DATE)
    sent_at: str | None = Field(title="Sent", examples=["2026-11-16T09:30:00.000Z"], json_schema_extra=_MOMENT)
    currency: str = Field(examples=["GBP"])
    net: Annotated[MoneyText | None, REQUIRES_COSTS] = Field(description="Excluding tax.", examples=["128.00"])
    tax: Annotated[MoneyText | None, REQUIRES_COSTS] = Field(examples=["0.00"])
    total: Annotated[MoneyText | None, REQUIRES_COSTS] = Field(examples=["128.00"])


class OrderOut(ListedOrderOut):
    """A purchase order."""

    site_id: Annotated[str | None, RefersTo("site")] = Field(examples=[None])
    site_name: str | None = Field(title="Delivery address", examples=[None])
    goods: list[Goods] = Field(
        description="What was ordered, and how much of it was received.", examples=[[_EXAMPLE_GOODS]]
    )
    receipts: list[ShownReceipt] = Field(description="What was received, and when.", examples=[[]])
    lines: Annotated[list[ShownOrderLine] | None, REQUIRES_COSTS] = Field(
        description="The goods with their prices.",
        examples=[[EXAMPLE_ORDER_LINE | {"received": "0.00", "billed": "0.00"}]],
    )
    taxes: Annotated[list[ShownTax] | None, REQUIRES_COSTS] = Field(description="The tax at each rate.", examples=[[]])
    language: str | None = Field(description="The language it was sent in.", examples=["en"])
    notes: Annotated[str | None, _REQUIRES_PURCHASING] = Field(
        title="Text on order", description="Printed below the lines, for the supplier.", examples=[None]
    )
    close_reason: Annotated[str | None, _REQUIRES_PURCHASING] = Field(title="Reason for closing", examples=[None])


@dataclass(frozen=True, slots=True)
class ListedOrder(StoredRecord):
    """A purchase order without its lines, with what the rules for it need."""

    output: ClassVar[type[Output]] = ListedOrderOut

    number: str
    status: OrderStatus
    supplier_id: str
    supplier_name: str
    job_id: str | None
    job_number: str | None

    @property
    def display_name(self) -> str:
        """The number and the supplier."""
        return f"{self.number} {self.supplier_name}"

    @property
    def short_name(self) -> str:
        """The number: an order has no title."""
        return self.number

    @property
    def detail(self) -> str | None:
        """The number of its job."""
        return self.job_number

    def not_editable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be edited."""
        if self.status == "draft":
            return []
        return [
            Reason(
                Message("{order} was sent, so it can't be changed. Create another order instead.", order=self.number)
                if self.status in _UNDER_WAY
                else Message(
                    "{order} is {status}, so it can't be changed. Create another order instead.",
                    order=self.number,
                    status=Choice(self.status),
                ),
                instead="draft_purchase_order",
            )
        ]

    def not_sendable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be sent in its status, whatever it contains."""
        if self.status == "draft":
            return []
        if self.status in _UNDER_WAY:
            return [Reason(Message("{order} was already sent.", order=self.number))]
        return [self._reason_if_ended]

    def not_receivable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why no goods of it can be received."""
        if self.status in _UNDER_WAY:
            return []
        if self.status == "draft":
            text = Message("{order} is a draft. Send it before you receive goods.", order=self.number)
            return [Reason(text, "send_purchase_order")]
        return [
            Reason(
                Message(
                    "{order} is {status}, so no more goods can be received.",
                    order=self.number,
                    status=Choice(self.status),
                )
            )
        ]

    def not_billable(self) -> list[Reason]:
        """Return the reasons why the supplier cannot bill it."""
        if self.status in _UNDER_WAY or self.status == "closed":
            return []
        if self.status == "draft":
            text = Message("{order} is a draft. Send it before you record a bill for it.", order=self.number)
            return [Reason(text, "send_purchase_order", unblocking_record_id=self.id)]
        return [Reason(Message("{order} is cancelled, so it can't be billed.", order=self.number))]

    def not_closable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be closed."""
        if self.status in _UNDER_WAY:
            return []
        if self.status == "draft":
            text = Message("{order} is a draft. Cancel it instead.", order=self.number)
            return [Reason(text, instead="cancel_purchase_order")]
        return [self._reason_if_ended]

    def not_cancellable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be cancelled."""
        if self.status in {"draft", "sent"}:
            return []
        if self.status in _UNDER_WAY:
            text = Message("Goods of {order} were already received or billed. Close it instead.", order=self.number)
            return [Reason(text, instead="close_purchase_order")]
        return [self._reason_if_ended]

    @property
    def _reason_if_ended(self) -> Reason:
        return Reason(Message("{order} is already {status}.", order=self.number, status=Choice(self.status)))


@dataclass(frozen=True, slots=True)
class Order(ListedOrder):
    """A purchase order with its lines and everything else its rules need."""

    output = OrderOut

    deliver_to: DeliverTo
    site_id: str | None
    needed_on: str | None
    currency: str
    lines: list[dict[str, Any]]
    receipts: list[dict[str, Any]]
    notes: str | None
    total: int
    snapshot: str | None
    pdf_sha256: str | None

    @property
    def files(self) -> dict[str, str | None]:
        """The name of its file, by form."""
        return {"pdf": self.pdf_sha256}

    @property
    def pricing_terms(self) -> PricingTerms:
        """What its totals depend on besides its lines: purchase prices never include tax."""
        return PricingTerms(self.currency, inclusive=False, discount=Discount())

    @property
    def order_lines(self) -> list[OrderLine]:
        """Its lines, with what was received and billed of each."""
        return read_order_lines(self.lines)

    @property
    def total_amount(self) -> Amount:
        """The total with the currency."""
        return Amount(amount_text(self.total, self.currency), self.currency)

    def not_issuable(self) -> list[Reason]:
        """Return the reasons in its content why it cannot be sent."""
        reasons = []
        if not any(one.is_counted for one in self.order_lines):
            text = Message("{order} has nothing to buy on it. Add a line first.", order=self.number)
            reasons.append(Reason(text, "update_purchase_order"))
        if self.total < 0:
            text = Message("The total of {order} is below zero. Change its lines first.", order=self.number)
            reasons.append(Reason(text, "update_purchase_order"))
        return reasons


def order_status_of(stored: str, lines: Sequence[OrderLine]) -> OrderStatus:
    """Return the status that people see: after sending, it follows from what was received and billed of each line."""
    if stored != "sent":
        return "draft" if stored == "draft" else "closed" if stored == "closed" else "cancelled"
    goods = [one for one in lines if one.is_counted]
    if any(one.billed for one in goods):
        return "partBilled" if any(one.unbilled for one in goods) else "billed"
    if any(one.received for one in goods):
        return "partReceived" if any(one.open for one in goods) else "received"
    return "sent"


class BillStep(NamedTuple):
    """The next step of a bill: the status it gets, and the label of the button."""

    status: BillStatus
    label: str


BILL_STEPS: Mapping[BillStatus, BillStep] = {
    "draft": BillStep("approved", "Approve"),
    "approved": BillStep("paid", "Mark as paid"),
}


def next_step_of_bill(status: BillStatus) -> BillStep | None:
    """Return the next step of a bill with this status; None if there is none."""
    return BILL_STEPS.get(status)


def is_bill_editable(status: BillStatus) -> bool:
    """Return whether the content of a bill with this status can be changed."""
    return status == "draft"


class ListedBillOut(Record):
    """A supplier's bill in a list: without its lines."""

    noun = "bill"
    office_path = "/purchasing/bills/{id}"
    states = make_states(draft="waiting", approved="begun", paid="good", void="over")

    supplier_id: Annotated[str, RefersTo("supplier")] = Field(examples=[EXAMPLE_SUPPLIER_ID])
    supplier_name: str = Field(title="Supplier", examples=["Pennine Plumbing Supplies"])
    supplier_number: Annotated[str, OUTSIDER_TEXT] = Field(
        title="Bill number", description="The supplier's number.", examples=["2026-4711"]
    )
    status: BillStatus = Field(examples=["draft"])
    purchase_order_id: Annotated[str | None, RefersTo("po")] = Field(examples=[None])
    purchase_order_number: str | None = Field(title="Purchase order", examples=[None])
    job_id: Annotated[str | None, RefersTo("job")] = Field(examples=[None])
    job_number: str | None = Field(title="Job", examples=[None])
    on: str = Field(title="Bill date", examples=["2026-11-16"], json_schema_extra=_DATE)
    due_on: str | None = Field(title="Due date", examples=["2026-12-16"], json_schema_extra=_DATE)
    paid_on: str | None = Field(title="Paid on", examples=[None], json_schema_extra=_DATE)
    currency: str = Field(examples=["GBP"])
    net: MoneyText = Field(description="Excluding tax.", examples=["128.00"])
    tax: MoneyText = Field(examples=["0.00"])
    total: MoneyText = Field(examples=["128.00"])


class BillOut(ListedBillOut):
    """A supplier's bill."""

    lines: list[ShownBillLine] = Field(examples=[[EXAMPLE_ORDER_LINE | {"orderLineId": None}]])
    taxes: list[ShownTax] = Field(description="The tax at each rate.", examples=[[]])
    notes: str | None = Field(examples=[None])
    void_reason: str | None = Field(title="Reason for voiding", examples=[None])


@dataclass(frozen=True, slots=True)
class ListedBill(StoredRecord):
    """A bill without its lines, with what the rules for it need."""

    output: ClassVar[type[Output]] = ListedBillOut

    supplier_id: str
    supplier_name: str
    supplier_number: str
    status: BillStatus
    on: str

    @property
    def display_name(self) -> str:
        """The supplier, and their number for the bill."""
        return f"{self.supplier_name} {self.supplier_number}"

    def not_changeable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why nothing of it can be changed."""
        if self.status != "void":
            return []
        text = Message("{bill} is void. Record it again instead.", bill=self.display_name)
        return [Reason(text, instead="record_bill")]

    def not_voidable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be voided."""
        if self.status == "paid":
            text = Message("{bill} is paid. Set it back to approved first.", bill=self.display_name)
            return [Reason(text, "update_bill")]
        return [Reason(Message("{bill} is already void.", bill=self.display_name))] if self.status == "void" else []

    def not_editable(self) -> list[Reason]:
        """Return the reasons why its content cannot be edited."""
        if is_bill_editable(self.status):
            return []
        text = Message(
            "{bill} is {status}, so it can't be changed. Set it back to draft first.",
            bill=self.display_name,
            status=Choice(self.status),
        )
        return [Reason(text, "update_bill")]


@dataclass(frozen=True, slots=True)
class Bill(ListedBill):
    """A bill with its lines and everything else its rules need."""

    output = BillOut

    purchase_order_id: str | None
    job_id: str | None
    due_on: str | None
    paid_on: str | None
    notes: str | None
    currency: str
    lines: list[dict[str, Any]]
    total: int

    @property
    def bill_lines(self) -> list[BillLine]:
        """Its lines, with the order lines that they bill."""
        return read_bill_lines(self.lines)

    @property
    def total_amount(self) -> Amount:
        """The total with the currency."""
        return Amount(amount_text(self.total, self.currency), self.currency)
