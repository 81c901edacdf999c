"""Operations on equipment, and its events."""

from typing import Annotated

from pydantic import Field

from mainstay.business.customers.model import Customer, Site
from mainstay.business.customers.store import CUSTOMERS, SITES, check_external_ref
from mainstay.business.equipment.model import Equipment, EquipmentOut
from mainstay.business.equipment.store import EQUIPMENT
from mainstay.business.records.model import ArchivableStatus
from mainstay.kernel.context import Context
from mainstay.kernel.event import declare_event
from mainstay.kernel.inverse import restore_values_or_archive
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import ArchivingStep, declare_archiving, declare_get, declare_list
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    Day,
    DefaultValue,
    ExternalRef,
    Paragraph,
    TextLine,
    make_id_validator,
    omittable_field,
)
from mainstay.vocabulary.actor import API_AND_OFFICE
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import raise_if_blocked
from mainstay.vocabulary.schemas import Input
from mainstay.vocabulary.toolsets import Toolset

EquipmentCreated = declare_event("equipment.created", EquipmentOut, "Equipment was added to a site.")
EquipmentUpdated = declare_event("equipment.updated", EquipmentOut, "Equipment's details, site or status changed.")


EVENTS = (EquipmentCreated, EquipmentUpdated)


class SaveEquipment(Input):
    """New equipment at a site or, with its id, the fields to change; null clears."""

    equipment_id: Annotated[str | None, make_id_validator("equipment", "equipment")] = Field(
        None, description="The equipment to change. Without it, new equipment."
    )
    site_id: Annotated[str, make_id_validator("site")] = omittable_field(
        title="Site", description=describe("Where it is installed. [[Required for new equipment.]]")
    )
    name: TextLine = omittable_field(description=describe("What it is, e.g. boiler. [[Required for new equipment.]]"))
    make: TextLine | None = Field(None, description="E.g. Worcester.")
    model: TextLine | None = Field(None, description="E.g. Greenstar 4000.")
    serial_number: TextLine | None = Field(None, description="As shown on the rating plate.")
    installed_on: Day | None = Field(None, title="Installed on", description="The date of installation.")
    warranty_until: Day | None = Field(None, title="Warranty until", description="The last day of the warranty.")
    notes: Paragraph | None = Field(None, description="Visible to field staff.")
    status: Annotated[ArchivableStatus, DefaultValue("active")] = omittable_field(
        description=describe("[[`archived` hides it from lists.]]")
    )
    external_ref: ExternalRef = None


list_equipment = declare_list(
    EQUIPMENT,
    "List equipment. Boilers, pumps, alarms and other assets at customers' sites, with serial numbers and"
    " warranties. Members see that of customers they work for, subcontractors that of their own jobs' sites.",
    Permission.SITES_READ,
    {
        "site_id": "Only the equipment at this site.",
        "status": "Only this status. Default: active.",
        "text": "Words of the name, make or model, or the serial number.",
    },
    api_path="GET /equipment",
)


get_equipment = declare_get(
    EQUIPMENT,
    "Show equipment. Its make, model, serial number, warranty and site.",
    Permission.SITES_READ,
    api_path="GET /equipment/{equipment_id}",
    extra_toolset=Toolset.SINGLE_RECORDS,
)


@operation(
    permission=Permission.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /equipment",
    on=EQUIPMENT,
    creates_without_id=True,
    past_text="Equipment saved",
    undone_by=restore_values_or_archive,
)
def save_equipment(ctx: Context, given: SaveEquipment, equipment: Equipment | None) -> Equipment:
    """Save equipment.

    [[Adds equipment to a site, or with `equipmentId` changes only the fields you send.]]
    """
    values = given.sent_fields("equipment_id")
    check_external_ref(ctx, EQUIPMENT, given.external_ref, equipment)
    if equipment is None:
        given.require("site_id", "name")
    if given.site_id:
        site: Site = SITES.fetch(ctx, given.site_id)
        customer: Customer = CUSTOMERS.fetch(ctx, site.customer_id)
        raise_if_blocked(customer.not_usable())
    if equipment is None:
        created: Equipment = EQUIPMENT.insert(ctx, {"status": "active"} | values)
        ctx.emit(EquipmentCreated(created))
        return created
    updated: Equipment = EQUIPMENT.save(ctx, equipment, values)
    if updated.version != equipment.version:
        ctx.emit(EquipmentUpdated(updated, equipment))
    return updated


archive_equipment, restore_equipment = declare_archiving(
    EQUIPMENT,
    Permission.CUSTOMERS_CHANGE,
    ArchivingStep(
        "Hides it from lists if it was removed or replaced. Its history stays.",
        Equipment.not_archivable,
        EquipmentUpdated,
    ),
    ArchivingStep("Brings archived equipment back into the lists.", Equipment.not_restorable, EquipmentUpdated),
    # Tools set the status with save_equipment.
    doors=API_AND_OFFICE,
)

OPERATIONS = (list_equipment, get_equipment, save_equipment, archive_equipment, restore_equipment)
