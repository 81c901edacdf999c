"""The inputs of orders and bills: lines at cost prices, the supplier and the job."""

from typing import Annotated, Any

from pydantic import Field

from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.edits import EditFields, LineFields
from mainstay.business.lines.model import Line, PricedDocument, PricingTerms, price_document
from mainstay.business.lines.pricing import PriceBook, mark_rates_used, rates_of
from mainstay.business.pricelist.model import PriceItem, Supplier
from mainstay.business.pricelist.store import SUPPLIERS
from mainstay.kernel.context import Context
from mainstay.values.descriptions import describe
from mainstay.values.fields import RecordReference, make_id_validator
from mainstay.values.message import Amount, Message
from mainstay.values.money import CURRENCIES
from mainstay.values.totals import Discount
from mainstay.vocabulary.refusal import Fault, Invalid, raise_if_blocked

# In units of the currency: far more than anybody buys at once, but small enough that a database can add up many.
_MAX_AMOUNT = 10**11

SupplierId = Annotated[
    str, make_id_validator("supplier"), Field(title="Supplier", description=describe("[[The supplier's id.]]"))
]
PurchaseJobId = Annotated[
    Annotated[str, RecordReference(prefix="job")] | None,
    Field(title="Job", description=describe("[[The job it is for, by id or number.]]")),
]
SupplierFilter = Annotated[
    Annotated[str, make_id_validator("supplier")] | None,
    Field(title="Supplier", description="Only from this supplier."),
]
JobFilter = Annotated[
    Annotated[str, RecordReference(prefix="job")] | None,
    Field(title="Job", description=describe("[[Only for this job, by id or number.]]")),
]


class NewOrderLine(LineFields):
    """A line of a new order; its price is what you pay, before tax."""


class OrderLineEdit(EditFields):
    """One change of the lines."""


class CostBook(PriceBook):
    """Creates lines of purchases, with the cost prices of the price list, always before tax."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx, inclusive=False)

    def check_fields(self, fields: dict[str, Any], path: str) -> None:
        """Refuse fields that a line of a purchase cannot have."""
        super().check_fields(fields, path)
        if fields.get("quantity", 1) <= 0:
            raise Invalid([Fault(f"{path}.quantity", Message("is not above 0"))])

    def fields_of_item(self, item: PriceItem, rate: str | None) -> dict[str, Any]:
        """Return the fields that a line takes from an item if they were not sent."""
        fields = {"description": item.name, "unit": item.unit, "tax_rate_id": rate}
        return fields if item.cost_price is None else fields | {"unit_price": item.cost_price}


def price_purchase(ctx: Context, lines: list[Line], currency: str) -> PricedDocument:
    """Compute the totals of a purchase, and mark its tax rates as used."""
    rates = rates_of(ctx, lines)
    mark_rates_used(ctx, rates.values())
    priced = price_document(lines, rates, PricingTerms(currency, inclusive=False, discount=Discount()))
    most: int = _MAX_AMOUNT * 10 ** CURRENCIES[currency]
    amounts = [
        line.to_charge(rates, currency).calculate_amount(CURRENCIES[currency]) for line in lines if line.kind == "item"
    ]
    if max(map(abs, [*amounts, priced.totals.total]), default=0) > most:
        limit = Amount(str(_MAX_AMOUNT), currency)
        raise Invalid([Fault("lines", Message("add up to more than the limit of {limit}", limit=limit))])
    return priced


def fetch_usable_supplier(ctx: Context, supplier_id: str) -> Supplier:
    """Fetch a supplier; refuse one that cannot be used any more."""
    found: Supplier = SUPPLIERS.fetch(ctx, supplier_id)
    raise_if_blocked(found.not_usable())
    return found


def fetch_optional_job(ctx: Context, job_id: str | None) -> Job | None:
    """Fetch the job that something is bought for; None if it is for no job."""
    return JOBS.fetch(ctx, job_id) if job_id is not None else None
