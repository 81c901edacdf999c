"""Statements of account that were sent to customers. They never change."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from mainstay.kernel.kind import Kind
from mainstay.kernel.record_store import select_related
from mainstay.values.fields import make_id_validator
from mainstay.values.message import CalendarDate, Message
from mainstay.vocabulary.record_json import MoneyText
from mainstay.vocabulary.roles import RefersTo
from mainstay.vocabulary.schemas import Output, Record, StoredRecord

_DATE: dict[str, Any] = {"format": "date"}


class AccountStatementOut(Record):
    """A statement of account that was sent to a customer."""

    noun = "accountStatement"
    office_path = "/statements/{id}"

    customer_id: Annotated[str, RefersTo("customer")] = Field(examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    from_: str = Field(alias="from", title="From", examples=["2026-01-01"], json_schema_extra=_DATE)
    until: str = Field(examples=["2026-11-16"], json_schema_extra=_DATE)
    issued_on: str = Field(title="Issued", examples=["2026-11-16"], json_schema_extra=_DATE)
    language: str = Field(description="The language of the statement.", examples=["en"])
    currency: str = Field(examples=["GBP"])
    brought_forward: MoneyText = Field(description="Owed before the first date.", examples=["240.00"])
    charged: MoneyText = Field(description="Invoiced between the dates.", examples=["1440.00"])
    paid: MoneyText = Field(
        title="Paid or credited", description="Paid or credited between the dates.", examples=["340.00"]
    )
    balance: MoneyText = Field(description="Owed on the last date.", examples=["1340.00"])
    overdue: MoneyText = Field(description="Overdue when the statement was issued.", examples=["240.00"])


@dataclass(frozen=True, slots=True)
class AccountStatement(StoredRecord):
    """A statement of account, as seen by the rules."""

    output: ClassVar[type[Output]] = AccountStatementOut

    customer_id: str
    customer_name: str
    until: str
    issued_on: str
    snapshot: str
    pdf_sha256: str | None

    @property
    def display_name(self) -> str:
        """The customer and the last date."""
        return str(self.name_in_messages)

    @property
    def name_in_messages(self) -> Message:
        """The customer and the last date."""
        return Message(
            "Statement of {customer} until {date}", customer=self.customer_name, date=CalendarDate(self.until)
        )

    @property
    def short_name(self) -> str:
        """Its last date, because it has no number."""
        return self.until

    @property
    def files(self) -> dict[str, str | None]:
        """The names of its files, by form."""
        return {"pdf": self.pdf_sha256}


STATEMENTS = Kind(
    AccountStatement,
    source="account_statement",
    id_type=Annotated[str, make_id_validator("statement"), Field(title="Statement", description="The statement's ID.")],
    label="statement",
    plural="statements of account",
    heading="Statements",
    area="Customers",
    prefix="statement",
    columns={
        "customer_name": select_related("customer.name", "account_statement.customer_id"),
        "from_": "account_statement.from_on",
        "until": "account_statement.until_on",
    },
    equal_filters=("customer_id",),
)
