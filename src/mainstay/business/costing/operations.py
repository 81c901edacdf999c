"""The operation that reads the costing of a job."""

from functools import partial

from pydantic import Field

from mainstay.business.costing import store
from mainstay.business.costing.margin import JobBilling, compute_costings
from mainstay.business.costing.model import CostedHours, CostedMaterials, JobCostingOut
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.descriptions import describe
from mainstay.values.money import minor_to_price, price_text
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.record_json import PriceText
from mainstay.vocabulary.schemas import Input


class GetJobCosting(Input):
    """The job."""

    job_id: str = Field(title="Job", description=describe("[[The job's ID or number.]]"))


@operation(permission=Permission.COSTS_READ, effect=Effect.READ, api_path="GET /jobs/{job_id}/costing")
def get_job_costing(ctx: Context, given: GetJobCosting) -> JobCostingOut:
    """Get job costing.

    Did a job make or lose money: hours planned and worked, materials, costs, what was and will be invoiced, and the
    margin.
    """
    # The operation is not declared `on` jobs, because not everyone who may see a job may see its costs.
    job: Job = JOBS.fetch(ctx, given.job_id)
    settings = settings_of(ctx)
    job_costing = compute_costings(ctx, {job.id: JobBilling(job.billing, job.budget, job.status)})[job.id]
    counted_hours = [one for one in job_costing.hours if one.status != "rejected"]
    parts: list[store.CostedPart] = [*counted_hours, *job_costing.materials]
    margin = job_costing.margin
    to_price_units = partial(minor_to_price, currency=settings.currency)
    return JobCostingOut(
        object=JobCostingOut.noun,
        id=job.id,
        job_number=job.number,
        job_title=job.title,
        billing=job.billing,
        currency=settings.currency,
        budget=None if job.budget is None else _to_price(job.budget),
        planned_minutes=store.sum_planned_minutes(ctx, job.id),
        worked_minutes=sum(one.minutes for one in counted_hours),
        hours=[_to_costed_hours(one) for one in job_costing.hours],
        materials=CostedMaterials(
            lines=sum(one.lines for one in job_costing.materials),
            cost=_to_price(sum(one.cost for one in job_costing.materials)),
            value=_to_price(sum(one.value for one in job_costing.materials)),
        ),
        other_cost=_to_price(to_price_units(margin.other_cost)),
        cost=_to_price(to_price_units(margin.cost)),
        value=_to_price(sum(one.value for one in parts)),
        unbilled=_to_price(sum(one.unbilled for one in parts)),
        invoiced=_to_price(to_price_units(margin.invoiced - margin.credited)),
        to_invoice=_to_price(to_price_units(margin.to_invoice)),
        margin=None if margin.margin is None else _to_price(to_price_units(margin.margin)),
        uncosted=margin.uncosted,
        uncosted_revenue=_to_price(to_price_units(margin.uncosted_net)),
    )


OPERATIONS = (get_job_costing,)


def _to_costed_hours(hours_sum: store.HoursSum) -> CostedHours:
    values = hours_sum._asdict() | {"cost": _to_price(hours_sum.cost), "value": _to_price(hours_sum.value)}
    return CostedHours(**{name: values[name] for name in CostedHours.model_fields})


def _to_price(stored: int) -> PriceText:
    return PriceText(price_text(stored))
