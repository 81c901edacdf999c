"""The operation that lists unbilled hours and materials."""

from typing import Annotated

from pydantic import Field

from mainstay.business.costing import store
from mainstay.business.costing.model import UnbilledOut
from mainstay.business.hours.store import UnbilledFilter
from mainstay.business.jobs.store import JOBS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.descriptions import describe
from mainstay.values.fields import make_id_validator
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import ListInput, PageResult


class ListUnbilled(ListInput):
    """The jobs."""

    starting_after: Annotated[str | None, make_id_validator("job")] = Field(
        None, description=describe("[[Continues after this ID, the last of the page before.]]")
    )
    job_id: str | None = Field(None, title="Job", description=describe("[[Only this job, by ID or number.]]"))
    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description="Only jobs of this customer."
    )


@operation(permission=Permission.COSTS_READ, effect=Effect.READ, api_path="GET /unbilled")
def list_unbilled(ctx: Context, given: ListUnbilled) -> PageResult[UnbilledOut]:
    """List unbilled work.

    Work that is not invoiced yet, by job, and what it is worth: billable approved hours, and billable materials
    received or billed by suppliers. Hours as worked, and as invoiced: rounded up as set in the settings.
    """
    job = JOBS.fetch(ctx, given.job_id).id if given.job_id is not None else None
    rows = store.find_unbilled(ctx, UnbilledFilter(job, given.customer_id, given.starting_after), given.limit + 1)
    return PageResult.from_rows(UnbilledOut, rows, given.limit)


OPERATIONS = (list_unbilled,)
