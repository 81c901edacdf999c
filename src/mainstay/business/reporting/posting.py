"""Postings: what each document moves between accounts, debit and credit; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import Field

from mainstay.business.reporting.taxed import Taxed
from mainstay.terms.shapes import Shown
from mainstay.terms.wire import MoneyText

Document = Literal["invoice", "void", "creditNote", "payment", "reversal"]
Account = Literal["receivable", "revenue", "tax", "bank"]

_DATE: dict[str, Any] = {"format": "date"}


class PostingOut(Shown):
    """A line of the journal: what a document moves on one account."""

    noun = "posting"

    id: str = Field(examples=["2026-11-16.1.invoice_01KA3R2D4F6H8J0K2N4P6R8T0V.1"])
    on: str = Field(title="Date", examples=["2026-11-16"], json_schema_extra=_DATE)
    document: Document = Field(
        description="`void` takes an invoice back, and `reversal` a payment.", examples=["invoice"]
    )
    document_id: str = Field(examples=["invoice_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    number: str | None = Field(description="Of an invoice or credit note.", examples=["INV-0207"])
    customer_id: str = Field(examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    account: Account = Field(examples=["receivable"])
    detail: str | None = Field(
        description="Of revenue the rate of tax, of tax its part, of the bank how it was paid.", examples=[None]
    )
    tax_rate_id: str | None = Field(examples=[None])
    tax_category: str | None = Field(examples=[None])
    tax_percent: str | None = Field(examples=[None])
    currency: str = Field(examples=["GBP"])
    debit: MoneyText | None = Field(examples=["1440.00"])
    credit: MoneyText | None = Field(examples=[None])
    invoices: str | None = Field(
        description="The numbers of the invoices that a payment is for now, or that is credited.", examples=[None]
    )
    text: str | None = Field(description="What the document says of itself.", examples=["New heating"])


class Posting(NamedTuple):
    """What is moved on an account: debit where it is more than nothing, credit where it is less."""

    account: Account
    detail: str | None
    tax: Taxed | None
    amount: int


@dataclass(frozen=True, slots=True)
class Written:
    """A document as it stands in the journal."""

    on: str
    order: int
    kind: Document
    id: str
    number: str | None
    customer_id: str
    customer_name: str
    currency: str
    invoices: str | None
    text: str | None
    postings: Sequence[Posting]

    def rows(self) -> Iterator[tuple[str | int | None, ...]]:
        """A row of what is shown for each posting."""
        for place, one in enumerate(self.postings, 1):
            tax = (one.tax.rate_id, one.tax.category, one.tax.percent) if one.tax else (None, None, None)
            yield (
                f"{self.on}.{self.order}.{self.id}.{place}",
                self.on,
                self.kind,
                self.id,
                self.number,
                self.customer_id,
                self.customer_name,
                one.account,
                one.detail,
                *tax,
                self.currency,
                one.amount if one.amount > 0 else None,
                -one.amount if one.amount < 0 else None,
                self.invoices,
                self.text,
            )


def billed(total: int, taxes: Sequence[Taxed], sign: int) -> list[Posting]:
    """What an invoice moves; with the other sign, what takes it back, and what a credit note does."""
    revenue = [Posting("revenue", one.rate, one, -sign * one.net) for one in taxes if one.place == 1]
    tax = [Posting("tax", one.part, one, -sign * one.tax) for one in taxes]
    moved = [Posting("receivable", None, None, sign * total), *revenue, *tax]
    return [one for one in moved if one.amount]


def paid(amount: int, method: str, sign: int) -> list[Posting]:
    """What a payment moves, whatever invoices it is for; with the other sign, what takes it back."""
    return [Posting("bank", method, None, sign * amount), Posting("receivable", None, None, -sign * amount)]
