from dataclasses import replace

import pytest

from mainstay.business.costing.operations import get_job_costing
from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.people.operations import update_person
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, NotFound
from support.cast import Cast
from support.hours import (
    cast_at,
    make_assigned_job,
    make_time_entry,
    mark_entry_billed,
    set_organisation_columns,
    set_rates,
)
from support.purchases import list_billable_materials, place_order, receive_order, set_materials_billed
from support.recorded_statements import RecordingDatabase


@pytest.fixture
def priced_cast(cast: Cast) -> Cast:
    cast = cast_at(cast)
    set_rates(cast, Role.MEMBER, 24, 60)
    return cast


def test_it_is_told_by_job_what_is_to_be_billed(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    for on, minutes in (("2026-11-10", 50), ("2026-11-12", 61)):
        make_time_entry(priced_cast, jobId=job["id"], on=on, minutes=minutes, status="approved")
    (found,) = priced_cast.perform(list_unbilled, Role.OFFICE)["data"]
    assert found == {
        "object": "unbilled",
        "id": job["id"],
        "jobNumber": job["number"],
        "jobTitle": "Replace the boiler",
        "customerId": job["customerId"],
        "customerName": "Ashdown School",
        "entries": 2,
        "minutes": 111,
        "billableMinutes": 111,
        "hoursAmount": "111.00",
        "withoutRate": 0,
        "materials": 0,
        "materialsAmount": "0.00",
        "amount": "111.00",
        "firstOn": "2026-11-10",
        "lastOn": "2026-11-12",
    }


@pytest.mark.parametrize(
    ("rounding", "billable", "amount"), [(0, 111, "111.00"), (6, 120, "120.00"), (15, 135, "135.00")]
)
def test_each_entry_is_rounded_up_as_the_settings_say_and_both_figures_are_told(
    priced_cast: Cast, rounding: int, billable: int, amount: str
) -> None:
    set_organisation_columns(priced_cast, hours_rounding_minutes=rounding)
    job = make_assigned_job(priced_cast)
    for minutes in (50, 61):
        make_time_entry(priced_cast, jobId=job["id"], minutes=minutes, on="2026-11-16", status="approved")
    (found,) = priced_cast.perform(list_unbilled)["data"]
    assert (found["minutes"], found["billableMinutes"], found["amount"]) == (111, billable, amount)


def test_what_the_office_says_is_billed_instead_of_the_minutes(priced_cast: Cast) -> None:
    make_time_entry(
        priced_cast,
        Role.OFFICE,
        personId=priced_cast.people[Role.MEMBER],
        jobId=make_assigned_job(priced_cast)["id"],
        billableMinutes=20,
        status="approved",
    )
    (found,) = priced_cast.perform(list_unbilled)["data"]
    assert (found["minutes"], found["billableMinutes"], found["amount"]) == (60, 20, "20.00")


# Twenty minutes are billed exactly, though an invoice says 0.3333 hours, of which each costs 100.
@pytest.mark.parametrize(("currency", "amount"), [("EUR", "33.33"), ("JPY", "33.00"), ("KWD", "33.333")])
def test_an_amount_is_rounded_to_the_currency(priced_cast: Cast, currency: str, amount: str) -> None:
    set_organisation_columns(priced_cast, currency=currency)
    set_rates(priced_cast, Role.MEMBER, None, 100)
    make_time_entry(
        priced_cast, jobId=make_assigned_job(priced_cast)["id"], minutes=20, on="2026-11-16", status="approved"
    )
    assert priced_cast.perform(list_unbilled)["data"][0]["amount"] == amount


def test_a_whole_day_at_the_highest_rate_is_added_up(priced_cast: Cast) -> None:
    highest = {"costRate": "100000000", "billRate": "100000000"}
    priced_cast.perform(update_person, personId=priced_cast.people[Role.MEMBER], **highest)
    job = make_assigned_job(priced_cast)
    for on in ("2026-11-14", "2026-11-15"):
        make_time_entry(priced_cast, jobId=job["id"], minutes=1440, on=on, status="approved")
    assert priced_cast.perform(list_unbilled)["data"][0]["amount"] == "4800000000.00"
    costing = priced_cast.perform(get_job_costing, jobId=job["id"])
    assert (costing["cost"], costing["value"]) == ("4800000000.00", "4800000000.00")


def test_who_has_no_rate_is_counted_but_not_in_the_amount(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    make_time_entry(priced_cast, Role.SUBCONTRACTOR, jobId=job["id"], status="approved")
    (found,) = priced_cast.perform(list_unbilled)["data"]
    assert (found["amount"], found["withoutRate"], found["minutes"]) == ("0.00", 1, 60)


def test_only_what_is_approved_billable_and_on_no_invoice(priced_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    for status in ("draft", "submitted", "rejected"):
        make_time_entry(priced_cast, jobId=job["id"], status=status)
    make_time_entry(priced_cast, jobId=make_assigned_job(priced_cast, billing="fixed")["id"], status="approved")
    mark_entry_billed(priced_cast, make_time_entry(priced_cast, jobId=job["id"], status="approved")["id"])
    make_time_entry(priced_cast, status="approved")
    assert priced_cast.perform(list_unbilled)["data"] == []


def test_the_newest_job_comes_first_and_the_list_goes_on(priced_cast: Cast) -> None:
    jobs = [make_assigned_job(priced_cast) for _ in range(3)]
    for job in jobs:
        make_time_entry(priced_cast, jobId=job["id"], status="approved")
    first = priced_cast.perform(list_unbilled, limit=2)
    assert ([one["id"] for one in first["data"]], first["hasMore"]) == ([jobs[2]["id"], jobs[1]["id"]], True)
    rest = priced_cast.perform(list_unbilled, limit=2, startingAfter=jobs[1]["id"])
    assert ([one["id"] for one in rest["data"]], rest["hasMore"]) == ([jobs[0]["id"]], False)
    (only,) = priced_cast.perform(list_unbilled, jobId=jobs[0]["number"])["data"]
    assert only["id"] == jobs[0]["id"]


def test_a_customer_s_jobs_are_listed_alone(priced_cast: Cast) -> None:
    one, other = make_assigned_job(priced_cast), make_assigned_job(priced_cast)
    third = make_assigned_job(priced_cast, customerId=one["customerId"])
    for job in (one, other, third):
        make_time_entry(priced_cast, jobId=job["id"], status="approved")
    of_customer = {"customerId": one["customerId"]}
    found = priced_cast.perform(list_unbilled, **of_customer)["data"]
    assert [job["id"] for job in found] == [third["id"], one["id"]]
    whole = {job["id"]: job for job in priced_cast.perform(list_unbilled)["data"]}
    assert found == [whole[third["id"]], whole[one["id"]]]
    first = priced_cast.perform(list_unbilled, **of_customer, limit=1)
    assert (first["data"], first["hasMore"]) == (found[:1], True)
    rest = priced_cast.perform(list_unbilled, **of_customer, startingAfter=third["id"])
    assert (rest["data"], rest["hasMore"]) == (found[1:], False)
    assert priced_cast.perform(list_unbilled, **of_customer, jobId=one["id"])["data"] == found[1:]
    assert priced_cast.perform(list_unbilled, **of_customer, jobId=other["id"])["data"] == []


def test_materials_are_told_beside_the_hours_or_by_themselves(priced_cast: Cast) -> None:
    worked, both, bought = (make_assigned_job(priced_cast) for _ in range(3))
    for job in (worked, both):
        make_time_entry(priced_cast, jobId=job["id"], on="2026-11-12", minutes=60, status="approved")
    for job, on in ((both, "2026-11-10"), (bought, "2026-11-11")):
        receive_order(priced_cast, place_order(priced_cast, jobId=job["id"]), "10", "2", on=on)
    found = priced_cast.perform(list_unbilled)["data"]
    assert [one["id"] for one in found] == [bought["id"], both["id"], worked["id"]]
    names = ("entries", "hoursAmount", "materials", "materialsAmount", "amount", "firstOn", "lastOn")
    assert [tuple(one[name] for name in names) for one in found] == [
        (0, "0.00", 2, "100.00", "100.00", "2026-11-11", "2026-11-11"),
        (1, "60.00", 2, "100.00", "160.00", "2026-11-10", "2026-11-12"),
        (1, "60.00", 0, "0.00", "60.00", "2026-11-12", "2026-11-12"),
    ]
    assert (found[0]["jobNumber"], found[0]["customerName"], found[0]["minutes"]) == (
        bought["number"],
        "Ashdown School",
        0,
    )
    first = priced_cast.perform(list_unbilled, limit=2)
    assert (first["data"], first["hasMore"]) == (found[:2], True)
    rest = priced_cast.perform(list_unbilled, limit=2, startingAfter=both["id"])
    assert (rest["data"], rest["hasMore"]) == (found[2:], False)
    assert priced_cast.perform(list_unbilled, customerId=bought["customerId"])["data"] == found[:1]
    assert priced_cast.perform(list_unbilled, jobId=both["id"])["data"] == found[1:2]


def test_materials_on_an_invoice_or_of_a_fixed_price_are_not_told(priced_cast: Cast) -> None:
    job, fixed = make_assigned_job(priced_cast), make_assigned_job(priced_cast, billing="fixed")
    for one in (job, fixed):
        receive_order(priced_cast, place_order(priced_cast, jobId=one["id"]), "10", on="2026-11-10")
    set_materials_billed(priced_cast, *(one.id for one in list_billable_materials(priced_cast, job)))
    assert priced_cast.perform(list_unbilled)["data"] == []


def test_many_jobs_take_no_more_statements_than_one(priced_cast: Cast) -> None:
    counted = []
    for _ in range(2):
        for _ in range(3):
            make_time_entry(priced_cast, jobId=make_assigned_job(priced_cast)["id"], status="approved")
        database = RecordingDatabase(priced_cast.performer.database)
        watched = replace(priced_cast, performer=replace(priced_cast.performer, database=database))
        actor = watched.actor(Role.OWNER)
        database.statements.clear()
        watched.perform(list_unbilled, actor)
        counted.append(len(database.statements))
    assert counted[0] == counted[1] == 3


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_is_told_nothing_of_it(priced_cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        priced_cast.perform(list_unbilled, role)


def test_another_organisation_s_is_not_there(priced_cast: Cast, other_cast: Cast) -> None:
    job = make_assigned_job(priced_cast)
    make_time_entry(priced_cast, jobId=job["id"], status="approved")
    assert other_cast.perform(list_unbilled)["data"] == []
    with pytest.raises(NotFound):
        other_cast.perform(list_unbilled, jobId=job["id"])
