"""Jobs that went over to another customer are told of."""

from mainstay.business.customers.moved import telling_of
from mainstay.business.jobs.events import JobUpdated
from mainstay.business.jobs.store import JOBS

CHORES = (telling_of(JOBS, JobUpdated),)
