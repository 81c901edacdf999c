"""Operations on suppliers."""

from typing import Annotated

from pydantic import Field

from mainstay.business.customers.store import check_external_ref
from mainstay.business.pricelist.model import Supplier
from mainstay.business.pricelist.store import REFRESH_SUPPLIER_SEARCH, SUPPLIERS
from mainstay.business.records.model import ArchivableStatus
from mainstay.changes.outbox import OutboxTask
from mainstay.documents.snapshot import Language
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import restore_values_or_archive
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get, declare_list
from mainstay.values.address import Address
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    DefaultValue,
    Email,
    ExternalRef,
    Paragraph,
    Phone,
    TextLine,
    WholeNumber,
    make_id_validator,
    omittable_field,
)
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import Input
from mainstay.vocabulary.toolsets import Toolset


class SaveSupplier(Input):
    """A new supplier or, with their id, the changes; null clears a field."""

    supplier_id: Annotated[str | None, make_id_validator("supplier")] = Field(None, description="To edit a supplier.")
    name: TextLine = omittable_field(description=describe("Company or person's name. [[Required for a new supplier.]]"))
    email: Email | None = Field(None, title="Email", description="Orders are sent here.")
    phone: Phone | None = Field(None, description="E.g. +44 1422 555 0142.")
    address: Address | None = Field(None, description="Printed on orders.")
    tax_number: TextLine | None = Field(
        None, description=describe("[[The VAT number.]] Or another tax number, e.g. for GST.")
    )
    account_number: TextLine | None = Field(None, title="Account number", description="Your customer number with them.")
    payment_terms_days: WholeNumber | None = Field(
        None, ge=0, le=365, title="Payment terms (days)", description="Days to pay their bills, e.g. 30."
    )
    language: Language | None = Field(None, description="Language of their orders. Default: your own.")
    notes: Paragraph | None = Field(None, description="Office only.")
    status: Annotated[ArchivableStatus, DefaultValue("active")] = omittable_field(
        description=describe("[[`archived` hides them from lists.]]")
    )
    external_ref: ExternalRef = None


list_suppliers = declare_list(
    SUPPLIERS,
    "List suppliers. Merchants and others you buy from.",
    Permission.PURCHASING_READ,
    {
        "status": "Only suppliers with this status. Default: active.",
        "text": "Words in the name, email, phone or account number.",
        "order": "[[`newest` first, or by `name`.]]",
    },
    api_path="GET /suppliers",
)


get_supplier = declare_get(
    SUPPLIERS,
    "Get supplier. With contact details and your account number.",
    Permission.PURCHASING_READ,
    api_path="GET /suppliers/{supplier_id}",
    extra_toolset=Toolset.SINGLE_RECORDS,
)


@operation(
    permission=Permission.PURCHASING_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /suppliers",
    on=SUPPLIERS,
    creates_without_id=True,
    undone_by=restore_values_or_archive,
    past_text="Supplier saved",
)
def save_supplier(ctx: Context, given: SaveSupplier, supplier: Supplier | None) -> Supplier:
    """Save supplier.

    [[Adds a supplier, or with supplierId edits one: only fields you send change.]]
    """
    values = given.sent_fields("supplier_id")
    check_external_ref(ctx, SUPPLIERS, given.external_ref, supplier)
    if supplier is None:
        given.require("name")
        return SUPPLIERS.insert(ctx, {"status": "active"} | values)
    updated = SUPPLIERS.save(ctx, supplier, values)
    if updated.name != supplier.name:
        ctx.add_task(OutboxTask(REFRESH_SUPPLIER_SEARCH, {"supplier": supplier.id}))
    return updated


OPERATIONS = (list_suppliers, get_supplier, save_supplier)
