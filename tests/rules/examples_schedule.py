"""Visits and time off, and for each of their operations an input that it takes."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import orjson

from mainstay.business.schedule.calendar import rotate_calendar_link
from mainstay.business.schedule.leave import request_time_off
from mainstay.business.schedule.operations import plan_visit
from mainstay.identity.secrets import CALENDAR_LINK, new_secret
from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.values.moments import system_clock
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from support.cast import Cast

ExampleInput = dict[str, object]

# In the next months, of which calendars tell, and not in the next days, of which people are mailed.
DAY = (system_clock() + timedelta(days=90)).date().isoformat()


@dataclass(frozen=True)
class ScheduleSamples:
    """What is planned: a visit of each person to the one job, and time off of each."""

    job: str
    people: dict[Role, str]
    visits: dict[Role, str]
    leave: dict[Role, str]


def make_schedule_samples(cast: Cast, job: str) -> ScheduleSamples:
    """Make the samples."""
    visits, leave = {}, {}
    times = {"startsAt": f"{DAY}T10:00", "durationMinutes": 60, "notes": "Bring a ladder."}
    for role, person in cast.people.items():
        visits[role] = str(cast.perform(plan_visit, jobId=job, personIds=[person], **times)["id"])
        leave[role] = str(cast.perform(request_time_off, **{"personId": person, "from": "2038-02-01"})["id"])
        given = orjson.dumps({"secret": new_secret(CALENDAR_LINK)})
        cast.performer.perform(
            rotate_calendar_link, cast.actor(role, door=Door.OFFICE), given, RequestDetails(new_id("req"))
        )
    return ScheduleSamples(job, cast.people, visits, leave)


SCHEDULE_EXAMPLES: dict[str, Callable[[ScheduleSamples, Role], ExampleInput]] = {
    "cancel_job": lambda schedule, _: {"jobId": schedule.job, "reason": "Sold the house", "confirmed": True},
    "list_visits": lambda *_: {},
    "get_visit": lambda schedule, role: {"visitId": schedule.visits[role]},
    "plan_visit": lambda schedule, _: {"jobId": schedule.job, "on": DAY},
    "move_visit": lambda schedule, role: {"visitId": schedule.visits[role], "notes": "Bring two ladders."},
    "cancel_visit": lambda schedule, role: {"visitId": schedule.visits[role]},
    "set_visit_status": lambda schedule, role: {"visitId": schedule.visits[role], "status": "started"},
    "plan_schedule": lambda schedule, _: {
        "changes": [{"change": "plan", "jobId": schedule.job, "on": DAY}],
        "confirmed": True,
    },
    "find_free_time": lambda schedule, _: {"jobId": schedule.job, "from": DAY},
    "get_schedule": lambda *_: {"from": DAY},
    "get_schedule_month": lambda *_: {"from": DAY, "until": DAY},
    "get_calendar": lambda *_: {},
    "get_calendar_link": lambda *_: {},
    "rotate_calendar_link": lambda *_: {"secret": "svc_cl_" + "x" * 43},
    "remove_calendar_link": lambda *_: {},
    "list_time_off": lambda *_: {},
    "get_time_off": lambda schedule, role: {"timeOffId": schedule.leave[role]},
    "request_time_off": lambda *_: {"from": "2038-03-01"},
    "cancel_time_off": lambda schedule, role: {"timeOffId": schedule.leave[role]},
    "decide_time_off": lambda schedule, role: {"timeOffId": schedule.leave[role], "decision": "approve"},
}
