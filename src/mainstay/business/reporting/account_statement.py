"""Statements of account as they were sent to customers: each stays as it was on its day."""

from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import Field

from mainstay.kernel.listing import Listing
from mainstay.terms.listed import NEWEST, ListOrder
from mainstay.terms.shapes import Kept, Record, Shown
from mainstay.terms.wire import MoneyText

_DATE: dict[str, Any] = {"format": "date"}


class AccountStatementOut(Record):
    """A statement of account that a customer was sent."""

    noun = "accountStatement"
    place = "/statements/{id}"

    customer_id: str = Field(examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    from_: str = Field(alias="from", title="From", examples=["2026-01-01"], json_schema_extra=_DATE)
    until: str = Field(examples=["2026-11-16"], json_schema_extra=_DATE)
    issued_on: str = Field(title="Issued", examples=["2026-11-16"], json_schema_extra=_DATE)
    language: str = Field(description="In which it was written.", examples=["en"])
    currency: str = Field(examples=["GBP"])
    brought_forward: MoneyText = Field(description="What was owed before the first date.", examples=["240.00"])
    charged: MoneyText = Field(description="What was invoiced between the dates.", examples=["1440.00"])
    paid: MoneyText = Field(title="Paid or credited", description="What was paid or credited.", examples=["340.00"])
    balance: MoneyText = Field(description="What was owed on the last date.", examples=["1340.00"])
    overdue: MoneyText = Field(description="What was overdue on the day it was issued.", examples=["240.00"])


@dataclass(frozen=True, slots=True)
class AccountStatement(Kept):
    """A statement of account as its rules see it."""

    shown: ClassVar[type[Shown]] = AccountStatementOut

    customer_id: str
    customer_name: str
    until: str
    issued_on: str
    snapshot: str
    pdf_sha256: str | None

    @property
    def called(self) -> str:
        """Whose it is, and until when."""
        return f"Statement of {self.customer_name} until {self.until}"

    @property
    def named(self) -> str:
        """What tells it apart from others of the customer: it has no number."""
        return self.until

    @property
    def files(self) -> dict[str, str | None]:
        """The names of its files, by their form."""
        return {"pdf": self.pdf_sha256}


STATEMENTS = Listing(
    AccountStatement,
    source="account_statement",
    what="statement",
    prefix="statement",
    id_field="statement_id",
    columns={
        "customer_name": "(SELECT customer.name FROM customer WHERE customer.organisation_id = :organisation"
        " AND customer.id = account_statement.customer_id)",
        "from_": "account_statement.from_on",
        "until": "account_statement.until_on",
    },
    facts={name: f"account_statement.{name}" for name in ("snapshot", "pdf_sha256")},
    filters={"customer_id": "account_statement.customer_id = :customer_id"},
    orders={NEWEST: ListOrder("id", descending=True)},
)
