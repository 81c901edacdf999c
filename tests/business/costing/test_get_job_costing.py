from typing import Any

import pytest

from billing import BOILER, FLUE, an_invoice, credited, issued, together, voided
from cast import Cast
from labour import at, bill, decide, logged, new_job, new_visit, price
from mainstay.business.costing.operations import get_job_costing
from mainstay.business.hours.timers import start_timer
from mainstay.business.organisation.settings import update_settings
from mainstay.terms.refusal import Forbidden, NotFound
from mainstay.terms.rights import Role
from ordering import a_bill, ordered, put_on_invoice, received, to_bill
from quoting import usual_tax
from telling import set_columns
from wares import a_rate, an_item


@pytest.fixture
def busy(cast: Cast) -> Cast:
    cast = at(cast)
    price(cast, Role.MEMBER, 24, 60)
    return cast


def test_a_job_without_hours_costs_nothing(busy: Cast) -> None:
    job = new_job(busy)
    told = busy.perform(get_job_costing, Role.OFFICE, jobId=job["number"])
    assert told == {
        "object": "jobCosting",
        "id": job["id"],
        "jobNumber": job["number"],
        "jobTitle": "Replace the boiler",
        "billing": "timeAndMaterials",
        "currency": "GBP",
        "budget": None,
        "plannedMinutes": 0,
        "workedMinutes": 0,
        "hours": [],
        "materials": {"lines": 0, "cost": "0.00", "value": "0.00"},
        "otherCost": "0.00",
        "cost": "0.00",
        "value": "0.00",
        "unbilled": "0.00",
        "invoiced": "0.00",
        "toInvoice": "0.00",
        "margin": "0.00",
        "uncosted": 0,
        "uncostedRevenue": "0.00",
    }


def test_hours_are_told_by_state_with_what_they_cost_and_bring(busy: Cast) -> None:
    job = new_job(busy)
    for status in ("draft", "submitted", "approved", "approved", "rejected"):
        entry = logged(busy, jobId=job["id"], status=status)
    bill(busy, logged(busy, jobId=job["id"], status="approved")["id"])
    busy.perform(start_timer, Role.MEMBER, jobId=job["id"])
    told = busy.perform(get_job_costing, jobId=job["id"])
    assert entry["id"]
    assert [(one["status"], one["entries"], one["minutes"]) for one in told["hours"]] == [
        ("approved", 3, 180),
        ("draft", 1, 60),
        ("rejected", 1, 60),
        ("submitted", 1, 60),
    ]
    assert told["hours"][0] | {"status": ""} == {
        "status": "",
        "entries": 3,
        "minutes": 180,
        "cost": "72.00",
        "value": "180.00",
        "withoutRate": 0,
    }
    assert (told["workedMinutes"], told["cost"], told["value"]) == (300, "120.00", "300.00")
    # One is marked as billed here, and on no invoice.
    assert (told["unbilled"], told["toInvoice"], told["margin"]) == ("120.00", "240.00", "120.00")


def test_materials_cost_and_bring_as_well(busy: Cast) -> None:
    busy.perform(update_settings, materialsMarkupPercent=50)
    job = new_job(busy)
    logged(busy, jobId=job["id"])
    order = received(busy, ordered(busy, jobId=job["id"]), "10", "2", on="2026-11-10")
    told = busy.perform(get_job_costing, jobId=job["id"])
    assert told["materials"] == {"lines": 2, "cost": "100.00", "value": "150.00"}
    assert (told["cost"], told["value"], told["unbilled"], told["margin"]) == ("124.00", "210.00", "150.00", "86.00")
    # Dearer on the bill than on the order: that is what it cost, and what was received counts no more.
    line = {"orderLineId": order["lines"][0]["id"], "unitPrice": "8"}
    a_bill(busy, purchaseOrderId=order["id"], lines=[line], total="80")
    told = busy.perform(get_job_costing, jobId=job["id"])
    assert (told["materials"]["cost"], told["materials"]["value"]) == ("120.00", "180.00")
    put_on_invoice(busy, *(one.id for one in to_bill(busy, job)))
    told = busy.perform(get_job_costing, jobId=job["id"])
    assert (told["value"], told["unbilled"]) == ("240.00", "0.00")


@pytest.mark.parametrize(
    ("billing", "budget", "margin"),
    [
        ("fixed", "500", "476.00"),
        ("fixed", None, None),
        ("nonBillable", "500", "-24.00"),
        ("timeAndMaterials", "500", "36.00"),
    ],
)
def test_the_margin_is_that_of_how_the_job_is_billed(
    busy: Cast, billing: str, budget: str | None, margin: str | None
) -> None:
    job = new_job(busy, billing=billing, budget=budget)
    logged(busy, jobId=job["id"])
    assert busy.perform(get_job_costing, jobId=job["id"])["margin"] == margin


def test_the_value_is_rounded_as_when_billing_and_the_cost_is_not(busy: Cast) -> None:
    decide(busy, hours_rounding_minutes=15)
    job = new_job(busy)
    logged(busy, jobId=job["id"], on="2026-11-16", minutes=50)
    told = busy.perform(get_job_costing, jobId=job["id"])
    assert (told["cost"], told["value"]) == ("20.00", "60.00")


def test_what_is_planned_is_told(busy: Cast) -> None:
    job = new_job(busy)
    for role in (Role.MEMBER, Role.OFFICE):
        new_visit(busy, job["id"], busy.people[role])
    assert busy.perform(get_job_costing, jobId=job["id"])["plannedMinutes"] == 240


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_is_told_nothing_of_it(busy: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        busy.perform(get_job_costing, role, jobId=new_job(busy)["id"])


def test_another_organisation_s_job_is_not_found(busy: Cast, stranger: Cast) -> None:
    with pytest.raises(NotFound):
        stranger.perform(get_job_costing, jobId=new_job(busy)["id"])


def test_where_prices_are_told_with_tax_value_and_margin_are_before_it(busy: Cast) -> None:
    usual_tax(busy)
    decide(busy, prices_include_tax=1)
    price(busy, Role.MEMBER, 50, 60)
    job = new_job(busy)
    logged(busy, jobId=job["id"], status="approved")
    a_bill(busy, jobId=job["id"], lines=[{"description": "Valve", "unitPrice": "100"}], total="120")
    before = busy.perform(get_job_costing, jobId=job["id"])
    assert (before["cost"], before["value"], before["unbilled"]) == ("150.00", "150.00", "150.00")
    assert (before["hours"][0]["value"], before["materials"]["value"]) == ("50.00", "100.00")
    invoice = issued(busy, an_invoice(busy, jobId=job["id"], unbilled=True))
    after = busy.perform(get_job_costing, jobId=job["id"])
    assert invoice["margin"] == before["margin"] == after["margin"] == "0.00"
    assert (invoice["net"], after["unbilled"]) == (before["unbilled"], "0.00")


def test_what_is_unbilled_is_to_the_cent_what_the_invoice_says_before_tax(busy: Cast) -> None:
    usual_tax(busy, "19")
    decide(busy, prices_include_tax=1)
    reduced = a_rate(busy, "VAT 7 %", components=[{"name": "VAT", "percent": "7"}])
    exempt = a_rate(busy, "Exempt", category="exempt", components=[{"name": "VAT", "percent": "0"}])
    job = new_job(busy)
    for day, minutes in ((10, 7), (11, 20), (12, 59)):
        logged(busy, jobId=job["id"], on=f"2026-11-{day}", minutes=minutes, status="approved")
    sold = [("0.99", None), ("10.01", reduced), ("33.33", reduced), ("5.55", exempt)]
    items = [an_item(busy, sellPrice=sell, costPrice="1", taxRateId=rate) for sell, rate in sold]
    received(busy, ordered(busy, jobId=job["id"], lines=[{"itemId": item} for item in items]), *["1"] * len(items))
    told = busy.perform(get_job_costing, jobId=job["id"])
    assert told["value"] == told["unbilled"] == together(told["hours"][0]["value"], told["materials"]["value"])
    assert told["unbilled"] == an_invoice(busy, jobId=job["id"], unbilled=True)["net"]


def test_rejected_hours_are_told_before_tax_and_count_for_nothing(busy: Cast) -> None:
    usual_tax(busy)
    decide(busy, prices_include_tax=1)
    job = new_job(busy)
    for status in ("approved", "rejected"):
        logged(busy, jobId=job["id"], status=status)
    told = busy.perform(get_job_costing, jobId=job["id"])
    assert [(one["status"], one["value"]) for one in told["hours"]] == [("approved", "50.00"), ("rejected", "50.00")]
    assert (told["value"], told["unbilled"], told["margin"]) == ("50.00", "50.00", "26.00")


def margin(cast: Cast, job: dict[str, Any], *names: str) -> list[Any]:
    told = cast.perform(get_job_costing, jobId=job["id"])
    return [told[name] for name in ("margin", "uncosted", "uncostedRevenue", *names)]


def test_hours_and_lines_without_a_cost_are_not_profit(busy: Cast) -> None:
    job = new_job(busy)
    logged(busy, jobId=job["id"], status="approved")
    price(busy, Role.MEMBER, None, 60)
    logged(busy, jobId=job["id"], on="2026-11-15", status="approved")
    assert margin(busy, job) == ["36.00", 1, "60.00"]
    invoice = an_invoice(busy, jobId=job["id"], unbilled=True)
    assert margin(busy, job, "toInvoice") == ["36.00", 1, "60.00", "120.00"]
    issued(busy, invoice)
    assert margin(busy, job, "invoiced", "toInvoice") == ["36.00", 1, "60.00", "120.00", "0.00"]
    # A line of the price list has its cost, and another line none.
    issued(busy, an_invoice(busy, jobId=job["id"], lines=[BOILER, FLUE]))
    assert margin(busy, job, "otherCost", "cost") == ["336.00", 2, "151.10", "700.00", "24.00"]


def test_where_no_revenue_has_a_known_cost_there_is_no_margin(busy: Cast) -> None:
    job = new_job(busy)
    issued(busy, an_invoice(busy, jobId=job["id"], lines=[FLUE]))
    assert margin(busy, job) == [None, 1, "91.10"]
    free = new_job(busy, billing="nonBillable")
    price(busy, Role.MEMBER, None, 60)
    logged(busy, jobId=free["id"])
    assert margin(busy, free) == [None, 1, "0.00"]


def test_a_fixed_price_covers_what_is_recorded(busy: Cast) -> None:
    job = new_job(busy, billing="fixed", budget="500")
    assert margin(busy, job, "toInvoice") == [None, 0, "0.00", "500.00"]
    logged(busy, jobId=job["id"])
    issued(busy, an_invoice(busy, jobId=job["id"], lines=[FLUE]))
    assert margin(busy, job, "invoiced", "toInvoice") == ["476.00", 0, "0.00", "91.10", "408.90"]
    for status in ("done", "closed"):
        set_columns(busy, "job", job["id"], status=status)
    # What is closed is invoiced no further.
    assert margin(busy, job, "toInvoice") == ["67.10", 0, "0.00", "0.00"]


def test_what_is_credited_or_void_brings_nothing(busy: Cast) -> None:
    job = new_job(busy)
    logged(busy, jobId=job["id"], status="approved")
    credited(busy, issued(busy, an_invoice(busy, jobId=job["id"], lines=[BOILER, FLUE])))
    voided(busy, issued(busy, an_invoice(busy, jobId=job["id"], lines=[BOILER])))
    assert margin(busy, job, "invoiced", "otherCost") == ["36.00", 0, "0.00", "0.00", "0.00"]
