"""Postal addresses, in fields so that they can be searched, mapped and put on e-invoices; e-invoice addresses."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, model_validator

from mainstay.values.fields import Country, PostalCode, TextLine
from mainstay.values.part_changes import RecordPart


class Address(RecordPart):
    """Where something is, or where post goes."""

    line1: TextLine | None = Field(None, title="Line 1", description="Street and number, or the name of the building.")
    line2: TextLine | None = Field(
        None, title="Line 2", description="What else the post needs, such as a unit or floor."
    )
    city: TextLine | None = Field(None, description="Town or city.")
    region: TextLine | None = Field(None, description="County, state or province.")
    postal_code: PostalCode | None = Field(None, title="Postcode", description="Such as HX6 2AG.")
    country: Country | None = Field(None, description="ISO 3166, two letters.")

    @model_validator(mode="after")
    def _check_not_empty(self) -> "Address":
        if not any(self.model_dump().values()):
            raise ValueError("is empty; send null to clear it")
        return self

    @classmethod
    def find_warnings(cls, before: Mapping[str, Any], sent: Mapping[str, Any]) -> list[str]:
        """Warn if a flat or unit stays although the street changes."""
        line1, line2 = before.get("line1"), before.get("line2")
        if not line2 or "line2" in sent or sent.get("line1", line1) == line1:
            return []
        return [f'line2 is still "{line2}" though line1 changed. If it is wrong now, send line2 as well, or as null.']


class EInvoiceAddress(RecordPart):
    """Where electronic invoices go, in a network such as Peppol."""

    scheme: TextLine = Field(description="The code of the scheme, such as 0088.")
    id: TextLine = Field(title="Identifier", description="The identifier in that scheme.")
