from dataclasses import replace

import pytest

from cast import Cast
from labour import at, bill, decide, logged, new_job, price
from mainstay.business.costing.operations import get_job_costing
from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.people.operations import update_person
from mainstay.terms.refusal import Forbidden, NotFound
from mainstay.terms.rights import Role
from ordering import ordered, put_on_invoice, received, to_bill
from recording import RecordingDatabase


@pytest.fixture
def busy(cast: Cast) -> Cast:
    cast = at(cast)
    price(cast, Role.MEMBER, 24, 60)
    return cast


def test_it_is_told_by_job_what_is_to_be_billed(busy: Cast) -> None:
    job = new_job(busy)
    for on, minutes in (("2026-11-10", 50), ("2026-11-12", 61)):
        logged(busy, jobId=job["id"], on=on, minutes=minutes, status="approved")
    (found,) = busy.perform(list_unbilled, Role.OFFICE)["data"]
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
    busy: Cast, rounding: int, billable: int, amount: str
) -> None:
    decide(busy, hours_rounding_minutes=rounding)
    job = new_job(busy)
    for minutes in (50, 61):
        logged(busy, jobId=job["id"], minutes=minutes, on="2026-11-16", status="approved")
    (found,) = busy.perform(list_unbilled)["data"]
    assert (found["minutes"], found["billableMinutes"], found["amount"]) == (111, billable, amount)


def test_what_the_office_says_is_billed_instead_of_the_minutes(busy: Cast) -> None:
    logged(
        busy,
        Role.OFFICE,
        personId=busy.people[Role.MEMBER],
        jobId=new_job(busy)["id"],
        billableMinutes=20,
        status="approved",
    )
    (found,) = busy.perform(list_unbilled)["data"]
    assert (found["minutes"], found["billableMinutes"], found["amount"]) == (60, 20, "20.00")


# Twenty minutes are billed exactly, though an invoice says 0.3333 hours, of which each costs 100.
@pytest.mark.parametrize(("currency", "amount"), [("EUR", "33.33"), ("JPY", "33.00"), ("KWD", "33.333")])
def test_an_amount_is_rounded_to_the_currency(busy: Cast, currency: str, amount: str) -> None:
    decide(busy, currency=currency)
    price(busy, Role.MEMBER, None, 100)
    logged(busy, jobId=new_job(busy)["id"], minutes=20, on="2026-11-16", status="approved")
    assert busy.perform(list_unbilled)["data"][0]["amount"] == amount


def test_a_whole_day_at_the_highest_rate_is_added_up(busy: Cast) -> None:
    highest = {"costRate": "100000000", "billRate": "100000000"}
    busy.perform(update_person, personId=busy.people[Role.MEMBER], **highest)
    job = new_job(busy)
    for on in ("2026-11-14", "2026-11-15"):
        logged(busy, jobId=job["id"], minutes=1440, on=on, status="approved")
    assert busy.perform(list_unbilled)["data"][0]["amount"] == "4800000000.00"
    told = busy.perform(get_job_costing, jobId=job["id"])
    assert (told["cost"], told["value"]) == ("4800000000.00", "4800000000.00")


def test_who_has_no_rate_is_counted_but_not_in_the_amount(busy: Cast) -> None:
    job = new_job(busy)
    logged(busy, Role.SUBCONTRACTOR, jobId=job["id"], status="approved")
    (found,) = busy.perform(list_unbilled)["data"]
    assert (found["amount"], found["withoutRate"], found["minutes"]) == ("0.00", 1, 60)


def test_only_what_is_approved_billable_and_on_no_invoice(busy: Cast) -> None:
    job = new_job(busy)
    for status in ("draft", "submitted", "rejected"):
        logged(busy, jobId=job["id"], status=status)
    logged(busy, jobId=new_job(busy, billing="fixed")["id"], status="approved")
    bill(busy, logged(busy, jobId=job["id"], status="approved")["id"])
    logged(busy, status="approved")
    assert busy.perform(list_unbilled)["data"] == []


def test_the_newest_job_comes_first_and_the_list_goes_on(busy: Cast) -> None:
    jobs = [new_job(busy) for _ in range(3)]
    for job in jobs:
        logged(busy, jobId=job["id"], status="approved")
    first = busy.perform(list_unbilled, limit=2)
    assert ([one["id"] for one in first["data"]], first["hasMore"]) == ([jobs[2]["id"], jobs[1]["id"]], True)
    rest = busy.perform(list_unbilled, limit=2, startingAfter=jobs[1]["id"])
    assert ([one["id"] for one in rest["data"]], rest["hasMore"]) == ([jobs[0]["id"]], False)
    (only,) = busy.perform(list_unbilled, jobId=jobs[0]["number"])["data"]
    assert only["id"] == jobs[0]["id"]


def test_a_customer_s_jobs_are_listed_alone(busy: Cast) -> None:
    one, other = new_job(busy), new_job(busy)
    third = new_job(busy, customerId=one["customerId"])
    for job in (one, other, third):
        logged(busy, jobId=job["id"], status="approved")
    of_customer = {"customerId": one["customerId"]}
    found = busy.perform(list_unbilled, **of_customer)["data"]
    assert [job["id"] for job in found] == [third["id"], one["id"]]
    whole = {job["id"]: job for job in busy.perform(list_unbilled)["data"]}
    assert found == [whole[third["id"]], whole[one["id"]]]
    first = busy.perform(list_unbilled, **of_customer, limit=1)
    assert (first["data"], first["hasMore"]) == (found[:1], True)
    rest = busy.perform(list_unbilled, **of_customer, startingAfter=third["id"])
    assert (rest["data"], rest["hasMore"]) == (found[1:], False)
    assert busy.perform(list_unbilled, **of_customer, jobId=one["id"])["data"] == found[1:]
    assert busy.perform(list_unbilled, **of_customer, jobId=other["id"])["data"] == []


def test_materials_are_told_beside_the_hours_or_by_themselves(busy: Cast) -> None:
    worked, both, bought = (new_job(busy) for _ in range(3))
    for job in (worked, both):
        logged(busy, jobId=job["id"], on="2026-11-12", minutes=60, status="approved")
    for job, on in ((both, "2026-11-10"), (bought, "2026-11-11")):
        received(busy, ordered(busy, jobId=job["id"]), "10", "2", on=on)
    found = busy.perform(list_unbilled)["data"]
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
    first = busy.perform(list_unbilled, limit=2)
    assert (first["data"], first["hasMore"]) == (found[:2], True)
    rest = busy.perform(list_unbilled, limit=2, startingAfter=both["id"])
    assert (rest["data"], rest["hasMore"]) == (found[2:], False)
    assert busy.perform(list_unbilled, customerId=bought["customerId"])["data"] == found[:1]
    assert busy.perform(list_unbilled, jobId=both["id"])["data"] == found[1:2]


def test_materials_on_an_invoice_or_of_a_fixed_price_are_not_told(busy: Cast) -> None:
    job, fixed = new_job(busy), new_job(busy, billing="fixed")
    for one in (job, fixed):
        received(busy, ordered(busy, jobId=one["id"]), "10", on="2026-11-10")
    put_on_invoice(busy, *(one.id for one in to_bill(busy, job)))
    assert busy.perform(list_unbilled)["data"] == []


def test_many_jobs_take_no_more_statements_than_one(busy: Cast) -> None:
    counted = []
    for _ in range(2):
        for _ in range(3):
            logged(busy, jobId=new_job(busy)["id"], status="approved")
        database = RecordingDatabase(busy.stage.database)
        watched = replace(busy, stage=replace(busy.stage, database=database))
        actor = watched.actor(Role.OWNER)
        database.statements.clear()
        watched.perform(list_unbilled, actor)
        counted.append(len(database.statements))
    assert counted[0] == counted[1] == 3


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_is_told_nothing_of_it(busy: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        busy.perform(list_unbilled, role)


def test_another_organisation_s_is_not_there(busy: Cast, stranger: Cast) -> None:
    job = new_job(busy)
    logged(busy, jobId=job["id"], status="approved")
    assert stranger.perform(list_unbilled)["data"] == []
    with pytest.raises(NotFound):
        stranger.perform(list_unbilled, jobId=job["id"])
