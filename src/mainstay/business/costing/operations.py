"""What can be asked about the costs of a job."""

from pydantic import Field

from mainstay.business.costing import store
from mainstay.business.costing.before_tax import before_tax
from mainstay.business.costing.model import CostedHours, CostedMaterials, JobCostingOut, margin
from mainstay.business.hours.store import minor_unit
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.pricing import PriceBook
from mainstay.business.organisation.house import house_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input
from mainstay.terms.wire import PriceText
from mainstay.values.money import price_text


class GetJobCosting(Input):
    """Which job."""

    job_id: str = Field(title="Job", description="The job's id or number.")


@operation(right=Right.COSTS_READ, effect=Effect.READ, rest="GET /jobs/{job_id}/costing")
def get_job_costing(ctx: Context, given: GetJobCosting) -> JobCostingOut:
    """Get what a job took and what is left of it.

    Hours planned and worked, materials, what they cost, what of them is billable, and the margin.
    """
    # Not declared on jobs: whoever may look at a job need not be one who sees what it cost.
    job: Job = JOBS.fetch(ctx, given.job_id)
    house = house_of(ctx)
    prices, unit = PriceBook(ctx, inclusive=False), minor_unit(house)
    sums = store.hours_of(ctx, house, job.id)
    worked = [one for one in sums if one.status != "rejected"]
    counted = before_tax(prices, unit, [*worked, *store.materials_of(ctx, job.id)])
    # Hours that were rejected are told, and count for nothing.
    rejected = before_tax(prices, unit, [one for one in sums if one.status == "rejected"])
    hours = [one for one in (*counted, *rejected) if isinstance(one, store.Sum)]
    bought = [one for one in counted if isinstance(one, store.Materials)]
    cost, value = sum(one.cost for one in counted), sum(one.value for one in counted)
    budget = job.budget
    left = margin(job.billing, budget, value, cost)
    return JobCostingOut(
        object=JobCostingOut.noun,
        id=job.id,
        job_number=job.number,
        job_title=job.title,
        billing=job.billing,
        currency=house.currency,
        budget=None if budget is None else _price(budget),
        planned_minutes=store.planned_minutes(ctx, job.id),
        worked_minutes=sum(one.minutes for one in worked),
        hours=[_shown(one) for one in sorted(hours)],
        materials=CostedMaterials(
            lines=sum(one.lines for one in bought),
            cost=_price(sum(one.cost for one in bought)),
            value=_price(sum(one.value for one in bought)),
        ),
        cost=_price(cost),
        value=_price(value),
        unbilled=_price(sum(one.unbilled for one in counted)),
        margin=None if left is None else _price(left),
    )


OPERATIONS = (get_job_costing,)


def _shown(one: store.Sum) -> CostedHours:
    told = one._asdict() | {"cost": _price(one.cost), "value": _price(one.value)}
    return CostedHours(**{name: told[name] for name in CostedHours.model_fields})


def _price(stored: int) -> PriceText:
    return PriceText(price_text(stored))
