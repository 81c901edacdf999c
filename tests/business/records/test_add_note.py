import pytest

from mainstay.business.jobs.operations import get_job
from mainstay.business.records.notes import add_note, list_notes
from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import make_contact, make_customer, make_job, make_site
from support.stored_state import operations_on


def test_it_stands_beside_the_record_with_who_wrote_it(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    note = cast.perform(add_note, Role.OFFICE, recordId=job, text="The key is under the mat.\nRing twice.")
    assert (note["object"], note["recordId"], note["visibility"]) == ("note", job, "field")
    assert note["text"] == "The key is under the mat.\nRing twice."
    # As it was called before.
    assert note["body"] == note["text"]
    assert note["createdBy"]["person"]["name"] == "Orla Office"
    # The record itself stays as it is; its history tells of it.
    assert cast.perform(get_job, jobId=job)["version"] == 1
    assert operations_on(cast, job) == ["create_job", "add_note"]


def test_beside_any_kind_of_record(cast: Cast) -> None:
    customer = make_customer(cast)
    records = [customer, make_site(cast, customer), make_contact(cast, customer), cast.people[Role.MEMBER]]
    for record in records:
        assert cast.perform(add_note, recordId=record, text="x")["recordId"] == record


def test_a_job_is_known_by_its_number_here_too(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))
    assert cast.perform(add_note, recordId="j-0001", text="x")["recordId"] == job["id"]


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_writes_beside_its_own_what_everyone_who_sees_it_reads(cast: Cast, role: Role) -> None:
    job = make_job(cast, make_customer(cast), role)["id"]
    # People who cannot read notes for the office cannot write any either.
    note = cast.perform(add_note, role, recordId=job, text="x", visibility="office")
    assert note["visibility"] == "field"
    assert [found["id"] for found in cast.perform(list_notes, role, recordId=job)["data"]] == [note["id"]]


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_beside_what_one_does_not_see_nothing_is_written(cast: Cast, role: Role) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer)
    for record in (job["id"], job["number"], customer, make_site(cast, customer), make_contact(cast, customer)):
        with pytest.raises(NotFound):
            cast.perform(add_note, role, recordId=record, text="x")


def test_a_subcontractor_writes_nothing_beside_customers_and_other_people(cast: Cast) -> None:
    customer = make_customer(cast)
    make_job(cast, customer, Role.SUBCONTRACTOR)
    for record in (customer, cast.people[Role.MEMBER]):
        with pytest.raises(NotFound):
            cast.perform(add_note, Role.SUBCONTRACTOR, recordId=record, text="x")


def test_a_record_of_a_stranger_or_of_no_kind_is_not_found(cast: Cast, other_cast: Cast) -> None:
    job = make_job(other_cast, make_customer(other_cast))
    for record in (job["id"], "J-0001", other_cast.organisation, "", "x", "note_1", new_id("note"), new_id("org")):
        with pytest.raises(NotFound):
            cast.perform(add_note, recordId=record, text="x")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"text": " "}, "text: is empty"),
        ({"text": "x" * 2001}, "text: is longer than 2000 characters"),
        ({"text": "a\tb"}, "text: contains a tab or another control character"),
        ({"visibility": "all"}, "visibility: is not one of 'office' or 'field'"),
    ],
    ids=["empty", "long", "tab", "visibility"],
)
def test_what_is_wrong_is_told_by_field(cast: Cast, wrong: dict[str, object], text: str) -> None:
    with pytest.raises(Invalid, match=f"^{text}"):
        cast.perform(add_note, **{"recordId": make_customer(cast), "text": "x", **wrong})


def test_a_repeat_with_the_same_key_writes_nothing_twice(cast: Cast) -> None:
    customer = make_customer(cast)
    for _ in range(2):
        cast.answer(add_note, Role.OFFICE, RequestDetails("r", idempotency_key="once"), recordId=customer, text="x")
    assert len(cast.perform(list_notes, recordId=customer)["data"]) == 1


def test_a_lapsed_organisation_writes_none_and_reads_them_all(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.perform(add_note, recordId=customer, text="x")
    cast.lapse()
    with pytest.raises(Lapsed):
        cast.perform(add_note, recordId=customer, text="y")
    assert len(cast.perform(list_notes, recordId=customer)["data"]) == 1
