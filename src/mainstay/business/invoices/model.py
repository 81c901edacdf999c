"""Invoices: their outputs, their statuses, and the rules of what can be done with them."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field

from mainstay.business.lines.model import (
    EXAMPLE_LINE,
    EXAMPLE_TAX,
    PricingTerms,
    ShownLine,
    ShownShare,
    ShownTax,
    share_to_discount,
)
from mainstay.business.organisation.closed_books import reasons_if_closed
from mainstay.business.organisation.organisation_settings import OrganisationSettings
from mainstay.values.message import Amount, CalendarDate, Message
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.values.money import amount_text
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.record_json import MoneyText
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.roles import RefersTo
from mainstay.vocabulary.schemas import Output, Record, StoredRecord, make_states

# A `final` invoice deducts the deposit and progress invoices before it.
InvoiceKind = Literal["standard", "deposit", "progress", "final"]
# The status that people see. `overdue` is not stored: it depends on the time.
InvoiceStatus = Literal["draft", "sent", "partPaid", "overdue", "paid", "credited", "void"]
# The filter of the list; `unpaid` are all invoices with something left to pay.
InvoiceStatusFilter = Literal["draft", "sent", "partPaid", "overdue", "paid", "credited", "void", "unpaid"]
# Advance invoices: they bill a part of a quote before its work is billed. The final invoice deducts them.
ADVANCE_KINDS = ("deposit", "progress")

_REQUIRES_COSTS = RequiresPermission(Permission.COSTS_READ)
_DATE: dict[str, Any] = {"format": "date"}
_MOMENT: dict[str, Any] = {"format": "date-time"}
# For the examples in the API's description.
_EXAMPLE_CUSTOMER_ID = "customer_01KA3R2D4F6H8J0K2N4P6R8T0V"
_EXAMPLE_JOB_ID = "job_01KA3R5X7Z9B1D3F5H7J9K1N3P"


class EInvoiceReadiness(BaseModel):
    """Whether a document is an e-invoice, and what it lacks to be one."""

    model_config = OUTPUT_CONFIG

    status: Literal["included", "incomplete", "notApplicable"]
    missing: list[str] = Field(description="The missing fields.")


_EXAMPLE_E_INVOICE = {"status": "included", "missing": []}


class ListedInvoiceOut(Record):
    """An invoice in a list: without its lines."""

    noun = "invoice"
    office_path = "/invoices/{id}"
    states = make_states(
        draft="waiting",
        sent="begun",
        partPaid="begun",
        overdue="bad",
        paid="good",
        credited="over",
        void="over",
    )

    number: str | None = Field(description="Assigned when it is issued.", examples=["INV-0207"])
    kind: InvoiceKind = Field(examples=["standard"])
    title: str | None = Field(examples=["Replace the boiler"])
    status: InvoiceStatus = Field(description="`sent`: issued and not overdue.", examples=["sent"])
    customer_id: Annotated[str, RefersTo("customer")] = Field(examples=[_EXAMPLE_CUSTOMER_ID])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    job_id: Annotated[str | None, RefersTo("job")] = Field(examples=[_EXAMPLE_JOB_ID])
    job_number: str | None = Field(title="Job", examples=["J-1042"])
    quote_id: Annotated[str | None, RefersTo("quote")] = Field(examples=[None])
    currency: str = Field(examples=["GBP"])
    net: MoneyText = Field(description="Without tax.", examples=["1200.00"])
    tax: MoneyText = Field(examples=["240.00"])
    total: MoneyText = Field(examples=["1440.00"])
    paid: MoneyText = Field(examples=["0.00"])
    credited: MoneyText = Field(examples=["0.00"])
    due: MoneyText = Field(title="Amount due", description="What the customer still owes.", examples=["1440.00"])
    issued_on: str | None = Field(title="Issued", examples=["2026-11-16"], json_schema_extra=_DATE)
    due_on: str | None = Field(title="Due", examples=["2026-11-30"], json_schema_extra=_DATE)
    sent_at: str | None = Field(title="Sent", examples=["2026-11-16T09:30:00.000Z"], json_schema_extra=_MOMENT)
    viewed_at: str | None = Field(
        title="Viewed", description="When the customer first opened it.", examples=[None], json_schema_extra=_MOMENT
    )


# Above this number of invoices, a list gives no totals, so that it stays quick.
MAX_SUMMED = 1000


class InvoiceTotals(BaseModel):
    """The totals of all invoices of a list, on all its pages."""

    model_config = OUTPUT_CONFIG

    currency: str = Field(examples=["GBP"])
    count: int | None = Field(description=f"The number of invoices; null if there are more than {MAX_SUMMED}.")
    total: MoneyText | None = Field(description="Their total with tax; null if there are more.")
    due: MoneyText | None = Field(description="What customers still owe on them; null if there are more.")


class InvoiceOut(ListedInvoiceOut):
    """An invoice."""

    quote_number: str | None = Field(title="Quote", examples=[None])
    site_id: Annotated[str | None, RefersTo("site")] = Field(examples=[None])
    site_name: str | None = Field(title="Site", examples=[None])
    supplied_from: str | None = Field(
        description="The date of supply, or the first day of its period.",
        examples=["2026-11-09"],
        json_schema_extra=_DATE,
    )
    supplied_until: str | None = Field(
        description="The last day of that period; the same date if it is one day.",
        examples=["2026-11-13"],
        json_schema_extra=_DATE,
    )
    prices_include_tax: bool = Field(description="Whether the prices of its lines include tax.", examples=[False])
    language: str | None = Field(description="The language it was issued in.", examples=["en"])
    lines: list[ShownLine] = Field(examples=[[EXAMPLE_LINE]])
    discount: ShownShare | None = Field(description="The discount on the whole invoice.", examples=[None])
    taxes: list[ShownTax] = Field(description="The tax at each rate.", examples=[[EXAMPLE_TAX]])
    notes: str | None = Field(
        title="Text on invoice", description="Printed below the lines.", examples=["Thank you for your business."]
    )
    cost: Annotated[MoneyText | None, _REQUIRES_COSTS] = Field(
        description="What its lines cost you, as far as known.", examples=["800.00"]
    )
    margin: Annotated[MoneyText | None, _REQUIRES_COSTS] = Field(
        description="Net amount minus cost of the lines with a known cost. Null if no line has one.",
        examples=["400.00"],
    )
    uncosted_lines: Annotated[int | None, _REQUIRES_COSTS] = Field(
        title="Lines without cost", description="How many lines have no known cost.", examples=[0]
    )
    uncosted_net: Annotated[MoneyText | None, _REQUIRES_COSTS] = Field(
        title="Net of lines without cost",
        description="The net amount of those lines, which is not in the margin.",
        examples=["0.00"],
    )
    e_invoice: EInvoiceReadiness | None = Field(
        title="E-invoice",
        description="An EN 16931 e-invoice inside the PDF. Null until it is issued.",
        examples=[_EXAMPLE_E_INVOICE],
    )
    peppol: EInvoiceReadiness | None = Field(
        description="Whether it can be sent through the Peppol network.", examples=[_EXAMPLE_E_INVOICE]
    )
    reminders: int = Field(description="How many reminders were sent.", examples=[0])
    reminded_at: str | None = Field(title="Last reminder", examples=[None], json_schema_extra=_MOMENT)
    voided_at: str | None = Field(title="Voided", examples=[None], json_schema_extra=_MOMENT)
    void_reason: str | None = Field(title="Reason for voiding", examples=[None])


def payment_status_of(total: int, paid: int, credited: int) -> InvoiceStatus:
    """Return the status of an issued invoice by its amounts; the store adds whether it is overdue."""
    if credited and credited >= total:
        return "credited"
    if paid + credited >= total:
        return "paid"
    return "partPaid" if paid else "sent"


def due_date_after(issued_on: date, own_terms: int | None, usual_terms: int) -> date:
    """Return when an invoice without a due date is due, by the customer's payment terms in days or the usual ones."""
    return issued_on + timedelta(days=usual_terms if own_terms is None else own_terms)


def is_payable(status: InvoiceStatus) -> bool:
    """Return whether an invoice with this status can be paid."""
    return status in {"sent", "partPaid", "overdue"}


def is_void(status: InvoiceStatus) -> bool:
    """Return whether an invoice with this status is void."""
    return status == "void"


def is_e_invoice(readiness: EInvoiceReadiness | None) -> bool:
    """Return whether a document is an e-invoice, by its check."""
    return readiness is not None and readiness.status == "included"


@dataclass(frozen=True, slots=True)
class ListedInvoice(StoredRecord):
    """An invoice without its lines, with what the rules for it need."""

    output: ClassVar[type[Output]] = ListedInvoiceOut

    number: str | None
    kind: InvoiceKind
    title: str | None
    status: InvoiceStatus
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
    # Until when the organisation's books are closed; and the number of the invoice that deducts this one, empty if that
    # is a draft.
    closed_until: str | None
    deducted_on: str | None

    @property
    def short_name(self) -> str:
        """The number, or "This draft" because a draft has no number yet."""
        return self.number or "This draft"

    @property
    def display_name(self) -> str:
        """The number and the title, or the customer if there is no title."""
        return str(self.name_in_messages)

    @property
    def name_in_messages(self) -> Message | str:
        """The same, for the readers of a message."""
        title = self.title or Message("for {customer}", customer=self.customer_name)
        if self.number:
            return Message("{number} {title}", number=self.number, title=title)
        return Message("Draft invoice {title}", title=title)

    @property
    def is_issued(self) -> bool:
        """Whether it was issued and is not void."""
        return self.status not in {"draft", "void"}

    def not_editable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be edited."""
        if self.status == "draft":
            return []
        if self.status in {"void", "credited"}:
            return [Reason(Message("{invoice} has been issued, so it can't be edited.", invoice=self.short_name))]
        message = Message(
            "{invoice} has been issued, so it can't be edited. Void or credit it instead.", invoice=self.short_name
        )
        return [Reason(message, instead="credit_invoice")]

    def not_deletable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be deleted."""
        if self.status == "draft":
            return []
        if self.status in {"void", "credited"}:
            return [Reason(Message("{invoice} has been issued, so it can't be deleted.", invoice=self.short_name))]
        message = Message(
            "{invoice} has been issued, so it can't be deleted. Void or credit it instead.", invoice=self.short_name
        )
        return [Reason(message, instead="credit_invoice")]

    def not_sendable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be issued in its status, whatever it contains."""
        if self.status == "draft":
            return []
        return [Reason(Message("{invoice} has already been issued.", invoice=self.short_name), instead="get_invoice")]

    def not_voidable(self, _by: Actor) -> list[Reason]:
        """Return all reasons why it cannot be voided."""
        if self.status == "draft":
            return [Reason(Message("This is a draft. Delete it instead."), instead="delete_draft_invoice")]
        name = self.short_name
        if self.status == "void":
            return [Reason(Message("{invoice} is already void.", invoice=name))]
        if self.status == "credited":
            return [Reason(Message("{invoice} is already credited in full, so it can't be voided.", invoice=name))]
        reasons = []
        if self.paid:
            message = Message(
                "{amount} of {invoice} has been paid. Credit it instead, or reverse the payment first.",
                amount=self.paid_amount,
                invoice=name,
            )
            reasons.append(Reason(message, "reverse_payment", instead="credit_invoice"))
        if self.credited:
            message = Message("{invoice} is already partly credited. Credit the rest of it instead.", invoice=name)
            reasons.append(Reason(message, instead="credit_invoice"))
        # An invoice over zero cannot be credited, so it may be voided today even if its books are closed.
        if self.total and reasons_if_closed(self.issued_on or "", self.closed_until):
            message = Message(
                "The books are closed up to {closed_until}. Credit {invoice} instead.",
                closed_until=CalendarDate(self.closed_until or ""),
                invoice=name,
            )
            reasons.append(Reason(message, instead="credit_invoice"))
        return [*reasons, *self._reasons_if_deducted()]

    def not_creditable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be credited."""
        if self.status == "draft":
            message = Message("This is a draft. Edit or delete it instead.")
            return [Reason(message, instead=("update_invoice", "delete_draft_invoice"))]
        if self.status == "void":
            return [Reason(Message("{invoice} is void, so there's nothing to credit.", invoice=self.short_name))]
        if self.status == "credited":
            return [Reason(Message("{invoice} is already credited in full.", invoice=self.short_name))]
        if not self.total:
            message = Message("The total of {invoice} is zero. Void it instead.", invoice=self.short_name)
            return [Reason(message, instead="void_invoice")]
        return self._reasons_if_deducted()

    def not_remindable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why no reminder of it can be sent."""
        if self.status == "draft":
            return [Reason(Message("This is a draft. Send it first."), "send_invoice")]
        if is_payable(self.status):
            return []
        return [Reason(Message("There's nothing left to pay on {invoice}.", invoice=self.short_name))]

    def not_payable(self) -> list[Reason]:
        """Return the reasons why nothing can be paid on it."""
        if self.status == "draft":
            message = Message("A draft can't be paid. Send it first.")
            return [Reason(message, "send_invoice", unblocking_record_id=self.id)]
        if is_payable(self.status):
            return []
        messages = {
            "void": Message("{invoice} is void. The money can stay on account.", invoice=self.short_name),
            "paid": Message("{invoice} is already paid. The money can stay on account.", invoice=self.short_name),
            "credited": Message(
                "{invoice} is credited in full. The money can stay on account.", invoice=self.short_name
            ),
        }
        return [Reason(messages[self.status])]

    @property
    def total_amount(self) -> Amount:
        """The total."""
        return Amount(amount_text(self.total, self.currency), self.currency)

    @property
    def paid_amount(self) -> Amount:
        """The amount paid."""
        return Amount(amount_text(self.paid, self.currency), self.currency)

    @property
    def due_amount(self) -> Amount:
        """The amount due."""
        return Amount(amount_text(self.due, self.currency), self.currency)

    def _reasons_if_deducted(self) -> list[Reason]:
        if self.deducted_on is None:
            return []
        if not self.deducted_on:
            message = Message(
                "{invoice} is deducted on a draft for the same quote. Remove it there or delete that draft first.",
                invoice=self.short_name,
            )
            return [Reason(message, "get_invoice")]
        message = Message(
            "{invoice} is deducted on {later_invoice}. Void or credit {later_invoice} first.",
            invoice=self.short_name,
            later_invoice=self.deducted_on,
        )
        return [Reason(message, "get_invoice")]


@dataclass(frozen=True, slots=True)
class Invoice(ListedInvoice):
    """An invoice with its lines and everything else its rules need."""

    output = InvoiceOut

    supplied_from: str | None
    supplied_until: str | None
    # Whether the dates of supply were typed in. If not, they are computed from what the invoice bills.
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
        """The names of its files, by form."""
        return {"pdf": self.pdf_sha256, "void": self.void_pdf_sha256, "ubl": self.ubl_sha256}

    @property
    def pricing_terms(self) -> PricingTerms:
        """What its totals depend on besides its lines."""
        discount = share_to_discount(self.discount, self.currency)
        return PricingTerms(self.currency, self.prices_include_tax, discount, self.discount_shares or {})

    def not_issuable(self, settings: OrganisationSettings, today: str) -> list[Reason]:
        """Return the reasons in its content why it cannot be issued today."""
        reasons = settings.reasons_if_closed(today)
        instead = Message("Delete this draft, and draft the invoice in {currency}.", currency=settings.currency)
        reasons += settings.reasons_if_foreign(self.currency, instead, "delete_draft_invoice")
        if not any(line["kind"] == "item" for line in self.lines):
            reasons.append(Reason(Message("There's no line with a price. Add one first."), "update_invoice"))
        if self.total < 0:
            message = Message("The total is below zero. Change the lines, or credit the invoice that they deduct.")
            reasons.append(Reason(message, "update_invoice"))
        if self.due_on and self.due_on < today:
            message = Message(
                "The due date {due_on} is in the past. Change it first.", due_on=CalendarDate(self.due_on)
            )
            reasons.append(Reason(message, "update_invoice"))
        return reasons
