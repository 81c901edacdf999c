"""Payments: what customers paid, and for which invoices it is."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field

from mainstay.kernel.listing import Listing
from mainstay.terms.actor import Actor
from mainstay.terms.listed import NEWEST, FoundBy, ListOrder
from mainstay.terms.refusal import Reason
from mainstay.terms.shapes import Kept, Record, states
from mainstay.terms.wire import MoneyText
from mainstay.values.models import TOLD
from mainstay.values.money import Money, amount_text
from mainstay.values.search import kept_words, words_of_digits, words_of_text

Method = Literal["bank", "card", "cash", "cheque", "other"]
PaymentStatus = Literal["recorded", "reversed"]
# What a list is narrowed to; `onAccount` are those of which something is for no invoice yet.
Narrowed = Literal["recorded", "reversed", "onAccount"]


class ShownAllocation(BaseModel):
    """What of a payment is for an invoice."""

    model_config = TOLD

    invoice_id: str
    invoice_number: str
    amount: MoneyText


_ALLOCATION = {
    "invoiceId": "invoice_01KA3R2D4F6H8J0K2N4P6R8T0V",
    "invoiceNumber": "INV-0207",
    "amount": "1440.00",
}


class PaymentOut(Record):
    """A payment of a customer."""

    noun = "payment"
    place = "/payments/{id}"
    states = states(recorded="good", reversed="over")

    customer_id: str = Field(examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    status: PaymentStatus = Field(examples=["recorded"])
    on: str = Field(title="Paid", examples=["2026-11-16"], json_schema_extra={"format": "date"})
    amount: MoneyText = Field(examples=["1440.00"])
    currency: str = Field(examples=["GBP"])
    method: Method = Field(examples=["bank"])
    reference: str | None = Field(description="What the customer wrote.", examples=["INV-0207"])
    note: str | None = Field(examples=[None])
    allocations: list[ShownAllocation] = Field(description="For which invoices it is.", examples=[[_ALLOCATION]])
    unallocated: MoneyText = Field(
        title="On account", description="What of it is for no invoice yet.", examples=["0.00"]
    )
    reversed_at: str | None = Field(title="Reversed", examples=[None], json_schema_extra={"format": "date-time"})
    reversed_on: str | None = Field(
        title="Reversed on",
        description="The date in the books on which it was taken back.",
        examples=[None],
        json_schema_extra={"format": "date"},
    )
    reverse_reason: str | None = Field(title="Why reversed", examples=[None])
    external_ref: str | None = Field(title="Reference elsewhere", examples=[None])


@dataclass(frozen=True, slots=True)
class Payment(Kept):
    """A payment as its rules see it."""

    shown = PaymentOut

    customer_id: str
    customer_name: str
    status: PaymentStatus
    on: str
    amount: int
    currency: str
    method: Method
    allocations: list[dict[str, Any]]
    unallocated: int

    @property
    def called(self) -> str:
        """How much, and when."""
        return f"{self.amount_text} of {self.on}"

    @property
    def detail(self) -> str:
        """Whose it is."""
        return self.customer_name

    @property
    def amount_text(self) -> str:
        """How much, with its currency."""
        return f"{amount_text(self.amount, self.currency)} {self.currency}"

    @property
    def shares(self) -> dict[str, int]:
        """What of it is for each invoice, by id."""
        return {one["invoiceId"]: Money.parse(one["amount"], self.currency).minor for one in self.allocations}

    def not_allocatable(self, _by: Actor) -> list[Reason]:
        """Why it cannot be put to other invoices."""
        return [Reason(f"The payment {self.called} was reversed.")] if self.status == "reversed" else []

    def not_reversible(self, _by: Actor) -> list[Reason]:
        """Why it cannot be taken back."""
        return [Reason(f"The payment {self.called} is reversed already.")] if self.status == "reversed" else []


def _words(customer_name: str, reference: str | None, currency: str, amount: int) -> frozenset[str]:
    written = amount_text(amount, currency)
    said = words_of_text(f"{customer_name} {reference or ''} {written}")
    return kept_words(said, words_of_digits(written))


PAYMENTS = Listing(
    Payment,
    source="payment",
    what="payment",
    prefix="payment",
    id_field="payment_id",
    columns={
        "on": "payment.on_date",
        "unallocated": "CASE WHEN payment.status = 'reversed' THEN 0 ELSE payment.unallocated END",
        "customer_name": "(SELECT customer.name FROM customer WHERE customer.organisation_id = :organisation"
        " AND customer.id = payment.customer_id)",
    },
    filters={
        "status": {name: f"payment.status = '{name}'" for name in get_args(PaymentStatus)}
        | {"onAccount": "payment.unallocated > 0 AND payment.status = 'recorded'"},
        "customer_id": "payment.customer_id = :customer_id",
        "method": "payment.method = :method",
        "from_": "payment.on_date >= :from_",
        "until": "payment.on_date <= :until",
    },
    orders={NEWEST: ListOrder("id", descending=True), "date": ListOrder("on_date", descending=True)},
    found_by=(FoundBy(("customer_name", "reference", "currency", "amount"), _words),),
)
# The payment that a bank or another system calls so; what was reversed can be recorded again, as it should have been.
CALLED_SO = "payment.external_ref = :ref AND payment.status = 'recorded'"
# How it was made, as whoever records it is asked.
MethodField = Annotated[Method, Field(title="Paid by", description="The way the money came.")]
