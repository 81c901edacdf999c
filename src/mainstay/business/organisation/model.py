"""The organisation: its output model and its stored record."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from mainstay.values.address import Address, EInvoiceAddress
from mainstay.values.bank import Bank
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.schemas import Record, StoredRecord


class Subscription(BaseModel):
    """Whether records may be changed."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    status: Literal["active", "inactive"]


class OrganisationOut(Record):
    """The organisation that a credential belongs to."""

    noun = "organisation"
    office_path = "/settings"

    name: str
    legal_name: str | None
    tax_number: str | None
    registration_number: str | None
    e_invoice_address: EInvoiceAddress | None = Field(
        title="E-invoice address", description="Where suppliers send electronic invoices to you, such as a Peppol ID."
    )
    address: Address | None
    email: str | None = Field(title="Email")
    phone: str | None
    bank: Annotated[Bank | None, RequiresPermission(Permission.SETTINGS_READ)] = Field(
        title="Bank details", description="Printed on invoices."
    )
    country: str = Field(description="Two letters (ISO 3166).")
    currency: str = Field(description="ISO 4217. Fixed once there are documents in it.")
    time_zone: str = Field(description="IANA name. Dates are local to it.")
    subscription: Subscription


@dataclass(frozen=True, slots=True)
class Organisation(StoredRecord):
    """The organisation, as seen by the rules."""

    output = OrganisationOut

    name: str
    currency: str
    time_zone: str
    # The name of the stored file. It is not part of the output.
    logo: str | None
    logo_bytes: int

    def logo_not_removable(self, _by: Actor) -> list[Reason]:
        """Return why there is no logo to remove."""
        return [] if self.logo else [Reason(Message("There is no logo to remove."))]
