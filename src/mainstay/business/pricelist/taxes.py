"""Operations on tax rates."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from mainstay.business.pricelist.model import (
    TaxPart,
    TaxRate,
    find_tax_faults,
)
from mainstay.business.pricelist.store import TAX_RATES, set_usual_rate
from mainstay.business.records.model import ArchivableStatus
from mainstay.changes.undo import Inverse
from mainstay.documents.snapshot import TaxCategory
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import Act, name_record, restore_values_or_archive
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get, declare_list
from mainstay.values.descriptions import describe
from mainstay.values.fields import DefaultValue, TextLine, make_id_validator, omittable_field
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid
from mainstay.vocabulary.schemas import Input
from mainstay.vocabulary.toolsets import Toolset

_MAX_TAXES = 4


class SaveTaxRate(Input):
    """A new rate or, with its id, the changes; null clears a field."""

    tax_rate_id: Annotated[str | None, make_id_validator("tax", "a tax rate")] = Field(
        None, description="To edit a rate.", examples=["tax_01KA3R2D4F6H8J0K2N4P6R8T0V"]
    )
    name: TextLine = omittable_field(description=describe("E.g. VAT 20%. [[Required for a new rate.]]"))
    category: Annotated[TaxCategory, DefaultValue("standard")] = omittable_field(
        description=describe("[[Only `standard` charges tax.]]")
    )
    components: list[TaxPart] = omittable_field(
        title="Taxes",
        min_length=1,
        max_length=_MAX_TAXES,
        description=describe("Usually just one, e.g. VAT. [[Required for a new rate.]]"),
    )
    note: TextLine | None = Field(None, description="Printed next to the rate, e.g. why something is exempt.")
    is_default: bool = omittable_field(title="Default", description="New lines get this rate.")
    status: Annotated[ArchivableStatus, DefaultValue("active")] = omittable_field(
        description=describe("[[`archived` hides it from lists.]]")
    )


list_tax_rates = declare_list(
    TAX_RATES,
    "List tax rates. The VAT or sales tax rates for quotes and invoices, and which is the default.",
    Permission.SETTINGS_READ,
    {"status": "Only rates with this status. Default: active."},
    api_path="GET /tax-rates",
)


get_tax_rate = declare_get(
    TAX_RATES,
    "Get tax rate. With its taxes and its category.",
    Permission.SETTINGS_READ,
    api_path="GET /tax-rates/{tax_rate_id}",
    extra_toolset=Toolset.SINGLE_RECORDS,
)


def _restore_tax_rate(act: Act) -> Sequence[Inverse]:
    """Restore the previous values, and make the rate the default again that was it before."""
    former = [before.id for before, after in act.saved_of(TaxRate) if before.is_default and after.id != act.after.id]
    restored = [Inverse(act.operation, {"taxRateId": rate_id, "isDefault": True}) for rate_id in former]
    if act.before is None and act.after.is_default:
        # The default rate cannot be archived.
        values = name_record(act) | {"isDefault": False, "status": "archived"}
        return [*restored, Inverse(act.operation, values)]
    return [*restored, *restore_values_or_archive(act)]


@operation(
    permission=Permission.TAXES_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /tax-rates",
    on=TAX_RATES,
    creates_without_id=True,
    undone_by=_restore_tax_rate,
    past_text="Tax rate saved",
)
def save_tax_rate(ctx: Context, given: SaveTaxRate, rate: TaxRate | None) -> TaxRate:
    """Save tax rate.

    [[Adds a rate, or with taxRateId edits one: only fields you send change.]] Once documents use it, its
    percentages can't change.
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
        message = Message("can't be archived for the default rate: make another rate the default first")
        return [Fault("status", message)]
    return []


def _check_can_change(given: SaveTaxRate, rate: TaxRate) -> None:
    """Refuse to change the percentages or category of a rate that documents use."""
    percents = tuple(part.percent for part in given.components or ())
    changed = (percents and percents != rate.rate.percents) or (given.category or rate.category) != rate.category
    if rate.used and changed:
        raise Conflict(
            Message(
                "{tax_rate} is used on documents, so its percentages can't change. Add a new rate and archive this"
                " one.",
                tax_rate=rate.name,
            )
        )
