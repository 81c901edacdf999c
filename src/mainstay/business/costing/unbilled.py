"""The operation that lists unbilled hours and materials."""

from typing import Annotated

from pydantic import Field

from mainstay.business.costing import store
from mainstay.business.costing.model import UnbilledOut
from mainstay.business.hours.store import UnbilledFilter
from mainstay.business.jobs.store import JOBS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import make_id_validator
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import ListInput, PageResult


class ListUnbilled(ListInput):
    """Of which jobs."""

    starting_after: Annotated[str | None, make_id_validator("job")] = Field(
        None, description="Goes on behind this id, the last of the page before."
    )
    job_id: str | None = Field(None, title="Job", description="Only of this job: its id or number.")
    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description="Only of this customer's jobs."
    )


@operation(permission=Permission.COSTS_READ, effect=Effect.READ, api_path="GET /unbilled")
def list_unbilled(ctx: Context, given: ListUnbilled) -> PageResult[UnbilledOut]:
    """List what is still to be billed, by job.

    Hours that are approved and materials that were received or billed, if they are billable and on no invoice. Hours
    as worked, and as they are billed, rounded up as the settings say.
    """
    job = JOBS.fetch(ctx, given.job_id).id if given.job_id is not None else None
    rows = store.find_unbilled(ctx, UnbilledFilter(job, given.customer_id, given.starting_after), given.limit + 1)
    return PageResult.from_rows(UnbilledOut, rows, given.limit)


OPERATIONS = (list_unbilled,)
