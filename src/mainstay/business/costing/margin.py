"""The margin of a job over its whole life: one definition for the job's page and for the reports.

The revenue of a job is what was invoiced and what is still to be invoiced. Its costs are those of its hours and
materials, and of the lines of its invoices that bill neither. If something has no known cost, its revenue is left out
of the margin and reported separately: otherwise all of it would count as profit.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from mainstay.business.costing.store import (
    CostedPart,
    DocumentSums,
    HoursSum,
    MaterialsSum,
    sum_documents,
    sum_hours,
    sum_materials,
)
from mainstay.business.hours.store import minor_unit_of
from mainstay.business.jobs.model import Billing, JobStatus, is_over
from mainstay.business.lines.pricing import PriceBook
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.kernel.context import Context
from mainstay.values.money import spread_total
from mainstay.values.totals import round_fraction


class JobBilling(NamedTuple):
    """The facts about a job that its margin depends on: how it is billed, its budget, and its status."""

    billing: Billing
    # In ten-thousandths.
    budget: int | None
    status: JobStatus


class JobMargin(NamedTuple):
    """The revenue, costs and margin of a job, before tax and in minor units."""

    invoiced: int
    credited: int
    to_invoice: int
    hours_cost: int
    materials_cost: int
    other_cost: int
    # How many entries and lines have no known cost, and their revenue.
    uncosted: int
    uncosted_net: int
    # None if too little is known.
    margin: int | None

    @property
    def cost(self) -> int:
        """The known cost of its hours and materials."""
        return self.hours_cost + self.materials_cost

    @property
    def costed_revenue(self) -> int:
        """Its revenue without that of entries and lines that have no known cost."""
        return self.invoiced - self.credited + self.to_invoice - self.uncosted_net


class Costing(NamedTuple):
    """The hours and materials of a job, valued before tax, and its margin."""

    hours: list[HoursSum]
    materials: list[MaterialsSum]
    margin: JobMargin


def compute_costings(ctx: Context, billing_by_job: dict[str, JobBilling]) -> dict[str, Costing]:
    """Compute the costings of these jobs, by their ids."""
    hours, materials = sum_hours(ctx, settings_of(ctx), billing_by_job), sum_materials(ctx, billing_by_job)
    documents = sum_documents(ctx, billing_by_job)
    calculator = _CostingCalculator(ctx)
    return {
        job: calculator.compute(billing, hours.get(job, []), materials.get(job, []), documents.get(job, DocumentSums()))
        for job, billing in billing_by_job.items()
    }


class _CostingCalculator:
    """Computes job costings with the prices and the currency of the organisation."""

    def __init__(self, ctx: Context) -> None:
        self._prices = PriceBook(ctx, inclusive=False)
        self._unit = minor_unit_of(settings_of(ctx))

    def compute(
        self, billing: JobBilling, hours: list[HoursSum], materials: list[MaterialsSum], documents: DocumentSums
    ) -> Costing:
        """Compute the costing of one job."""
        not_rejected = [part for part in hours if part.status != "rejected"]
        counted = _remove_tax_from_parts(self._prices, self._unit, [*not_rejected, *materials])
        # Rejected hours are reported, but not counted.
        rejected = _remove_tax_from_parts(
            self._prices, self._unit, [part for part in hours if part.status == "rejected"]
        )
        counted_hours = [part for part in counted if isinstance(part, HoursSum)]
        counted_materials = [part for part in counted if isinstance(part, MaterialsSum)]
        all_hours = [*counted_hours, *(part for part in rejected if isinstance(part, HoursSum))]
        return Costing(
            sorted(all_hours),
            counted_materials,
            self._compute_margin(billing, counted_hours, counted_materials, documents),
        )

    def _compute_margin(
        self, billing: JobBilling, hours: list[HoursSum], materials: list[MaterialsSum], documents: DocumentSums
    ) -> JobMargin:
        is_fixed = billing.billing == "fixed"
        net_invoiced = documents.invoiced - documents.credited
        # A fixed price covers all that was done for it. Otherwise each line of an invoice has a cost of its own.
        other_lines = documents._replace(uncosted_lines=0, uncosted_net=0, other_cost=0) if is_fixed else documents
        open_price = 0 if is_over(billing.status) else max(self._to_minor_units(billing.budget or 0) - net_invoiced, 0)
        uncosted_value = self._prices.convert_price(
            self._to_minor_units(sum(one.uncosted_value for one in hours)), self._prices.usual_rate_id
        )
        margin = JobMargin(
            invoiced=documents.invoiced,
            credited=documents.credited,
            to_invoice=self._sum_unbilled([*hours, *materials]) + (open_price if is_fixed else documents.drafted),
            hours_cost=self._to_minor_units(sum(one.cost for one in hours)),
            materials_cost=self._to_minor_units(sum(one.cost for one in materials)),
            other_cost=other_lines.other_cost,
            uncosted=other_lines.uncosted_lines + sum(one.uncosted_unbillable + one.uncosted_unbilled for one in hours),
            uncosted_net=min(other_lines.uncosted_net, max(net_invoiced + documents.drafted, 0)) + uncosted_value,
            margin=None,
        )
        is_known = self._is_margin_known(billing, margin, hours, has_records=bool(hours or materials))
        return margin._replace(margin=margin.costed_revenue - margin.cost - margin.other_cost) if is_known else margin

    def _is_margin_known(
        self, billing: JobBilling, margin: JobMargin, hours: Collection[HoursSum], *, has_records: bool
    ) -> bool:
        if billing.billing == "fixed" and (not has_records or not (billing.budget or margin.invoiced)):
            return False
        if any(one.uncosted_unbillable for one in hours):
            return False
        return not margin.uncosted or margin.costed_revenue > 0

    def _sum_unbilled(self, parts: list[CostedPart]) -> int:
        """Return what is billable and on no invoice. Hours count before they are approved, because their cost does."""
        return self._to_minor_units(
            sum(
                part.value if isinstance(part, HoursSum) and part.status != "approved" else part.unbilled
                for part in parts
            )
        )

    def _to_minor_units(self, stored: int) -> int:
        return round_fraction(stored, self._unit)


def _remove_tax_from_parts(prices: PriceBook, unit: int, parts: Sequence[CostedPart]) -> list[CostedPart]:
    """Return hours and materials with amounts before tax, which add up to what one invoice for them all would say."""
    rates = [part.tax_rate_id or prices.usual_rate_id for part in parts]
    values = _to_net_amounts(prices, unit, rates, [part.value for part in parts])
    unbilled = _to_net_amounts(prices, unit, rates, [part.unbilled for part in parts])
    return [
        part._replace(value=value, unbilled=net_unbilled)
        for part, value, net_unbilled in zip(parts, values, unbilled, strict=True)
    ]


def _to_net_amounts(prices: PriceBook, unit: int, rates: Sequence[str | None], amounts: Sequence[int]) -> list[int]:
    """Return amounts before tax: the tax is taken out of the sum of all amounts at one rate, and rounded once."""
    indexes_by_rate: defaultdict[str | None, list[int]] = defaultdict(list)
    for index, rate in enumerate(rates):
        indexes_by_rate[rate].append(index)
    net_by_index = dict[int, int]()
    for rate, indexes in indexes_by_rate.items():
        gross_amounts = [amounts[index] for index in indexes]
        net_total = prices.convert_price(round_fraction(sum(gross_amounts), unit), rate)
        net_by_index |= zip(indexes, (share * unit for share in spread_total(net_total, gross_amounts)), strict=True)
    return [net_by_index[index] for index in range(len(amounts))]
