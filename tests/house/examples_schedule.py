"""Visits and time off, and for each of their operations an input that it takes."""

from collections.abc import Callable
from dataclasses import dataclass

from cast import Cast
from mainstay.business.schedule.leave import request_time_off
from mainstay.business.schedule.operations import plan_visit
from mainstay.terms.rights import Role

Given = dict[str, object]

_DAY = "2027-01-11"


@dataclass(frozen=True)
class Schedule:
    """What is planned: a visit of each person to the one job, and time off of each."""

    job: str
    visits: dict[Role, str]
    leave: dict[Role, str]


def furnish_schedule(cast: Cast, job: str) -> Schedule:
    """Make it."""
    visits, leave = {}, {}
    times = {"startsAt": f"{_DAY}T10:00", "durationMinutes": 60, "notes": "Bring a ladder."}
    for role, person in cast.people.items():
        visits[role] = str(cast.perform(plan_visit, jobId=job, personIds=[person], **times)["id"])
        leave[role] = str(cast.perform(request_time_off, **{"personId": person, "from": "2027-02-01"})["id"])
    return Schedule(job, visits, leave)


SCHEDULE_EXAMPLES: dict[str, Callable[[Schedule, Role], Given]] = {
    "cancel_job": lambda schedule, _: {"jobId": schedule.job, "reason": "Sold the house", "confirmed": True},
    "list_visits": lambda *_: {},
    "get_visit": lambda schedule, role: {"visitId": schedule.visits[role]},
    "plan_visit": lambda schedule, _: {"jobId": schedule.job, "on": _DAY},
    "move_visit": lambda schedule, role: {"visitId": schedule.visits[role], "notes": "Bring two ladders."},
    "cancel_visit": lambda schedule, role: {"visitId": schedule.visits[role]},
    "set_visit_status": lambda schedule, role: {"visitId": schedule.visits[role], "status": "started"},
    "plan_schedule": lambda schedule, _: {
        "changes": [{"change": "plan", "jobId": schedule.job, "on": _DAY}],
        "confirmed": True,
    },
    "find_free_time": lambda schedule, _: {"jobId": schedule.job, "from": _DAY},
    "list_time_off": lambda *_: {},
    "get_time_off": lambda schedule, role: {"timeOffId": schedule.leave[role]},
    "request_time_off": lambda *_: {"from": "2027-03-01"},
    "cancel_time_off": lambda schedule, role: {"timeOffId": schedule.leave[role]},
    "decide_time_off": lambda schedule, role: {"timeOffId": schedule.leave[role], "decision": "approve"},
}
