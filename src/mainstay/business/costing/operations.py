"""What can be asked about the costs of a job."""

from functools import partial

from pydantic import Field

from mainstay.business.costing import store
from mainstay.business.costing.margin import Agreed, costings_of
from mainstay.business.costing.model import CostedHours, CostedMaterials, JobCostingOut
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.house import house_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input
from mainstay.terms.wire import PriceText
from mainstay.values.money import in_parts, price_text


class GetJobCosting(Input):
    """Which job."""

    job_id: str = Field(title="Job", description="The job's id or number.")


@operation(right=Right.COSTS_READ, effect=Effect.READ, rest="GET /jobs/{job_id}/costing")
def get_job_costing(ctx: Context, given: GetJobCosting) -> JobCostingOut:
    """Get what a job took and what is left of it.

    Hours planned and worked, materials, what they cost, what was and will be invoiced, and the margin.
    """
    # Not declared on jobs: whoever may look at a job need not be one who sees what it cost.
    job: Job = JOBS.fetch(ctx, given.job_id)
    house = house_of(ctx)
    found = costings_of(ctx, {job.id: Agreed(job.billing, job.budget, job.status)})[job.id]
    worked = [one for one in found.hours if one.status != "rejected"]
    counted: list[store.Taken] = [*worked, *found.materials]
    brings = found.margin
    in_minor = partial(in_parts, currency=house.currency)
    return JobCostingOut(
        object=JobCostingOut.noun,
        id=job.id,
        job_number=job.number,
        job_title=job.title,
        billing=job.billing,
        currency=house.currency,
        budget=None if job.budget is None else _price(job.budget),
        planned_minutes=store.planned_minutes(ctx, job.id),
        worked_minutes=sum(one.minutes for one in worked),
        hours=[_shown(one) for one in found.hours],
        materials=CostedMaterials(
            lines=sum(one.lines for one in found.materials),
            cost=_price(sum(one.cost for one in found.materials)),
            value=_price(sum(one.value for one in found.materials)),
        ),
        other_cost=_price(in_minor(brings.other_cost)),
        cost=_price(in_minor(brings.cost)),
        value=_price(sum(one.value for one in counted)),
        unbilled=_price(sum(one.unbilled for one in counted)),
        invoiced=_price(in_minor(brings.invoiced - brings.credited)),
        to_invoice=_price(in_minor(brings.to_invoice)),
        margin=None if brings.margin is None else _price(in_minor(brings.margin)),
        uncosted=brings.uncosted,
        uncosted_revenue=_price(in_minor(brings.uncosted_net)),
    )


OPERATIONS = (get_job_costing,)


def _shown(one: store.Sum) -> CostedHours:
    told = one._asdict() | {"cost": _price(one.cost), "value": _price(one.value)}
    return CostedHours(**{name: told[name] for name in CostedHours.model_fields})


def _price(stored: int) -> PriceText:
    return PriceText(price_text(stored))
