"""Operations on the organisation itself."""

from typing import Literal

from pydantic import Field

from mainstay.business.organisation import settings
from mainstay.business.organisation.model import Organisation
from mainstay.business.organisation.settings import SETTINGS, SettingsOut, UpdateSettings
from mainstay.business.organisation.store import ORGANISATION, RECALCULATE_DAYS, find_foreign_documents
from mainstay.changes.outbox import OutboxTask
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.address import Address, EInvoiceAddress
from mainstay.values.bank import Bank
from mainstay.values.fields import Country, Currency, Email, Phone, TextLine, TimeZone, omittable_field
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.merging import merge_parts
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input


class GetOrganisation(Input):
    """Nothing: the credential says which organisation."""


class UpdateOrganisation(UpdateSettings):
    """What to change, of the organisation itself or of its settings; null clears."""

    name: TextLine = omittable_field(description="The name people know it by.")
    legal_name: TextLine | None = Field(None, description="The name on documents, where it is another.")
    tax_number: TextLine | None = Field(None, description="VAT or other tax number.")
    registration_number: TextLine | None = Field(None, description="Number in the register of companies.")
    e_invoice_address: EInvoiceAddress | None = Field(
        None, title="E-invoice address", description="By which it is known where electronic invoices are sent."
    )
    address: Address | None = Field(None, description="Postal address, in parts.")
    email: Email | None = Field(None, title="E-mail address", description="Where customers write to.")
    phone: Phone | None = Field(None, description="Where customers call.")
    bank: Bank | None = Field(None, title="Bank details", description="Where customers pay; printed on invoices.")
    country: Country = omittable_field()
    currency: Currency = omittable_field(description="ISO 4217; stays once a document is in it.")
    time_zone: TimeZone = omittable_field()


class ChangeSubscription(Input):
    """The new state."""

    status: Literal["active", "inactive"] = Field(description="`inactive` closes changes, `active` opens them.")


@operation(
    permission=Permission.ORGANISATION_READ,
    effect=Effect.READ,
    api_path="GET /organisation",
    single_statement=True,
    on=ORGANISATION,
)
def get_organisation(_ctx: Context, _given: GetOrganisation, organisation: Organisation) -> Organisation:
    """Get the organisation.

    Its name, address, currency, time zone and whether its subscription is active. The quickest check that a credential
    works.
    """
    return organisation


@operation(
    permission=Permission.ORGANISATION_CHANGE,
    effect=Effect.CHANGE,
    api_path="PATCH /organisation",
    on=ORGANISATION,
    extra_records={"settings": SettingsOut},
    done_message="Your changes are saved.",
)
def update_organisation(ctx: Context, given: UpdateOrganisation, organisation: Organisation) -> Organisation:
    """Change the organisation's details, or its settings.

    The details stand on everything that customers are sent; get_settings tells the settings as they are.
    """
    if "currency" in given.model_fields_set and given.currency != organisation.currency:
        _check_currency(ctx, given.currency, organisation.currency)
    if not given.model_fields_set.isdisjoint(UpdateSettings.model_fields):
        current = SETTINGS.fetch(ctx, None)
        given, _ = merge_parts(given, current)
        ctx.extra_records["settings"] = settings.save_settings(ctx, given, current)
        organisation = ORGANISATION.fetch(ctx, None)
    updated = ORGANISATION.save(ctx, organisation, given.sent_fields(*UpdateSettings.model_fields))
    if updated.time_zone != organisation.time_zone:
        ctx.add_task(OutboxTask(RECALCULATE_DAYS, {}, "When days end, in another time zone"))
    return updated


@operation(
    permission=Permission.SUBSCRIPTION_CHANGE,
    effect=Effect.CHANGE,
    doors=frozenset({Door.CLI}),
    open_when_lapsed=True,
    on=ORGANISATION,
)
def change_subscription(ctx: Context, given: ChangeSubscription, organisation: Organisation) -> Organisation:
    """Let the subscription lapse, or renew it.

    While it is inactive, records can be read but not changed.
    """
    return ORGANISATION.save(ctx, organisation, {"subscription": given.status})


OPERATIONS = (get_organisation, update_organisation, change_subscription)


def _check_currency(ctx: Context, new: str, current: str) -> None:
    """Refuse a new currency if there are documents in another one, because amounts are added up."""
    if kinds := find_foreign_documents(ctx, new):
        problem = f"cannot be {new}: there are {' and '.join(kinds)} in another currency"
        raise Invalid([Fault("currency", f"{problem}. Drop those that are drafts, or keep {current}")])
