"""What is sent of purchases: lines at what they cost, and whom and what they are for."""

from typing import Annotated, Any

from pydantic import Field

from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.edits import EditFields, LineFields
from mainstay.business.lines.model import Drawn, Line, Terms, draw_up
from mainstay.business.lines.pricing import PriceBook, mark_used, rates_of
from mainstay.business.pricelist.model import PriceItem, Supplier
from mainstay.business.pricelist.store import SUPPLIERS
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Fault, Invalid, refuse
from mainstay.values.fields import Reference, id_of
from mainstay.values.money import CURRENCIES
from mainstay.values.totals import Discount

# In units of the currency: far more than anyone buys at once, and so little that a database adds many up.
_MOST = 10**11

OrderId = Annotated[str, Field(title="Order", description="The order's id or number.")]
SupplierId = Annotated[str, id_of("supplier"), Field(title="Supplier", description="From whom: the supplier's id.")]
JobId = Annotated[
    Annotated[str, Reference(to="job")] | None, Field(title="Job", description="The job it is for, by id or number.")
]
OfSupplier = Annotated[
    Annotated[str, id_of("supplier")] | None, Field(title="Supplier", description="Only of this supplier.")
]
OfJob = Annotated[
    Annotated[str, Reference(to="job")] | None,
    Field(title="Job", description="Only for this job, by id or number."),
]


class NewOrderLine(LineFields):
    """A line of a new order; its price is what you pay, before tax."""


class OrderLineEdit(EditFields):
    """One change of the lines."""


class CostBook(PriceBook):
    """Makes lines of what is bought, filled in from the price list with what things cost: before tax, always."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx, inclusive=False)

    def check(self, sent: dict[str, Any], at: str) -> None:
        """Refuse what a line of a purchase cannot have."""
        super().check(sent, at)
        if sent.get("quantity", 1) <= 0:
            raise Invalid([Fault(f"{at}.quantity", "is not above 0")])

    def of_item(self, item: PriceItem, rate: str | None) -> dict[str, Any]:
        """What an item says of a line."""
        said = {"description": item.name, "unit": item.unit, "tax_rate_id": rate}
        return said if item.cost_price is None else said | {"unit_price": item.cost_price}


def drawn(ctx: Context, lines: list[Line], currency: str) -> Drawn:
    """What lines come to before tax and with it; their rates of tax then stay as they are."""
    rates = rates_of(ctx, lines)
    mark_used(ctx, rates.values())
    drawn_up = draw_up(lines, rates, Terms(currency, inclusive=False, discount=Discount()))
    most: int = _MOST * 10 ** CURRENCIES[currency]
    amounts = [line.charge(rates, currency).amount(CURRENCIES[currency]) for line in lines if line.kind == "item"]
    if max(map(abs, [*amounts, drawn_up.totals.total]), default=0) > most:
        raise Invalid([Fault("lines", f"come to more than can be bought: at most {_MOST:,} {currency}")])
    return drawn_up


def supplier_of(ctx: Context, supplier: str) -> Supplier:
    """Whom something is bought from, if that goes on."""
    found: Supplier = SUPPLIERS.fetch(ctx, supplier)
    refuse(found.not_usable())
    return found


def job_of(ctx: Context, job: str | None) -> Job | None:
    """The job that something is bought for, if it is for one."""
    return JOBS.fetch(ctx, job) if job is not None else None
