import pytest

from mainstay.business.records.attachments import list_documents
from mainstay.business.records.notes import add_note, list_notes
from mainstay.business.schedule.operations import list_visits
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job
from support.visits import make_site_job, plan_test_visit


def list_bodies(cast: Cast, role: Role, **given: object) -> list[str]:
    return [note["body"] for note in cast.perform(list_notes, role, **given)["data"]]


def test_the_newest_come_first_page_by_page_and_of_this_record_alone(cast: Cast) -> None:
    customer, other = make_customer(cast), make_customer(cast, "Ryburn")
    notes = [cast.perform(add_note, recordId=customer, text=text) for text in ("one", "two", "three")]
    cast.perform(add_note, recordId=other, text="four")
    assert list_bodies(cast, Role.OFFICE, recordId=customer) == ["three", "two", "one"]
    assert list_bodies(cast, Role.OFFICE, recordId=customer, limit=1, startingAfter=notes[2]["id"]) == ["two"]


def test_a_job_is_known_by_its_number_here_too(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER)
    cast.perform(add_note, recordId=job["id"], text="one")
    assert list_bodies(cast, Role.MEMBER, recordId=job["number"]) == ["one"]


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_reads_what_is_for_the_field(cast: Cast, role: Role) -> None:
    job = make_job(cast, make_customer(cast), role)["id"]
    cast.perform(add_note, recordId=job, text="Pays late.", visibility="office")
    cast.perform(add_note, recordId=job, text="Ring twice.")
    assert list_bodies(cast, Role.OFFICE, recordId=job) == ["Ring twice.", "Pays late."]
    assert list_bodies(cast, Role.OFFICE, recordId=job, visibility="office") == ["Pays late."]
    assert list_bodies(cast, role, recordId=job) == ["Ring twice."]
    # Not even by asking for the others.
    assert list_bodies(cast, role, recordId=job, visibility="office") == ["Ring twice."]


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_notes_beside_what_one_does_not_see_are_not_found(cast: Cast, role: Role) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer)
    for record in (job["id"], job["number"], customer):
        with pytest.raises(NotFound):
            cast.perform(list_notes, role, recordId=record)


def test_a_stranger_s_record_is_not_found(cast: Cast, other_cast: Cast) -> None:
    for record in (make_customer(other_cast), other_cast.organisation, other_cast.people[Role.MEMBER]):
        with pytest.raises(NotFound):
            cast.perform(list_notes, recordId=record)


def test_it_must_be_said_of_which_record(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^recordId: is required: choose a record"):
        cast.perform(list_notes, Role.OFFICE)


def test_beside_a_colleague_s_visit_there_is_nothing_for_those_who_only_see_when_it_is(cast: Cast) -> None:
    job = make_site_job(cast)
    visit = plan_test_visit(cast, Role.OFFICE, jobId=job["id"])
    cast.perform(add_note, recordId=visit["id"], text="The alarm is 9999.")
    assert visit["id"] in {one["id"] for one in cast.perform(list_visits, Role.MEMBER)["data"]}
    for operation, more in ((list_notes, {}), (list_documents, {}), (add_note, {"text": "x"})):
        with pytest.raises(NotFound):
            cast.perform(operation, Role.MEMBER, recordId=visit["id"], **more)
    own = plan_test_visit(cast, Role.MEMBER, jobId=job["id"])
    cast.perform(add_note, Role.MEMBER, recordId=own["id"], text="Done.")
