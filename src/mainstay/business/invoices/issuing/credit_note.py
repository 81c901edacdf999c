"""Credit notes: their outputs, records and stores."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from mainstay.business.invoices.model import EInvoiceReadiness
from mainstay.business.lines.model import EXAMPLE_LINE, EXAMPLE_TAX, ShownLine, ShownShare, ShownTax
from mainstay.kernel.kind import Kind
from mainstay.kernel.record_store import select_related
from mainstay.values.descriptions import describe
from mainstay.values.money import amount_text
from mainstay.values.search_words import combine_words, words_of_digits, words_of_number, words_of_text
from mainstay.vocabulary.list_queries import NEWEST, ListOrder, SearchFields
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.record_json import MoneyText
from mainstay.vocabulary.roles import RefersTo
from mainstay.vocabulary.schemas import Output, Record, StoredRecord

_DATE: dict[str, Any] = {"format": "date"}
_EXAMPLE_E_INVOICE = {"status": "included", "missing": []}


class ListedCreditNoteOut(Record):
    """A credit note in a list: without its lines."""

    noun = "creditNote"
    office_path = "/credit-notes/{id}"

    number: str = Field(examples=["CN-0012"])
    invoice_id: Annotated[str, RefersTo("invoice")] = Field(examples=["invoice_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    invoice_number: str = Field(title="Invoice", examples=["INV-0207"])
    customer_id: Annotated[str, RefersTo("customer")] = Field(examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    job_id: Annotated[str | None, RefersTo("job")] = Field(examples=[None])
    currency: str = Field(examples=["GBP"])
    net: MoneyText = Field(description="The amount credited, without tax.", examples=["1200.00"])
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
    language: str | None = Field(description="The language it was issued in.", examples=["en"])
    lines: list[ShownLine] = Field(
        description="The lines credited, with quantities as on the invoice.", examples=[[EXAMPLE_LINE]]
    )
    discount: ShownShare | None = Field(description="The discount on the whole.", examples=[None])
    taxes: list[ShownTax] = Field(description="The tax at each rate.", examples=[[EXAMPLE_TAX]])
    cost: Annotated[MoneyText | None, RequiresPermission(Permission.COSTS_READ)] = Field(
        description="What its lines cost you, as far as known.", examples=["800.00"]
    )
    e_invoice: EInvoiceReadiness | None = Field(
        title="E-invoice", description="An EN 16931 e-invoice inside the PDF.", examples=[_EXAMPLE_E_INVOICE]
    )
    peppol: EInvoiceReadiness | None = Field(
        description="Whether it can be sent through the Peppol network.", examples=[_EXAMPLE_E_INVOICE]
    )


@dataclass(frozen=True, slots=True)
class ListedCreditNote(StoredRecord):
    """A credit note without its lines."""

    output: ClassVar[type[Output]] = ListedCreditNoteOut

    number: str
    customer_name: str

    @property
    def display_name(self) -> str:
        """The number."""
        return self.number

    @property
    def short_name(self) -> str:
        """The number: a credit note has no title."""
        return self.number


@dataclass(frozen=True, slots=True)
class CreditNote(ListedCreditNote):
    """A credit note with its lines."""

    output = CreditNoteOut

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
        """The names of its files, by form."""
        return {"pdf": self.pdf_sha256, "ubl": self.ubl_sha256}


def _search_words_of(number: str, customer_name: str, currency: str, total: int) -> frozenset[str]:
    amount = amount_text(total, currency)
    return combine_words(words_of_number(number), words_of_text(f"{customer_name} {amount}"), words_of_digits(amount))


CREDIT_NOTES = Kind(
    CreditNote,
    source="credit_note",
    id_type=Annotated[str, Field(title="Credit note", description=describe("[[The credit note's ID or number.]]"))],
    area="Invoices",
    prefix="credit",
    number_column="number",
    columns={
        "invoice_number": select_related("invoice.number", "credit_note.invoice_id"),
        "customer_name": select_related("customer.name", "credit_note.customer_id"),
    },
    equal_filters=("customer_id",),
    dates_column="issued_on",
    orders={NEWEST: ListOrder("id", descending=True), "issued": ListOrder("issued_on", descending=True)},
    search_fields=(SearchFields(("number", "customer_name", "currency", "total"), _search_words_of),),
)
LISTED_CREDIT_NOTES = CREDIT_NOTES.show_as(ListedCreditNote)
