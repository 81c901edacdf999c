from typing import Any

import pytest

from business.jobs.test_create_job import EVERY_FIELD
from mainstay.business.jobs.operations import change_job_status, get_job, list_jobs, update_job
from mainstay.business.people.roles import remove_person
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, Invalid, NotFound, Stale
from support.cast import Cast
from support.customers import close_job, make_customer, make_job, make_site
from support.stored_state import list_events_of, read_last_event, to_event_record

DETAILS = {name: value for name, value in EVERY_FIELD.items() if name != "status"}
MAY_BE_EMPTY = ("description", "customerOrderNumber", "budget", "dueOn", "externalRef", "siteId", "leadPersonId")


def test_every_field_can_be_changed_by_id_and_by_number(cast: Cast) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer, title="Mend")
    people = {"leadPersonId": cast.people[Role.OFFICE], "assigned": [cast.people[Role.MEMBER]]}
    site = {"siteId": make_site(cast, customer)}
    changed = cast.perform(update_job, Role.OFFICE, jobId=job["id"], **DETAILS, **people, **site)
    assert {name: changed[name] for name in (*DETAILS, *people, *site)} == DETAILS | people | site
    assert cast.perform(update_job, jobId="j-0001", title="Again")["id"] == job["id"]


def test_an_event_tells_what_it_was_before(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), priority="low")
    changed = cast.perform(update_job, jobId=job["id"], priority="high", title="Replace the boiler")
    event = read_last_event(cast)
    assert event["type"] == "job.updated"
    assert event["data"]["object"] == to_event_record(changed)
    assert event["data"]["previous"] == {"priority": "low"}


def test_what_is_the_same_is_no_change_and_no_event(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), **DETAILS)
    before = len(list_events_of(cast))
    assert cast.perform(update_job, jobId=job["id"], **DETAILS)["version"] == 1
    assert len(list_events_of(cast)) == before


def test_null_clears_and_what_is_left_out_stays(cast: Cast) -> None:
    customer = make_customer(cast)
    given = DETAILS | {"siteId": make_site(cast, customer), "leadPersonId": cast.people[Role.OFFICE]}
    job = make_job(cast, customer, **given)
    for name in MAY_BE_EMPTY:
        assert cast.perform(update_job, jobId=job["id"], **{name: None})[name] is None
    after = cast.perform(get_job, jobId=job["id"])
    assert {name: after[name] for name in given} == given | dict.fromkeys(MAY_BE_EMPTY)
    assert after["siteName"] is after["siteAddress"] is after["leadPersonName"] is None


@pytest.mark.parametrize("name", ["title", "priority", "billing", "assigned", "tags"])
def test_what_must_be_there_cannot_be_cleared(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=f"^{name}: "):
        cast.perform(update_job, jobId=make_job(cast, make_customer(cast))["id"], **{name: None})


@pytest.mark.parametrize("name", ["status", "stage", "number", "customerId"])
def test_what_is_changed_otherwise_is_not_known_here(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=f"^{name}: is not known here$"):
        cast.perform(update_job, jobId=make_job(cast, make_customer(cast))["id"], **{name: "done"})


def test_how_it_is_billed_decides_the_stage_of_what_is_done(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    cast.perform(change_job_status, jobId=job, status="done")
    assert cast.perform(update_job, jobId=job, billing="nonBillable")["stage"] == "paid"
    assert cast.perform(update_job, jobId=job, billing="fixed")["stage"] == "toInvoice"


def test_it_is_found_by_what_is_known_of_it_now(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), tags=["winter"], description="Behind the shed")["id"]
    cast.perform(update_job, jobId=job, title="Mend the roof", tags=["slate"], description=None)

    def found(text: str) -> list[str]:
        return [one["id"] for one in cast.perform(list_jobs, text=text)["data"]]

    assert found("roof slate calder") == [job]
    assert found("boiler") == found("winter") == found("shed") == []


def test_what_is_over_is_reopened_first(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    close_job(cast, job)
    with pytest.raises(Blocked, match=r"^J-0001 is closed\. Reopen it first\.$") as refusal:
        cast.perform(update_job, jobId=job, title="x")
    assert [reason.first for reason in refusal.value.reasons] == ["change_job_status"]
    assert cast.perform(get_job, jobId=job)["availableActions"] == ["change_job_status"]


def test_what_does_not_belong_together_is_refused(cast: Cast, other_cast: Cast) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer)["id"]
    other = make_job(cast, customer, externalRef="X-1")
    theirs: list[tuple[dict[str, Any], str]] = [
        ({"siteId": make_site(cast, make_customer(cast, "Ryburn"))}, "^siteId: belongs to another customer"),
        ({"leadPersonId": other_cast.people[Role.MEMBER]}, "^leadPersonId: is not part of this organisation"),
        ({"assigned": [other_cast.people[Role.MEMBER]]}, "^assigned: is not part of this organisation"),
    ]
    for given, text in theirs:
        with pytest.raises(Invalid, match=text):
            cast.perform(update_job, jobId=job, **given)
    with pytest.raises(Conflict, match="already has the external ID X-1"):
        cast.perform(update_job, jobId=job, externalRef="X-1")
    assert cast.perform(update_job, jobId=other["id"], externalRef="X-1", title="x")["title"] == "x"


def test_who_has_left_may_stay_but_is_not_named_anew(cast: Cast) -> None:
    member, office = cast.people[Role.MEMBER], cast.people[Role.OFFICE]
    customer = make_customer(cast)
    job = make_job(cast, customer, leadPersonId=member, assigned=[member])["id"]
    other = make_job(cast, customer)["id"]
    cast.perform(remove_person, personId=member, confirmed=True)
    same = cast.perform(update_job, jobId=job, title="Roof", leadPersonId=member, assigned=[member, office])
    assert (same["title"], same["leadPersonId"], {*same["assigned"]}) == ("Roof", member, {member, office})
    with pytest.raises(Invalid, match="leadPersonId: is Mia Member, who has left"):
        cast.perform(update_job, jobId=other, leadPersonId=member)
    with pytest.raises(Invalid, match="assigned: is Mia Member, who has left"):
        cast.perform(update_job, jobId=other, assigned=[office, member])


def test_a_change_to_what_has_changed_since_is_refused(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    cast.perform(update_job, jobId=job, title="x")
    with pytest.raises(Stale):
        cast.answer(
            update_job, Role.OFFICE, RequestDetails("r", if_match_versions=frozenset({1})), jobId=job, title="y"
        )


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_changes_none_not_even_its_own(cast: Cast, role: Role) -> None:
    job = make_job(cast, make_customer(cast), role)["id"]
    with pytest.raises(Forbidden):
        cast.perform(update_job, role, jobId=job, title="x")


def test_a_stranger_s_job_is_not_found_by_id_or_number(cast: Cast, other_cast: Cast) -> None:
    job = make_job(other_cast, make_customer(other_cast))
    for name in (job["id"], job["number"]):
        with pytest.raises(NotFound, match=r"^There is no job with that identifier\.$"):
            cast.perform(update_job, jobId=name, title="x")
