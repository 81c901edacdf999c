"""Ten tasks of a day in an office, done by an agent that knows nothing, in hardly more calls than each must take."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import pytest

from mainstay.business.customers.operations import get_customer, list_customers
from mainstay.business.customers.sites_and_contacts import list_sites
from mainstay.business.hours.operations import list_hours
from mainstay.business.jobs.operations import get_job, list_jobs
from mainstay.business.people.invitations import add_person
from mainstay.business.records.notes import list_notes
from mainstay.business.schedule.leave import list_time_off
from mainstay.business.schedule.operations import list_visits, plan_visit
from mainstay.values.ids import new_id
from mainstay.values.moments import local_date
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Role
from support.agent import ScriptedAgent
from support.cast import Cast, make_cast, open_accounts
from support.customers import make_customer, make_job, make_site
from support.hours import make_time_entry, set_rates
from support.oauth_app import register_app, sign_in_cast_member
from support.server_fixtures import ServedInstallation

MAX_CALLS_RATIO = 1.3


@dataclass(frozen=True)
class Firm:
    """A small firm with work to do, and the agent of someone in its office."""

    cast: Cast
    agent: ScriptedAgent
    tom: str
    boiler: str
    today: date

    @property
    def next_week(self) -> date:
        """The Monday of next week."""
        return self.today + timedelta(days=7 - self.today.weekday())

    def list_records(self, operation: Any, **given: object) -> list[dict[str, Any]]:
        """Return the records of a list."""
        found: list[dict[str, Any]] = self.cast.perform(operation, **given)["data"]
        return found


@pytest.fixture(scope="module")
def firm(served_installation: ServedInstallation) -> Firm:
    cast = make_cast(served_installation.performer)
    email = f"{new_id('tom').lower()}@firm.example"
    open_accounts(cast.performer, email)
    given = {"name": "Tom Ashworth", "email": email, "role": "member", "password": "a password for the cast"}
    tom = str(cast.perform(add_person, operator_actor(cast.organisation), **given)["id"])
    customer = make_customer(cast, "Iris Whitcombe", kind="individual", phone="01422 555 010")
    boiler = make_job(cast, customer, title="Repair the boiler", siteId=make_site(cast, customer))["number"]
    app = register_app(served_installation.server)
    token = app.connect(sign_in_cast_member(served_installation.server, cast, Role.OFFICE), cast.organisation, "write")[
        "access_token"
    ]
    today = local_date(cast.performer.clock(), "Europe/London")
    return Firm(cast, ScriptedAgent(served_installation.server, token), tom, boiler, today)


def book_whoever_is_free(firm: Firm) -> None:
    thursday = (firm.next_week + timedelta(days=3)).isoformat()
    agent = firm.agent
    agent.begin_task(f"Book the boiler repair at Mrs Whitcombe's for whoever is free on {thursday} in the morning.")
    job = agent.find("job", "Whitcombe boiler")
    sought = {"jobId": job, "durationMinutes": 120}
    free = agent.call("find_free_time", **sought, **{"from": thursday, "until": thursday})["slots"][0]
    agent.call("plan_visit", **sought, personIds=[free["personId"]], startsAt=free["startsAt"])
    [visit] = firm.list_records(list_visits, jobId=firm.boiler)
    assert visit["startsAt"][:13] in {f"{thursday}T{hour:02}" for hour in range(12)}
    assert visit["personId"]


def tell_what_is_unbilled(firm: Firm) -> None:
    set_rates(firm.cast, Role.MEMBER, 20, 50)
    today = firm.today.isoformat()
    make_time_entry(firm.cast, status="approved", jobId=_make_another_job(firm)["id"], on=today, minutes=90)
    firm.agent.begin_task("What have we not billed yet?")
    [unbilled] = firm.agent.call("list_unbilled")["data"]
    assert (unbilled["minutes"], unbilled["amount"]) == (90, "75.00")


def log_hours_for_someone(firm: Firm) -> None:
    day = firm.today.isoformat()
    firm.agent.begin_task(f"Log two hours for Tom on {firm.boiler} today, {day}.")
    tom = firm.agent.find("person", "Tom")
    firm.agent.call("log_hours", personId=tom, jobId=firm.boiler, on=day, minutes=120)
    [entry] = firm.list_records(list_hours, personId=firm.tom)
    assert (entry["on"], entry["minutes"], entry["jobNumber"]) == (day, 120, firm.boiler)


def approve_last_week(firm: Firm) -> None:
    first = firm.next_week - timedelta(days=14)
    last = first + timedelta(days=6)
    for role, day in ((Role.MEMBER, first), (Role.SUBCONTRACTOR, last)):
        make_time_entry(firm.cast, role, "submitted", on=day.isoformat(), minutes=60)
    firm.agent.begin_task(f"Approve last week's hours, from {first} to {last}.")
    waiting = firm.agent.call("list_hours", status="submitted", until=f"{last}", **{"from": f"{first}"})["data"]
    firm.agent.call("review_hours", timeEntryIds=[entry["id"] for entry in waiting], decision="approve")
    week = firm.list_records(list_hours, status="approved", until=f"{last}", **{"from": f"{first}"})
    assert len(week) == 2


def move_what_a_sick_person_had(firm: Firm) -> None:
    tuesday = firm.next_week + timedelta(days=1)
    cast, agent = firm.cast, firm.agent
    for hour in ("09", "13"):
        at = {"startsAt": f"{tuesday}T{hour}:00", "durationMinutes": 60}
        cast.perform(plan_visit, jobId=_make_another_job(firm)["id"], personIds=[firm.tom], **at)
    agent.begin_task(f"Tom is sick on {tuesday}. Mia takes everything of his.")
    tom, mia = agent.find("person", "Tom"), agent.find("person", "Mia")
    leave = agent.call("request_time_off", personId=tom, kind="sick", **{"from": f"{tuesday}"})
    hers = [{"change": "move", "visitId": one["visitId"], "personId": mia} for one in leave["collisions"]]
    agent.call("decide_time_off", timeOffId=leave["id"], decision="approve")
    agent.call("plan_schedule", changes=hers)
    day = {"from": f"{tuesday}", "until": f"{tuesday}"}
    assert [visit["personId"] for visit in firm.list_records(list_visits, **day)] == [cast.people[Role.MEMBER]] * 2
    assert [off["status"] for off in firm.list_records(list_time_off, personId=firm.tom, **day)] == ["approved"]


def tell_who_is_free(firm: Firm) -> None:
    two = f"{firm.next_week + timedelta(days=2)}T14:00"
    firm.agent.begin_task(f"Who is free at {two} for an hour?")
    free = firm.agent.call("find_free_time", startsAt=two)["slots"]
    assert {slot["personName"] for slot in free} >= {"Tom Ashworth", "Mia Member"}


def take_down_an_enquiry(firm: Firm) -> None:
    agent = firm.agent
    agent.begin_task("Ben Okafor called, 01422 555 020: the roof at 9 Mill Lane, Hebden Bridge leaks. Take it down.")
    assert agent.call("list_customers", text="Okafor")["data"] == []
    ben = agent.call("create_customer", name="Ben Okafor", kind="individual", phone="01422 555 020")["id"]
    site = agent.call("save_site", customerId=ben, address={"line1": "9 Mill Lane", "city": "Hebden Bridge"})["id"]
    agent.call("create_job", customerId=ben, siteId=site, title="Mend the roof", status="enquiry")
    [job] = firm.list_records(list_jobs, customerId=firm.list_records(list_customers, text="Okafor")[0]["id"])
    assert (job["stage"], job["siteName"]) == ("enquiry", "9 Mill Lane")
    assert firm.list_records(list_sites, text="Mill Lane Hebden")


def tell_what_happened(firm: Firm) -> None:
    firm.agent.begin_task(f"What happened to {firm.boiler}?")
    acts = firm.agent.call("get_history", recordId=firm.boiler)["data"]
    assert acts[-1]["operation"] == "create_job"
    assert acts[-1]["by"]["person"]["name"] == "Orla Office"


def hold_a_job_and_say_why(firm: Firm) -> None:
    job = _make_another_job(firm)["number"]
    firm.agent.begin_task(f"Put {job} on hold: the tank comes on the 30th.")
    firm.agent.call("change_job_status", jobId=job, status="onHold", reason="The tank comes on the 30th.")
    assert firm.cast.perform(get_job, jobId=job)["stage"] == "onHold"
    assert "30th" in firm.list_records(list_notes, recordId=job)[0]["body"]


def correct_a_phone_number(firm: Firm) -> None:
    firm.agent.begin_task("Mrs Whitcombe's number is 01422 555 011 now, not 01422 555 010.")
    iris = firm.agent.find("customer", "01422 555 010")
    firm.agent.call("update_customer", customerId=iris, phone="01422 555 011")
    assert firm.cast.perform(get_customer, customerId=iris)["phone"] == "01422 555 011"


def _make_another_job(firm: Firm) -> dict[str, Any]:
    return make_job(firm.cast, make_customer(firm.cast, "Ashdown School"), Role.MEMBER, title="Replace the tank")


# Each with the fewest calls: what is meant is looked up, what must be known is asked, and what is wanted is done.
TASKS: list[tuple[Callable[[Firm], None], int]] = [
    (book_whoever_is_free, 3),
    (tell_what_is_unbilled, 1),
    (log_hours_for_someone, 2),
    (approve_last_week, 2),
    # Both people are looked up; the plan is looked at before it is made.
    (move_what_a_sick_person_had, 6),
    (tell_who_is_free, 1),
    # Nobody is there twice, because new people are looked for first.
    (take_down_an_enquiry, 4),
    (tell_what_happened, 1),
    (hold_a_job_and_say_why, 1),
    (correct_a_phone_number, 2),
]


@pytest.mark.parametrize(("task", "fewest"), TASKS, ids=lambda one: getattr(one, "__name__", None))
def test_a_task_takes_hardly_more_calls_than_it_must(firm: Firm, task: Callable[[Firm], None], fewest: int) -> None:
    task(firm)
    assert len(firm.agent.calls) <= MAX_CALLS_RATIO * fewest, firm.agent.calls
