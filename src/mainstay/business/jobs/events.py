"""What happens to jobs."""

from mainstay.business.jobs.model import JobOut
from mainstay.kernel.event import Event


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


EVENTS = (JobCreated, JobUpdated, JobScheduled, JobStarted, JobCompleted, JobCancelled)
