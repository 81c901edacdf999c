"""Operations on customers."""

from typing import Annotated

from pydantic import Field

from mainstay.business.customers.model import Customer, CustomerKind, SiteOut
from mainstay.business.customers.store import (
    CUSTOMERS,
    REFRESH_CUSTOMER_SEARCH,
    check_external_ref,
    insert_site,
    warn_of_duplicates,
)
from mainstay.changes.outbox import OutboxTask
from mainstay.documents.snapshot import Language
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import declare_inverse, restore_values
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import ArchivingStep, declare_archiving, declare_get, declare_list
from mainstay.values.address import Address, EInvoiceAddress
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    Email,
    ExternalRef,
    Paragraph,
    Phone,
    TextLine,
    WholeNumber,
    omittable_field,
)
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import Input

_Name = Annotated[TextLine, Field(description="Company or person's name.")]
_Kind = Annotated[CustomerKind, Field(description=describe("[[`company` or `individual`.]]"))]
_Email = Annotated[Email | None, Field(description="For quotes, invoices and other emails.")]
_Phone = Annotated[Phone | None, Field(description="E.g. +44 1422 555 0142.")]
_BillingAddress = Annotated[Address | None, Field(description="Printed on quotes and invoices.")]
_TaxNumber = Annotated[
    TextLine | None, Field(description=describe("[[The VAT number.]] Or another tax number, e.g. for GST."))
]
_RegistrationNumber = Annotated[TextLine | None, Field(description="Company registration number.")]
_EInvoiceAddress = Annotated[
    EInvoiceAddress | None, Field(title="E-invoice address", description="Only if they receive electronic invoices.")
]
_Reference = Annotated[TextLine | None, Field(description="Printed on every invoice.")]
_PaymentTerms = Annotated[
    WholeNumber | None,
    Field(title="Payment terms (days)", ge=0, le=365, description="Default: your usual terms."),
]
_Language = Annotated[Language | None, Field(description="For their quotes, invoices and emails.")]
_Notes = Annotated[Paragraph | None, Field(description="Office only. Hidden from field staff.")]


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
    external_ref: ExternalRef = None


class CreateCustomer(_CustomerFields):
    """The customer's details."""

    make_site: bool = Field(
        default=True,
        title="Work is done at the billing address",
        description="Also creates a site at the billing address.",
    )


class UpdateCustomer(_CustomerFields):
    """Which customer, and what to change; null clears."""

    customer_id: str = Field(description=describe("[[The customer's ID.]]"))
    name: _Name = omittable_field()
    kind: _Kind = omittable_field()


list_customers = declare_list(
    CUSTOMERS,
    "List customers. Find a customer, client or their phone number. Members only see the customers of their own jobs.",
    Permission.CUSTOMERS_READ,
    {
        "status": "Only this status. Default: active.",
        "text": "Words of the name, address, email or external ID, or a phone number.",
        "order": "[[`newest` first, or by `name`.]]",
    },
    api_path="GET /customers",
)


get_customer = declare_get(
    CUSTOMERS,
    "Show customer. All their details. Members only see the customers of their own jobs.",
    Permission.CUSTOMERS_READ,
    api_path="GET /customers/{customer_id}",
)


@operation(
    permission=Permission.CUSTOMERS_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /customers",
    extra_records={"site": SiteOut},
    undone_by=declare_inverse("archive_customer", "customerId"),
    past_text="Customer created",
)
def create_customer(ctx: Context, given: CreateCustomer) -> Customer:
    """New customer.

    [[Search first (list_customers by text) to avoid duplicates. The billing address also becomes a site, which the
    answer includes, unless makeSite is false; add other sites and contacts with save_site and save_contact.]]
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
    done_message="Customer updated.",
    undone_by=restore_values,
    past_text="Details edited",
)
def update_customer(ctx: Context, given: UpdateCustomer, customer: Customer) -> Customer:
    """Edit customer.

    [[Change their phone number, email, address or other details: only the fields you send change, null clears.]]
    Documents already sent don't change.
    """
    check_external_ref(ctx, CUSTOMERS, given.external_ref, customer)
    updated = CUSTOMERS.save(ctx, customer, given.sent_fields("customer_id"))
    if updated.name != customer.name:
        # Contacts, sites and jobs are found by the customer's name. There may be many, so a task updates their search
        # words.
        ctx.add_task(OutboxTask(REFRESH_CUSTOMER_SEARCH, {"customer": customer.id}))
    return updated


archive_customer, restore_customer = declare_archiving(
    CUSTOMERS,
    Permission.CUSTOMERS_CHANGE,
    ArchivingStep("Hides them from lists and prevents new work for them; their records stay.", Customer.not_archivable),
    ArchivingStep(
        "Brings an archived customer back: they are listed again and can get new work.", Customer.not_restorable
    ),
)


OPERATIONS = (list_customers, get_customer, create_customer, update_customer, archive_customer, restore_customer)
