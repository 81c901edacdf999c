"""Jobs that went over to another customer are told of, some at a time: there may be thousands of them."""

from collections.abc import Mapping
from dataclasses import replace

from mainstay.business.customers.store import JOBS_MOVED
from mainstay.business.jobs.events import JobUpdated
from mainstay.business.jobs.model import Job, JobOut
from mainstay.business.jobs.store import JOBS
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Chore
from mainstay.terms.wire import column_names


def tell_of_moved_jobs(ctx: Context, told: Mapping[str, str]) -> None:
    """Tell of each of these jobs that its customer is another one now, with the one before."""
    for identity in told["jobs"].split():
        job = JOBS.find(ctx, "job.id = :id", id=identity)
        if job:
            ctx.pen.touch(job.id)
            ctx.record(JobUpdated(job, _as_it_was(job, told["customer"], told["name"])))


CHORES = (Chore(JOBS_MOVED, tell_of_moved_jobs),)


def _as_it_was(job: Job, customer: str, name: str) -> Job:
    was = {"customer_id": customer, "customer_name": name}
    row = tuple(was.get(column, value) for column, value in zip(column_names(JobOut), job.row, strict=True))
    return replace(job, row=row)
