"""Events about jobs."""

from mainstay.business.jobs.model import Job, JobOut
from mainstay.kernel.context import Context
from mainstay.kernel.event import Event
from mainstay.vocabulary.record_json import find_changed_fields


class JobCreated(Event):
    """A job was created."""

    name = "job.created"
    output = JobOut


class JobUpdated(Event):
    """A job's details or status changed."""

    name = "job.updated"
    output = JobOut


class JobScheduled(Event):
    """A job got its first planned visit."""

    name = "job.scheduled"
    output = JobOut


class JobStarted(Event):
    """Work on a job started."""

    name = "job.started"
    output = JobOut


class JobCompleted(Event):
    """A job was done."""

    name = "job.completed"
    output = JobOut


class JobCancelled(Event):
    """A job was cancelled."""

    name = "job.cancelled"
    output = JobOut


def emit_job_updated(ctx: Context, after: Job, before: Job) -> None:
    """Emit an event for a job that another area changed, unless only facts changed that are not part of the output."""
    if find_changed_fields(before, after):
        ctx.emit(JobUpdated(after, before))


EVENTS = (JobCreated, JobUpdated, JobScheduled, JobStarted, JobCompleted, JobCancelled)
