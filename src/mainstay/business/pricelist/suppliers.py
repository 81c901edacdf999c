"""What can be done with suppliers."""

from typing import Annotated, Literal

from pydantic import Field

from mainstay.business.customers.store import check_reference
from mainstay.business.organisation.model import Language
from mainstay.business.pricelist.model import Status, Supplier, SupplierOut
from mainstay.business.pricelist.store import RENAMED, SUPPLIERS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.ledger.outbox import Letter
from mainstay.terms.actor import NO_TOOL
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, ListInput, Page
from mainstay.values.address import Address
from mainstay.values.fields import LAST_SEEN, Email, Line, Paragraph, Phone, Usual, WholeNumber, id_of, omittable
from mainstay.values.search import SearchText


class ListSuppliers(ListInput):
    """Which suppliers to list."""

    starting_after: Annotated[str | None, id_of("supplier")] = LAST_SEEN
    status: Status | None = Field(None, description="Only these. Without it, those in use.")
    text: SearchText | None = Field(None, title="Search", description="Words of the name, e-mail, phone or number.")
    order: Literal["newest", "name"] = Field("newest", description="`newest` first, or by `name`.")


class GetSupplier(Input):
    """Which supplier."""

    supplier_id: str = Field(description="The supplier's id.")


class SaveSupplier(Input):
    """A new supplier or, with their id, what to change of one; null clears."""

    supplier_id: Annotated[str | None, id_of("supplier")] = Field(None, description="To change one.")
    name: Line = omittable(description="Their name. A new one needs it.")
    email: Email | None = Field(None, title="E-mail address", description="Where orders go.")
    phone: Phone | None = Field(None, description="Such as +44 1422 555 0142.")
    address: Address | None = Field(None, description="Printed on orders.")
    tax_number: Line | None = Field(None, description="Their VAT or other tax number.")
    account_number: Line | None = Field(None, title="Our number there", description="What they call the organisation.")
    payment_terms_days: WholeNumber | None = Field(
        None, ge=0, le=365, title="Days to pay", description="Days to pay their bills."
    )
    language: Language | None = Field(None, description="Of what they are sent, where not as usual.")
    notes: Paragraph | None = Field(None, description="What one should know of them.")
    status: Annotated[Status, Usual("active")] = omittable(description="`archived` takes them out of the lists.")
    external_ref: Line | None = Field(None, title="Reference elsewhere", description="What another system calls them.")


@operation(right=Right.PURCHASING_READ, effect=Effect.READ, rest="GET /suppliers")
def list_suppliers(ctx: Context, given: ListSuppliers) -> Page[SupplierOut]:
    """List suppliers.

    Everyone the organisation buys from.
    """
    return SUPPLIERS.page(ctx, given)


@operation(
    right=Right.PURCHASING_READ,
    effect=Effect.READ,
    rest="GET /suppliers/{supplier_id}",
    glances=True,
    on=SUPPLIERS,
    offered=NO_TOOL,
)
def get_supplier(_ctx: Context, _given: GetSupplier, supplier: Supplier) -> Supplier:
    """Get a supplier.

    How to reach them, and what they call the organisation.
    """
    return supplier


@operation(
    right=Right.PURCHASING_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /suppliers",
    on=SUPPLIERS,
    makes=True,
    done="The supplier is saved.",
)
def save_supplier(ctx: Context, given: SaveSupplier, supplier: Supplier | None) -> Supplier:
    """Save a supplier.

    Without supplierId it adds one, with it it changes what is sent.
    """
    values = given.sent("supplier_id")
    check_reference(ctx, SUPPLIERS, given.external_ref, supplier)
    if supplier is None:
        given.needs("name")
        return SUPPLIERS.insert(ctx, {"status": "active"} | values)
    after = SUPPLIERS.save(ctx, supplier, values)
    if after.name != supplier.name:
        ctx.post(Letter(RENAMED, {"supplier": supplier.id}))
    return after


OPERATIONS = (list_suppliers, get_supplier, save_supplier)
