"""Cancels a job with all its open visits."""

from pydantic import Field

from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import JobCancelled
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.schedule.model import Visit
from mainstay.business.schedule.placement import write_cancellations
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.visit_changes import to_cancellation
from mainstay.business.schedule.visit_times import describe_visit_time
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.descriptions import describe
from mainstay.values.fields import TextLine
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict
from mainstay.vocabulary.schemas import IrreversibleInput

_MAX_VISITS = 2000
# At most this many visits are named in a preview, followed by the number of the others.
_MAX_NAMED = 20


class CancelJob(IrreversibleInput):
    """Which job, and why."""

    job_id: str = Field(title="Job", description=describe("[[The job's ID or number.]]"))
    reason: TextLine = Field(description="Visible to everyone who can see the job.")


@operation(
    permission=Permission.JOBS_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /jobs/{job_id}/cancel",
    on=JOBS,
    blocked_by=Job.not_cancellable,
    emails_outside=True,
    not_undone=Message("Reopen the job, and plan its visits again."),
    past_text="Job cancelled",
)
def cancel_job(ctx: Context, given: CancelJob, job: Job) -> Job:
    """Cancel job.

    Any visits not done yet are cancelled too; you see them before you confirm. Hours and documents stay.
    """
    ctx.summary = Message("{job} will be cancelled: {reason}", job=job.display_name, reason=given.reason)
    visits = VISITS.find_many(
        ctx, "visit.job_id = :job AND visit.status IN ('planned', 'started')", _MAX_VISITS, job=job.id
    )
    if len(visits) == _MAX_VISITS:
        hint = Message("Call cancel_visit with the scope `all`.")
        raise Conflict(
            Message(
                "{job} has too many visits to cancel at once. Cancel its repeated visits first.",
                job=job.number,
                for_programs=hint,
            )
        )
    # Visits that have started are named first.
    visits.sort(key=lambda visit: visit.status != "started")
    ctx.effects += [_describe_cancellation(visit) for visit in visits[:_MAX_NAMED]]
    if len(visits) > _MAX_NAMED:
        more = len(visits) - _MAX_NAMED
        ctx.effects.append(
            Message(
                "{count} more visit will be cancelled.", plural="{count} more visits will be cancelled.", count=more
            )
        )
    write_cancellations(ctx, [to_cancellation(visit) for visit in visits])
    schedule = {"planned_visits": 0, "next_visit_at": None}
    after = jobs.save(ctx, job, {"status": "cancelled", "cancel_reason": given.reason, **schedule})
    ctx.emit(JobCancelled(after, job))
    return after


OPERATIONS = (cancel_job,)


def _describe_cancellation(visit: Visit) -> Message:
    time = describe_visit_time(visit.starts_at, visit.ends_at, visit.on, visit.time_zone)
    if visit.person_name is None and visit.status == "started":
        return Message("The unassigned visit that has started will be cancelled: {time}.", time=time)
    if visit.person_name is None:
        return Message("The unassigned visit will be cancelled: {time}.", time=time)
    if visit.status == "started":
        return Message(
            "{person}'s visit, which has started, will be cancelled: {time}.", person=visit.person_name, time=time
        )
    return Message("{person}'s visit will be cancelled: {time}.", person=visit.person_name, time=time)
