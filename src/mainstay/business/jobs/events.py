"""What happens to jobs."""

from mainstay.business.jobs.model import Job, JobOut
from mainstay.kernel.context import Context
from mainstay.kernel.event import Event
from mainstay.terms.wire import different


class JobCreated(Event):
    """A job was made."""

    name = "job.created"
    about = JobOut


class JobUpdated(Event):
    """A job's details or state changed."""

    name = "job.updated"
    about = JobOut


class JobScheduled(Event):
    """A job got its first planned visit."""

    name = "job.scheduled"
    about = JobOut


class JobStarted(Event):
    """Work on a job began."""

    name = "job.started"
    about = JobOut


class JobCompleted(Event):
    """The work of a job is done."""

    name = "job.completed"
    about = JobOut


class JobCancelled(Event):
    """A job was called off."""

    name = "job.cancelled"
    about = JobOut


def tell_of_change(ctx: Context, after: Job, before: Job) -> None:
    """Tell of a job that another area changed, unless all that is different is what only rules know of it."""
    if different(before, after):
        ctx.record(JobUpdated(after, before))


EVENTS = (JobCreated, JobUpdated, JobScheduled, JobStarted, JobCompleted, JobCancelled)
