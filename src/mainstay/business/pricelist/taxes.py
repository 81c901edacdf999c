"""What can be done with tax rates."""

from typing import Annotated

from pydantic import Field

from mainstay.business.pricelist.model import Category, Status, TaxPart, TaxRate, TaxRateOut, check_taxes
from mainstay.business.pricelist.store import TAX_RATES, make_usual
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import NO_TOOL
from mainstay.terms.refusal import Conflict, Fault, Invalid
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, ListInput, Page
from mainstay.values.fields import LAST_SEEN, Line, Usual, id_of, omittable

_MOST_PARTS = 4


class ListTaxRates(ListInput):
    """Which rates to list."""

    starting_after: Annotated[str | None, id_of("tax", "a tax rate")] = LAST_SEEN
    status: Status | None = Field(None, description="Only these. Without it, those in use.")


class GetTaxRate(Input):
    """Which rate."""

    tax_rate_id: str = Field(description="The rate's id.")


class SaveTaxRate(Input):
    """A new rate or, with its id, what to change of one; null clears."""

    tax_rate_id: Annotated[str | None, id_of("tax", "a tax rate")] = Field(
        None, description="To change one.", examples=["tax_01KA3R2D4F6H8J0K2N4P6R8T0V"]
    )
    name: Line = omittable(description="Such as VAT 20 %. A new one needs it.")
    category: Annotated[Category, Usual("standard")] = omittable(description="Only `standard` charges tax.")
    components: list[TaxPart] = omittable(
        title="Taxes",
        min_length=1,
        max_length=_MOST_PARTS,
        description="The taxes it is made of; most have one. A new one needs them.",
    )
    note: Line | None = Field(None, description="Printed beside it, such as why something is exempt.")
    is_default: bool = omittable(title="Usual", description="Take it where nothing else is said.")
    status: Annotated[Status, Usual("active")] = omittable(description="`archived` takes it out of the lists.")


@operation(right=Right.SETTINGS_READ, effect=Effect.READ, rest="GET /tax-rates")
def list_tax_rates(ctx: Context, given: ListTaxRates) -> Page[TaxRateOut]:
    """List tax rates.

    What can be charged on quotes and invoices, and which is the usual one.
    """
    return TAX_RATES.page(ctx, given)


@operation(
    right=Right.SETTINGS_READ,
    effect=Effect.READ,
    rest="GET /tax-rates/{tax_rate_id}",
    glances=True,
    on=TAX_RATES,
    offered=NO_TOOL,
)
def get_tax_rate(_ctx: Context, _given: GetTaxRate, rate: TaxRate) -> TaxRate:
    """Get a tax rate.

    The taxes it is made of, and what it is for the tax office.
    """
    return rate


@operation(
    right=Right.TAXES_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /tax-rates",
    on=TAX_RATES,
    makes=True,
    done="The tax rate is saved.",
)
def save_tax_rate(ctx: Context, given: SaveTaxRate, rate: TaxRate | None) -> TaxRate:
    """Save a tax rate.

    Without taxRateId it makes one, with it it changes what is sent. Once documents name it, its percentages stay.
    """
    if rate is None:
        given.needs("name", "components")
    percents = [part.percent for part in given.components] if given.components else rate.rate.percents if rate else ()
    faults = check_taxes(given.category or (rate.category if rate else "standard"), percents)
    if faults := faults + _check_usual(given, rate):
        raise Invalid(faults)
    values = given.sent("tax_rate_id", "is_default", "components")
    if given.components:
        values |= {"components": [part.kept for part in given.components], "percent": sum(percents)}
    if rate is None:
        after = TAX_RATES.insert(ctx, {"category": "standard", "status": "active"} | values)
    else:
        _check_unused(given, rate)
        after = TAX_RATES.save(ctx, rate, values)
    if given.is_default is None or given.is_default == after.is_default:
        return after
    make_usual(ctx, after.id if given.is_default else None)
    return TAX_RATES.fetch(ctx, after.id)


OPERATIONS = (list_tax_rates, get_tax_rate, save_tax_rate)


def _check_usual(given: SaveTaxRate, rate: TaxRate | None) -> list[Fault]:
    usual = given.is_default if given.is_default is not None else bool(rate and rate.is_default)
    if usual and (given.status or (rate.status if rate else "active")) == "archived":
        return [Fault("status", "is archived, and so cannot be the usual one: make another the usual one first")]
    return []


def _check_unused(given: SaveTaxRate, rate: TaxRate) -> None:
    """What was charged stays what it is called: documents that name the rate do not change with it."""
    percents = tuple(part.percent for part in given.components or ())
    changed = (percents and percents != rate.rate.percents) or (given.category or rate.category) != rate.category
    if rate.used and changed:
        raise Conflict(
            f"{rate.name} stands on documents, so its percentages stay. Make a new rate and archive this one."
        )
