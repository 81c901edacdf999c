"""Events about jobs."""

from mainstay.business.jobs.model import Job, JobOut
from mainstay.kernel.context import Context
from mainstay.kernel.event import declare_event
from mainstay.vocabulary.record_json import find_changed_fields

JobCreated = declare_event("job.created", JobOut, "A job was created.")
JobUpdated = declare_event("job.updated", JobOut, "A job's details or status changed.")
JobScheduled = declare_event("job.scheduled", JobOut, "A job got its first planned visit.")
JobStarted = declare_event("job.started", JobOut, "Work on a job started.")
JobCompleted = declare_event("job.completed", JobOut, "A job was done.")
JobCancelled = declare_event("job.cancelled", JobOut, "A job was cancelled.")


def emit_job_updated(ctx: Context, after: Job, before: Job) -> None:
    """Emit an event for a job that another area changed, unless only facts changed that are not part of the output."""
    if find_changed_fields(before, after):
        ctx.emit(JobUpdated(after, before))


EVENTS = (JobCreated, JobUpdated, JobScheduled, JobStarted, JobCompleted, JobCancelled)
