"""What was worked and bought and is on no invoice yet."""

from typing import Annotated

from pydantic import Field

from mainstay.business.costing import store
from mainstay.business.costing.model import UnbilledOut
from mainstay.business.hours.store import Narrowed
from mainstay.business.jobs.store import JOBS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.rights import Right
from mainstay.terms.shapes import ListInput, Page
from mainstay.values.fields import id_of


class ListUnbilled(ListInput):
    """Of which jobs."""

    starting_after: Annotated[str | None, id_of("job")] = Field(
        None, description="Goes on behind this id, the last of the page before."
    )
    job_id: str | None = Field(None, title="Job", description="Only of this job: its id or number.")
    customer_id: Annotated[str | None, id_of("customer")] = Field(
        None, title="Customer", description="Only of this customer's jobs."
    )


@operation(right=Right.COSTS_READ, effect=Effect.READ, rest="GET /unbilled")
def list_unbilled(ctx: Context, given: ListUnbilled) -> Page[UnbilledOut]:
    """List what is still to be billed, by job.

    Hours that are approved and materials that were received or billed, if they are billable and on no invoice. Hours
    as worked, and as they are billed, rounded up as the settings say.
    """
    job = JOBS.fetch(ctx, given.job_id).id if given.job_id is not None else None
    rows = store.unbilled(ctx, Narrowed(job, given.customer_id, given.starting_after), given.limit + 1)
    return Page.cut(UnbilledOut, rows, given.limit)


OPERATIONS = (list_unbilled,)
