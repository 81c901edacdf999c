"""What an office asks an agent about its work: who is free, what is unbilled, which jobs lost money."""

from typing import Any

from agents import call_tool
from cast import Cast
from labour import logged, new_job, price
from mainstay.business.jobs.operations import change_job_status
from mainstay.terms.rights import Role
from ordering import billed, ordered, received
from running import RunningServer
from scheduling import DAY, plan


def asked(server: RunningServer, cast: Cast, tool: str, **given: object) -> Any:
    result = call_tool(server, cast.key(), tool, **given)
    assert result["isError"] is False, result
    return result["structuredContent"]


def test_who_has_two_hours_in_the_afternoon(server: RunningServer, cast: Cast) -> None:
    plan(cast, times=("13:00", "14:00"))
    afternoon = {"from": DAY, "until": DAY, "earliest": "12:00", "latest": "18:00", "durationMinutes": 120}
    slots = asked(server, cast, "find_free_time", **afternoon)["slots"]
    assert [(one["personName"], one["role"], one["startsAt"][11:16]) for one in slots] == [
        ("Sam Subcontractor", "subcontractor", "12:00"),
        ("Mia Member", "member", "14:15"),
        ("Sam Subcontractor", "subcontractor", "14:00"),
    ]


def test_a_night_shift_is_set_and_found(server: RunningServer, cast: Cast) -> None:
    mia = cast.people[Role.MEMBER]
    nights = {"monday": [{"from": "22:00", "until": "06:00"}]}
    asked(server, cast, "update_person", personId=mia, workingHours=nights)
    given = {"from": DAY, "until": DAY, "personId": mia, "durationMinutes": 480}
    (slot,) = asked(server, cast, "find_free_time", **given)["slots"]
    assert (slot["startsAt"], slot["endsAt"]) == (f"{DAY}T22:00:00.000Z", "2038-01-12T06:00:00.000Z")


def test_closing_a_job_with_unbilled_work_warns(server: RunningServer, cast: Cast) -> None:
    job = new_job(cast)
    logged(cast, jobId=job["id"], status="approved")
    cast.perform(change_job_status, jobId=job["id"], status="done")
    closed = asked(server, cast, "change_job_status", jobId=job["number"], status="closed")
    assert closed["stage"] == "closed"
    assert closed["warnings"][0].startswith(f"{job['number']} has 1:00 h of work on no invoice.")


def test_what_went_back_is_not_unbilled(server: RunningServer, cast: Cast) -> None:
    job = new_job(cast)
    order = received(cast, ordered(cast, jobId=job["id"]), "10")
    billed(cast, order, "10", total="60")
    received(cast, order, "-4")
    (unbilled,) = asked(server, cast, "list_unbilled", jobId=job["id"])["data"]
    assert unbilled["materialsAmount"] == "36.00"


def test_which_jobs_lost_money(server: RunningServer, cast: Cast) -> None:
    price(cast, Role.MEMBER, 70, 60)
    job = new_job(cast)
    logged(cast, jobId=job["id"], status="approved", on="2026-10-20")
    report = asked(server, cast, "get_report", name="jobProfit", **{"from": "2026-10-01", "until": "2026-10-31"})
    columns = [one["name"] for one in report["columns"]]
    (row,) = (dict(zip(columns, one, strict=True)) for one in report["rows"])
    costing = asked(server, cast, "get_job_costing", jobId=job["id"])
    assert (row["toInvoice"], row["margin"], costing["margin"]) == ("60.00", "-10.00", "-10.00")
