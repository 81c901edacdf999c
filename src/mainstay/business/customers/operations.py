"""What can be done with customers."""

from typing import Annotated, Literal

from pydantic import Field

from mainstay.business.customers.model import Customer, CustomerOut, Kind, SiteOut, Status
from mainstay.business.customers.store import CUSTOMERS, REWORD, check_reference, insert_site, twice
from mainstay.business.organisation.model import Language
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.ledger.outbox import Letter
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, ListInput, Page
from mainstay.values.address import Address, EInvoiceAddress
from mainstay.values.fields import LAST_SEEN, Email, Line, Paragraph, Phone, WholeNumber, id_of, omittable
from mainstay.values.search import SearchText

_Name = Annotated[Line, Field(description="What they are called, such as Calder Property Services.")]
_Kind = Annotated[Kind, Field(description="`company` or `individual`.")]
_Email = Annotated[Email | None, Field(title="E-mail address", description="Where mail to them goes.")]
_Phone = Annotated[Phone | None, Field(description="Such as +44 1422 555 0142.")]
_Billing = Annotated[Address | None, Field(description="Where invoices go.")]
_TaxNumber = Annotated[Line | None, Field(description="Their VAT or other tax number.")]
_Registration = Annotated[Line | None, Field(description="Their number in a register of companies.")]
_EInvoice = Annotated[
    EInvoiceAddress | None, Field(title="E-invoice address", description="Where electronic invoices go, if they do.")
]
_Reference = Annotated[Line | None, Field(description="What they want to read on every invoice.")]
_Terms = Annotated[
    WholeNumber | None,
    Field(title="Days to pay", ge=0, le=365, description="Days to pay an invoice, where not as usual."),
]
_Language = Annotated[Language | None, Field(description="Of what they are sent, where not as usual.")]
_Notes = Annotated[
    Paragraph | None, Field(description="What the office should know of them. The field does not see it.")
]
_ExternalRef = Annotated[
    Line | None, Field(title="Reference elsewhere", description="What another system calls them; no two share one.")
]


class ListCustomers(ListInput):
    """Which customers to list."""

    starting_after: Annotated[str | None, id_of("customer")] = LAST_SEEN
    status: Status | None = Field(None, description="Only these. Without it, those who are active.")
    text: SearchText | None = Field(
        None,
        title="Search",
        description="Only customers found by this: words of their name, address, e-mail address or reference, or a"
        " phone number in any spelling.",
    )
    order: Literal["newest", "name"] = Field("newest", description="`newest` first, or by `name`.")


class GetCustomer(Input):
    """Which customer."""

    customer_id: str = Field(description="The customer's id.")


class _CustomerFields(Input):
    """What can be said of a customer."""

    name: _Name
    kind: _Kind = "company"
    email: _Email = None
    phone: _Phone = None
    billing_address: _Billing = None
    tax_number: _TaxNumber = None
    registration_number: _Registration = None
    e_invoice_address: _EInvoice = None
    reference: _Reference = None
    payment_terms_days: _Terms = None
    language: _Language = None
    notes: _Notes = None
    external_ref: _ExternalRef = None


class CreateCustomer(_CustomerFields):
    """Who the customer is."""

    make_site: bool = Field(
        default=True,
        title="Work is done at the billing address",
        description="Whether the billing address also becomes a site of theirs, where jobs can be.",
    )


class UpdateCustomer(_CustomerFields):
    """Which customer, and what to change; null clears."""

    customer_id: str = Field(description="The customer's id.")
    name: _Name = omittable()
    kind: _Kind = omittable()


class ArchiveCustomer(Input):
    """Which customer."""

    customer_id: str = Field(description="The customer's id.")


class RestoreCustomer(Input):
    """Which customer."""

    customer_id: str = Field(description="The customer's id.")


@operation(right=Right.CUSTOMERS_READ, effect=Effect.READ, rest="GET /customers")
def list_customers(ctx: Context, given: ListCustomers) -> Page[CustomerOut]:
    """List customers.

    Members see the customers of their own jobs.
    """
    return CUSTOMERS.page(ctx, given)


@operation(
    right=Right.CUSTOMERS_READ, effect=Effect.READ, rest="GET /customers/{customer_id}", glances=True, on=CUSTOMERS
)
def get_customer(_ctx: Context, _given: GetCustomer, customer: Customer) -> Customer:
    """Get a customer.

    With all that is known of them. Members see the customers of their own jobs.
    """
    return customer


@operation(
    right=Right.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /customers",
    attaches={"site": SiteOut},
    done="The customer is created.",
)
def create_customer(ctx: Context, given: CreateCustomer) -> Customer:
    """Add a customer.

    Look for them first (list_customers by text), so that nobody is there twice. Their billing address also becomes a
    site, which the answer shows, unless makeSite is false; other sites and contacts are added with save_site and
    save_contact.
    """
    check_reference(ctx, CUSTOMERS, given.external_ref)
    # Whoever brings over thousands has looked at them before.
    ctx.warnings += [] if ctx.envelope.bare else twice(ctx, given.name, given.email, given.phone)
    values = {name: value for name, value in given if name != "make_site"}
    customer = CUSTOMERS.insert(ctx, values | {"status": "active"})
    if given.make_site and given.billing_address:
        ctx.attached["site"] = insert_site(ctx, customer.id, given.billing_address)
    return customer


@operation(
    right=Right.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    rest="PATCH /customers/{customer_id}",
    on=CUSTOMERS,
    unless=Customer.not_changeable,
    done="Your changes are saved.",
)
def update_customer(ctx: Context, given: UpdateCustomer, customer: Customer) -> Customer:
    """Change a customer's details.

    Only what is sent changes; null clears. Documents that were sent stay as they were.
    """
    check_reference(ctx, CUSTOMERS, given.external_ref, customer)
    after = CUSTOMERS.save(ctx, customer, given.sent("customer_id"))
    if after.name != customer.name:
        # What bears their name is found by the new one: much of it, maybe, so not here.
        ctx.post(Letter(REWORD, {"customer": customer.id}))
    return after


@operation(
    right=Right.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /customers/{customer_id}/archive",
    on=CUSTOMERS,
    unless=Customer.not_archivable,
    done="The customer is archived.",
)
def archive_customer(ctx: Context, _given: ArchiveCustomer, customer: Customer) -> Customer:
    """Archive a customer.

    They leave the lists and there is no new work for them; all that was done stays on record.
    """
    return CUSTOMERS.save(ctx, customer, {"status": "archived"})


@operation(
    right=Right.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /customers/{customer_id}/restore",
    on=CUSTOMERS,
    unless=Customer.not_restorable,
    done="The customer is active again.",
)
def restore_customer(ctx: Context, _given: RestoreCustomer, customer: Customer) -> Customer:
    """Bring an archived customer back.

    They are listed again, and there can be new work for them.
    """
    return CUSTOMERS.save(ctx, customer, {"status": "active"})


OPERATIONS = (list_customers, get_customer, create_customer, update_customer, archive_customer, restore_customer)
