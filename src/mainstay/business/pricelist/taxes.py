"""Operations on tax rates."""

from typing import Annotated

from pydantic import Field

from mainstay.business.pricelist.model import (
    TaxPart,
    TaxRate,
    TaxRateOut,
    find_tax_faults,
)
from mainstay.business.pricelist.store import TAX_RATES, set_usual_rate
from mainstay.business.records.model import ArchivableStatus
from mainstay.documents.snapshot import TaxCategory
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import STARTING_AFTER, DefaultValue, TextLine, make_id_validator, omittable_field
from mainstay.vocabulary.actor import API_AND_OFFICE
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid
from mainstay.vocabulary.schemas import Input, ListInput, PageResult

_MAX_TAXES = 4


class ListTaxRates(ListInput):
    """Which rates to list."""

    starting_after: Annotated[str | None, make_id_validator("tax", "a tax rate")] = STARTING_AFTER
    status: ArchivableStatus | None = Field(None, description="Only these. Without it, those in use.")


class GetTaxRate(Input):
    """Which rate."""

    tax_rate_id: str = Field(description="The rate's id.")


class SaveTaxRate(Input):
    """A new rate or, with its id, what to change of one; null clears."""

    tax_rate_id: Annotated[str | None, make_id_validator("tax", "a tax rate")] = Field(
        None, description="To change one.", examples=["tax_01KA3R2D4F6H8J0K2N4P6R8T0V"]
    )
    name: TextLine = omittable_field(description="Such as VAT 20 %. A new one needs it.")
    category: Annotated[TaxCategory, DefaultValue("standard")] = omittable_field(
        description="Only `standard` charges tax."
    )
    components: list[TaxPart] = omittable_field(
        title="Taxes",
        min_length=1,
        max_length=_MAX_TAXES,
        description="The taxes it is made of; most have one. A new one needs them.",
    )
    note: TextLine | None = Field(None, description="Printed beside it, such as why something is exempt.")
    is_default: bool = omittable_field(title="Usual", description="Take it where nothing else is said.")
    status: Annotated[ArchivableStatus, DefaultValue("active")] = omittable_field(
        description="`archived` takes it out of the lists."
    )


@operation(permission=Permission.SETTINGS_READ, effect=Effect.READ, api_path="GET /tax-rates")
def list_tax_rates(ctx: Context, given: ListTaxRates) -> PageResult[TaxRateOut]:
    """List tax rates.

    What can be charged on quotes and invoices, and which is the usual one.
    """
    return TAX_RATES.page(ctx, given)


@operation(
    permission=Permission.SETTINGS_READ,
    effect=Effect.READ,
    api_path="GET /tax-rates/{tax_rate_id}",
    single_statement=True,
    on=TAX_RATES,
    doors=API_AND_OFFICE,
)
def get_tax_rate(_ctx: Context, _given: GetTaxRate, rate: TaxRate) -> TaxRate:
    """Get a tax rate.

    The taxes it is made of, and what it is for the tax office.
    """
    return rate


@operation(
    permission=Permission.TAXES_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /tax-rates",
    on=TAX_RATES,
    creates_without_id=True,
    done_message="The tax rate is saved.",
)
def save_tax_rate(ctx: Context, given: SaveTaxRate, rate: TaxRate | None) -> TaxRate:
    """Save a tax rate.

    Without taxRateId it makes one, with it it changes what is sent. Once documents name it, its percentages stay.
    """
    if rate is None:
        given.require("name", "components")
    percents = [part.percent for part in given.components] if given.components else rate.rate.percents if rate else ()
    faults = find_tax_faults(given.category or (rate.category if rate else "standard"), percents)
    if faults := faults + _find_default_faults(given, rate):
        raise Invalid(faults)
    values = given.sent_fields("tax_rate_id", "is_default", "components")
    if given.components:
        values |= {"components": [part.stored_json for part in given.components], "percent": sum(percents)}
    if rate is None:
        updated = TAX_RATES.insert(ctx, {"category": "standard", "status": "active"} | values)
    else:
        _check_can_change(given, rate)
        updated = TAX_RATES.save(ctx, rate, values)
    if given.is_default is None or given.is_default == updated.is_default:
        return updated
    set_usual_rate(ctx, updated.id if given.is_default else None)
    return TAX_RATES.fetch(ctx, updated.id)


OPERATIONS = (list_tax_rates, get_tax_rate, save_tax_rate)


def _find_default_faults(given: SaveTaxRate, rate: TaxRate | None) -> list[Fault]:
    is_default = given.is_default if given.is_default is not None else bool(rate and rate.is_default)
    if is_default and (given.status or (rate.status if rate else "active")) == "archived":
        return [Fault("status", "is archived, and so cannot be the usual one: make another the usual one first")]
    return []


def _check_can_change(given: SaveTaxRate, rate: TaxRate) -> None:
    """Refuse to change the percentages or category of a rate that documents use."""
    percents = tuple(part.percent for part in given.components or ())
    changed = (percents and percents != rate.rate.percents) or (given.category or rate.category) != rate.category
    if rate.used and changed:
        raise Conflict(
            f"{rate.name} stands on documents, so its percentages stay. Make a new rate and archive this one."
        )
