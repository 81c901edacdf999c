"""Operations on the organisation itself."""

from typing import Literal

from pydantic import Field

from mainstay.business.organisation.model import Organisation
from mainstay.business.organisation.settings import (
    SETTINGS,
    SettingsOut,
    UpdateSettings,
    restore_settings,
    save_settings,
)
from mainstay.business.organisation.store import ORGANISATION, RECALCULATE_DAYS, find_foreign_documents
from mainstay.changes.outbox import OutboxTask
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.values.address import Address, EInvoiceAddress
from mainstay.values.bank import Bank
from mainstay.values.descriptions import describe
from mainstay.values.fields import Country, Currency, Email, Phone, TextLine, TimeZone, omittable_field
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.merging import merge_parts
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input


class UpdateOrganisation(UpdateSettings):
    """What to change in the organisation's details or settings; null clears."""

    name: TextLine = omittable_field(description="Your trading name.")
    legal_name: TextLine | None = Field(None, description="The name on documents, if different.")
    tax_number: TextLine | None = Field(
        None, description=describe("[[The VAT number.]] Or another tax number, e.g. for GST.")
    )
    registration_number: TextLine | None = Field(None, description="Company registration number.")
    e_invoice_address: EInvoiceAddress | None = Field(
        None,
        title="E-invoice address",
        description="Where suppliers send electronic invoices to you, such as a Peppol ID.",
    )
    address: Address | None = Field(None, description="Your postal address.")
    email: Email | None = Field(None, title="Email", description="Shown on documents. Customers reply to it.")
    phone: Phone | None = Field(None, description="Shown on documents.")
    bank: Bank | None = Field(None, title="Bank details", description="Printed on invoices.")
    country: Country = omittable_field()
    currency: Currency = omittable_field(description="ISO 4217. Fixed once there are documents in it.")
    time_zone: TimeZone = omittable_field()


class ChangeSubscription(Input):
    """The new status."""

    status: Literal["active", "inactive"] = Field(description=describe("[[`inactive` makes all records read-only.]]"))


get_organisation = declare_get(
    ORGANISATION,
    "Get organisation. Its name, address, currency, time zone and whether its subscription is active. The quickest"
    " check that a credential works.",
    Permission.ORGANISATION_READ,
    api_path="GET /organisation",
    is_always_offered=True,
)


@operation(
    permission=Permission.ORGANISATION_CHANGE,
    effect=Effect.CHANGE,
    api_path="PATCH /organisation",
    on=ORGANISATION,
    extra_records={"settings": SettingsOut},
    done_message="Settings saved.",
    undone_by=restore_settings,
    past_text="Details edited",
)
def update_organisation(ctx: Context, given: UpdateOrganisation, organisation: Organisation) -> Organisation:
    """Edit organisation.

    [[Its details, which appear on quotes and invoices, or its settings; get_settings shows the current ones.]]
    """
    if "currency" in given.model_fields_set and given.currency != organisation.currency:
        _check_currency(ctx, given.currency, organisation.currency)
    if not given.model_fields_set.isdisjoint(UpdateSettings.model_fields):
        current_settings = SETTINGS.fetch(ctx, None)
        given, _ = merge_parts(given, current_settings)
        ctx.extra_records["settings"] = save_settings(ctx, given, current_settings)
        organisation = ORGANISATION.fetch(ctx, None)
    updated = ORGANISATION.save(ctx, organisation, given.sent_fields(*UpdateSettings.model_fields))
    if updated.time_zone != organisation.time_zone:
        ctx.add_task(OutboxTask(RECALCULATE_DAYS, {}, Message("Adjust dates to the new time zone")))
    return updated


@operation(
    permission=Permission.SUBSCRIPTION_CHANGE,
    effect=Effect.CHANGE,
    doors=frozenset({Door.CLI}),
    open_when_lapsed=True,
    on=ORGANISATION,
    not_undone=Message("Change the subscription back."),
    past_text="Subscription changed",
)
def change_subscription(ctx: Context, given: ChangeSubscription, organisation: Organisation) -> Organisation:
    """Change subscription.

    While it is inactive, records can be read but not changed.
    """
    return ORGANISATION.save(ctx, organisation, {"subscription": given.status})


OPERATIONS = (get_organisation, update_organisation, change_subscription)


def _check_currency(ctx: Context, new: str, current: str) -> None:
    """Refuse a new currency if there are documents in another one, because amounts are added up."""
    if documents := find_foreign_documents(ctx, new):
        problem = Message(
            "can't be {new}, because there are {documents} in another currency; delete the drafts, or keep {current}",
            new=new,
            documents=documents,
            current=current,
        )
        raise Invalid([Fault("currency", problem)])
