"""Postings: the debits and credits of each document. These are pure functions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import Field

from mainstay.business.reporting.document_taxes import TaxedAmount
from mainstay.vocabulary.record_json import MoneyText
from mainstay.vocabulary.schemas import Output

PostingKind = Literal["invoice", "void", "creditNote", "payment", "reversal"]
LedgerAccount = Literal["receivable", "revenue", "tax", "bank"]

_DATE: dict[str, Any] = {"format": "date"}


class PostingOut(Output):
    """A line of the journal: what a document posts to one account."""

    noun = "posting"

    id: str = Field(examples=["2026-11-16.1.invoice_01KA3R2D4F6H8J0K2N4P6R8T0V.1"])
    on: str = Field(title="Date", examples=["2026-11-16"], json_schema_extra=_DATE)
    document: PostingKind = Field(
        description="`void` takes back an invoice, `reversal` a payment.", examples=["invoice"]
    )
    document_id: str = Field(examples=["invoice_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    number: str | None = Field(description="The number of the invoice or credit note.", examples=["INV-0207"])
    customer_id: str = Field(examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    account: LedgerAccount = Field(examples=["receivable"])
    detail: str | None = Field(
        description="For revenue the tax rate, for tax its part, for the bank the payment method.", examples=[None]
    )
    tax_rate_id: str | None = Field(examples=[None])
    tax_category: str | None = Field(examples=[None])
    tax_percent: str | None = Field(examples=[None])
    currency: str = Field(examples=["GBP"])
    debit: MoneyText | None = Field(examples=["1440.00"])
    credit: MoneyText | None = Field(examples=[None])
    invoices: str | None = Field(
        description="The numbers of the invoices that a payment is allocated to, or that are credited.", examples=[None]
    )
    text: str | None = Field(description="The document's title or reference.", examples=["New heating"])


class Posting(NamedTuple):
    """An amount on an account: a debit if it is positive, a credit if it is negative."""

    account: LedgerAccount
    detail: str | None
    tax: TaxedAmount | None
    amount: int


@dataclass(frozen=True, slots=True)
class JournalDocument:
    """A document in the journal, with its postings."""

    on: str
    order: int
    kind: PostingKind
    id: str
    number: str | None
    customer_id: str
    customer_name: str
    currency: str
    invoices: str | None
    text: str | None
    postings: Sequence[Posting]

    def to_rows(self) -> Iterator[tuple[str | int | None, ...]]:
        """Yield a row of output columns for each posting."""
        for position, posting in enumerate(self.postings, 1):
            tax = (
                (posting.tax.rate_id, posting.tax.category, posting.tax.percent) if posting.tax else (None, None, None)
            )
            yield (
                f"{self.on}.{self.order}.{self.id}.{position}",
                self.on,
                self.kind,
                self.id,
                self.number,
                self.customer_id,
                self.customer_name,
                posting.account,
                posting.detail,
                *tax,
                self.currency,
                posting.amount if posting.amount > 0 else None,
                -posting.amount if posting.amount < 0 else None,
                self.invoices,
                self.text,
            )


def build_invoice_postings(total: int, taxes: Sequence[TaxedAmount], sign: int) -> list[Posting]:
    """Return the postings of an invoice. With the sign -1, return those of its voiding or of a credit note."""
    revenue = [
        Posting("revenue", amount.rate, amount, -sign * amount.net) for amount in taxes if amount.part_number == 1
    ]
    tax = [Posting("tax", amount.part, amount, -sign * amount.tax) for amount in taxes]
    postings = [Posting("receivable", None, None, sign * total), *revenue, *tax]
    return [amount for amount in postings if amount.amount]


def build_payment_postings(amount: int, method: str, sign: int) -> list[Posting]:
    """Return the postings of a payment. With the sign -1, return those of its reversal."""
    return [Posting("bank", method, None, sign * amount), Posting("receivable", None, None, -sign * amount)]
