"""The margin of a job over its whole life: one definition for the job's page and for the reports.

What the job brings is what was invoiced of it, and what is still to be invoiced. What it costs are its hours and
materials, and the lines of its invoices that bill neither. If something has no known cost, what it brings is left out
of the margin and told beside it: otherwise it would count as profit alone.
"""

from collections.abc import Collection
from typing import NamedTuple

from mainstay.business.costing.before_tax import before_tax
from mainstay.business.costing.store import Documents, Materials, Sum, Taken, documents_of, hours_of, materials_of
from mainstay.business.hours.store import minor_unit
from mainstay.business.jobs.model import Billing, Status, is_over
from mainstay.business.lines.pricing import PriceBook
from mainstay.business.organisation.house import house_of
from mainstay.kernel.context import Context
from mainstay.values.totals import rounded


class Agreed(NamedTuple):
    """What is known of a job beside its work: how it is billed, for how much, and how far it is."""

    billing: Billing
    # In ten-thousandths.
    budget: int | None
    status: Status


class JobMargin(NamedTuple):
    """What a job brings, what it costs and what is left, before tax and in minor units."""

    invoiced: int
    credited: int
    to_invoice: int
    hours_cost: int
    materials_cost: int
    other_cost: int
    # How many entries and lines have no known cost, and what they bring.
    uncosted: int
    uncosted_net: int
    # None if too little is known.
    margin: int | None

    @property
    def cost(self) -> int:
        """What its hours and materials cost, as far as known."""
        return self.hours_cost + self.materials_cost

    @property
    def costed_revenue(self) -> int:
        """What it brings without what has no known cost."""
        return self.invoiced - self.credited + self.to_invoice - self.uncosted_net


class Costing(NamedTuple):
    """The hours and materials of a job with their value before tax, and its margin."""

    hours: list[Sum]
    materials: list[Materials]
    margin: JobMargin


def costings_of(ctx: Context, jobs: dict[str, Agreed]) -> dict[str, Costing]:
    """Reckon these jobs, by their ids."""
    hours, materials = hours_of(ctx, house_of(ctx), jobs), materials_of(ctx, jobs)
    documents = documents_of(ctx, jobs)
    reckoning = _Reckoning(ctx)
    return {
        job: reckoning.costing(agreed, hours.get(job, []), materials.get(job, []), documents.get(job, Documents()))
        for job, agreed in jobs.items()
    }


class _Reckoning:
    """Reckons jobs by the prices and the currency of the organisation."""

    def __init__(self, ctx: Context) -> None:
        self._prices = PriceBook(ctx, inclusive=False)
        self._unit = minor_unit(house_of(ctx))

    def costing(self, agreed: Agreed, hours: list[Sum], materials: list[Materials], documents: Documents) -> Costing:
        """Reckon one job."""
        worked = [one for one in hours if one.status != "rejected"]
        counted = before_tax(self._prices, self._unit, [*worked, *materials])
        # Hours that were rejected are told, and count for nothing.
        rejected = before_tax(self._prices, self._unit, [one for one in hours if one.status == "rejected"])
        counted_hours = [one for one in counted if isinstance(one, Sum)]
        bought = [one for one in counted if isinstance(one, Materials)]
        all_hours = [*counted_hours, *(one for one in rejected if isinstance(one, Sum))]
        return Costing(sorted(all_hours), bought, self._margin(agreed, counted_hours, bought, documents))

    def _margin(self, agreed: Agreed, hours: list[Sum], materials: list[Materials], documents: Documents) -> JobMargin:
        is_fixed = agreed.billing == "fixed"
        net_invoiced = documents.invoiced - documents.credited
        # A price covers whatever was done for it; otherwise each line of an invoice has a cost of its own.
        lines = documents._replace(uncosted_lines=0, uncosted_net=0, other_cost=0) if is_fixed else documents
        open_price = 0 if is_over(agreed.status) else max(self._minor(agreed.budget or 0) - net_invoiced, 0)
        uncosted_value = self._prices.as_told_here(
            self._minor(sum(one.uncosted_value for one in hours)), self._prices.usual_rate
        )
        found = JobMargin(
            invoiced=documents.invoiced,
            credited=documents.credited,
            to_invoice=self._unbilled([*hours, *materials]) + (open_price if is_fixed else documents.drafted),
            hours_cost=self._minor(sum(one.cost for one in hours)),
            materials_cost=self._minor(sum(one.cost for one in materials)),
            other_cost=lines.other_cost,
            uncosted=lines.uncosted_lines + sum(one.uncosted_unbillable + one.uncosted_unbilled for one in hours),
            uncosted_net=min(lines.uncosted_net, max(net_invoiced + documents.drafted, 0)) + uncosted_value,
            margin=None,
        )
        is_known = self._is_known(agreed, found, hours, recorded=bool(hours or materials))
        return found._replace(margin=found.costed_revenue - found.cost - found.other_cost) if is_known else found

    def _is_known(self, agreed: Agreed, found: JobMargin, hours: Collection[Sum], *, recorded: bool) -> bool:
        if agreed.billing == "fixed" and (not recorded or not (agreed.budget or found.invoiced)):
            return False
        if any(one.uncosted_unbillable for one in hours):
            return False
        return not found.uncosted or found.costed_revenue > 0

    def _unbilled(self, parts: list[Taken]) -> int:
        """What is billable and on no invoice: hours also before they are approved, as their cost counts as well."""
        return self._minor(
            sum(one.value if isinstance(one, Sum) and one.status != "approved" else one.unbilled for one in parts)
        )

    def _minor(self, stored: int) -> int:
        return rounded(stored, self._unit)
