"""Operations on customers."""

from typing import Annotated, Literal

from pydantic import Field

from mainstay.business.customers.model import Customer, CustomerKind, CustomerOut, SiteOut
from mainstay.business.customers.store import (
    CUSTOMERS,
    REFRESH_CUSTOMER_SEARCH,
    check_external_ref,
    insert_site,
    warn_of_duplicates,
)
from mainstay.business.records.model import ArchivableStatus
from mainstay.changes.outbox import OutboxTask
from mainstay.documents.snapshot import Language
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.address import Address, EInvoiceAddress
from mainstay.values.fields import (
    STARTING_AFTER,
    Email,
    Paragraph,
    Phone,
    TextLine,
    WholeNumber,
    make_id_validator,
    omittable_field,
)
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import Input, ListInput, PageResult

_Name = Annotated[TextLine, Field(description="What they are called, such as Calder Property Services.")]
_Kind = Annotated[CustomerKind, Field(description="`company` or `individual`.")]
_Email = Annotated[Email | None, Field(title="E-mail address", description="Where mail to them goes.")]
_Phone = Annotated[Phone | None, Field(description="Such as +44 1422 555 0142.")]
_BillingAddress = Annotated[Address | None, Field(description="Where invoices go.")]
_TaxNumber = Annotated[TextLine | None, Field(description="Their VAT or other tax number.")]
_RegistrationNumber = Annotated[TextLine | None, Field(description="Their number in a register of companies.")]
_EInvoiceAddress = Annotated[
    EInvoiceAddress | None, Field(title="E-invoice address", description="Where electronic invoices go, if they do.")
]
_Reference = Annotated[TextLine | None, Field(description="What they want to read on every invoice.")]
_PaymentTerms = Annotated[
    WholeNumber | None,
    Field(title="Days to pay", ge=0, le=365, description="Days to pay an invoice, where not as usual."),
]
_Language = Annotated[Language | None, Field(description="Of what they are sent, where not as usual.")]
_Notes = Annotated[
    Paragraph | None, Field(description="What the office should know of them. The field does not see it.")
]
_ExternalRef = Annotated[
    TextLine | None, Field(title="Reference elsewhere", description="What another system calls them; no two share one.")
]


class ListCustomers(ListInput):
    """Which customers to list."""

    starting_after: Annotated[str | None, make_id_validator("customer")] = STARTING_AFTER
    status: ArchivableStatus | None = Field(None, description="Only these. Without it, those who are active.")
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
    """The fields of a customer that can be sent."""

    name: _Name
    kind: _Kind = "company"
    email: _Email = None
    phone: _Phone = None
    billing_address: _BillingAddress = None
    tax_number: _TaxNumber = None
    registration_number: _RegistrationNumber = None
    e_invoice_address: _EInvoiceAddress = None
    reference: _Reference = None
    payment_terms_days: _PaymentTerms = None
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
    name: _Name = omittable_field()
    kind: _Kind = omittable_field()


class ArchiveCustomer(Input):
    """Which customer."""

    customer_id: str = Field(description="The customer's id.")


class RestoreCustomer(Input):
    """Which customer."""

    customer_id: str = Field(description="The customer's id.")


@operation(permission=Permission.CUSTOMERS_READ, effect=Effect.READ, api_path="GET /customers")
def list_customers(ctx: Context, given: ListCustomers) -> PageResult[CustomerOut]:
    """List customers.

    Members see the customers of their own jobs.
    """
    return CUSTOMERS.page(ctx, given)


@operation(
    permission=Permission.CUSTOMERS_READ,
    effect=Effect.READ,
    api_path="GET /customers/{customer_id}",
    single_statement=True,
    on=CUSTOMERS,
)
def get_customer(_ctx: Context, _given: GetCustomer, customer: Customer) -> Customer:
    """Get a customer.

    With all that is known of them. Members see the customers of their own jobs.
    """
    return customer


@operation(
    permission=Permission.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /customers",
    extra_records={"site": SiteOut},
    done_message="The customer is created.",
)
def create_customer(ctx: Context, given: CreateCustomer) -> Customer:
    """Add a customer.

    Look for them first (list_customers by text), so that nobody is there twice. Their billing address also becomes a
    site, which the answer shows, unless makeSite is false; other sites and contacts are added with save_site and
    save_contact.
    """
    check_external_ref(ctx, CUSTOMERS, given.external_ref)
    # Imports check for duplicates before they start.
    ctx.warnings += [] if ctx.request.record_only else warn_of_duplicates(ctx, given.name, given.email, given.phone)
    values = {name: value for name, value in given if name != "make_site"}
    customer = CUSTOMERS.insert(ctx, values | {"status": "active"})
    if given.make_site and given.billing_address:
        ctx.extra_records["site"] = insert_site(ctx, customer.id, given.billing_address)
    return customer


@operation(
    permission=Permission.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    api_path="PATCH /customers/{customer_id}",
    on=CUSTOMERS,
    blocked_by=Customer.not_changeable,
    done_message="Your changes are saved.",
)
def update_customer(ctx: Context, given: UpdateCustomer, customer: Customer) -> Customer:
    """Change a customer's details.

    Only what is sent changes; null clears. Documents that were sent stay as they were.
    """
    check_external_ref(ctx, CUSTOMERS, given.external_ref, customer)
    updated = CUSTOMERS.save(ctx, customer, given.sent_fields("customer_id"))
    if updated.name != customer.name:
        # Contacts, sites and jobs are found by the customer's name. There may be many, so a task updates their search
        # words.
        ctx.add_task(OutboxTask(REFRESH_CUSTOMER_SEARCH, {"customer": customer.id}))
    return updated


@operation(
    permission=Permission.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /customers/{customer_id}/archive",
    on=CUSTOMERS,
    blocked_by=Customer.not_archivable,
    done_message="The customer is archived.",
)
def archive_customer(ctx: Context, _given: ArchiveCustomer, customer: Customer) -> Customer:
    """Archive a customer.

    They leave the lists and there is no new work for them; all that was done stays on record.
    """
    return CUSTOMERS.save(ctx, customer, {"status": "archived"})


@operation(
    permission=Permission.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /customers/{customer_id}/restore",
    on=CUSTOMERS,
    blocked_by=Customer.not_restorable,
    done_message="The customer is active again.",
)
def restore_customer(ctx: Context, _given: RestoreCustomer, customer: Customer) -> Customer:
    """Bring an archived customer back.

    They are listed again, and there can be new work for them.
    """
    return CUSTOMERS.save(ctx, customer, {"status": "active"})


OPERATIONS = (list_customers, get_customer, create_customer, update_customer, archive_customer, restore_customer)
