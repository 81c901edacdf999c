import pytest

from mainstay.business.customers.operations import update_customer
from mainstay.business.jobs.operations import change_job_status, list_jobs, update_job
from mainstay.business.records.history import get_history
from mainstay.business.records.notes import add_note
from mainstay.identity.keys import create_key
from mainstay.vocabulary.permissions import Access, Role
from mainstay.vocabulary.refusal import Invalid, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job
from support.stored_state import actor_with_key, read_trail


def list_operations(cast: Cast, role: Role = Role.OFFICE, **given: object) -> list[str]:
    return [entry["operation"] for entry in cast.perform(get_history, role, **given)["data"]]


def test_what_happened_to_a_record_comes_newest_first_with_who_and_what(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER)
    cast.perform(update_job, Role.ADMIN, jobId=job["id"], priority="high")
    cast.perform(change_job_status, Role.MEMBER, jobId=job["number"], status="done")
    entries = cast.perform(get_history, Role.OFFICE, recordId=job["id"])["data"]
    result = [(entry["operation"], entry["by"]["person"]["name"], entry["given"]) for entry in entries]
    assert result[:2] == [
        ("change_job_status", "Mia Member", {"jobId": "J-0001", "status": "done"}),
        ("update_job", "Adam Admin", {"jobId": job["id"], "priority": "high"}),
    ]
    assert [name for name, *_ in result] == ["change_job_status", "update_job", "create_job"]
    assert entries[0]["records"] == [job["id"]]


def test_each_act_names_the_fields_of_the_record_that_are_different_since(cast: Cast) -> None:
    customer = make_customer(cast)
    job, other = (make_job(cast, customer)["id"] for _ in range(2))
    # Only what differs is named, of this record alone, and what follows from it as well.
    cast.perform(update_job, jobId=job, priority="high", dueOn="2038-03-01", title="A new boiler")
    cast.perform(update_job, jobId=job, priority="high", dueOn="2038-03-01", title="Another boiler")
    cast.perform(change_job_status, jobId=job, status="onHold")
    cast.perform(update_job, jobId=other, priority="low")
    cast.perform(add_note, recordId=job, text="x")
    result = [(entry["operation"], entry["changed"]) for entry in cast.perform(get_history, recordId=job)["data"]]
    assert result == [
        ("add_note", None),
        ("change_job_status", ["status", "stage", "nextAction"]),
        ("update_job", ["title"]),
        ("update_job", ["title", "priority", "dueOn"]),
        ("create_job", None),
    ]
    assert {entry["changed"] for entry in cast.perform(get_history)["data"]} == {None}


def test_what_was_done_through_a_key_is_told_as_such(cast: Cast) -> None:
    customer = make_customer(cast)
    key = cast.perform(create_key, cast.actor(Role.ADMIN), name="Till", access="write")["key"]
    cast.perform(update_customer, actor_with_key(cast, key), customerId=customer, phone="1")
    newest = cast.perform(get_history, recordId=customer)["data"][0]
    assert newest["by"]["via"]["client"]["name"] == "Till"


def test_a_job_is_known_by_its_number_here_too(cast: Cast) -> None:
    make_job(cast, make_customer(cast))
    assert list_operations(cast, recordId="J-0001") == ["create_job"]


def test_page_by_page_every_act_comes_once(cast: Cast) -> None:
    customer = make_customer(cast)
    for number in range(6):
        cast.perform(update_customer, customerId=customer, phone=str(number))
    seen: list[str] = []
    page = cast.perform(get_history, recordId=customer, limit=3)
    while True:
        seen += [entry["id"] for entry in page["data"]]
        if not page["hasMore"]:
            break
        page = cast.perform(get_history, recordId=customer, limit=3, startingAfter=seen[-1])
    assert len({*seen}) == len(seen) == 7
    assert seen == sorted(seen, key=int, reverse=True)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_sees_its_own_acts_alone(cast: Cast, role: Role) -> None:
    job = make_job(cast, make_customer(cast), role, budget="1200.00")["id"]
    cast.perform(add_note, role, recordId=job, text="x")
    cast.perform(update_job, jobId=job, budget="1300.00")
    assert list_operations(cast, role, recordId=job) == ["add_note"]
    assert list_operations(cast, Role.OFFICE, recordId=job) == ["update_job", "add_note", "create_job"]


@pytest.mark.parametrize("role", list(Role))
def test_without_a_record_it_is_what_one_did_oneself(cast: Cast, role: Role) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER, Role.SUBCONTRACTOR)["id"]
    cast.perform(add_note, role, recordId=job, text="x")
    entries = cast.perform(get_history, role, limit=100)["data"]
    assert entries[0]["operation"] == "add_note"
    assert {entry["by"]["person"]["id"] for entry in entries} == {cast.people[role]}
    mine = [entry for entry in read_trail(cast) if (entry["actor"].get("person") or {}).get("id") == cast.people[role]]
    assert len(entries) == len(mine)


def test_secrets_are_hidden(cast: Cast) -> None:
    make_customer(cast)
    entries = cast.perform(get_history, limit=100)["data"]
    assert "a password for the cast" not in str(entries)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_of_what_one_does_not_see_there_is_none(cast: Cast, role: Role) -> None:
    job = make_job(cast, make_customer(cast), role)["id"]
    cast.perform(add_note, role, recordId=job, text="x")
    cast.perform(update_job, jobId=job, assigned=[])
    assert cast.perform(list_jobs, role)["data"] == []
    with pytest.raises(NotFound):
        list_operations(cast, role, recordId=job)


def test_a_stranger_s_record_is_not_found(cast: Cast, other_cast: Cast) -> None:
    for record in (make_customer(other_cast), other_cast.organisation, other_cast.people[Role.OWNER], "x"):
        with pytest.raises(NotFound):
            list_operations(cast, recordId=record)


@pytest.mark.parametrize("wrong", ["x", "-1", "1e3", "1" * 16])
def test_a_place_that_is_none_is_refused(cast: Cast, wrong: str) -> None:
    with pytest.raises(Invalid, match=r"^startingAfter: "):
        list_operations(cast, startingAfter=wrong)


def test_of_a_record_it_goes_on_behind_an_act_of_it_that_is_seen_alone(cast: Cast) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer, Role.MEMBER)["id"]
    cast.perform(add_note, Role.MEMBER, recordId=job, text="x")
    cast.perform(update_customer, customerId=customer, phone="1")
    elsewhere = cast.perform(get_history, recordId=customer)["data"][0]["id"]
    mine, others = (entry["id"] for entry in cast.perform(get_history, recordId=job)["data"])
    assert list_operations(cast, recordId=job, startingAfter=mine) == ["create_job"]
    assert list_operations(cast, recordId=job, startingAfter=others) == []
    assert list_operations(cast, Role.MEMBER, recordId=job, startingAfter=mine) == []
    for role, unknown in ((Role.OFFICE, elsewhere), (Role.OFFICE, "999999"), (Role.MEMBER, others)):
        with pytest.raises(Invalid, match=r"^startingAfter: was not found, start again without it"):
            list_operations(cast, role, recordId=job, startingAfter=unknown)


def test_through_a_read_only_key_it_is_that_of_its_maker(cast: Cast) -> None:
    reader = actor_with_key(cast, cast.make_key(Access.READ, Role.ADMIN))
    assert [entry["operation"] for entry in cast.perform(get_history, reader)["data"]] == ["create_key"]


def test_amounts_are_told_as_they_could_have_been_sent(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))
    cast.perform(update_job, jobId=job["id"], budget="250.5")
    assert cast.perform(get_history, recordId=job["id"])["data"][0]["given"]["budget"] == "250.50"
