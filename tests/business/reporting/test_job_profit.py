import pytest

from billing import FLUE, an_invoice, credited, issued, voided
from cast import Cast
from labour import at, logged, new_job, new_visit, price
from mainstay.business.costing.operations import get_job_costing
from mainstay.business.hours.timers import start_timer
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.purchasing.bills import record_bill
from mainstay.business.schedule.operations import set_visit_status
from mainstay.terms.refusal import Invalid
from mainstay.terms.rights import Role
from ordering import PIPE, ordered, received
from reporting import Row, report, rows, totals
from trade import a_customer


@pytest.fixture
def busy(cast: Cast) -> Cast:
    cast = at(cast)
    price(cast, Role.MEMBER, 24, 60)
    return cast


def test_a_job_is_told_with_what_it_brought_and_cost(busy: Cast) -> None:
    job = new_job(busy)
    invoice = issued(busy, an_invoice(busy, jobId=job["id"]))
    credited(busy, invoice, amount="250")
    voided(busy, issued(busy, an_invoice(busy, jobId=job["id"])))
    # A third of an hour at 24.00 is 8.00, and 25 minutes are 10.00.
    for minutes, status in ((20, "draft"), (25, "approved"), (60, "rejected")):
        logged(busy, jobId=job["id"], minutes=minutes, on="2026-11-16", status=status)
    busy.perform(start_timer, Role.MEMBER, jobId=job["id"])
    told = report(busy, "jobProfit", basis="range")
    assert rows(told) == [
        {
            "jobId": job["id"],
            "job": f"{job['number']} Replace the boiler",
            "customer": "Ashdown School",
            "invoiced": "1000.00",
            "credited": "250.00",
            "worked": 45,
            "hoursCost": "18.00",
            "materialsCost": "0.00",
            "margin": "732.00",
            "marginPercent": "97.6",
        }
    ]
    assert totals(told, "margin", "marginPercent", "worked") == {
        "margin": "732.00",
        "marginPercent": "97.6",
        "worked": 45,
    }
    assert busy.perform(get_job_costing, jobId=job["id"])["cost"] == "18.00"


def test_what_was_bought_for_it_is_a_cost_of_it(busy: Cast) -> None:
    job = new_job(busy)
    supplier = busy.perform(save_supplier, name="Pennine Supplies")["id"]
    pipe = {"description": "Pipe", "quantity": "3", "unitPrice": "10.335", "taxRateId": None}
    given = {"supplierId": supplier, "supplierNumber": "4711", "jobId": job["id"], "on": "2026-11-16"}
    busy.perform(record_bill, **given, lines=[pipe], total="31.01")
    assert rows(report(busy, "jobProfit", basis="range"), "jobId", "materialsCost", "margin") == [
        {"jobId": job["id"], "materialsCost": "31.01", "margin": "-31.01"}
    ]


def test_what_brought_most_comes_first_and_what_is_for_no_job_last(busy: Cast) -> None:
    small, large, idle = (new_job(busy, title=title) for title in ("Small", "Large", "Idle"))
    issued(busy, an_invoice(busy, jobId=small["id"], lines=[{"description": "Tap", "unitPrice": "100"}]))
    issued(busy, an_invoice(busy, jobId=large["id"]))
    issued(busy)
    logged(busy, minutes=30, on="2026-11-16")
    logged(busy, minutes=60, on="2026-11-16", jobId=idle["id"])
    told = report(busy, "jobProfit", basis="range")
    assert rows(told, "jobId", "customer", "margin", "marginPercent") == [
        {"jobId": large["id"], "customer": "Ashdown School", "margin": "1000.00", "marginPercent": "100.0"},
        {"jobId": small["id"], "customer": "Ashdown School", "margin": "100.00", "marginPercent": "100.0"},
        {"jobId": idle["id"], "customer": "Ashdown School", "margin": "-24.00", "marginPercent": None},
        {"jobId": None, "customer": None, "margin": "988.00", "marginPercent": "98.8"},
    ]
    assert rows(told)[-1]["job"] == "Without a job"
    # So that it comes to what the revenue does.
    assert totals(told)["invoiced"] == totals(report(busy, "revenue"))["revenue"] == "2100.00"


def test_what_was_not_done_between_the_dates_is_left_out(busy: Cast) -> None:
    job = new_job(busy)
    for day in ("09", "10", "11", "12"):
        logged(busy, jobId=job["id"], minutes=10, on=f"2026-11-{day}")
    told = report(busy, "jobProfit", basis="range", **{"from": "2026-11-10", "until": "2026-11-11"})
    assert rows(told, "worked", "hoursCost") == [{"worked": 20, "hoursCost": "8.00"}]


def test_hours_without_a_cost_are_told(busy: Cast) -> None:
    job = new_job(busy)
    price(busy, Role.MEMBER, None, 60)
    for _ in range(2):
        logged(busy, jobId=job["id"], minutes=10, on="2026-11-16")
    assert [
        note
        for note in report(busy, "jobProfit", basis="range")["notes"]
        if note.startswith("2 entries of hours are of people")
    ]


def test_one_customer_s_jobs_can_be_asked_for(busy: Cast) -> None:
    customer = a_customer(busy)
    own, other = new_job(busy, customerId=customer), new_job(busy)
    for job in (own, other):
        issued(busy, an_invoice(busy, jobId=job["id"]))
        logged(busy, jobId=job["id"], minutes=10, on="2026-11-16")
    assert rows(report(busy, "jobProfit", basis="range", customerId=customer), "jobId", "worked") == [
        {"jobId": own["id"], "worked": 10}
    ]


def test_more_jobs_than_are_asked_for_at_once_have_names(busy: Cast) -> None:
    jobs = [new_job(busy, title=f"Job {number}") for number in range(101)]
    for job in jobs:
        logged(busy, jobId=job["id"], minutes=10, on="2026-11-16")
    told = {row["jobId"]: row["job"] for row in rows(report(busy, "jobProfit", basis="range"))}
    assert told == {job["id"]: f"{job['number']} {job['title']}" for job in jobs}


NOVEMBER = {"from": "2026-11-01", "until": "2026-11-30"}
OCTOBER = {"from": "2026-10-01", "until": "2026-10-31"}


def whole(cast: Cast, *names: str, **given: object) -> list[Row]:
    return rows(report(cast, "jobProfit", **given), *names)


def test_a_job_is_told_over_its_whole_life_as_its_own_page_tells_it(busy: Cast) -> None:
    job = new_job(busy)
    logged(busy, jobId=job["id"], minutes=60, on="2026-10-15", status="approved")
    issued(busy, an_invoice(busy, jobId=job["id"], unbilled=True))
    received(busy, ordered(busy, jobId=job["id"], lines=[PIPE]), "5", on="2026-11-10")
    logged(busy, jobId=job["id"], minutes=30, on="2026-11-16")
    logged(busy, jobId=job["id"], minutes=30, on="2026-11-16", status="rejected")
    (told,) = whole(busy, **NOVEMBER)
    assert told == {
        "jobId": job["id"],
        "job": f"{job['number']} Replace the boiler",
        "customer": "Ashdown School",
        "invoiced": "60.00",
        "credited": "0.00",
        "toInvoice": "60.00",
        "worked": 90,
        "hoursCost": "36.00",
        "materialsCost": "30.00",
        "otherCost": "0.00",
        "margin": "54.00",
        "marginPercent": "45.0",
        "uncosted": 0,
        "uncostedRevenue": "0.00",
    }
    costing = busy.perform(get_job_costing, jobId=job["id"])
    assert {name: costing[name] for name in ("invoiced", "toInvoice", "margin", "uncosted", "uncostedRevenue")} == {
        name: told[name] for name in ("invoiced", "toInvoice", "margin", "uncosted", "uncostedRevenue")
    }
    assert (costing["cost"], costing["unbilled"]) == ("66.00", "30.00")
    assert [whole(busy, "margin", **days) for days in (OCTOBER, NOVEMBER)] == [[{"margin": "54.00"}]] * 2


def test_the_jobs_that_lost_most_come_first(busy: Cast) -> None:
    price(busy, Role.MEMBER, 70, 60)
    losing, earning, unknown = (new_job(busy, title=title) for title in ("Losing", "Earning", "Unknown"))
    logged(busy, jobId=losing["id"], on="2026-11-16")
    received(busy, ordered(busy, jobId=earning["id"], lines=[PIPE | {"unitPrice": "1"}]), "10", on="2026-11-16")
    issued(busy, an_invoice(busy, jobId=earning["id"], lines=[FLUE | {"cost": "10"}]))
    price(busy, Role.MEMBER, None, 60)
    logged(busy, jobId=unknown["id"], on="2026-11-16")
    told = report(busy, "jobProfit", **NOVEMBER)
    assert rows(told, "jobId", "margin", "uncosted", "uncostedRevenue") == [
        {"jobId": losing["id"], "margin": "-10.00", "uncosted": 0, "uncostedRevenue": "0.00"},
        {"jobId": earning["id"], "margin": "71.10", "uncosted": 0, "uncostedRevenue": "0.00"},
        {"jobId": unknown["id"], "margin": None, "uncosted": 1, "uncostedRevenue": "60.00"},
    ]
    assert totals(told, "margin") == {"margin": "61.10"}
    assert "The margin of 1 of these jobs is not known: too little is recorded of what they cost." in told["notes"]


def test_jobs_that_were_finished_then_can_be_asked_for(busy: Cast) -> None:
    running, over, later = (new_job(busy, title=title) for title in ("Running", "Over", "Later"))
    for job in (running, over, later):
        logged(busy, jobId=job["id"], on="2026-10-15")
    logged(busy, jobId=later["id"], on="2026-11-02")
    for job in (over, later):
        busy.perform(change_job_status, jobId=job["id"], status="done")

    def asked(**given: object) -> set[str]:
        return {row["jobId"] for row in whole(busy, "jobId", **given)}

    assert asked(**OCTOBER) == {running["id"], over["id"], later["id"]}
    assert asked(jobs="finished", **OCTOBER) == {over["id"]}
    assert asked(jobs="finished", **NOVEMBER) == asked(**NOVEMBER) == {later["id"]}
    assert asked(customerId=over["customerId"], **OCTOBER) == {over["id"]}
    assert asked(customerId=over["customerId"], **NOVEMBER) == set()
    with pytest.raises(Invalid, match=r"^jobs: is for whole lives, not for a range"):
        asked(jobs="finished", basis="range")


def test_a_visit_is_work_too(busy: Cast) -> None:
    job = new_job(busy, billing="fixed", budget="500")
    visit = new_visit(busy, job["id"], busy.people[Role.MEMBER])
    assert whole(busy, "margin", **NOVEMBER) == []
    busy.perform(set_visit_status, visitId=visit, status="started")
    # What it cost is not recorded.
    assert whole(busy, "toInvoice", "margin", **NOVEMBER) == [{"toInvoice": "500.00", "margin": None}]
