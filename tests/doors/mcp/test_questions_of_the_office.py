"""What an office asks an agent about its work: who is free, what is unbilled, which jobs lost money."""

from typing import Any

from mainstay.business.jobs.operations import change_job_status
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.hours import make_assigned_job, make_time_entry, set_rates
from support.mcp_client import call_tool
from support.purchases import bill_order, place_order, receive_order
from support.servers import RunningServer
from support.visits import DAY, plan_test_visit


def query_tool(server: RunningServer, cast: Cast, tool: str, **given: object) -> Any:
    result = call_tool(server, cast.make_key(), tool, **given)
    assert result["isError"] is False, result
    return result["structuredContent"]


def test_who_has_two_hours_in_the_afternoon(server: RunningServer, cast: Cast) -> None:
    plan_test_visit(cast, times=("13:00", "14:00"))
    afternoon = {"from": DAY, "until": DAY, "earliest": "12:00", "latest": "18:00", "durationMinutes": 120}
    slots = query_tool(server, cast, "find_free_time", **afternoon)["slots"]
    assert [(one["personName"], one["role"], one["startsAt"][11:16]) for one in slots] == [
        ("Sam Subcontractor", "subcontractor", "12:00"),
        ("Mia Member", "member", "14:15"),
        ("Sam Subcontractor", "subcontractor", "14:00"),
    ]


def test_a_night_shift_is_set_and_found(server: RunningServer, cast: Cast) -> None:
    mia = cast.people[Role.MEMBER]
    nights = {"monday": [{"from": "22:00", "until": "06:00"}]}
    query_tool(server, cast, "update_person", personId=mia, workingHours=nights)
    given = {"from": DAY, "until": DAY, "personId": mia, "durationMinutes": 480}
    (slot,) = query_tool(server, cast, "find_free_time", **given)["slots"]
    assert (slot["startsAt"], slot["endsAt"]) == (f"{DAY}T22:00:00+00:00", "2038-01-12T06:00:00+00:00")


def test_closing_a_job_with_unbilled_work_warns(server: RunningServer, cast: Cast) -> None:
    job = make_assigned_job(cast)
    make_time_entry(cast, jobId=job["id"], status="approved")
    cast.perform(change_job_status, jobId=job["id"], status="done")
    closed = query_tool(server, cast, "change_job_status", jobId=job["number"], status="closed")
    assert closed["stage"] == "closed"
    assert closed["warnings"][0].startswith(f"{job['number']} has work that is not on an invoice: 1:00 h of work.")


def test_what_went_back_is_not_unbilled(server: RunningServer, cast: Cast) -> None:
    job = make_assigned_job(cast)
    order = receive_order(cast, place_order(cast, jobId=job["id"]), "10")
    bill_order(cast, order, "10", total="60")
    receive_order(cast, order, "-4")
    (unbilled,) = query_tool(server, cast, "list_unbilled", jobId=job["id"])["data"]
    assert unbilled["materialsAmount"] == "36.00"


def test_which_jobs_lost_money(server: RunningServer, cast: Cast) -> None:
    set_rates(cast, Role.MEMBER, 70, 60)
    job = make_assigned_job(cast)
    make_time_entry(cast, jobId=job["id"], status="approved", on="2026-10-20")
    report = query_tool(server, cast, "get_report", name="jobProfit", **{"from": "2026-10-01", "until": "2026-10-31"})
    columns = [one["name"] for one in report["columns"]]
    (row,) = (dict(zip(columns, one, strict=True)) for one in report["rows"])
    costing = query_tool(server, cast, "get_job_costing", jobId=job["id"])
    assert (row["toInvoice"], row["margin"], costing["margin"]) == ("60.00", "-10.00", "-10.00")
