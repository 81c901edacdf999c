"""Purchase orders and bills: their states, and the rules of what can be done with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, Field

from mainstay.business.lines.model import ShownTax, Terms
from mainstay.business.purchasing.lines import (
    BillLine,
    Goods,
    OrderLine,
    ShownBillLine,
    ShownOrderLine,
    read_bill_lines,
    read_order_lines,
)
from mainstay.terms.actor import Actor, Stamp
from mainstay.terms.refusal import Reason
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Kept, Record, Shown, states
from mainstay.terms.wire import MoneyText, PriceText
from mainstay.values.models import TOLD
from mainstay.values.money import amount_text
from mainstay.values.totals import Discount

OrderStatus = Literal["draft", "sent", "partReceived", "received", "partBilled", "billed", "closed", "cancelled"]
BillStatus = Literal["draft", "approved", "paid", "void"]
# What a bill can be moved to; it is voided by an act of its own.
BillMove = Literal["draft", "approved", "paid"]
DeliverTo = Literal["site", "office", "pickup"]
TO_OFFICE: DeliverTo = "office"

COST = Needs(Right.COSTS_READ)
_OFFICE_ONLY = Needs(Right.PURCHASING_READ)
_DATE: dict[str, Any] = {"format": "date"}
_MOMENT: dict[str, Any] = {"format": "date-time"}
# For examples.
SUPPLIER = "supplier_01KA3R2D4F6H8J0K2N4P6R8T0V"
LINE: dict[str, Any] = {
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
_GOODS: dict[str, Any] = {
    "lineId": LINE["id"],
    "description": LINE["description"],
    "unit": "m",
    "quantity": "20.00",
    "received": "0.00",
    "open": "20.00",
}
# What was sent and not ended: the goods of such an order come.
_UNDER_WAY = frozenset({"sent", "partReceived", "received", "partBilled", "billed"})


class ShownReceiptLine(BaseModel):
    """How many of a line have come at once."""

    model_config = TOLD

    line_id: str
    quantity: PriceText


class ShownReceipt(BaseModel):
    """What has come at once."""

    model_config = TOLD

    id: str
    on: str = Field(json_schema_extra=_DATE)
    slip: str | None = Field(description="The number on what came with it.")
    lines: list[ShownReceiptLine]
    recorded_at: str = Field(json_schema_extra=_MOMENT)
    recorded_by: Stamp


class ListedOrderOut(Record):
    """A purchase order in a list: without its lines."""

    noun = "purchaseOrder"
    place = "/purchasing/orders/{id}"
    states = states(
        draft="waiting",
        sent="waiting",
        partReceived="waiting",
        received="good",
        partBilled="waiting",
        billed="good",
        closed="over",
        cancelled="over",
    )

    number: str = Field(examples=["PO-0031"])
    status: OrderStatus = Field(description="How far it is; derived line by line once it is sent.", examples=["sent"])
    supplier_id: str = Field(examples=[SUPPLIER])
    supplier_name: str = Field(title="Supplier", examples=["Pennine Plumbing Supplies"])
    job_id: str | None = Field(examples=[None])
    job_number: str | None = Field(title="Job", examples=[None])
    job_title: str | None = Field(title="Job's title", examples=[None])
    deliver_to: DeliverTo = Field(title="Delivery", examples=["office"])
    needed_on: str | None = Field(title="Needed", examples=["2026-11-20"], json_schema_extra=_DATE)
    issued_on: str | None = Field(title="Issued", examples=["2026-11-16"], json_schema_extra=_DATE)
    sent_at: str | None = Field(title="Sent", examples=["2026-11-16T09:30:00.000Z"], json_schema_extra=_MOMENT)
    currency: str = Field(examples=["GBP"])
    net: Annotated[MoneyText | None, COST] = Field(description="Without tax.", examples=["128.00"])
    tax: Annotated[MoneyText | None, COST] = Field(examples=["0.00"])
    total: Annotated[MoneyText | None, COST] = Field(examples=["128.00"])


class OrderOut(ListedOrderOut):
    """A purchase order."""

    site_id: str | None = Field(examples=[None])
    site_name: str | None = Field(title="Site", examples=[None])
    goods: list[Goods] = Field(description="What comes, and how much of it has.", examples=[[_GOODS]])
    receipts: list[ShownReceipt] = Field(description="What has come, and when.", examples=[[]])
    lines: Annotated[list[ShownOrderLine] | None, COST] = Field(
        description="The goods with their prices.", examples=[[LINE | {"received": "0.00", "billed": "0.00"}]]
    )
    taxes: Annotated[list[ShownTax] | None, COST] = Field(description="What is taxed at each rate.", examples=[[]])
    language: str | None = Field(description="In which it was sent.", examples=["en"])
    notes: Annotated[str | None, _OFFICE_ONLY] = Field(description="What the supplier reads below.", examples=[None])
    close_reason: Annotated[str | None, _OFFICE_ONLY] = Field(title="Why ended", examples=[None])


@dataclass(frozen=True, slots=True)
class ListedOrder(Kept):
    """A purchase order as its rules see it."""

    shown: ClassVar[type[Shown]] = ListedOrderOut

    number: str
    status: OrderStatus
    supplier_id: str
    supplier_name: str
    job_id: str | None
    job_number: str | None

    @property
    def called(self) -> str:
        """Number and supplier."""
        return f"{self.number} {self.supplier_name}"

    @property
    def named(self) -> str:
        """Its number: it has no title."""
        return self.number

    @property
    def detail(self) -> str | None:
        """For which job it is."""
        return self.job_number

    def not_editable(self, _by: Actor) -> list[Reason]:
        """Why it stays as it is."""
        if self.status == "draft":
            return []
        return [Reason(f"{self._is}, so it stays as it is. Draft another one for what is to be different.", _ANOTHER)]

    def not_sendable(self, _by: Actor) -> list[Reason]:
        """Why it cannot be sent, whatever is in it."""
        return [] if self.status == "draft" else [Reason(f"{self._is} already.")]

    def not_receivable(self, _by: Actor) -> list[Reason]:
        """Why nothing of it can come."""
        if self.status in _UNDER_WAY:
            return []
        way = " Send it first." if self.status == "draft" else ""
        return [Reason(f"{self._is}, so nothing of it comes.{way}", "send_purchase_order" if way else None)]

    def not_billable(self) -> list[Reason]:
        """Why the supplier cannot bill it."""
        if self.status in _UNDER_WAY or self.status == "closed":
            return []
        way = " Send it first." if self.status == "draft" else ""
        told = f"{self._is}, so nothing of it is billed.{way}"
        return [Reason(told, "send_purchase_order", at=self.id) if way else Reason(told)]

    def not_closable(self, _by: Actor) -> list[Reason]:
        """Why it cannot be closed."""
        if self.status in _UNDER_WAY:
            return []
        way = " Cancel it instead." if self.status == "draft" else ""
        return [Reason(f"{self._is}.{way}", "cancel_purchase_order" if way else None)]

    def not_cancellable(self, _by: Actor) -> list[Reason]:
        """Why it cannot be cancelled."""
        if self.status in {"draft", "sent"}:
            return []
        if self.status in _UNDER_WAY:
            text = f"Something of {self.number} was received or billed. Close it, so that nothing more comes."
            return [Reason(text, "close_purchase_order")]
        return [Reason(f"{self._is} already.")]

    @property
    def _is(self) -> str:
        ended = self.status if self.status in {"closed", "cancelled"} else "a draft"
        return f"{self.number} was sent" if self.status in _UNDER_WAY else f"{self.number} is {ended}"


_ANOTHER = "draft_purchase_order"


@dataclass(frozen=True, slots=True)
class Order(ListedOrder):
    """A purchase order with all that is in it."""

    shown = OrderOut

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
        """The name of its file, by its form."""
        return {"pdf": self.pdf_sha256}

    @property
    def reckoned(self) -> Terms:
        """What decides what its lines come to: purchases are told before tax."""
        return Terms(self.currency, inclusive=False, discount=Discount())

    @property
    def order_lines(self) -> list[OrderLine]:
        """Its lines as rules see them."""
        return read_order_lines(self.lines)

    @property
    def total_text(self) -> str:
        """What it comes to, with its currency."""
        return f"{amount_text(self.total, self.currency)} {self.currency}"

    def not_ordered(self) -> list[Reason]:
        """What in it stands against sending it."""
        reasons = []
        if not any(one.counts for one in self.order_lines):
            text = f"{self.number} has no line of something to buy. Add one first."
            reasons.append(Reason(text, "update_purchase_order"))
        if self.total < 0:
            text = f"{self.number} comes to less than nothing. Change its lines first."
            reasons.append(Reason(text, "update_purchase_order"))
        return reasons


def standing_of(stored: str, lines: Sequence[OrderLine]) -> OrderStatus:
    """The shown status of an order: once it is sent, of what came and was billed, line by line."""
    if stored != "sent":
        return "draft" if stored == "draft" else "closed" if stored == "closed" else "cancelled"
    goods = [one for one in lines if one.counts]
    if any(one.billed for one in goods):
        return "partBilled" if any(one.unbilled for one in goods) else "billed"
    if any(one.received for one in goods):
        return "partReceived" if any(one.open for one in goods) else "received"
    return "sent"


class BillStep(NamedTuple):
    """What is next with a bill: what it becomes by it, and what that is called."""

    to: BillStatus
    words: str


def next_of_bill(status: BillStatus) -> BillStep | None:
    """What is next, by how far a bill is."""
    return _NEXT_OF_BILL.get(status)


_NEXT_OF_BILL: dict[BillStatus, BillStep] = {
    "draft": BillStep("approved", "Approve"),
    "approved": BillStep("paid", "Mark as paid"),
}


def is_editable(status: BillStatus) -> bool:
    """Whether what a bill says can still be changed."""
    return status == "draft"


class ListedBillOut(Record):
    """A supplier's bill in a list: without its lines."""

    noun = "bill"
    place = "/purchasing/bills/{id}"
    states = states(draft="waiting", approved="waiting", paid="good", void="over")

    supplier_id: str = Field(examples=[SUPPLIER])
    supplier_name: str = Field(title="Supplier", examples=["Pennine Plumbing Supplies"])
    supplier_number: str = Field(
        title="Their number", description="The number that the supplier gave it.", examples=["2026-4711"]
    )
    status: BillStatus = Field(examples=["draft"])
    purchase_order_id: str | None = Field(examples=[None])
    purchase_order_number: str | None = Field(title="Order", examples=[None])
    job_id: str | None = Field(examples=[None])
    job_number: str | None = Field(title="Job", examples=[None])
    on: str = Field(title="Dated", examples=["2026-11-16"], json_schema_extra=_DATE)
    due_on: str | None = Field(title="Due", examples=["2026-12-16"], json_schema_extra=_DATE)
    paid_on: str | None = Field(title="Paid", examples=[None], json_schema_extra=_DATE)
    currency: str = Field(examples=["GBP"])
    net: MoneyText = Field(description="Without tax.", examples=["128.00"])
    tax: MoneyText = Field(examples=["0.00"])
    total: MoneyText = Field(examples=["128.00"])


class BillOut(ListedBillOut):
    """A supplier's bill."""

    lines: list[ShownBillLine] = Field(examples=[[LINE | {"orderLineId": None}]])
    taxes: list[ShownTax] = Field(description="What is taxed at each rate.", examples=[[]])
    notes: str | None = Field(examples=[None])
    void_reason: str | None = Field(title="Why void", examples=[None])


@dataclass(frozen=True, slots=True)
class ListedBill(Kept):
    """A bill as its rules see it."""

    shown: ClassVar[type[Shown]] = ListedBillOut

    supplier_id: str
    supplier_name: str
    supplier_number: str
    status: BillStatus
    on: str

    @property
    def called(self) -> str:
        """Whose bill, and what they call it."""
        return f"{self.supplier_name} {self.supplier_number}"

    def not_changeable(self, _by: Actor) -> list[Reason]:
        """Why nothing of it changes."""
        return [Reason(f"{self.called} is void. Record it anew.", "record_bill")] if self.status == "void" else []

    def not_voidable(self, _by: Actor) -> list[Reason]:
        """Why it cannot be voided."""
        if self.status == "paid":
            return [Reason(f"{self.called} is paid. Say first that it is approved only.", "update_bill")]
        return [Reason(f"{self.called} is void already.")] if self.status == "void" else []

    def not_editable(self) -> list[Reason]:
        """Why what it says stays as it is."""
        if is_editable(self.status):
            return []
        return [Reason(f"{self.called} is {self.status}, so it stays. Make it a draft again first.", "update_bill")]


@dataclass(frozen=True, slots=True)
class Bill(ListedBill):
    """A bill with all that is in it."""

    shown = BillOut

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
        """Its lines as rules see them."""
        return read_bill_lines(self.lines)

    @property
    def total_text(self) -> str:
        """What it comes to, with its currency."""
        return f"{amount_text(self.total, self.currency)} {self.currency}"
