"""Invoices: their states, and the rules of what can be done with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field

from mainstay.business.lines.model import LINE, TAX, ShownLine, ShownShare, ShownTax, Terms, read_share
from mainstay.business.organisation.books import if_closed
from mainstay.business.organisation.house import House
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Reason
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Kept, Record, Shown, states
from mainstay.terms.wire import MoneyText
from mainstay.values.models import TOLD
from mainstay.values.money import amount_text

# A `final` one takes off the parts that were asked for before.
Kind = Literal["standard", "deposit", "progress", "final"]
# As it is told; whether it is overdue is kept nowhere, since time alone decides it.
Status = Literal["draft", "sent", "partPaid", "overdue", "paid", "credited", "void"]
# What a list is narrowed to; `unpaid` are all of which something is to be paid.
Narrowed = Literal["draft", "sent", "partPaid", "overdue", "paid", "credited", "void", "unpaid"]
# Those that ask for a part of a quote before the work is billed: what is billed in the end takes them off.
PARTS = ("deposit", "progress")

_COST = Needs(Right.COSTS_READ)
_DATE: dict[str, Any] = {"format": "date"}
_MOMENT: dict[str, Any] = {"format": "date-time"}
# For examples.
_CUSTOMER = "customer_01KA3R2D4F6H8J0K2N4P6R8T0V"
_JOB = "job_01KA3R5X7Z9B1D3F5H7J9K1N3P"


class Standing(BaseModel):
    """Whether a document is an e-invoice, and what it lacks to be one."""

    model_config = TOLD

    status: Literal["included", "incomplete", "notApplicable"]
    missing: list[str] = Field(description="The fields that it lacks.")


_INCLUDED = {"status": "included", "missing": []}


class ListedInvoiceOut(Record):
    """An invoice in a list: without its lines."""

    noun = "invoice"
    place = "/invoices/{id}"
    states = states(
        draft="waiting",
        sent="waiting",
        partPaid="waiting",
        overdue="bad",
        paid="good",
        credited="over",
        void="over",
    )

    number: str | None = Field(description="Given when it is issued.", examples=["INV-0207"])
    kind: Kind = Field(examples=["standard"])
    title: str | None = Field(examples=["Replace the boiler"])
    status: Status = Field(description="`sent` is one that was issued, and is not due yet.", examples=["sent"])
    customer_id: str = Field(examples=[_CUSTOMER])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    job_id: str | None = Field(examples=[_JOB])
    job_number: str | None = Field(title="Job", examples=["J-1042"])
    quote_id: str | None = Field(examples=[None])
    currency: str = Field(examples=["GBP"])
    net: MoneyText = Field(description="Without tax.", examples=["1200.00"])
    tax: MoneyText = Field(examples=["240.00"])
    total: MoneyText = Field(examples=["1440.00"])
    paid: MoneyText = Field(examples=["0.00"])
    credited: MoneyText = Field(examples=["0.00"])
    due: MoneyText = Field(title="To pay", description="What is still to be paid.", examples=["1440.00"])
    issued_on: str | None = Field(title="Issued", examples=["2026-11-16"], json_schema_extra=_DATE)
    due_on: str | None = Field(title="Due", examples=["2026-11-30"], json_schema_extra=_DATE)
    sent_at: str | None = Field(title="Sent", examples=["2026-11-16T09:30:00.000Z"], json_schema_extra=_MOMENT)
    viewed_at: str | None = Field(
        title="Seen", description="When the customer first saw it.", examples=[None], json_schema_extra=_MOMENT
    )


# Of so many invoices a list says what they come to together; so it stays quick.
MOST_SUMMED = 1000


class InvoiceTotals(BaseModel):
    """What the invoices of a list come to together, on all its pages."""

    model_config = TOLD

    currency: str = Field(examples=["GBP"])
    count: int | None = Field(description=f"How many there are; null if there are more than {MOST_SUMMED}.")
    total: MoneyText | None = Field(description="What they come to, with tax; null if there are more.")
    due: MoneyText | None = Field(description="What is still to be paid of them; null if there are more.")


class InvoiceOut(ListedInvoiceOut):
    """An invoice."""

    quote_number: str | None = Field(title="Quote", examples=[None])
    site_id: str | None = Field(examples=[None])
    site_name: str | None = Field(title="Site", examples=[None])
    supplied_from: str | None = Field(
        description="The date of supply, or the first day of its period.",
        examples=["2026-11-09"],
        json_schema_extra=_DATE,
    )
    supplied_until: str | None = Field(
        description="The last day of that period; the same date where it is one day.",
        examples=["2026-11-13"],
        json_schema_extra=_DATE,
    )
    prices_include_tax: bool = Field(description="Whether the prices of its lines include the tax.", examples=[False])
    language: str | None = Field(description="In which it was issued.", examples=["en"])
    lines: list[ShownLine] = Field(examples=[[LINE]])
    discount: ShownShare | None = Field(description="What is taken off the whole.", examples=[None])
    taxes: list[ShownTax] = Field(description="What is taxed at each rate.", examples=[[TAX]])
    notes: str | None = Field(description="Printed below.", examples=["Thank you for your business."])
    cost: Annotated[MoneyText | None, _COST] = Field(
        description="What its lines cost the organisation, as far as known.", examples=["800.00"]
    )
    margin: Annotated[MoneyText | None, _COST] = Field(
        description="What the lines with a known cost come to before tax, without that cost. Null if none has one.",
        examples=["400.00"],
    )
    uncosted_lines: Annotated[int | None, _COST] = Field(
        title="Lines without a cost", description="How many lines have no known cost.", examples=[0]
    )
    uncosted_net: Annotated[MoneyText | None, _COST] = Field(
        title="Net without a cost",
        description="What those come to before tax: it is not in the margin.",
        examples=["0.00"],
    )
    e_invoice: Standing | None = Field(
        title="E-invoice", description="By EN 16931, inside the PDF. Null until it is issued.", examples=[_INCLUDED]
    )
    peppol: Standing | None = Field(description="Whether it can go through that network.", examples=[_INCLUDED])
    reminders: int = Field(description="How often the customer was reminded.", examples=[0])
    reminded_at: str | None = Field(title="Last reminder", examples=[None], json_schema_extra=_MOMENT)
    voided_at: str | None = Field(title="Voided", examples=[None], json_schema_extra=_MOMENT)
    void_reason: str | None = Field(title="Why void", examples=[None])


def standing_of(total: int, paid: int, credited: int) -> Status:
    """The state of an issued invoice, without whether it is overdue."""
    if credited and credited >= total:
        return "credited"
    if paid + credited >= total:
        return "paid"
    return "partPaid" if paid else "sent"


def is_payable(status: Status) -> bool:
    """Whether something can be paid on an invoice in this state."""
    return status in {"sent", "partPaid", "overdue"}


def is_void(status: Status) -> bool:
    """Whether an invoice was taken back."""
    return status == "void"


def is_e_invoice(standing: Mapping[str, Any] | None) -> bool:
    """Whether a document is an e-invoice as well, as it is told."""
    return standing is not None and standing["status"] == "included"


@dataclass(frozen=True, slots=True)
class ListedInvoice(Kept):
    """An invoice as its rules see it."""

    shown: ClassVar[type[Shown]] = ListedInvoiceOut

    number: str | None
    kind: Kind
    title: str | None
    status: Status
    customer_id: str
    customer_name: str
    job_id: str | None
    quote_id: str | None
    currency: str
    total: int
    paid: int
    credited: int
    due: int
    issued_on: str | None
    due_on: str | None
    # Until when the organisation's books are closed, and which invoice takes this one off.
    closed_until: str | None
    deducted_on: str | None

    @property
    def named(self) -> str:
        """What people call it beside its title: a draft has no number yet."""
        return self.number or "This draft"

    @property
    def called(self) -> str:
        """Number and title, or for whom a draft is."""
        return " ".join(filter(None, (self.number or "Draft invoice", self.title or f"for {self.customer_name}")))

    @property
    def detail(self) -> str:
        """For whom it is."""
        return self.customer_name

    @property
    def is_issued(self) -> bool:
        """Whether it was issued, and counts."""
        return self.status not in {"draft", "void"}

    def not_editable(self, _by: Actor) -> list[Reason]:
        """Why it stays as it is."""
        if self.status == "draft":
            return []
        return [Reason(f"{self.named} was issued, so it stays as it is.{self._instead}", self._next)]

    def not_deletable(self, _by: Actor) -> list[Reason]:
        """Why it cannot be thrown away."""
        if self.status == "draft":
            return []
        return [Reason(f"{self.named} has a number, so it stays in the books.{self._instead}", self._next)]

    def not_sendable(self, _by: Actor) -> list[Reason]:
        """Why it cannot be issued, whatever is in it."""
        if self.status == "draft":
            return []
        return [Reason(f"{self.named} was issued already. get_invoice shows it as it is now.", "get_invoice")]

    def not_voidable(self, _by: Actor) -> list[Reason]:
        """Why it cannot be made void: every reason."""
        if self.status == "draft":
            return [Reason("A draft has no number. Delete it instead.", "delete_draft_invoice")]
        if self.status == "void":
            return [Reason(f"{self.named} is void already.")]
        if self.status == "credited":
            return [Reason(f"{self.named} is credited already, so nothing is left to be made void.")]
        reasons = []
        if self.paid:
            told = f"{self.paid_text} of {self.named} is paid. Credit it instead, or reverse the payment first."
            reasons.append(Reason(told, "credit_invoice", otherwise="reverse_payment"))
        if self.credited:
            reasons.append(Reason(f"{self.named} was credited. Credit what is left of it instead.", "credit_invoice"))
        # What comes to nothing is not credited: it is taken back today, wherever it stands in the books.
        if self.total and if_closed(self.issued_on or "", self.closed_until):
            told = f"The books are closed until {self.closed_until}. Credit {self.named} instead."
            reasons.append(Reason(told, "credit_invoice"))
        return [*reasons, *self._if_deducted()]

    def not_creditable(self, _by: Actor) -> list[Reason]:
        """Why nothing of it can be credited."""
        if self.status == "draft":
            return [Reason("A draft was never issued. Change or delete it instead.", "update_invoice")]
        if self.status == "void":
            return [Reason(f"{self.named} is void, so there is nothing to credit.")]
        if self.status == "credited":
            return [Reason(f"{self.named} is credited already.")]
        if not self.total:
            return [Reason(f"{self.named} comes to nothing. Void it instead.", "void_invoice")]
        return self._if_deducted()

    def not_remindable(self, _by: Actor) -> list[Reason]:
        """Why nobody is reminded of it."""
        if self.status == "draft":
            return [Reason("A draft was never sent. Send it first.", "send_invoice")]
        if is_payable(self.status):
            return []
        return [Reason(f"There is nothing left to pay of {self.named}.")]

    def not_payable(self) -> list[Reason]:
        """Why nothing can be paid on it."""
        if self.status == "draft":
            return [Reason("A draft cannot be paid. Send it first.", "send_invoice", at=self.id)]
        if is_payable(self.status):
            return []
        word = {"void": "is void", "paid": "is paid already", "credited": "is credited"}[self.status]
        return [Reason(f"{self.named} {word}, so there is nothing to pay. The money can stay on account.")]

    @property
    def paid_text(self) -> str:
        """What was paid, with its currency."""
        return f"{amount_text(self.paid, self.currency)} {self.currency}"

    @property
    def due_text(self) -> str:
        """What is to be paid, with its currency."""
        return f"{amount_text(self.due, self.currency)} {self.currency}"

    def _if_deducted(self) -> list[Reason]:
        if self.deducted_on is None:
            return []
        told = f"{self.named} is taken off on {self.deducted_on}. Take it out there, or void or credit that first."
        return [Reason(told, "get_invoice")]

    @property
    def _next(self) -> str | None:
        return None if self.status in {"draft", "void", "credited"} else "credit_invoice"

    @property
    def _instead(self) -> str:
        return " Void or credit it instead." if self._next else ""


@dataclass(frozen=True, slots=True)
class Invoice(ListedInvoice):
    """An invoice with all that is in it."""

    shown = InvoiceOut

    supplied_from: str | None
    supplied_until: str | None
    # Whether they were typed; otherwise they follow from what it bills.
    supply_typed: bool
    prices_include_tax: bool
    site_id: str | None
    lines: list[dict[str, Any]]
    taxes: list[dict[str, Any]]
    discount: dict[str, str | None] | None
    discount_shares: dict[str, int] | None
    notes: str | None
    net: int
    tax: int
    viewed_at: str | None
    e_invoice: dict[str, Any] | None
    reminders: int
    reminded_at: str | None
    snapshot: str | None
    pdf_sha256: str | None
    void_pdf_sha256: str | None
    ubl_sha256: str | None

    @property
    def files(self) -> dict[str, str | None]:
        """The names of its files, by their form."""
        return {"pdf": self.pdf_sha256, "void": self.void_pdf_sha256, "ubl": self.ubl_sha256}

    @property
    def reckoned(self) -> Terms:
        """What decides what its lines come to."""
        discount = read_share(self.discount, self.currency)
        return Terms(self.currency, self.prices_include_tax, discount, self.discount_shares or {})

    @property
    def total_text(self) -> str:
        """What it comes to, with its currency."""
        return f"{amount_text(self.total, self.currency)} {self.currency}"

    def not_issuable(self, house: House, today: str) -> list[Reason]:
        """What in it stands against issuing it today."""
        reasons = house.if_closed(today)
        instead = f"Delete it, and draft another in {house.currency}."
        reasons += house.if_foreign(self.currency, instead, "delete_draft_invoice")
        if not any(line["kind"] == "item" for line in self.lines):
            reasons.append(Reason("There is no line with a price on it. Add one first.", "update_invoice"))
        if self.total < 0:
            told = "It comes to less than nothing. Credit the invoice that it takes off, or change its lines."
            reasons.append(Reason(told, "update_invoice"))
        if self.due_on and self.due_on < today:
            reasons.append(Reason(f"It is due on {self.due_on}, which is past. Change that first.", "update_invoice"))
        return reasons
