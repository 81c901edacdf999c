"""Calling a job off, with all that was planned for it."""

from pydantic import Field

from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import JobCancelled
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.schedule.changes import called_off
from mainstay.business.schedule.model import Visit
from mainstay.business.schedule.placing import withdraw
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

    Its visits that are not done are cancelled with it; the preview names them. Hours and documents stay.
    """
    ctx.summary = f"{job.called} is cancelled: {given.reason}"
    visits = VISITS.some(ctx, "visit.job_id = :job AND visit.status IN ('planned', 'started')", _MOST, job=job.id)
    if len(visits) == _MOST:
        text = f"{job.number} has too many visits to cancel at once."
        raise Conflict(f"{text} Cancel its series first (cancel_visit with the scope `all`).")
    # What someone is at now is named before what is only planned.
    visits.sort(key=lambda one: one.status != "started")
    ctx.effects += [_told(one) for one in visits[:_NAMED]]
    if len(visits) > _NAMED:
        ctx.effects.append(f"{len(visits) - _NAMED} more visits are cancelled.")
    withdraw(ctx, [called_off(one) for one in visits])
    facts = {"planned_visits": 0, "next_visit_at": None}
    after = jobs.save(ctx, job, {"status": "cancelled", "cancel_reason": given.reason, **facts})
    ctx.record(JobCancelled(after, job))
    return after


OPERATIONS = (cancel_job,)


def _told(visit: Visit) -> str:
    begun = ", which has started," if visit.status == "started" else ""
    when = told(visit.starts_at, visit.ends_at, visit.on, visit.time_zone)
    return f"The visit of {visit.person_name or 'nobody yet'}{begun} is cancelled: {when}."
