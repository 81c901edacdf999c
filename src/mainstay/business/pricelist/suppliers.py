"""Operations on suppliers."""

from typing import Annotated, Literal

from pydantic import Field

from mainstay.business.customers.store import check_external_ref
from mainstay.business.pricelist.model import Supplier, SupplierOut
from mainstay.business.pricelist.store import REFRESH_SUPPLIER_SEARCH, SUPPLIERS
from mainstay.business.records.model import ArchivableStatus
from mainstay.changes.outbox import OutboxTask
from mainstay.documents.snapshot import Language
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.address import Address
from mainstay.values.fields import (
    STARTING_AFTER,
    DefaultValue,
    Email,
    Paragraph,
    Phone,
    TextLine,
    WholeNumber,
    make_id_validator,
    omittable_field,
)
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.actor import API_AND_OFFICE
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import Input, ListInput, PageResult


class ListSuppliers(ListInput):
    """Which suppliers to list."""

    starting_after: Annotated[str | None, make_id_validator("supplier")] = STARTING_AFTER
    status: ArchivableStatus | None = Field(None, description="Only these. Without it, those in use.")
    text: SearchText | None = Field(None, title="Search", description="Words of the name, e-mail, phone or number.")
    order: Literal["newest", "name"] = Field("newest", description="`newest` first, or by `name`.")


class GetSupplier(Input):
    """Which supplier."""

    supplier_id: str = Field(description="The supplier's id.")


class SaveSupplier(Input):
    """A new supplier or, with their id, what to change of one; null clears."""

    supplier_id: Annotated[str | None, make_id_validator("supplier")] = Field(None, description="To change one.")
    name: TextLine = omittable_field(description="Their name. A new one needs it.")
    email: Email | None = Field(None, title="E-mail address", description="Where orders go.")
    phone: Phone | None = Field(None, description="Such as +44 1422 555 0142.")
    address: Address | None = Field(None, description="Printed on orders.")
    tax_number: TextLine | None = Field(None, description="Their VAT or other tax number.")
    account_number: TextLine | None = Field(
        None, title="Our number there", description="What they call the organisation."
    )
    payment_terms_days: WholeNumber | None = Field(
        None, ge=0, le=365, title="Days to pay", description="Days to pay their bills."
    )
    language: Language | None = Field(None, description="Of what they are sent, where not as usual.")
    notes: Paragraph | None = Field(None, description="What one should know of them.")
    status: Annotated[ArchivableStatus, DefaultValue("active")] = omittable_field(
        description="`archived` takes them out of the lists."
    )
    external_ref: TextLine | None = Field(
        None, title="Reference elsewhere", description="What another system calls them."
    )


@operation(permission=Permission.PURCHASING_READ, effect=Effect.READ, api_path="GET /suppliers")
def list_suppliers(ctx: Context, given: ListSuppliers) -> PageResult[SupplierOut]:
    """List suppliers.

    Everyone the organisation buys from.
    """
    return SUPPLIERS.page(ctx, given)


@operation(
    permission=Permission.PURCHASING_READ,
    effect=Effect.READ,
    api_path="GET /suppliers/{supplier_id}",
    single_statement=True,
    on=SUPPLIERS,
    doors=API_AND_OFFICE,
)
def get_supplier(_ctx: Context, _given: GetSupplier, supplier: Supplier) -> Supplier:
    """Get a supplier.

    How to reach them, and what they call the organisation.
    """
    return supplier


@operation(
    permission=Permission.PURCHASING_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /suppliers",
    on=SUPPLIERS,
    creates_without_id=True,
    done_message="The supplier is saved.",
)
def save_supplier(ctx: Context, given: SaveSupplier, supplier: Supplier | None) -> Supplier:
    """Save a supplier.

    Without supplierId it adds one, with it it changes what is sent.
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
