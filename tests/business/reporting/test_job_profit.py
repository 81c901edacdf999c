import pytest

from mainstay.business.costing.operations import get_job_costing
from mainstay.business.hours.timers import start_timer
from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.purchasing.bills import record_bill
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at, make_assigned_job, make_time_entry, make_visit, set_rates
from support.invoices import FLUE, credit_issued, issue_invoice, make_invoice, void_issued
from support.purchases import PIPE, place_order, receive_order
from support.reports import ReportRow, name_rows, name_totals, perform_report


@pytest.fixture
def priced_cast(cast: Cast) -> Cast:
    cast = cast_at(cast)
    set_rates(cast, Role.MEMBER, 24, 60)
    return cast


def test_a_job_is_told_with_what_it_brought_and_cost(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    invoice = issue_invoice(priced_cast, make_invoice(priced_cast, jobId=job["id"]))
    credit_issued(priced_cast, invoice, amount="250")
    void_issued(priced_cast, issue_invoice(priced_cast, make_invoice(priced_cast, jobId=job["id"])))
    # A third of an hour at 24.00 is 8.00, and 25 minutes are 10.00.
    for minutes, status in ((20, "draft"), (25, "approved"), (60, "rejected")):
        make_time_entry(priced_cast, jobId=job["id"], minutes=minutes, on="2026-11-16", status=status)
    priced_cast.perform(start_timer, Role.MEMBER, jobId=job["id"])
    result = perform_report(priced_cast, "jobProfit", basis="range")
    assert name_rows(result) == [
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
    assert name_totals(result, "margin", "marginPercent", "worked") == {
        "margin": "732.00",
        "marginPercent": "97.6",
        "worked": 45,
    }
    assert priced_cast.perform(get_job_costing, jobId=job["id"])["cost"] == "18.00"


def test_what_was_bought_for_it_is_a_cost_of_it(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    supplier = priced_cast.perform(save_supplier, name="Pennine Supplies")["id"]
    pipe = {"description": "Pipe", "quantity": "3", "unitPrice": "10.335", "taxRateId": None}
    given = {"supplierId": supplier, "supplierNumber": "4711", "jobId": job["id"], "on": "2026-11-16"}
    priced_cast.perform(record_bill, **given, lines=[pipe], total="31.01")
    assert name_rows(perform_report(priced_cast, "jobProfit", basis="range"), "jobId", "materialsCost", "margin") == [
        {"jobId": job["id"], "materialsCost": "31.01", "margin": "-31.01"}
    ]


def test_what_brought_most_comes_first_and_what_is_for_no_job_last(priced_cast: Cast) -> None:
    small, large, idle = (make_assigned_job(priced_cast, title=title) for title in ("Small", "Large", "Idle"))
    issue_invoice(
        priced_cast, make_invoice(priced_cast, jobId=small["id"], lines=[{"description": "Tap", "unitPrice": "100"}])
    )
    issue_invoice(priced_cast, make_invoice(priced_cast, jobId=large["id"]))
    issue_invoice(priced_cast)
    make_time_entry(priced_cast, minutes=30, on="2026-11-16")
    make_time_entry(priced_cast, minutes=60, on="2026-11-16", jobId=idle["id"])
    result = perform_report(priced_cast, "jobProfit", basis="range")
    assert name_rows(result, "jobId", "customer", "margin", "marginPercent") == [
        {"jobId": large["id"], "customer": "Ashdown School", "margin": "1000.00", "marginPercent": "100.0"},
        {"jobId": small["id"], "customer": "Ashdown School", "margin": "100.00", "marginPercent": "100.0"},
        {"jobId": idle["id"], "customer": "Ashdown School", "margin": "-24.00", "marginPercent": None},
        {"jobId": None, "customer": None, "margin": "988.00", "marginPercent": "98.8"},
    ]
    assert name_rows(result)[-1]["job"] == "Without a job"
    # So that it comes to what the revenue does.
    assert (
        name_totals(result)["invoiced"] == name_totals(perform_report(priced_cast, "revenue"))["revenue"] == "2100.00"
    )


def test_what_was_not_done_between_the_dates_is_left_out(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    for day in ("09", "10", "11", "12"):
        make_time_entry(priced_cast, jobId=job["id"], minutes=10, on=f"2026-11-{day}")
    result = perform_report(priced_cast, "jobProfit", basis="range", **{"from": "2026-11-10", "until": "2026-11-11"})
    assert name_rows(result, "worked", "hoursCost") == [{"worked": 20, "hoursCost": "8.00"}]


def test_hours_without_a_cost_are_told(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    set_rates(priced_cast, Role.MEMBER, None, 60)
    for _ in range(2):
        make_time_entry(priced_cast, jobId=job["id"], minutes=10, on="2026-11-16")
    assert [
        note
        for note in perform_report(priced_cast, "jobProfit", basis="range")["notes"]
        if note.startswith("2 time entries are not costed")
    ]


def test_one_customer_s_jobs_can_be_asked_for(priced_cast: Cast) -> None:
    customer = make_customer(priced_cast)
    own, other = make_assigned_job(priced_cast, customerId=customer), make_assigned_job(priced_cast)
    for job in (own, other):
        issue_invoice(priced_cast, make_invoice(priced_cast, jobId=job["id"]))
        make_time_entry(priced_cast, jobId=job["id"], minutes=10, on="2026-11-16")
    assert name_rows(
        perform_report(priced_cast, "jobProfit", basis="range", customerId=customer), "jobId", "worked"
    ) == [{"jobId": own["id"], "worked": 10}]


def test_more_jobs_than_are_asked_for_at_once_have_names(priced_cast: Cast) -> None:
    jobs = [make_assigned_job(priced_cast, title=f"Job {number}") for number in range(101)]
    for job in jobs:
        make_time_entry(priced_cast, jobId=job["id"], minutes=10, on="2026-11-16")
    result = {row["jobId"]: row["job"] for row in name_rows(perform_report(priced_cast, "jobProfit", basis="range"))}
    assert result == {job["id"]: f"{job['number']} {job['title']}" for job in jobs}


NOVEMBER = {"from": "2026-11-01", "until": "2026-11-30"}
OCTOBER = {"from": "2026-10-01", "until": "2026-10-31"}


def list_profits(cast: Cast, *names: str, **given: object) -> list[ReportRow]:
    return name_rows(perform_report(cast, "jobProfit", **given), *names)


def test_a_job_is_told_over_its_whole_life_as_its_own_page_tells_it(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    make_time_entry(priced_cast, jobId=job["id"], minutes=60, on="2026-10-15", status="approved")
    issue_invoice(priced_cast, make_invoice(priced_cast, jobId=job["id"], unbilled=True))
    receive_order(priced_cast, place_order(priced_cast, jobId=job["id"], lines=[PIPE]), "5", on="2026-11-10")
    make_time_entry(priced_cast, jobId=job["id"], minutes=30, on="2026-11-16")
    make_time_entry(priced_cast, jobId=job["id"], minutes=30, on="2026-11-16", status="rejected")
    (result,) = list_profits(priced_cast, **NOVEMBER)
    assert result == {
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
    costing = priced_cast.perform(get_job_costing, jobId=job["id"])
    assert {name: costing[name] for name in ("invoiced", "toInvoice", "margin", "uncosted", "uncostedRevenue")} == {
        name: result[name] for name in ("invoiced", "toInvoice", "margin", "uncosted", "uncostedRevenue")
    }
    assert (costing["cost"], costing["unbilled"]) == ("66.00", "30.00")
    assert [list_profits(priced_cast, "margin", **days) for days in (OCTOBER, NOVEMBER)] == [[{"margin": "54.00"}]] * 2


def test_the_jobs_that_lost_most_come_first(priced_cast: Cast) -> None:
    set_rates(priced_cast, Role.MEMBER, 70, 60)
    losing, earning, unknown = (
        make_assigned_job(priced_cast, title=title) for title in ("Losing", "Earning", "Unknown")
    )
    make_time_entry(priced_cast, jobId=losing["id"], on="2026-11-16")
    receive_order(
        priced_cast,
        place_order(priced_cast, jobId=earning["id"], lines=[PIPE | {"unitPrice": "1"}]),
        "10",
        on="2026-11-16",
    )
    issue_invoice(priced_cast, make_invoice(priced_cast, jobId=earning["id"], lines=[FLUE | {"cost": "10"}]))
    set_rates(priced_cast, Role.MEMBER, None, 60)
    make_time_entry(priced_cast, jobId=unknown["id"], on="2026-11-16")
    result = perform_report(priced_cast, "jobProfit", **NOVEMBER)
    assert name_rows(result, "jobId", "margin", "uncosted", "uncostedRevenue") == [
        {"jobId": losing["id"], "margin": "-10.00", "uncosted": 0, "uncostedRevenue": "0.00"},
        {"jobId": earning["id"], "margin": "71.10", "uncosted": 0, "uncostedRevenue": "0.00"},
        {"jobId": unknown["id"], "margin": None, "uncosted": 1, "uncostedRevenue": "60.00"},
    ]
    assert name_totals(result, "margin") == {"margin": "61.10"}
    assert "The margin of 1 job is unknown, because its costs are incomplete." in result["notes"]


def test_jobs_that_were_finished_then_can_be_asked_for(priced_cast: Cast) -> None:
    running, over, later = (make_assigned_job(priced_cast, title=title) for title in ("Running", "Over", "Later"))
    for job in (running, over, later):
        make_time_entry(priced_cast, jobId=job["id"], on="2026-10-15")
    make_time_entry(priced_cast, jobId=later["id"], on="2026-11-02")
    for job in (over, later):
        priced_cast.perform(change_job_status, jobId=job["id"], status="done")

    def asked(**given: object) -> set[str]:
        return {row["jobId"] for row in list_profits(priced_cast, "jobId", **given)}

    assert asked(**OCTOBER) == {running["id"], over["id"], later["id"]}
    assert asked(jobs="finished", **OCTOBER) == {over["id"]}
    assert asked(jobs="finished", **NOVEMBER) == asked(**NOVEMBER) == {later["id"]}
    assert asked(customerId=over["customerId"], **OCTOBER) == {over["id"]}
    assert asked(customerId=over["customerId"], **NOVEMBER) == set()
    with pytest.raises(Invalid, match=r"^jobs: can't be combined with only the selected dates$"):
        asked(jobs="finished", basis="range")


def test_a_visit_is_work_too(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast, billing="fixed", budget="500")
    visit = make_visit(priced_cast, job["id"], priced_cast.people[Role.MEMBER])
    assert list_profits(priced_cast, "margin", **NOVEMBER) == []
    priced_cast.perform(set_visit_status, visitId=visit, status="started")
    # What it cost is not recorded.
    assert list_profits(priced_cast, "toInvoice", "margin", **NOVEMBER) == [{"toInvoice": "500.00", "margin": None}]
