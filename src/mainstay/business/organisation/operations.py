"""What can be done with the organisation itself."""

from typing import Literal

from pydantic import Field

from mainstay.business.organisation import settings
from mainstay.business.organisation.model import Organisation
from mainstay.business.organisation.settings import SETTINGS, SettingsOut, UpdateSettings
from mainstay.business.organisation.store import NEW_DAYS, ORGANISATION, find_in_another_currency
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.ledger.outbox import Letter
from mainstay.terms.actor import Door
from mainstay.terms.merging import merge_parts
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input
from mainstay.values.address import Address, EInvoiceAddress
from mainstay.values.bank import Bank
from mainstay.values.fields import Country, Currency, Email, Line, Phone, TimeZone, omittable


class GetOrganisation(Input):
    """Nothing: the credential says which organisation."""


class UpdateOrganisation(UpdateSettings):
    """What to change, of the organisation itself or of its settings; null clears."""

    name: Line = omittable(description="The name people know it by.")
    legal_name: Line | None = Field(None, description="The name on documents, where it is another.")
    tax_number: Line | None = Field(None, description="VAT or other tax number.")
    registration_number: Line | None = Field(None, description="Number in the register of companies.")
    e_invoice_address: EInvoiceAddress | None = Field(
        None, title="E-invoice address", description="By which it is known where electronic invoices are sent."
    )
    address: Address | None = Field(None, description="Postal address, in parts.")
    email: Email | None = Field(None, title="E-mail address", description="Where customers write to.")
    phone: Phone | None = Field(None, description="Where customers call.")
    bank: Bank | None = Field(None, title="Bank details", description="Where customers pay; printed on invoices.")
    country: Country = omittable()
    currency: Currency = omittable(description="ISO 4217; stays once a document is in it.")
    time_zone: TimeZone = omittable()


class ChangeSubscription(Input):
    """The new state."""

    status: Literal["active", "inactive"] = Field(description="`inactive` closes changes, `active` opens them.")


@operation(right=Right.ORGANISATION_READ, effect=Effect.READ, rest="GET /organisation", glances=True, on=ORGANISATION)
def get_organisation(_ctx: Context, _given: GetOrganisation, organisation: Organisation) -> Organisation:
    """Get the organisation.

    Its name, address, currency, time zone and whether its subscription is active. The quickest check that a credential
    works.
    """
    return organisation


@operation(
    right=Right.ORGANISATION_CHANGE,
    effect=Effect.CHANGE,
    rest="PATCH /organisation",
    on=ORGANISATION,
    attaches={"settings": SettingsOut},
    done="Your changes are saved.",
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
        ctx.attached["settings"] = settings.save(ctx, given, current)
        organisation = ORGANISATION.fetch(ctx, None)
    after = ORGANISATION.save(ctx, organisation, given.sent(*UpdateSettings.model_fields))
    if after.time_zone != organisation.time_zone:
        ctx.post(Letter(NEW_DAYS, {}, "When days end, in another time zone"))
    return after


@operation(
    right=Right.SUBSCRIPTION_CHANGE,
    effect=Effect.CHANGE,
    offered=frozenset({Door.CLI}),
    open_when_lapsed=True,
    on=ORGANISATION,
)
def change_subscription(ctx: Context, given: ChangeSubscription, organisation: Organisation) -> Organisation:
    """Let the subscription lapse, or renew it.

    While it is inactive, records can be read but not changed.
    """
    return ORGANISATION.save(ctx, organisation, {"subscription": given.status})


OPERATIONS = (get_organisation, update_organisation, change_subscription)


def _check_currency(ctx: Context, wanted: str, now: str) -> None:
    """Refuse another currency than that of the documents there are: what is owed and paid is added up."""
    if found := find_in_another_currency(ctx, wanted):
        told = f"cannot be {wanted}: there are {' and '.join(found)} in another currency"
        raise Invalid([Fault("currency", f"{told}. Drop those that are drafts, or keep {now}")])
