"""Calling a job off, with all that was planned for it."""

from pydantic import Field

from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import JobCancelled
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.schedule.placing import Placement, withdraw
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.times import told
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Conflict
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Irrevocable
from mainstay.values.fields import Line

_MOST = 2000
# So many visits are named in a preview; of more, the number is told.
_NAMED = 20


class CancelJob(Irrevocable):
    """Which job, and why."""

    job_id: str = Field(title="Job", description="The job's id or number.")
    reason: Line = Field(description="Why it is called off. Everyone who sees the job reads it.")


@operation(
    right=Right.JOBS_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /jobs/{job_id}/cancel",
    on=JOBS,
    unless=Job.not_cancellable,
    mails=True,
    done="The job is cancelled.",
)
def cancel_job(ctx: Context, given: CancelJob, job: Job) -> Job:
    """Cancel a job.

    Its planned visits are cancelled with it; the preview names them. Hours and documents stay.
    """
    ctx.summary = f"{job.called} is cancelled: {given.reason}"
    visits = VISITS.some(ctx, "visit.job_id = :job AND visit.status = 'planned'", _MOST, job=job.id)
    if len(visits) == _MOST:
        text = f"{job.number} has too many planned visits to cancel at once."
        raise Conflict(f"{text} Cancel its series first (cancel_visit with the scope `all`).")
    ctx.effects += [
        f"The visit of {one.person_name or 'nobody yet'} is cancelled:"
        f" {told(one.starts_at, one.ends_at, one.on, one.time_zone)}."
        for one in visits[:_NAMED]
    ]
    if len(visits) > _NAMED:
        ctx.effects.append(f"{len(visits) - _NAMED} more planned visits are cancelled.")
    withdraw(ctx, [Placement(one, {"status": "cancelled"}) for one in visits])
    facts = {"planned_visits": 0, "next_visit_at": None}
    after = jobs.save(ctx, job, {"status": "cancelled", "cancel_reason": given.reason, **facts})
    ctx.record(JobCancelled(after, job))
    return after


OPERATIONS = (cancel_job,)
