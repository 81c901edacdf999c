"""Credit notes: what takes back an invoice, or a part of it."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from mainstay.business.invoices.model import Standing
from mainstay.business.lines.model import LINE, TAX, ShownLine, ShownShare, ShownTax
from mainstay.kernel.listing import Listing
from mainstay.terms.listed import NEWEST, FoundBy, ListOrder
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Kept, Record, Shown
from mainstay.terms.wire import MoneyText
from mainstay.values.money import amount_text
from mainstay.values.search import kept_words, words_of_digits, words_of_number, words_of_text

_DATE: dict[str, Any] = {"format": "date"}
_INCLUDED = {"status": "included", "missing": []}


class ListedCreditNoteOut(Record):
    """A credit note in a list: without its lines."""

    noun = "creditNote"
    place = "/credit-notes/{id}"

    number: str = Field(examples=["CN-0012"])
    invoice_id: str = Field(examples=["invoice_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    invoice_number: str = Field(title="Invoice", examples=["INV-0207"])
    customer_id: str = Field(examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    job_id: str | None = Field(examples=[None])
    currency: str = Field(examples=["GBP"])
    net: MoneyText = Field(description="What is credited, without tax.", examples=["1200.00"])
    tax: MoneyText = Field(examples=["240.00"])
    total: MoneyText = Field(examples=["1440.00"])
    issued_on: str = Field(title="Issued", examples=["2026-11-16"], json_schema_extra=_DATE)
    reason: str = Field(examples=["The boiler was returned."])


class CreditNoteOut(ListedCreditNoteOut):
    """A credit note."""

    supplied_from: str | None = Field(
        description="The date of supply of the invoice, or the first day of its period.",
        examples=["2026-11-09"],
        json_schema_extra=_DATE,
    )
    supplied_until: str | None = Field(
        description="The last day of that period.", examples=["2026-11-13"], json_schema_extra=_DATE
    )
    prices_include_tax: bool = Field(examples=[False])
    language: str | None = Field(description="In which it was issued.", examples=["en"])
    lines: list[ShownLine] = Field(description="What is credited; quantities as on the invoice.", examples=[[LINE]])
    discount: ShownShare | None = Field(description="What was taken off the whole.", examples=[None])
    taxes: list[ShownTax] = Field(description="What is taxed at each rate.", examples=[[TAX]])
    cost: Annotated[MoneyText | None, Needs(Right.COSTS_READ)] = Field(
        description="What its lines cost the organisation, as far as known.", examples=["800.00"]
    )
    e_invoice: Standing | None = Field(
        title="E-invoice", description="By EN 16931, inside the PDF.", examples=[_INCLUDED]
    )
    peppol: Standing | None = Field(description="Whether it can go through that network.", examples=[_INCLUDED])


@dataclass(frozen=True, slots=True)
class ListedCreditNote(Kept):
    """A credit note in a list."""

    shown: ClassVar[type[Shown]] = ListedCreditNoteOut

    number: str
    customer_name: str

    @property
    def called(self) -> str:
        """Its number."""
        return self.number

    @property
    def named(self) -> str:
        """The same: it has no title."""
        return self.number

    @property
    def detail(self) -> str:
        """For whom it is."""
        return self.customer_name


@dataclass(frozen=True, slots=True)
class CreditNote(ListedCreditNote):
    """A credit note with all that is in it."""

    shown = CreditNoteOut

    lines: list[dict[str, Any]]
    taxes: list[dict[str, Any]]
    currency: str
    total: int
    e_invoice: dict[str, Any] | None
    snapshot: str
    pdf_sha256: str | None
    ubl_sha256: str | None

    @property
    def files(self) -> dict[str, str | None]:
        """The names of its files, by their form."""
        return {"pdf": self.pdf_sha256, "ubl": self.ubl_sha256}


_OF = "(SELECT {0}.{1} FROM {0} WHERE {0}.organisation_id = :organisation AND {0}.id = credit_note.{0}_id)"
_COLUMNS = {"invoice_number": _OF.format("invoice", "number"), "customer_name": _OF.format("customer", "name")}


def _words(number: str, customer_name: str, currency: str, total: int) -> frozenset[str]:
    amount = amount_text(total, currency)
    return kept_words(words_of_number(number), words_of_text(f"{customer_name} {amount}"), words_of_digits(amount))


_FOUND_BY = (FoundBy(("number", "customer_name", "currency", "total"), _words),)
CREDIT_NOTES = Listing(
    CreditNote,
    source="credit_note",
    what="credit note",
    prefix="credit",
    id_field="credit_note_id",
    number="number",
    columns=_COLUMNS,
    facts={name: f"credit_note.{name}" for name in ("snapshot", "pdf_sha256", "ubl_sha256")},
    found_by=_FOUND_BY,
)
LISTED_CREDIT_NOTES = Listing(
    ListedCreditNote,
    source="credit_note",
    what="credit note",
    prefix="credit",
    id_field="credit_note_id",
    number="number",
    columns=_COLUMNS,
    filters={
        "customer_id": "credit_note.customer_id = :customer_id",
        "from_": "credit_note.issued_on >= :from_",
        "until": "credit_note.issued_on <= :until",
    },
    orders={NEWEST: ListOrder("id", descending=True), "issued": ListOrder("issued_on", descending=True)},
    found_by=_FOUND_BY,
)
