"""Hours in every state, and a valid input for each operation on them."""

from collections.abc import Callable
from dataclasses import dataclass

from mainstay.business.hours.approval import submit_hours
from mainstay.business.hours.operations import log_hours
from mainstay.business.hours.timers import start_timer
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.cast import Cast

ExampleInput = dict[str, object]


@dataclass(frozen=True)
class HoursSamples:
    """A draft and a running timer of everyone, and one entry that waits for approval."""

    job: str
    today: str
    drafts: dict[Role, str]
    timers: dict[Role, str]
    submitted: str


def make_hours_samples(cast: Cast, job: str) -> HoursSamples:
    """Make the samples."""
    today = local_date(cast.performer.clock(), "Europe/London").isoformat()
    drafts = {role: str(cast.perform(log_hours, role, jobId=job, on=today, minutes=30)["id"]) for role in Role}
    submitted = str(cast.perform(log_hours, Role.MEMBER, jobId=job, on=today, minutes=60)["id"])
    cast.perform(submit_hours, Role.MEMBER, timeEntryIds=[submitted])
    timers = {role: str(cast.perform(start_timer, role)["id"]) for role in Role}
    return HoursSamples(job, today, drafts, timers, submitted)


HOURS_EXAMPLES: dict[str, Callable[[HoursSamples, Role], ExampleInput]] = {
    "list_hours": lambda *_: {},
    "get_time_entry": lambda hours, role: {"timeEntryId": hours.drafts[role]},
    "log_hours": lambda hours, _: {"jobId": hours.job, "on": hours.today, "minutes": 5},
    "update_hours": lambda hours, role: {"timeEntryId": hours.drafts[role], "note": "Flushed the pipes"},
    "delete_hours": lambda hours, role: {"timeEntryId": hours.drafts[role], "confirmed": True},
    "start_timer": lambda hours, _: {"jobId": hours.job, "switch": True},
    "stop_timer": lambda hours, role: {"timeEntryId": hours.timers[role]},
    "submit_hours": lambda hours, role: {"timeEntryIds": [hours.drafts[role]]},
    "review_hours": lambda hours, _: {"timeEntryIds": [hours.submitted], "decision": "approve"},
    "list_unbilled": lambda *_: {},
    "get_job_costing": lambda hours, _: {"jobId": hours.job},
}
