"""Postal addresses in parts, so that they can be searched, mapped and put on an e-invoice; and where those go."""

from pydantic import BaseModel, Field, model_validator

from mainstay.values.fields import Country, Line, PostalCode
from mainstay.values.models import GIVEN


class Address(BaseModel):
    """Where something is, or where post goes."""

    model_config = GIVEN

    line1: Line | None = Field(None, title="Line 1", description="Street and number, or the name of the building.")
    line2: Line | None = Field(None, title="Line 2", description="What else the post needs, such as a unit or floor.")
    city: Line | None = Field(None, description="Town or city.")
    region: Line | None = Field(None, description="County, state or province.")
    postal_code: PostalCode | None = Field(None, title="Postcode", description="Such as HX6 2AG.")
    country: Country | None = Field(None, description="ISO 3166, two letters.")

    @model_validator(mode="after")
    def _says_something(self) -> "Address":
        if not any(self.model_dump().values()):
            raise ValueError("is empty; send null to clear it")
        return self


class EInvoiceAddress(BaseModel):
    """Where electronic invoices go, in a network such as Peppol."""

    model_config = GIVEN

    scheme: Line = Field(description="The code of the scheme, such as 0088.")
    id: Line = Field(title="Identifier", description="The identifier in that scheme.")
