"""Postal addresses, in fields so that they can be searched, mapped and put on e-invoices; e-invoice addresses."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, model_validator

from mainstay.values.fields import Country, PostalCode, TextLine
from mainstay.values.message import FieldName, Message
from mainstay.values.part_changes import RecordPart


class Address(RecordPart):
    """A postal address."""

    line1: TextLine | None = Field(None, title="Line 1", description="Street and number, or building name.")
    line2: TextLine | None = Field(None, title="Line 2", description="E.g. unit or floor.")
    city: TextLine | None = Field(None, description="E.g. Halifax.")
    region: TextLine | None = Field(None, description="County, state or province.")
    postal_code: PostalCode | None = Field(None, title="Postcode", description="E.g. HX6 2AG.")
    country: Country | None = Field(None, description="ISO 3166, two letters.")

    @model_validator(mode="after")
    def _check_not_empty(self) -> "Address":
        if not any(self.model_dump().values()):
            raise ValueError(Message("is empty", for_programs=Message("send null to clear it")))
        return self

    @classmethod
    def find_warnings(cls, path: str, before: Mapping[str, Any], sent: Mapping[str, Any]) -> list[Message]:
        """Warn if a flat or unit stays although the street changes."""
        line1, line2 = before.get("line1"), before.get("line2")
        if not line2 or "line2" in sent or sent.get("line1", line1) == line1:
            return []
        message = Message(
            '{line2} is still "{text}", although {line1} changed. Check whether it is still right.',
            for_programs=Message("If not, send it as well, or as null."),
            line1=FieldName(f"{path}.line1"),
            line2=FieldName(f"{path}.line2"),
            text=line2,
        )
        return [message]


class EInvoiceAddress(RecordPart):
    """An address for electronic invoices, in a network such as Peppol."""

    scheme: TextLine = Field(description="E.g. 0088. Your customer or e-invoice provider knows it.")
    id: TextLine = Field(title="Identifier", description="E.g. a Peppol ID without the scheme.")
