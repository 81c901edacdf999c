from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mainstay.business.customers.operations import archive_customer
from mainstay.business.customers.sites_and_contacts import save_site
from mainstay.business.jobs.operations import create_job, get_job, list_jobs
from mainstay.business.people.operations import invite_person
from mainstay.business.people.roles import remove_person
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job, make_site
from support.stored_state import list_events_of, operations_on, read_last_event, to_event_record

RACERS = 12
EVERY_FIELD: dict[str, Any] = {
    "title": "Replace the boiler",
    "description": "The key is with the neighbour.",
    "status": "enquiry",
    "priority": "urgent",
    "billing": "fixed",
    "customerOrderNumber": "PO 7",
    "budget": "1200.00",
    "dueOn": "2026-11-27",
    "tags": ["boiler", "winter"],
    "externalRef": "X-1",
}


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_everything_that_is_said_of_it_is_kept(cast: Cast, role: Role) -> None:
    customer = make_customer(cast)
    site = make_site(cast, customer, name="The mill")
    lead, member = cast.people[Role.OFFICE], cast.people[Role.MEMBER]
    people: dict[str, Any] = {"leadPersonId": lead, "assigned": [member]}
    made = cast.perform(create_job, role, customerId=customer, siteId=site, **people, **EVERY_FIELD)
    assert {name: made[name] for name in (*EVERY_FIELD, *people)} == EVERY_FIELD | people
    assert (made["customerName"], made["siteName"], made["leadPersonName"]) == (
        "Calder Property",
        "The mill",
        "Orla Office",
    )
    assert made["siteAddress"]["postalCode"] == "HX6 2AG"
    assert (made["stage"], made["nextAction"]) == ("enquiry", "Send a quote or start the job")
    assert to_event_record(cast.perform(get_job, jobId=made["id"])) == to_event_record(made)
    assert operations_on(cast, made["id"]) == ["create_job"]


def test_a_customer_and_a_title_are_enough(cast: Cast) -> None:
    made = cast.perform(create_job, customerId=make_customer(cast), title="Mend the leak")
    assert (made["status"], made["priority"], made["billing"]) == ("open", "normal", "timeAndMaterials")
    assert (made["stage"], made["nextAction"]) == ("toSchedule", "Plan a visit")
    assert made["url"].endswith(f"/jobs/{made['id']}")
    assert made["availableActions"] == ["update_job", "change_job_status", "cancel_job"]


def test_the_customer_s_only_site_is_taken_and_that_is_said(cast: Cast) -> None:
    customer = make_customer(cast)
    # One that is archived, or another customer's, is none to choose from.
    cast.perform(save_site, siteId=make_site(cast, customer, name="Old mill"), status="archived")
    make_site(cast, make_customer(cast, "Bystander"))
    site = make_site(cast, customer, name="The mill")
    made = cast.perform(create_job, customerId=customer, title="Mend the leak")
    assert (made["siteId"], made["siteAddress"]["line1"]) == (site, "2 Weir Lane")
    assert made["warnings"] == ["The job is at The mill, the only site of Calder Property."]
    made = cast.perform(create_job, customerId=customer, title="Mend the leak", siteId=None)
    assert (made["siteId"], "warnings" in made) == (None, False)


def test_of_several_sites_none_is_taken_and_that_is_warned_of(cast: Cast) -> None:
    customer = make_customer(cast)
    for name in ("The mill", "The barn"):
        make_site(cast, customer, name=name)
    made = cast.perform(create_job, customerId=customer, title="Mend the leak")
    assert made["siteId"] is None
    message = "Calder Property has several sites, so the job has none yet. Choose one. list_sites shows them, and"
    assert made["warnings"] == [f"{message} update_job sets siteId."]
    assert "warnings" not in cast.perform(create_job, customerId=make_customer(cast, "Other"), title="Mend the leak")


def test_an_event_tells_of_it_as_it_is(cast: Cast) -> None:
    made = make_job(cast, make_customer(cast), budget="1200.00")
    event = read_last_event(cast)
    assert event["type"] == "job.created"
    assert event["data"] == {"object": to_event_record(made), "previous": {}}


def test_each_gets_the_next_number_and_one_that_was_refused_takes_none(cast: Cast, other_cast: Cast) -> None:
    customer = make_customer(cast)
    assert make_job(cast, customer)["number"] == "J-0001"
    with pytest.raises(Invalid):
        make_job(cast, customer, title="")
    with pytest.raises(NotFound):
        make_job(cast, make_customer(other_cast))
    assert make_job(cast, customer)["number"] == "J-0002"
    assert make_job(other_cast, make_customer(other_cast))["number"] == "J-0001"


def test_however_many_at_once_no_number_is_given_twice(cast: Cast) -> None:
    customer, actor = make_customer(cast), cast.actor(Role.OFFICE)
    with ThreadPoolExecutor(RACERS) as racers:
        made = list(
            racers.map(lambda n: cast.perform(create_job, actor, customerId=customer, title=f"Job {n}"), range(RACERS))
        )
    assert sorted(job["number"] for job in made) == [f"J-{number:04}" for number in range(1, RACERS + 1)]


def test_a_series_goes_on_as_the_organisation_says(cast: Cast) -> None:
    customer = make_customer(cast)
    make_job(cast, customer)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        # Prefix and padding are settings; only "next" must never go back.
        db.run("UPDATE number_series SET prefix = 'W', padding = 6, next = 9999 WHERE organisation_id = :organisation")
    assert [make_job(cast, customer)["number"] for _ in range(2)] == ["W009999", "W010000"]


def test_a_repeat_with_the_same_key_makes_nothing_twice(cast: Cast) -> None:
    customer = make_customer(cast)
    answers = [
        cast.answer(
            create_job, Role.OFFICE, RequestDetails("r", idempotency_key="once"), customerId=customer, title="Mend"
        )
        for _ in range(2)
    ]
    assert answers[0].body == answers[1].body
    assert len(cast.perform(list_jobs)["data"]) == 1
    assert [event["type"] for event in list_events_of(cast)].count("job.created") == 1
    assert make_job(cast, customer)["number"] == "J-0002"


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"title": ""}, "title: is empty"),
        ({"title": None}, "title: is not text"),
        ({"status": "done"}, "status: is not one of 'enquiry' or 'open'"),
        ({"priority": "soon"}, "priority: is not one of 'low', 'normal', 'high' or 'urgent'"),
        ({"billing": "free"}, "billing: is not one of 'fixed', 'timeAndMaterials' or 'nonBillable'"),
        ({"dueOn": "27.11.2026"}, "dueOn: is not a date such as 2026-11-15"),
        ({"budget": "-1"}, "budget: is not a number such as 85.50"),
        ({"budget": "1e3"}, "budget: is not a number such as 85.50"),
        ({"customerId": "J-0001"}, "customerId: is not the id of a customer"),
        ({"siteId": "customer_1"}, "siteId: is not the id of a site"),
        ({"leadPersonId": "Tom"}, "leadPersonId: is not the id of a person"),
        ({"assigned": ["Tom"]}, "assigned.0: is not the id of a person"),
        ({"assigned": None}, "assigned: is not a list"),
        ({"number": "J-7"}, "number: is not known here"),
        ({"stage": "paid"}, "stage: is not known here"),
    ],
)
def test_what_is_wrong_is_told_by_field(cast: Cast, wrong: dict[str, object], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        make_job(cast, make_customer(cast), **wrong)
    assert refusal.value.text.startswith(text)


def test_a_site_of_another_customer_is_refused(cast: Cast, other_cast: Cast) -> None:
    site = make_site(cast, make_customer(cast, "Ryburn"))
    with pytest.raises(Invalid, match=r"^siteId: belongs to another customer, list_sites shows this customer's sites$"):
        make_job(cast, make_customer(cast), siteId=site)
    with pytest.raises(NotFound, match="no site"):
        make_job(cast, make_customer(cast), siteId=make_site(other_cast, make_customer(other_cast)))


@pytest.mark.parametrize("field", ["leadPersonId", "assigned"])
def test_only_people_who_are_here_work_on_it(cast: Cast, other_cast: Cast, field: str) -> None:
    def given(person: str) -> dict[str, object]:
        return {field: [person] if field == "assigned" else person}

    customer = make_customer(cast)
    invited = cast.perform(invite_person, name="Nina New", email="nina@new.example", role="member")["id"]
    assert make_job(cast, customer, **given(invited))
    with pytest.raises(Invalid, match=f"^{field}: is not part of this organisation, list_people shows who is active$"):
        make_job(cast, customer, **given(other_cast.people[Role.MEMBER]))
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    with pytest.raises(Invalid, match=f"^{field}: is Mia Member, who has left, list_people shows who is active$"):
        make_job(cast, customer, **given(cast.people[Role.MEMBER]))


def test_for_an_archived_customer_there_is_none(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.perform(archive_customer, customerId=customer)
    with pytest.raises(Blocked, match=r"is archived\. Restore the customer first\.") as refusal:
        make_job(cast, customer)
    assert [reason.first for reason in refusal.value.reasons] == ["restore_customer"]


def test_no_two_share_a_reference_of_another_system(cast: Cast) -> None:
    customer = make_customer(cast)
    make_job(cast, customer, externalRef="X-1")
    with pytest.raises(Conflict, match=r"^J-0001 Replace the boiler already has the external ID X-1\. Change it there"):
        make_job(cast, customer, externalRef="X-1")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_makes_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(create_job, role, customerId=make_customer(cast), title="Mend")


def test_a_lapsed_organisation_makes_none(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.lapse()
    with pytest.raises(Lapsed):
        cast.perform(create_job, customerId=customer, title="Mend")
