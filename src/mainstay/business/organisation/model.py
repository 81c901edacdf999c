"""The organisation as it is shown."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from mainstay.kernel.shapes import Record


class Subscription(BaseModel):
    """Whether records may be changed."""

    model_config = ConfigDict(frozen=True)

    status: Literal["active", "inactive"]


class OrganisationOut(Record):
    """The organisation that a credential belongs to."""

    noun = "organisation"

    name: str
    legal_name: str | None
    tax_number: str | None
    address: str | None
    email: str | None
    phone: str | None
    country: str = Field(description="ISO 3166, two letters.")
    currency: str = Field(description="ISO 4217.")
    time_zone: str = Field(description="IANA name; dates are dates there.")
    subscription: Subscription
