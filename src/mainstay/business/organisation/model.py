"""The organisation as it is shown."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Reason
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Kept, Record
from mainstay.values.address import Address, EInvoiceAddress
from mainstay.values.bank import Bank

# Those in which customers are written to.
Language = Literal["en", "de", "fr", "nl", "es"]


class Subscription(BaseModel):
    """Whether records may be changed."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    status: Literal["active", "inactive"]


class OrganisationOut(Record):
    """The organisation that a credential belongs to."""

    noun = "organisation"
    place = "/settings"

    name: str
    legal_name: str | None
    tax_number: str | None
    registration_number: str | None
    e_invoice_address: EInvoiceAddress | None = Field(
        title="E-invoice address", description="By which it is known where electronic invoices are sent."
    )
    address: Address | None
    email: str | None = Field(title="E-mail address")
    phone: str | None
    bank: Annotated[Bank | None, Needs(Right.SETTINGS_READ)] = Field(
        title="Bank details", description="Where customers pay."
    )
    country: str = Field(description="ISO 3166, two letters.")
    currency: str = Field(description="ISO 4217; stays once a document is in it.")
    time_zone: str = Field(description="IANA name; dates are dates there.")
    subscription: Subscription


@dataclass(frozen=True, slots=True)
class Organisation(Kept):
    """The organisation as its rules see it."""

    shown = OrganisationOut

    name: str
    currency: str
    time_zone: str
    # The name of the file, which nobody is shown.
    logo: str | None
    logo_bytes: int

    @property
    def called(self) -> str:
        """Its name."""
        return self.name

    def without_logo(self, _by: Actor) -> list[Reason]:
        """Why there is no logo to remove."""
        return [] if self.logo else [Reason("There is no logo.", unblock="set_logo")]
