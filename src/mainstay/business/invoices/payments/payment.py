"""Payments of customers: their output, record and store."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, Field

from mainstay.kernel.kind import Kind
from mainstay.kernel.record_store import select_related
from mainstay.values.descriptions import describe
from mainstay.values.message import Amount, CalendarDate, Message
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.values.money import Money, amount_text
from mainstay.values.search_words import combine_words, words_of_digits, words_of_text
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.list_queries import NEWEST, ListOrder, SearchFields
from mainstay.vocabulary.record_json import MoneyText
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.roles import OUTSIDER_TEXT, RefersTo
from mainstay.vocabulary.schemas import Record, StoredRecord, make_states

N = TypeVar("N", int, Decimal)

PaymentMethod = Literal["bank", "card", "cash", "cheque", "other"]
PaymentStatus = Literal["recorded", "reversed"]
# The filter of the list; `onAccount` are payments that are not fully allocated to invoices.
PaymentStatusFilter = Literal["recorded", "reversed", "onAccount"]


def share_out(amount: N, dues: Iterable[N]) -> list[N]:
    """Share a payment between invoices in their order: each gets what is due, until the payment is used up."""
    shares = []
    for due in dues:
        shares.append(min(due, amount))
        amount -= shares[-1]
    return shares


class ShownAllocation(BaseModel):
    """The amount of a payment that is allocated to an invoice."""

    model_config = OUTPUT_CONFIG

    invoice_id: str
    invoice_number: str
    amount: MoneyText


_EXAMPLE_ALLOCATION = {
    "invoiceId": "invoice_01KA3R2D4F6H8J0K2N4P6R8T0V",
    "invoiceNumber": "INV-0207",
    "amount": "1440.00",
}


class PaymentOut(Record):
    """A payment of a customer."""

    noun = "payment"
    office_path = "/payments/{id}"
    states = make_states(recorded="good", reversed="over")

    customer_id: Annotated[str, RefersTo("customer")] = Field(examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    status: PaymentStatus = Field(examples=["recorded"])
    on: str = Field(title="Paid on", examples=["2026-11-16"], json_schema_extra={"format": "date"})
    amount: MoneyText = Field(examples=["1440.00"])
    currency: str = Field(examples=["GBP"])
    method: PaymentMethod = Field(examples=["bank"])
    reference: Annotated[str | None, OUTSIDER_TEXT] = Field(
        description="The customer's payment reference.", examples=["INV-0207"]
    )
    note: str | None = Field(examples=[None])
    allocations: list[ShownAllocation] = Field(
        description="The invoices that it pays.", examples=[[_EXAMPLE_ALLOCATION]]
    )
    unallocated: MoneyText = Field(title="On account", description="Not set against an invoice yet.", examples=["0.00"])
    reversed_at: str | None = Field(title="Reversed", examples=[None], json_schema_extra={"format": "date-time"})
    reversed_on: str | None = Field(
        title="Reversed on",
        description="The date of the reversal in the books.",
        examples=[None],
        json_schema_extra={"format": "date"},
    )
    reverse_reason: str | None = Field(title="Reason for reversing", examples=[None])
    external_ref: str | None = Field(title="External ID", examples=[None])


@dataclass(frozen=True, slots=True)
class Payment(StoredRecord):
    """A payment with what the rules for it need."""

    output = PaymentOut

    customer_id: str
    customer_name: str
    status: PaymentStatus
    on: str
    amount: int
    currency: str
    method: PaymentMethod
    allocations: list[dict[str, Any]]
    unallocated: int

    @property
    def display_name(self) -> str:
        """The amount and the date."""
        return str(self.name_in_messages)

    @property
    def name_in_messages(self) -> Message:
        """The amount and the date."""
        return Message("{amount} of {date}", amount=self._amount, date=CalendarDate(self.on))

    @property
    def name_in_sentences(self) -> Message:
        """The amount and the date, within a sentence."""
        return Message("payment of {amount} on {on}", amount=self._amount, on=CalendarDate(self.on))

    @property
    def _amount(self) -> Amount:
        return Amount(amount_text(self.amount, self.currency), self.currency)

    @property
    def shares(self) -> dict[str, int]:
        """The allocated amounts by invoice id."""
        return {one["invoiceId"]: Money.parse(one["amount"], self.currency).minor for one in self.allocations}

    def not_allocatable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be allocated to invoices."""
        if self.status != "reversed":
            return []
        return [
            Reason(Message("The {payment} was reversed, so it can't be allocated.", payment=self.name_in_sentences))
        ]

    def not_reversible(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be reversed."""
        if self.status != "reversed":
            return []
        return [Reason(Message("The {payment} is already reversed.", payment=self.name_in_sentences))]


def _search_words_of(customer_name: str, reference: str | None, currency: str, amount: int) -> frozenset[str]:
    amount_written = amount_text(amount, currency)
    words = words_of_text(f"{customer_name} {reference or ''} {amount_written}")
    return combine_words(words, words_of_digits(amount_written))


PaymentId = Annotated[str, Field(title="Payment", description=describe("[[The payment's ID.]]"))]
PAYMENTS = Kind(
    Payment,
    source="payment",
    id_type=PaymentId,
    area="Invoices",
    columns={
        "on": "payment.on_date",
        "unallocated": "CASE WHEN payment.status = 'reversed' THEN 0 ELSE payment.unallocated END",
        "customer_name": select_related("customer.name", "payment.customer_id"),
    },
    equal_filters=("customer_id", "method"),
    dates_column="on_date",
    filters={
        "status": {name: f"payment.status = '{name}'" for name in get_args(PaymentStatus)}
        | {"onAccount": "payment.unallocated > 0 AND payment.status = 'recorded'"},
    },
    orders={NEWEST: ListOrder("id", descending=True), "date": ListOrder("on_date", descending=True)},
    search_fields=(SearchFields(("customer_name", "reference", "currency", "amount"), _search_words_of),),
)
# Finds a payment by its reference in another system. After a reversal, the same reference can be recorded again.
HAS_EXTERNAL_REF = "payment.external_ref = :ref AND payment.status = 'recorded'"
# How it was made, as an input field.
PaymentMethodField = Annotated[PaymentMethod, Field(title="Payment method", description="How the customer paid.")]
