"""Equipment: its output model, and the rules of what can be done with it."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from mainstay.business.records.model import ArchivableStatus
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.roles import IMPORTED_NOTES, OUTSIDER_TEXT, Imported, RefersTo, imported_reference
from mainstay.vocabulary.schemas import Record, StoredRecord, make_states

_OFFICE_ONLY = RequiresPermission(Permission.ALL_CUSTOMERS_READ)
_DATE: dict[str, Any] = {"format": "date"}


_CUSTOMER_HEADINGS = ("customer name", "client", "client name", "customer reference")
_IMPORTED_SITE = Imported(("site name", "site reference", "property", "location"), required=True, identifies=True)
_IMPORTED_NAME = Imported(("equipment", "item", "description", "asset"), required=True, identifies=True)


class EquipmentOut(Record):
    """A piece of equipment at a site, such as a boiler."""

    noun = "equipment"
    office_path = "/equipment/{id}"
    states = make_states(active="good", archived="over")

    # The customer of the site. In a file they only help to find the site.
    customer_id: Annotated[str, RefersTo("customer"), Imported(_CUSTOMER_HEADINGS)] = Field(
        examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"]
    )
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    site_id: Annotated[str, RefersTo("site"), _IMPORTED_SITE] = Field(examples=["site_01KA3R5X7Z9B1D3F5H7J9K1N3P"])
    site_name: str = Field(title="Site", examples=["2 Weir Lane"])
    name: Annotated[str, _IMPORTED_NAME] = Field(examples=["Boiler"])
    make: Annotated[str | None, Imported(("manufacturer", "brand"))] = Field(examples=["Worcester"])
    model: Annotated[str | None, Imported(("model number", "type"))] = Field(examples=["Greenstar 4000"])
    serial_number: Annotated[str | None, Imported(("serial", "serial no", "s/n"), identifies=True)] = Field(
        examples=["7733-600-001"]
    )
    installed_on: Annotated[str | None, Imported(("installed", "installation date"))] = Field(
        title="Installed on", examples=["2024-05-14"], json_schema_extra=_DATE
    )
    warranty_until: Annotated[str | None, Imported(("warranty", "warranty end", "warranty expires"))] = Field(
        title="Warranty until", examples=["2029-05-13"], json_schema_extra=_DATE
    )
    notes: Annotated[str | None, IMPORTED_NOTES, OUTSIDER_TEXT] = Field(examples=["In the loft."])
    status: ArchivableStatus = Field(examples=["active"])
    external_ref: Annotated[str | None, _OFFICE_ONLY, imported_reference("equipment id", "asset id")] = Field(
        title="External ID", examples=[None]
    )


@dataclass(frozen=True, slots=True)
class Equipment(StoredRecord):
    """A piece of equipment, as seen by the rules."""

    output = EquipmentOut

    name: str
    make: str | None
    model: str | None
    site_name: str
    status: ArchivableStatus

    @property
    def detail(self) -> str:
        """What it is, and the name of its site."""
        return " · ".join(filter(None, (self.make, self.model, self.site_name)))

    def not_archivable(self, _by: Actor) -> list[Reason]:
        """Return why it cannot be archived."""
        if self.status == "archived":
            return [Reason(Message("{equipment} is already archived.", equipment=self.name))]
        return []

    def not_restorable(self, _by: Actor) -> list[Reason]:
        """Return why it cannot be restored."""
        if self.status == "active":
            return [Reason(Message("{equipment} is not archived.", equipment=self.name))]
        return []
