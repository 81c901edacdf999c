from typing import Any

import pytest

from mainstay.business.costing.operations import get_job_costing
from mainstay.business.hours.timers import start_timer
from mainstay.business.organisation.settings import update_settings
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, NotFound
from support.cast import Cast
from support.hours import (
    cast_at,
    make_assigned_job,
    make_time_entry,
    make_visit,
    mark_entry_billed,
    set_organisation_columns,
    set_rates,
)
from support.invoices import BOILER, FLUE, credit_issued, issue_invoice, make_invoice, sum_amounts, void_issued
from support.prices import make_price_item, make_tax_rate
from support.purchases import list_billable_materials, make_bill, place_order, receive_order, set_materials_billed
from support.quotes import make_default_tax_rate
from support.webhooks import set_columns


@pytest.fixture
def priced_cast(cast: Cast) -> Cast:
    cast = cast_at(cast)
    set_rates(cast, Role.MEMBER, 24, 60)
    return cast


def test_a_job_without_hours_costs_nothing(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    costing = priced_cast.perform(get_job_costing, Role.OFFICE, jobId=job["number"])
    assert costing == {
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


def test_hours_are_told_by_state_with_what_they_cost_and_bring(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    for status in ("draft", "submitted", "approved", "approved", "rejected"):
        entry = make_time_entry(priced_cast, jobId=job["id"], status=status)
    mark_entry_billed(priced_cast, make_time_entry(priced_cast, jobId=job["id"], status="approved")["id"])
    priced_cast.perform(start_timer, Role.MEMBER, jobId=job["id"])
    costing = priced_cast.perform(get_job_costing, jobId=job["id"])
    assert entry["id"]
    assert [(one["status"], one["entries"], one["minutes"]) for one in costing["hours"]] == [
        ("approved", 3, 180),
        ("draft", 1, 60),
        ("rejected", 1, 60),
        ("submitted", 1, 60),
    ]
    assert costing["hours"][0] | {"status": ""} == {
        "status": "",
        "entries": 3,
        "minutes": 180,
        "cost": "72.00",
        "value": "180.00",
        "withoutRate": 0,
    }
    assert (costing["workedMinutes"], costing["cost"], costing["value"]) == (300, "120.00", "300.00")
    # One is marked as billed here, and on no invoice.
    assert (costing["unbilled"], costing["toInvoice"], costing["margin"]) == ("120.00", "240.00", "120.00")


def test_materials_cost_and_bring_as_well(priced_cast: Cast) -> None:
    priced_cast.perform(update_settings, materialsMarkupPercent=50)
    job = make_assigned_job(priced_cast)
    make_time_entry(priced_cast, jobId=job["id"])
    order = receive_order(priced_cast, place_order(priced_cast, jobId=job["id"]), "10", "2", on="2026-11-10")
    costing = priced_cast.perform(get_job_costing, jobId=job["id"])
    assert costing["materials"] == {"lines": 2, "cost": "100.00", "value": "150.00"}
    assert (costing["cost"], costing["value"], costing["unbilled"], costing["margin"]) == (
        "124.00",
        "210.00",
        "150.00",
        "86.00",
    )
    # Dearer on the bill than on the order: that is what it cost, and what was received counts no more.
    line = {"orderLineId": order["lines"][0]["id"], "unitPrice": "8"}
    make_bill(priced_cast, purchaseOrderId=order["id"], lines=[line], total="80")
    costing = priced_cast.perform(get_job_costing, jobId=job["id"])
    assert (costing["materials"]["cost"], costing["materials"]["value"]) == ("120.00", "180.00")
    set_materials_billed(priced_cast, *(one.id for one in list_billable_materials(priced_cast, job)))
    costing = priced_cast.perform(get_job_costing, jobId=job["id"])
    assert (costing["value"], costing["unbilled"]) == ("240.00", "0.00")


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
    priced_cast: Cast, billing: str, budget: str | None, margin: str | None
) -> None:
    job = make_assigned_job(priced_cast, billing=billing, budget=budget)
    make_time_entry(priced_cast, jobId=job["id"])
    assert priced_cast.perform(get_job_costing, jobId=job["id"])["margin"] == margin


def test_the_value_is_rounded_as_when_billing_and_the_cost_is_not(priced_cast: Cast) -> None:
    set_organisation_columns(priced_cast, hours_rounding_minutes=15)
    job = make_assigned_job(priced_cast)
    make_time_entry(priced_cast, jobId=job["id"], on="2026-11-16", minutes=50)
    costing = priced_cast.perform(get_job_costing, jobId=job["id"])
    assert (costing["cost"], costing["value"]) == ("20.00", "60.00")


def test_what_is_planned_is_told(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    for role in (Role.MEMBER, Role.OFFICE):
        make_visit(priced_cast, job["id"], priced_cast.people[role])
    assert priced_cast.perform(get_job_costing, jobId=job["id"])["plannedMinutes"] == 240


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_is_told_nothing_of_it(priced_cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        priced_cast.perform(get_job_costing, role, jobId=make_assigned_job(priced_cast)["id"])


def test_another_organisation_s_job_is_not_found(priced_cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        other_cast.perform(get_job_costing, jobId=make_assigned_job(priced_cast)["id"])


def test_where_prices_are_told_with_tax_value_and_margin_are_before_it(priced_cast: Cast) -> None:
    make_default_tax_rate(priced_cast)
    set_organisation_columns(priced_cast, prices_include_tax=1)
    set_rates(priced_cast, Role.MEMBER, 50, 60)
    job = make_assigned_job(priced_cast)
    make_time_entry(priced_cast, jobId=job["id"], status="approved")
    make_bill(priced_cast, jobId=job["id"], lines=[{"description": "Valve", "unitPrice": "100"}], total="120")
    before = priced_cast.perform(get_job_costing, jobId=job["id"])
    assert (before["cost"], before["value"], before["unbilled"]) == ("150.00", "150.00", "150.00")
    assert (before["hours"][0]["value"], before["materials"]["value"]) == ("50.00", "100.00")
    invoice = issue_invoice(priced_cast, make_invoice(priced_cast, jobId=job["id"], unbilled=True))
    after = priced_cast.perform(get_job_costing, jobId=job["id"])
    assert invoice["margin"] == before["margin"] == after["margin"] == "0.00"
    assert (invoice["net"], after["unbilled"]) == (before["unbilled"], "0.00")


def test_what_is_unbilled_is_to_the_cent_what_the_invoice_says_before_tax(priced_cast: Cast) -> None:
    make_default_tax_rate(priced_cast, "19")
    set_organisation_columns(priced_cast, prices_include_tax=1)
    reduced = make_tax_rate(priced_cast, "VAT 7 %", components=[{"name": "VAT", "percent": "7"}])
    exempt = make_tax_rate(priced_cast, "Exempt", category="exempt", components=[{"name": "VAT", "percent": "0"}])
    job = make_assigned_job(priced_cast)
    for day, minutes in ((10, 7), (11, 20), (12, 59)):
        make_time_entry(priced_cast, jobId=job["id"], on=f"2026-11-{day}", minutes=minutes, status="approved")
    sold = [("0.99", None), ("10.01", reduced), ("33.33", reduced), ("5.55", exempt)]
    items = [make_price_item(priced_cast, sellPrice=sell, costPrice="1", taxRateId=rate) for sell, rate in sold]
    receive_order(
        priced_cast,
        place_order(priced_cast, jobId=job["id"], lines=[{"itemId": item} for item in items]),
        *["1"] * len(items),
    )
    costing = priced_cast.perform(get_job_costing, jobId=job["id"])
    assert (
        costing["value"]
        == costing["unbilled"]
        == sum_amounts(costing["hours"][0]["value"], costing["materials"]["value"])
    )
    assert costing["unbilled"] == make_invoice(priced_cast, jobId=job["id"], unbilled=True)["net"]


def test_rejected_hours_are_told_before_tax_and_count_for_nothing(priced_cast: Cast) -> None:
    make_default_tax_rate(priced_cast)
    set_organisation_columns(priced_cast, prices_include_tax=1)
    job = make_assigned_job(priced_cast)
    for status in ("approved", "rejected"):
        make_time_entry(priced_cast, jobId=job["id"], status=status)
    costing = priced_cast.perform(get_job_costing, jobId=job["id"])
    assert [(one["status"], one["value"]) for one in costing["hours"]] == [("approved", "50.00"), ("rejected", "50.00")]
    assert (costing["value"], costing["unbilled"], costing["margin"]) == ("50.00", "50.00", "26.00")


def margin_of(cast: Cast, job: dict[str, Any], *names: str) -> list[Any]:
    costing = cast.perform(get_job_costing, jobId=job["id"])
    return [costing[name] for name in ("margin", "uncosted", "uncostedRevenue", *names)]


def test_hours_and_lines_without_a_cost_are_not_profit(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    make_time_entry(priced_cast, jobId=job["id"], status="approved")
    set_rates(priced_cast, Role.MEMBER, None, 60)
    make_time_entry(priced_cast, jobId=job["id"], on="2026-11-15", status="approved")
    assert margin_of(priced_cast, job) == ["36.00", 1, "60.00"]
    invoice = make_invoice(priced_cast, jobId=job["id"], unbilled=True)
    assert margin_of(priced_cast, job, "toInvoice") == ["36.00", 1, "60.00", "120.00"]
    issue_invoice(priced_cast, invoice)
    assert margin_of(priced_cast, job, "invoiced", "toInvoice") == ["36.00", 1, "60.00", "120.00", "0.00"]
    # A line of the price list has its cost, and another line none.
    issue_invoice(priced_cast, make_invoice(priced_cast, jobId=job["id"], lines=[BOILER, FLUE]))
    assert margin_of(priced_cast, job, "otherCost", "cost") == ["336.00", 2, "151.10", "700.00", "24.00"]


def test_where_no_revenue_has_a_known_cost_there_is_no_margin(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    issue_invoice(priced_cast, make_invoice(priced_cast, jobId=job["id"], lines=[FLUE]))
    assert margin_of(priced_cast, job) == [None, 1, "91.10"]
    free = make_assigned_job(priced_cast, billing="nonBillable")
    set_rates(priced_cast, Role.MEMBER, None, 60)
    make_time_entry(priced_cast, jobId=free["id"])
    assert margin_of(priced_cast, free) == [None, 1, "0.00"]


def test_a_fixed_price_covers_what_is_recorded(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast, billing="fixed", budget="500")
    assert margin_of(priced_cast, job, "toInvoice") == [None, 0, "0.00", "500.00"]
    make_time_entry(priced_cast, jobId=job["id"])
    issue_invoice(priced_cast, make_invoice(priced_cast, jobId=job["id"], lines=[FLUE]))
    assert margin_of(priced_cast, job, "invoiced", "toInvoice") == ["476.00", 0, "0.00", "91.10", "408.90"]
    for status in ("done", "closed"):
        set_columns(priced_cast, "job", job["id"], status=status)
    # What is closed is invoiced no further.
    assert margin_of(priced_cast, job, "toInvoice") == ["67.10", 0, "0.00", "0.00"]


def test_what_is_credited_or_void_brings_nothing(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    make_time_entry(priced_cast, jobId=job["id"], status="approved")
    credit_issued(
        priced_cast, issue_invoice(priced_cast, make_invoice(priced_cast, jobId=job["id"], lines=[BOILER, FLUE]))
    )
    void_issued(priced_cast, issue_invoice(priced_cast, make_invoice(priced_cast, jobId=job["id"], lines=[BOILER])))
    assert margin_of(priced_cast, job, "invoiced", "otherCost") == ["36.00", 0, "0.00", "0.00", "0.00"]
