"""The work of a firm through its real doors: from an enquiry to approved hours, and a day on which someone is sick."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import httpx2
import icalendar
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast, visible_text
from support.cast import Cast
from support.customers import ADDRESS
from support.oauth_app import register_app, sign_in_cast_member
from support.servers import RunningServer
from support.visits import read_finish_times

Record = dict[str, Any]
Call = Callable[..., Awaitable[Record]]


@dataclass(frozen=True)
class Program:
    """A program of the firm, over the HTTP API."""

    server: RunningServer
    key: str

    def post(self, path: str, **given: object) -> Record:
        """Do something."""
        return self._request("POST", path, given)

    def get(self, path: str) -> Record:
        """Read something."""
        return self._request("GET", path, None)

    def _request(self, method: str, path: str, given: object) -> Record:
        answer = self.server.request(method, f"/api/v1{path}", self.key, json=given)
        assert answer.status_code in {200, 201}, answer.text
        said: Record = answer.json()
        return said


@dataclass(frozen=True)
class Calendar:
    """Someone's calendar, as their phone reads it by its link."""

    server: RunningServer
    path: str

    @classmethod
    def of(cls, session: BrowserSession) -> "Calendar":
        """A new link of someone who is signed in."""
        page = session.follow_redirect(session.submit_form("/schedule/calendar", "/schedule/calendar/new")).text
        found = re.search(r"/calendar/svc_cl_[\w-]{43}\.ics", page)
        assert found
        return cls(session.server, found[0])

    def read_visits(self) -> dict[str, date]:
        """The dates of the visits in it, by their ids."""
        read = icalendar.Calendar.from_ical(self.server.request("GET", self.path).content)
        events: list[Any] = read.walk("VEVENT")
        return {str(event["uid"]).partition("@")[0]: event["dtstart"].dt.date() for event in events}


def today(cast: Cast) -> date:
    return local_date(cast.performer.clock(), "Europe/London")


def next_week(cast: Cast) -> date:
    """The Monday of next week."""
    return today(cast) + timedelta(days=7 - today(cast).weekday())


def create_enquiry(program: Program) -> Record:
    """What the form on a firm's web site leaves."""
    customer = program.post("/customers", name="Iris Whitcombe", kind="individual", phone="01422 555 010")["id"]
    site = program.post("/sites", customerId=customer, address=ADDRESS, accessNotes="The key is next door.")["id"]
    return program.post("/jobs", customerId=customer, siteId=site, title="Repair the boiler", status="enquiry")


def test_an_enquiry_becomes_a_job_that_is_visited_and_whose_hours_are_approved(
    server: RunningServer, cast: Cast
) -> None:
    program = Program(server, cast.make_key(role=Role.ADMIN))
    orla, mia = (sign_in_cast(server, cast, role) for role in (Role.OFFICE, Role.MEMBER))
    job, day = create_enquiry(program), today(cast).isoformat()
    assert job["number"] not in mia.get("/").text

    # The office takes it up, and plans it for today.
    orla.follow_redirect(
        orla.submit_form(f"/jobs/{job['id']}/change-status", status="open", reason="They said yes on the phone.")
    )
    planned = {"jobId": job["number"], "kind": "work", "on": day, f"personIds {cast.people[Role.MEMBER]}": "on"}
    orla.follow_redirect(orla.submit_form("/schedule/visits/plan", **planned))
    [visit] = program.get(f"/visits?jobId={job['number']}")["data"]
    assert program.get(f"/jobs/{job['id']}")["stage"] == "scheduled"

    # The member finds it on their phone, with all that they need there, and does it.
    home = visible_text(mia.get("/").text)
    assert all(seen_values in home for seen_values in ("Repair the boiler", "2 Weir Lane"))
    assert "The key is next door." in visible_text(mia.get(f"/schedule/visits/{visit['id']}").text)
    assert "They said yes on the phone." in visible_text(mia.get(f"/jobs/{job['id']}").text)
    mia.follow_redirect(mia.submit_form("/", f"/schedule/visits/{visit['id']}/start"))
    finish = f"/schedule/visits/{visit['id']}/finish"
    page = mia.get(finish).text
    mia.follow_redirect(mia.submit_page(page, finish, **read_finish_times(page), text="New valve"))
    mia.follow_redirect(
        mia.submit_form("/hours/week", "/hours/week/log", job=job["id"], time="1:30", day=day, note="New valve")
    )
    mia.follow_redirect(mia.submit_form("/hours/week", then="submit"))
    entries = program.get("/hours?status=submitted")["data"]
    # What the timer of the visit counted, and what was typed besides.
    assert [(one["minutes"], one["jobNumber"]) for one in entries] == [(90, job["number"]), (1, job["number"])]

    # The office approves, and what is to be billed is there.
    assert "1:30" in visible_text(orla.get("/hours/approve").text)
    orla.follow_redirect(
        orla.submit_form("/hours/approve", decision="approve", **{f"entry {one['id']}": "on" for one in entries})
    )
    [unbilled] = program.get("/unbilled")["data"]
    assert (unbilled["id"], unbilled["minutes"]) == (job["id"], 91)
    seen_values = [event["type"] for event in program.get("/events")["data"] if event["type"].startswith("job.")]
    assert seen_values == ["job.created", "job.updated", "job.scheduled", "job.started"]


def test_a_sick_day_is_approved_and_what_it_hits_is_moved_in_one_plan(server: RunningServer, cast: Cast) -> None:
    program = Program(server, cast.make_key(role=Role.ADMIN))
    orla, mia, sam = (sign_in_cast(server, cast, role) for role in (Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR))
    calendars = {Role.MEMBER: Calendar.of(mia), Role.SUBCONTRACTOR: Calendar.of(sam)}
    tuesday = next_week(cast) + timedelta(days=1)
    job = create_enquiry(program)["number"]
    program.post(f"/jobs/{job}/status", status="open")
    about = {"jobId": job, "personIds": [cast.people[Role.MEMBER]], "durationMinutes": 120}
    early, late = (program.post("/visits", **about, startsAt=f"{tuesday}T{time}")["id"] for time in ("09:00", "13:00"))
    assert calendars[Role.MEMBER].read_visits() == {early: tuesday, late: tuesday}

    # She asks from her phone; the office sees what it would hit, and approves.
    leave = mia.submit_form("/time-off/request", **{"kind": "sick", "from": f"{tuesday}"}).headers["Location"]
    path = leave.partition("?")[0]
    assert visible_text(orla.get(path).text).count(job) == 2
    orla.follow_redirect(orla.submit_form(f"{path}/decide", decision="approve"))
    collisions = program.get(f"/time-off/{path.rpartition('/')[2]}")["collisions"]
    assert [one["visitId"] for one in collisions] == [early, late]
    [need] = [need for need in program.get("/overview")["needs"] if need["given"] == {"onLeave": True}]
    assert need["count"] == 2

    # One goes to someone else an hour later, the other to the day after: shown first, then done at once.
    later = tuesday + timedelta(days=1)
    plan = [
        {"change": "move", "visitId": early, "personId": cast.people[Role.SUBCONTRACTOR]}
        | {"startsAt": f"{tuesday}T10:00", "durationMinutes": 120},
        {"change": "move", "visitId": late, "startsAt": f"{later}T13:00", "durationMinutes": 120},
    ]
    preview = program.post("/schedule/plan", changes=plan)
    assert (preview["object"], preview["blockers"]) == ("preview", [])
    assert calendars[Role.SUBCONTRACTOR].read_visits() == {}
    seen = program.get("/events?order=newest&limit=1")["data"][0]["id"]
    program.post("/schedule/plan", changes=plan, confirmed=True)

    # Everyone is told: by their calendars, on their pages, and programs by an event.
    assert calendars[Role.MEMBER].read_visits() == {late: later}
    assert calendars[Role.SUBCONTRACTOR].read_visits() == {early: tuesday}
    assert "The key is next door." in visible_text(sam.get(f"/schedule/visits/{early}").text)
    assert all(need["given"] != {"onLeave": True} for need in program.get("/overview")["needs"])
    [event] = program.get(f"/events?startingAfter={seen}")["data"]
    assert (event["type"], event["data"]["object"]["nextVisitAt"][:10]) == ("job.updated", f"{tuesday}")
    # Nothing is planned for her while she is away.
    refused = server.request("POST", "/api/v1/visits", program.key, json=about | {"startsAt": f"{tuesday}T15:00"})
    assert (refused.status_code, "is off (sick)" in refused.json()["error"]) == (409, True)


def test_an_agent_of_the_office_does_the_same_day(server: RunningServer, cast: Cast) -> None:
    app = register_app(server)
    token = app.connect(sign_in_cast_member(server, cast, Role.OFFICE), cast.organisation, "write")["access_token"]

    async def go() -> None:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=http), mode="auto") as client,
        ):

            async def call(tool: str, /, **arguments: object) -> Record:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content
                answered: Record = result.structured_content or {}
                return answered

            await _work_by_agent(call, cast)
            await _sick_day_by_agent(call, cast)

    asyncio.run(go())


async def _work_by_agent(call: Call, cast: Cast) -> None:
    """From an enquiry to approved hours."""
    mia, day = cast.people[Role.MEMBER], today(cast).isoformat()
    customer = await call("create_customer", name="Iris Whitcombe", kind="individual")
    site = await call("save_site", customerId=customer["id"], address=ADDRESS)
    made = await call("create_job", customerId=customer["id"], siteId=site["id"], title="Boiler", status="enquiry")
    job = made["number"]
    # Whatever an app does is told as its doing, in the name of the person who connected it.
    by = made["createdBy"]
    assert (by["person"]["name"], by["via"]["client"]["name"]) == ("Orla Office", "Test app")
    assert "change_job_status" in made["availableActions"]
    await call("change_job_status", jobId=job, status="open")
    visit = await call("plan_visit", jobId=job, personIds=[mia], on=day)
    await call("set_visit_status", visitId=visit["id"], status="started")
    entry = await call("log_hours", jobId=job, personId=mia, on=day, minutes=90)
    await call("set_visit_status", visitId=visit["id"], status="done")
    await call("submit_hours", personId=mia, **{"from": day, "until": day})
    approved = await call("review_hours", timeEntryIds=[entry["id"]], decision="approve")
    assert (approved["status"], approved["minutes"]) == ("approved", 90)
    assert [one["jobNumber"] for one in (await call("list_unbilled"))["data"]] == [job]


async def _sick_day_by_agent(call: Call, cast: Cast) -> None:
    """Leave, what it hits, and one plan for all of it."""
    mia, sam = cast.people[Role.MEMBER], cast.people[Role.SUBCONTRACTOR]
    tuesday = next_week(cast) + timedelta(days=1)
    [job] = (await call("list_jobs", text="Whitcombe"))["data"]
    for time in ("09:00", "13:00"):
        times = {"startsAt": f"{tuesday}T{time}", "durationMinutes": 120}
        await call("plan_visit", jobId=job["id"], personIds=[mia], **times)
    leave = await call("request_time_off", personId=mia, kind="sick", **{"from": f"{tuesday}"})
    decided = await call("decide_time_off", timeOffId=leave["id"], decision="approve")
    hit = [one["visitId"] for one in decided["collisions"]]
    assert [one["id"] for one in (await call("list_visits", onLeave=True))["data"]] == hit
    plan = [{"change": "move", "visitId": one, "personId": sam} for one in hit]
    preview = await call("plan_schedule", changes=plan)
    assert (preview["status"], preview["preview"]["blockers"]) == ("preview", [])
    done = await call("plan_schedule", changes=plan, confirmed=True)
    assert {one["personName"] for one in done["result"]["visits"]} == {"Sam Subcontractor"}
    assert (await call("list_visits", onLeave=True))["data"] == []
    assert [act["operation"] for act in (await call("get_history", limit=1))["data"]] == ["plan_schedule"]
